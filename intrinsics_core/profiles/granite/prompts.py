"""What the prompts of Granite 3.2 and 3.3 share: turns, documents, tagged sentences, and the base model's own tasks.

Adapters are asked through roles that exist in no chat endpoint. So a prompt is rendered here as text, as the chat
template of the family would render it, and sent to ``/v1/completions``. A custom system turn takes the place of the
default one, as in the template. Documents are shown by their text alone: the adapters were trained without titles.

Reranking, query expansion, HyDE and self-consistency need no adapter: they are prompts to the base model. The last two
are asked as ``prompted`` asks any model (`sampling`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from intrinsics_core.profiles import common_formats, sampling
from intrinsics_core.profiles.turns import conversation, shown_documents, tagged
from intrinsics_core.protocol.errors import MalformedReply
from intrinsics_core.protocol.profile import Format
from intrinsics_core.protocol.requests import Choice, Generate, JsonSchema, Reply
from intrinsics_core.protocol.results import Answerability, Uncertainty
from intrinsics_core.protocol.task import Message, Task
from intrinsics_core.replies import readers, writers
from intrinsics_core.replies.json_reply import malformed
from intrinsics_core.replies.labels import label_probabilities
from intrinsics_core.text.markup import defuse

HELPFUL = " You are a helpful AI assistant."
GROUNDED = (
    "Write the response to the user's input by strictly aligning with the facts in the provided documents. If the "
    "information needed to answer the question is not available in the documents, inform the user that the question "
    "cannot be answered based on the available data."
)

Shown = tuple[str, str]  # a document as the model sees it: id and text, both defused
Prompt = Callable[[Task], str]
Render = Callable[[Task], Sequence[Generate]]


@dataclass(frozen=True)
class Family:
    """What differs between the families: the sentence about documents, and how documents are shown."""

    grounded: str
    documents: Callable[[Sequence[Shown]], str]

    def context(self, task: Task, messages: Sequence[Message], documents: Sequence[Shown] = ()) -> str:
        """System turn, documents and conversation; messages are defused already."""
        system = (
            f"Knowledge Cutoff Date: April 2024.\nToday's Date: {defuse(task.date)}.\n"
            f"You are Granite, developed by IBM.{self.grounded if documents else HELPFUL}"
        )
        if messages and messages[0].role in ("system", "developer"):
            system, messages = messages[0].content, messages[1:]
        shown = self.documents(documents) if documents else ""
        return turn("system", system) + shown + "".join(turn(m.role, m.content) for m in messages)


def opening(role: str) -> str:
    """The header of a turn that the model is to write."""
    return f"<|start_of_role|>{role}<|end_of_role|>"


def turn(role: str, text: str) -> str:
    return f"{opening(role)}{text}<|end_of_text|>\n"


def documents(task: Task) -> tuple[Shown, ...]:
    return tuple((task.document_id(i), defuse(d.text)) for i, d in enumerate(task.documents))


# --- requests -----------------------------------------------------------------------------------------------------


def ask(adapter: str | None, prompt: Prompt, **fields: Any) -> Render:
    """A render function of one request; ``fields`` are more of :class:`~intrinsics_core.protocol.requests.Generate`."""
    return lambda task: [Generate(intrinsic=task.intrinsic, prompt=prompt(task), adapter=adapter, **fields)]


def detection_prompt(family: Family, prefix: str, instruction: str) -> Prompt:
    """The response by sentence, the documents as they are, then the instruction; nothing opens the reply."""
    last = turn("system", instruction).removesuffix("\n")
    return lambda task: family.context(task, _tagged_response(task, prefix), documents(task)) + last


def citation_prompt(family: Family, instruction: str) -> Prompt:
    """The response and the documents by sentence, then the instruction."""
    last = turn("system", instruction).removesuffix("\n")
    return lambda task: family.context(task, _tagged_response(task, "r"), _tagged_documents(task, "c")) + last


def _tagged_response(task: Task, prefix: str) -> tuple[Message, ...]:
    return (*conversation(task)[:-1], Message("assistant", tagged(task.response_sentences, prefix)))


def _tagged_documents(task: Task, prefix: str) -> Sequence[Shown]:
    shown: list[Shown] = []
    start = 0
    for i, sentences in enumerate(task.document_sentences):
        shown.append((task.document_id(i), tagged(sentences, prefix, start)))
        start += len(sentences)
    return shown


def within_expansion(alone: Render, within: Render) -> Render:
    """Query rewrite is sampled a little differently where it is a part of query expansion."""
    return lambda task: within(task) if task.intrinsic == "query-expansion" else alone(task)


# --- the base model's own tasks -------------------------------------------------------------------------------------

_SYNONYMS = (
    "You are given a multi-turn conversation between a user and an assistant. Reformulate the last-turn user query "
    "into a synonymous standalone query by replacing key terms with appropriate synonyms or closely related phrases, "
    "while preserving the original intent and meaning. This rewritten query will be used to retrieve relevant passages "
    "from a corpus, so it must remain faithful to the user's information need. Only output the rewritten query."
)
_COMPARE = (
    "You are a smart and helpful AI assistant with in-depth knowledge about how people search for information using "
    "search engines. In this task, you are given two passages, and a query, your job is to judge which passage is "
    'relatively more suitable to answer that query. The first passage will start with "passage A" and the second '
    'passage with start with "passage B". Output the preferred passage index, i.e. A or B and followed by an '
    "explanation, if none of the passage answer the query directly, pick the one that has more relevant information."
)
# The prompts below are plain text, in which a line can pass for a speaker, a passage or a section. Such lines get a
# space before their colon or inside their brackets.
_LINES = re.compile(
    r"^[^\S\n]*(?:system|developer|user|assistant|tool|query|preferred passage|passage\s+[AB])(?=:)"
    r"|\[(?=\[(?:Input|Output|Answer|Question)\]\])",
    re.IGNORECASE | re.MULTILINE,
)


def plain(text: str) -> str:
    """A text for a plain-text prompt: neither markup nor a line that looks like the prompt's own."""
    return _LINES.sub(lambda match: match[0] + " ", defuse(text))


def synonym_prompt(task: Task) -> str:
    history = "\n".join(f"{m.role}: {plain(m.content)}" for m in task.messages)
    return f"{_SYNONYMS}\n\n[[Input]]\n{history}\n\n[[Output]]\n"


def reverse_prompt(task: Task) -> str:
    lines = (
        "Generate a single question for the given answer.", "[[Answer]]", "Albert Einstein was born in Germany.",
        "[[Question]]", "Where was Albert Einstein born?", "[[Answer]]", plain(task.response), "[[Question]]", "",
    )  # fmt: skip
    return f"\n{' ' * 8}".join(lines)


def comparison_prompt(task: Task) -> str:
    a, b = (plain(d.text) for d in task.documents)
    query = plain(task.query)
    return f"{_COMPARE}\n\n passage A: {a} \n passage B: {b} \n{' ' * 13}query: {query}\n preferred passage: "


# --- replies that both families give alike --------------------------------------------------------------------------


def _judged_by_role(
    family: Family, adapter: str, role: str, read: Callable[..., Any], write: Callable[[Any], str], **fields: Any
) -> Format[Any]:
    """A format that opens an adapter's role behind conversation and documents, and reads one label."""

    def prompt(task: Task) -> str:
        return family.context(task, conversation(task), documents(task)) + opening(role)

    def parse(task: Task, replies: Sequence[Reply]) -> Any:
        reply = readers.generated(replies)
        return read(readers.first_line(reply), reply)

    return Format(ask(adapter, prompt, logprobs=True, **fields), parse, lambda task, value: write(value))


def answerability(family: Family, **fields: Any) -> Format[Answerability]:
    role = "answerability"
    return _judged_by_role(family, role, role, readers.answerability, writers.answerability, **fields)


def uncertainty(family: Family, labels: Mapping[str, float] = readers.CERTAINTIES) -> Format[Uncertainty]:
    write = partial(writers.certainty, labels=labels)
    constraint = Choice(tuple(labels))
    return _judged_by_role(family, "uncertainty", "certainty", readers.certainty, write, constraint=constraint)


# Published models say of one pair in seven that neither answers: a tie, and no failure.
_SAID = r"\A[\W_]*+(?:(?:the\s++)?preferred\s++passage(?:\s++index)?(?:\s++is)?[\W_]*+)?(?:passage\s++)?"
_NEITHER = re.compile(rf"{_SAID}(?:neither|none|both|n/a)\b", re.IGNORECASE)
# A letter that stands alone; before other words "A" may be an article, and a digit the number of a list's item.
_LETTER = re.compile(
    rf"{_SAID}(?:([ab])(?=[^\S\n]*+(?:[^\w\s/&]|\n|\Z)|[^\S\n]++(?:because|is[^\S\n]++(?:better|more|preferred))\b)|"
    r"([12])(?=[^\w\n]*+(?:\n|\Z)))(?![^\S\n]*+,[^\S\n]*+[ab12]\b)",
    re.IGNORECASE,
)


def comparison(task: Task, replies: Sequence[Reply]) -> float:
    """How strongly the first passage is preferred, in 0..1; exactly 0.5 is a tie.

    The letter that it begins with decides, its probability says how clearly.
    """
    reply = readers.generated(replies)
    if _NEITHER.match(reply.text):
        return 0.5
    if (found := _LETTER.match(reply.text)) is None:
        raise malformed("the reply does not begin with a passage", reply.text, "A or B first", reply.text[:200])
    letter, place = found[found.lastindex or 0], found.start(found.lastindex or 0)
    first = letter.upper() in "A1"
    labels = ("1", "2") if letter.isdigit() else ("a", "b") if letter.islower() else ("A", "B")
    measured = label_probabilities(reply.logprobs, labels, start=place) or {}
    share = measured.get(labels[0], float(first))
    return max(share, 0.51) if first else min(share, 0.49)


def entailment(detect: Callable[[Task, Sequence[Reply]], Any]) -> Callable[[Task, Sequence[Reply]], float]:
    """How far one source supports the answer, read from a hallucination verdict on it.

    The adapter sees the question, the answer and this source alone; the answer is as true as its weakest claim. An
    answer without a claim is neither supported nor contradicted: 0.5. An answer without a verdict is not such a one.
    """

    def parse(task: Task, replies: Sequence[Reply]) -> float:
        found = detect(task, replies)
        if found.score is None and found.missing:
            raise MalformedReply("the reply leaves the claim without a verdict", expected="a verdict on every sentence",
                                 got=found.degraded, raw=readers.generated(replies).text)  # fmt: skip
        return 0.5 if found.score is None else float(found.score)

    return parse


def _write_comparison(task: Task, value: float) -> str:
    """The letter of the preferred passage, without the explanation that nothing is known of; a tie is the first's."""
    return "A" if writers.share(value) >= 0.5 else "B"


# --- their formats ----------------------------------------------------------------------------------------------------


def _chat(messages: Callable[[Task], tuple[Message, ...]], **fields: Any) -> Render:
    return lambda task: [Generate(intrinsic=task.intrinsic, messages=messages(task), **fields)]


def _said(prompt: Prompt, **fields: Any) -> Render:
    return _chat(lambda task: (Message("user", prompt(task)),), **fields)


def _with_documents(task: Task) -> Sequence[Generate]:
    shown = shown_documents(task, (defuse(d.text) for d in task.documents))
    return _chat(conversation, documents=shown, max_tokens=1024)(task)


CHAT_FORMATS: Mapping[str, Format[Any]] = {
    **sampling.FORMATS,
    "comparison": Format(_said(comparison_prompt, max_tokens=4096, logprobs=True), comparison, _write_comparison),
    "synonym-query": common_formats.one_query(_said(synonym_prompt, max_tokens=512)),
    "reverse-question": common_formats.one_query(_said(reverse_prompt, max_tokens=512)),
    "sample-answer": common_formats.whole_text(_chat(conversation, max_tokens=512)),
    "answer": common_formats.whole_text(_with_documents),
}
"""Reranking, query expansion, HyDE, self-consistency and the flows, asked of a base model as a chat."""


def _completed(family: Family, chat: Format[Any], **changes: Any) -> Format[Any]:
    """A format that is asked as a chat, asked as the text that the family's template makes of the chat."""

    def render(task: Task) -> Sequence[Generate]:
        asked = []
        for request in chat.render(task):
            assert isinstance(request, Generate) and request.messages
            shown = documents(task) if request.documents else ()
            prompt = family.context(task, request.messages, shown) + opening("assistant")
            asked.append(replace(request, messages=None, documents=(), prompt=prompt, **changes))
        return asked

    return replace(chat, render=render)


def _sampled_query(prompt: Prompt, stop: str) -> Format[str]:
    return common_formats.one_query(ask(None, prompt, max_tokens=512, top_p=1.0, stop=(stop,)), stop=(stop,))


def base_formats(family: Family, comparison_tokens: int) -> Mapping[str, Format[Any]]:
    """The same, asked as texts. Queries are completed as they stand, without the family's template."""
    changes: Mapping[str, Mapping[str, Any]] = {
        "comparison": {"max_tokens": comparison_tokens},
        "sample-answer": {"top_p": 1.0},
    }
    return {
        **{name: _completed(family, chat, **changes.get(name, {})) for name, chat in CHAT_FORMATS.items()},
        "synonym-query": _sampled_query(synonym_prompt, "[[Input]]"),
        "reverse-question": _sampled_query(reverse_prompt, "[[Answer]]"),
    }


def object_schema(title: str, **types: str) -> JsonSchema:
    """The schema of an object, as the adapters were trained with it."""
    fields = {name: {"title": name.replace("_", " ").title(), "type": kind} for name, kind in types.items()}
    return JsonSchema({"properties": fields, "required": list(fields), "title": title, "type": "object"})
