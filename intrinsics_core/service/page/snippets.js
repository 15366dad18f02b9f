/** What was given, as a program: each of these runs as it is copied. */

import { questionOf } from "./conversation.js";

// As escapes, so that code reads as it is written: what is not shown, ends a line, or turns the direction of text.
const MISLEADING = /[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** A value as JSON, which for texts, and lists and mappings of texts, is Python, too. */
function literal(value, indent = 4) {
  return JSON.stringify(value, null, indent)
    .replace(MISLEADING, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** What a program is made of, each part as code; and whether there is an answer to judge. */
function codeOf({ messages, answer, documents }) {
  const asked = questionOf(messages);
  const history = asked.slice(0, -1);
  return {
    answered: answer !== "",
    messages: literal(answer ? [...messages, { role: "assistant", content: answer }] : asked),
    question: literal(asked.at(-1)?.content ?? ""),
    history: literal(history),
    pairs: literal(history.map(({ role, content }) => [role, content])),
    documents: literal(documents.map(({ id, text }, i) => ({ id: id ?? String(i), text }))),
    answer: literal(answer),
  };
}

function python(given) {
  const { answered, messages, documents } = codeOf(given);
  const data = `messages = ${messages}
documents = ${documents}
`;
  return answered ? `from intrinsics_core import audit, run

${data}
told = run(audit(messages, documents))
for sentence in told.sentences:
    print(sentence.label, sentence.text)
` : `from intrinsics_core import answerability, reranking, run

${data}
for ranked in run(reranking(messages, documents)).ranking:
    print(ranked.rank, ranked.document_id)
print(run(answerability(messages, documents)).label)
`;
}

function langchain(given) {
  const { answered, question, pairs, documents, answer } = codeOf(given);
  const data = `documents = [Document(d["text"], id=d["id"]) for d in ${documents}]
asked = {"question": ${question}, "chat_history": ${pairs}, "documents": documents}
`;
  return answered ? `from langchain_core.documents import Document
from langchain_rag_intrinsics import AnswerCheck

${data}
told = AnswerCheck().invoke({**asked, "answer": ${answer}})
for sentence in told.response_metadata["rag_intrinsics"]["audit"]["sentences"]:
    print(sentence["label"], sentence["text"])
` : `from langchain_core.documents import Document
from langchain_rag_intrinsics import AnswerabilityGate, IntrinsicsReranker

${data}
for rank, document in enumerate(IntrinsicsReranker().invoke(asked), start=1):
    print(rank, document.id)
print(AnswerabilityGate().invoke(asked)["answerability"]["label"])
`;
}

function llamaindex(given) {
  const { answered, question, pairs, documents, answer } = codeOf(given);
  const data = `question = ${question}
history = [ChatMessage(content, role=role) for role, content in ${pairs}]
nodes = [NodeWithScore(node=TextNode(id_=d["id"], text=d["text"])) for d in ${documents}]
`;
  return answered ? `from llama_index.core.base.response.schema import Response
from llama_index.core.llms import ChatMessage
from llama_index.core.schema import NodeWithScore, TextNode
from llama_index.response_synthesizers.rag_intrinsics import AnswerCheck

${data}
response = Response(${answer}, source_nodes=nodes)
told = AnswerCheck().check(question, response, chat_history=history)
for sentence in told.metadata["rag_intrinsics"]["audit"]["sentences"]:
    print(sentence["label"], sentence["text"])
` : `from llama_index.core.llms import ChatMessage
from llama_index.core.schema import NodeWithScore, TextNode
from llama_index.evaluation.rag_intrinsics import IntrinsicEvaluator
from llama_index.postprocessor.rag_intrinsics import IntrinsicsRerank
from llama_index.rag_intrinsics import ConversationQuery

${data}
query = ConversationQuery(question, chat_history=history)
ranked = IntrinsicsRerank(top_n=max(len(nodes), 1)).postprocess_nodes(nodes, query)
for rank, node in enumerate(ranked, start=1):
    print(rank, node.node_id)
contexts = [node.text for node in nodes]
print(IntrinsicEvaluator("answerability").evaluate(question, contexts=contexts).verdict["label"])
`;
}

function haystack(given) {
  const { answered, question, history, documents, answer } = codeOf(given);
  const data = `asked = {
    "query": ${question},
    "history": [ChatMessage.from_dict(message) for message in ${history}],
    "documents": [Document(id=d["id"], content=d["text"]) for d in ${documents}],
}
`;
  return answered ? `from haystack import Document
from haystack.dataclasses import ChatMessage
from haystack_integrations.components.validators.rag_intrinsics import RagIntrinsicsAnswerCheck

${data}
told = RagIntrinsicsAnswerCheck().run(**asked, replies=[${answer}])
for sentence in told["results"][0]["audit"]["sentences"]:
    print(sentence["label"], sentence["text"])
` : `from haystack import Document
from haystack.dataclasses import ChatMessage
from haystack_integrations.components.rankers.rag_intrinsics import RagIntrinsicsRanker
from haystack_integrations.components.routers.rag_intrinsics import RagIntrinsicsAnswerabilityRouter

${data}
for rank, document in enumerate(RagIntrinsicsRanker().run(**asked)["documents"], start=1):
    print(rank, document.id)
print(RagIntrinsicsAnswerabilityRouter().run(**asked)["result"]["label"])
`;
}

/** A request to this service. The JSON is in a here-document, in which a shell reads nothing as its own. */
function curl({ messages, answer, documents }, { runtime, url, token }) {
  const turns = answer ? [...messages, { role: "assistant", content: answer }] : questionOf(messages);
  const secret = token ? `  -H "Authorization: Bearer $TOKEN" \\\n` : "";
  return `curl ${url}v1/intrinsics/${answer ? "audit" : "answerability"} \\
${secret}  --data-binary @- <<'JSON'
${literal({ messages: turns, documents, runtime }, 1)}
JSON
`;
}

/** By name: a function of what was given, and of the service that was asked. */
export const SNIPPETS = { Python: python, LangChain: langchain, LlamaIndex: llamaindex, Haystack: haystack, curl };
