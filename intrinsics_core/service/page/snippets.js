/** What was given, as a program: each of these runs as it is copied. */

import { questionOf } from "./conversation.js";

// As escapes, so that code reads as it is written: line ends that are no \n, and what turns the direction of text.
const MISLEADING = /[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** A value as JSON, which for texts and lists and mappings of texts is Python, too. */
function literal(value, indent = 4) {
  return JSON.stringify(value, null, indent)
    .replace(MISLEADING, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

const lines = (...all) => `${all.join("\n")}\n`;

/** The last question, the turns before it, and the documents, each with an id. */
function partsOf({ messages, answer, documents }) {
  const asked = questionOf(messages);
  return {
    messages: answer ? [...messages, { role: "assistant", content: answer }] : asked,
    history: asked.slice(0, -1),
    question: asked.at(-1)?.content ?? "",
    documents: documents.map(({ id, text }, i) => ({ id: id ?? String(i), text })),
  };
}

function python(given) {
  const { messages, documents } = partsOf(given);
  const data = [`messages = ${literal(messages)}`, `documents = ${literal(documents)}`, ""];
  if (given.answer) {
    return lines("from intrinsics_core import audit, run", "", ...data,
      "told = run(audit(messages, documents))",
      "for sentence in told.sentences:",
      "    print(sentence.label, sentence.text)");
  }
  return lines("from intrinsics_core import answerability, reranking, run", "", ...data,
    "for ranked in run(reranking(messages, documents)).ranking:",
    "    print(ranked.rank, ranked.document_id)",
    "print(run(answerability(messages, documents)).label)");
}

function langchain(given) {
  const { history, question, documents } = partsOf(given);
  const data = [
    `question = ${literal(question)}`,
    `chat_history = ${literal(history.map(({ role, content }) => [role, content]))}`,
    `documents = [Document(d["text"], id=d["id"]) for d in ${literal(documents)}]`,
  ];
  if (given.answer) {
    return lines("from langchain_core.documents import Document", "from langchain_rag_intrinsics import Audit", "", ...data,
      `answer = ${literal(given.answer)}`, "",
      'told = Audit().invoke({"question": question, "chat_history": chat_history, "documents": documents, "answer": answer})',
      'for sentence in told["audit"]["sentences"]:',
      '    print(sentence["label"], sentence["text"])');
  }
  return lines("from langchain_core.documents import Document",
    "from langchain_rag_intrinsics import AnswerabilityGate, IntrinsicsReranker", "", ...data, "",
    'ranked = IntrinsicsReranker().invoke({"query": question, "chat_history": chat_history, "documents": documents})',
    "for rank, document in enumerate(ranked, start=1):",
    "    print(rank, document.id)",
    'told = AnswerabilityGate().invoke({"question": question, "chat_history": chat_history, "documents": documents})',
    'print(told["answerability"]["label"])');
}

function llamaindex(given) {
  const { history, question, documents } = partsOf(given);
  const data = [
    `question = ${literal(question)}`,
    `history = [ChatMessage(content, role=role) for role, content in ${literal(history.map(({ role, content }) => [role, content]))}]`,
    `nodes = [NodeWithScore(node=TextNode(id_=d["id"], text=d["text"])) for d in ${literal(documents)}]`,
  ];
  const types = ["from llama_index.core.llms import ChatMessage", "from llama_index.core.schema import NodeWithScore, TextNode"];
  if (given.answer) {
    return lines("from llama_index.core.base.response.schema import Response", ...types,
      "from llama_index.response_synthesizers.rag_intrinsics import ResponseAnnotator", "", ...data,
      `answer = ${literal(given.answer)}`, "",
      "response = Response(answer, source_nodes=nodes)",
      "told = ResponseAnnotator(audit=True).annotate(question, response, chat_history=history)",
      'for sentence in told.metadata["rag_intrinsics"]["audit"]["sentences"]:',
      '    print(sentence["label"], sentence["text"])');
  }
  return lines(...types,
    "from llama_index.evaluation.rag_intrinsics import AnswerabilityEvaluator",
    "from llama_index.postprocessor.rag_intrinsics import IntrinsicsRerank",
    "from llama_index.rag_intrinsics import ConversationQuery", "", ...data, "",
    "query = ConversationQuery(question, chat_history=history)",
    "ranked = IntrinsicsRerank(top_n=max(len(nodes), 1)).postprocess_nodes(nodes, query)",
    "for rank, node in enumerate(ranked, start=1):",
    "    print(rank, node.node_id)",
    "contexts = [node.text for node in nodes]",
    'print(AnswerabilityEvaluator().evaluate(question, contexts=contexts).verdict["label"])');
}

function haystack(given) {
  const { history, question, documents } = partsOf(given);
  const data = [
    `query = ${literal(question)}`,
    `history = [ChatMessage.from_dict(m) for m in ${literal(history)}]`,
    `documents = [Document(id=d["id"], content=d["text"]) for d in ${literal(documents)}]`,
  ];
  const types = ["from haystack import Document", "from haystack.dataclasses import ChatMessage"];
  if (given.answer) {
    return lines(...types, "from haystack_integrations.components.validators.rag_intrinsics import RagIntrinsicsAuditor", "",
      ...data, `answer = ${literal(given.answer)}`, "",
      "told = RagIntrinsicsAuditor().run(query=query, history=history, replies=[answer], documents=documents)",
      'for sentence in told["results"][0]["sentences"]:',
      '    print(sentence["label"], sentence["text"])');
  }
  return lines(...types, "from haystack_integrations.components.rankers.rag_intrinsics import RagIntrinsicsRanker",
    "from haystack_integrations.components.routers.rag_intrinsics import RagIntrinsicsAnswerabilityRouter", "", ...data, "",
    'ranked = RagIntrinsicsRanker().run(query=query, history=history, documents=documents)["documents"]',
    "for rank, document in enumerate(ranked, start=1):",
    "    print(rank, document.id)",
    "told = RagIntrinsicsAnswerabilityRouter().run(query=query, history=history, documents=documents)",
    'print(told["result"]["label"])');
}

/** A request to this service. The JSON is in a here-document, in which a shell reads nothing as its own. */
function curl(given, { runtime, url, token }) {
  const { messages, documents } = partsOf(given);
  const body = { messages, documents, runtime };
  return lines(`curl ${url}v1/intrinsics/${given.answer ? "audit" : "answerability"} \\`,
    ...(token ? ['  -H "Authorization: Bearer $TOKEN" \\'] : []),
    "  --data-binary @- <<'JSON'", literal(body, 1), "JSON");
}

/** By name: a function of what was given, and of the service that was asked. */
export const SNIPPETS = { Python: python, LangChain: langchain, LlamaIndex: llamaindex, Haystack: haystack, curl };
