"""Wordings of a judge's request compared on a real language model: what a small model understands.

    RAG_INTRINSICS_MODELS=FOLDER RAG_INTRINSICS_DATA=FOLDER python -m benchmarks.wordings --door DOOR --model NAME
        [--set SET ...] [--items N] [--only NAME ...] [--wordings NAME ...] [--keep FILE]

The items are those of `benchmarks.real_models`, of the development half where no set is named. Each wording changes the
request that the profile `prompted` makes, and its reply is read by the same profile. Told are AUROC with a 95% interval
of a bootstrap over texts, its distance to the wording as it is (paired), the share called true, and the share of labels
that are right.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.floor import turns
from benchmarks.quality_everyday import with_interval
from benchmarks.real_models import (
    DOORS,
    Kept,
    Table,
    by_intrinsic,
    door,
    first_tokens,
    generated,
    plainest,
    scores_of,
    tables,
)
from intrinsics_core import IntrinsicsError, hallucination_detection, run_many
from intrinsics_core.calibration.fitting import auroc
from intrinsics_core.protocol.requests import Generate, JsonSchema, Outcome, Request
from intrinsics_core.protocol.task import Message
from intrinsics_core.runtimes.base import BlockingRuntime, Runtime
from intrinsics_core.runtimes.scripted import Scripted
from intrinsics_core.text.sentences import punkt

Change = Callable[[Generate], Generate]
JUDGES = ("answerability", "context-relevance", "hallucination-detection", "uncertainty")
_DATA = re.compile(r"<data>\n(.*?)\n</data>", re.DOTALL)
_QUESTION = re.compile(r"the question(?=\?)")
_CONFIDENCE = re.compile(r" State your confidence(?: in the label)? from 0 to 1\.|, \"confidence\": \.\.\.")


class Changed(BlockingRuntime):
    """Another runtime that is sent changed requests."""

    def __init__(self, other: Runtime, change: Change) -> None:
        self.other, self.profile, self.concurrency, self.change = other, other.profile, other.concurrency, change

    def handle(self, requests: Sequence[Request]) -> list[Outcome]:
        return self.other.handle([self.change(one) if isinstance(one, Generate) else one for one in requests])


# --- changes of a request ---------------------------------------------------------------------------------------------


def last(request: Generate, change: Callable[[str], str]) -> Generate:
    """The request with another text of its last turn."""
    *before, turn = request.messages or ()
    return replace(request, messages=(*before, Message(turn.role, change(turn.content))))


def of_task(request: Generate, change: Callable[[str], str]) -> Generate:
    """The request with another task: what stands behind its data."""

    def behind(text: str) -> str:
        before, mark, task = text.rpartition("</data>")
        return f"{before}{mark}{change(task)}"

    return last(request, behind)


def with_data(write: Callable[[dict[str, Any]], str], called: str) -> Change:
    """The same data as another text. called: what the system turn names it."""

    def change(request: Generate) -> Generate:
        system, *rest = request.messages or ()
        told = Message(system.role, system.content.replace("one JSON object", called))
        changed = replace(request, messages=(told, *rest))
        return last(changed, lambda text: _DATA.sub(lambda one: f"<data>\n{write(json.loads(one[1]))}\n</data>", text))

    return change


def between_tags(data: dict[str, Any]) -> str:
    documents = data["documents"] if "documents" in data else [data["document"]]
    parts = [f'<document id="{one["id"]}">\n{one["text"]}\n</document>' for one in documents]
    parts += [f"<{turn['role']}>\n{turn['content']}\n</{turn['role']}>" for turn in data.get("conversation", [])]
    parts += [f"<question>\n{data['question']}\n</question>"] if "question" in data else []
    response = data.get("response", {})
    said = {"response": response} if isinstance(response, str) else response
    return "\n".join([*parts, *(f'<sentence id="{key}">\n{text}\n</sentence>' for key, text in said.items())])


def as_blocks(data: Any, indent: str = "") -> str:
    """As YAML has it: the lines of a text stand as they are, each further in than the names around it."""
    inner = f"{indent}  "
    if isinstance(data, dict):
        apart = {name: " " if isinstance(value, str) else "\n" for name, value in data.items()}
        return "\n".join(f"{indent}{name}:{apart[name]}{as_blocks(value, inner)}" for name, value in data.items())
    if isinstance(data, list):
        return "\n".join(f"{indent}- {as_blocks(value, inner).lstrip()}" for value in data)
    lines = data.splitlines()
    return data if len(lines) < 2 else "|-\n" + "\n".join(f"{indent}{line}" if line else "" for line in lines)


def in_conversation(data: dict[str, Any]) -> str:
    """JSON whose question is the last turn of the conversation, as it was."""
    question = data.pop("question", None)
    asked = [] if question is None else [{"role": "user", "content": question}]
    shown = [*data.pop("conversation", []), *asked]
    response = {"response": data.pop("response")} if "response" in data else {}
    return json.dumps({**data, "conversation": shown, **response}, ensure_ascii=False)


def question_in_conversation(request: Generate) -> Generate:
    changed = with_data(in_conversation, "one JSON object")(request)
    return of_task(changed, lambda text: _QUESTION.sub("the last user turn of the conversation", text))


def question_apart(request: Generate) -> Generate:
    """The question under a name of its own where it is the last turn of the conversation."""

    def write(data: dict[str, Any]) -> str:
        *before, question = data.pop("conversation")
        response = {"response": data.pop("response")}
        earlier = {"conversation": before} if before else {}
        return json.dumps({**data, **earlier, "question": question["content"], **response}, ensure_ascii=False)

    changed = with_data(write, "one JSON object")(request)
    return of_task(changed, lambda text: text.replace("answer to the conversation?", "answer to the question?"))


def without_confidence(request: Generate) -> Generate:
    """The label alone."""
    assert isinstance(request.constraint, JsonSchema)
    schema = dict(request.constraint.schema)
    schema["properties"] = {key: value for key, value in schema["properties"].items() if key != "confidence"}
    schema["required"] = [key for key in schema["required"] if key != "confidence"]
    return replace(of_task(request, lambda whole: _CONFIDENCE.sub("", whole)), constraint=JsonSchema(schema))


def irrelevant_first(request: Generate) -> Generate:
    """The three labels in the other order: a small model leans to what it reads last."""
    said = re.compile(r"Say ('relevant' [^']*), ('partially relevant' [^']*), ('irrelevant' [^']*)\. State")
    return of_task(request, lambda text: said.sub(r"Say \3, \2, \1. State", text))


def label_first(request: Generate) -> Generate:
    """The verdict of a sentence before its reason."""
    assert isinstance(request.constraint, JsonSchema)
    schema = json.loads(json.dumps(request.constraint.schema))
    entry = schema["properties"]["sentences"]["items"]
    names = ("id", "faithfulness", "reason")
    entry["properties"], entry["required"] = {name: entry["properties"][name] for name in names}, list(names)

    def change(whole: str) -> str:
        before = "First give the reason, quoting the document where you can, then the verdict:"
        whole = whole.replace(before, "First give the verdict, then the reason, quoting the document where you can:")
        return whole.replace('"reason": "...", "faithfulness": "..."', '"faithfulness": "...", "reason": "..."')

    return replace(of_task(request, change), constraint=JsonSchema(schema))


_SHOP = "Gate House Books. Open from Tuesday to Saturday, ten to six. Parcels are sent on Fridays."
_EXAMPLES = (("When are parcels sent?", "On Fridays.", True), ("Do you buy old maps?", "Yes, on Mondays.", False))
_SAYS = {
    "answerability": ("answerable", "unanswerable"),
    "context_relevance": ("relevant", "irrelevant"),
    "correct": ("yes", "no"),
    "faithfulness": ("faithful", "unfaithful"),
}


def with_examples(request: Generate) -> Generate:
    """Two examples as turns before the request: one of each label."""
    system, turn = request.messages or ()
    found = _DATA.search(turn.content)
    assert found and isinstance(request.constraint, JsonSchema)
    data, given = json.loads(found[1]), request.constraint.schema["properties"]
    shown = []
    for question, answer, true in _EXAMPLES:
        document = {"id": "d0", "text": _SHOP}
        made = {"document": document} if "document" in data else {"documents": [document]}
        made |= {"question": question} if "question" in data else {"conversation": turns(question, "")[:1]}
        if "response" in data:
            made["response"] = answer if isinstance(data["response"], str) else {"r0": answer}
        reply: dict[str, Any] = {name: labels[not true] for name, labels in _SAYS.items() if name in given}
        reply |= {"confidence": 0.9}
        if "sentences" in given:
            reason = "The document says this." if true else "The document says nothing of maps."
            label = _SAYS["faithfulness"][not true]
            reply = {"sentences": [{"id": "r0", "reason": reason, "faithfulness": label}]}
        text = turn.content.replace(found[1], json.dumps(made, ensure_ascii=False))
        shown += [Message("user", text), Message("assistant", json.dumps(reply))]
    return replace(request, messages=(system, *shown, turn))


CHANGES: dict[str, Change] = {
    "as it is": lambda request: request,
    "between tags": with_data(between_tags, "documents and a conversation"),
    "in blocks": with_data(as_blocks, "documents and a conversation"),
    "JSON on many lines": with_data(lambda data: json.dumps(data, ensure_ascii=False, indent=1), "one JSON object"),
    "the question in the conversation": question_in_conversation,
    "the question apart": question_apart,
    "an example of each label": with_examples,
    "without a confidence": without_confidence,
    "the label first": label_first,
    "irrelevant named first": irrelevant_first,
}
ONLY = {
    "the question in the conversation": JUDGES[:2],
    "the question apart": ("hallucination-detection", "uncertainty"),
    "without a confidence": (*JUDGES[:2], *JUDGES[3:]),
    "the label first": ("hallucination-detection",),
    "irrelevant named first": ("context-relevance",),
}

# --- other ways to ask ------------------------------------------------------------------------------------------------

_ASKED = {
    "answerability": "that the documents contain the answer to the question",
    "context-relevance": "that the document contains information that answers the question",
    "uncertainty": "that the response is a correct answer to the conversation",
}


_QUESTIONS = {
    "answerability": "Do the documents contain the answer to the question?",
    "context-relevance": "Does the document contain the answer to the question?",
    "uncertainty": "Is the response a correct answer to the conversation?",
    "hallucination-detection": "Do the documents support all of the response?",
}


def yes_or_no(request: Generate) -> Generate:
    """The same data, and the question alone: a word of text is the reply."""
    return with_task(request, f"{_QUESTIONS[request.intrinsic]} Answer yes or no.")


def with_task(request: Generate, task: str) -> Generate:
    """The request with another task behind its data."""
    return of_task(request, lambda whole: f"{whole[: whole.index('Your task:')]}Your task:\n\n{task}")


def probability(request: Generate) -> Generate:
    """A probability in place of a label and a confidence."""
    schema = {"type": "object", "properties": {"probability": {"type": "number", "minimum": 0, "maximum": 1}},
              "required": ["probability"], "additionalProperties": False}  # fmt: skip
    task = f"State the probability {_ASKED[request.intrinsic]}, from 0 to 1."
    form = 'Reply with one JSON object and nothing else: {"probability": ...}'
    return replace(with_task(request, f"{task}\n\n{form}"), constraint=JsonSchema(schema))


def requests_of(table: Table) -> list[Generate]:
    """The request that each item makes first."""
    found = []
    for item in table.items:
        unanswered = Scripted([])
        run_many([table.call(item)], unanswered)
        found.append(unanswered.requests[0])
    return found


def by_first_token(table: Table, runtime: Runtime, change: Change) -> list[float | None]:
    """How likely each reply is a yes, where the question is asked of the same data."""
    return first_tokens([change(yes_or_no(request)) for request in requests_of(table)], runtime)


def by_number(table: Table, runtime: Runtime, change: Change) -> list[float | None]:
    """The number that each reply states: the label's odds are not looked at."""
    return [stated(reply.text) for reply in generated([change(request) for request in requests_of(table)], runtime)]


def stated(text: str) -> float | None:
    """The probability that a reply states: of what is asked, or of its label."""
    try:
        reply = json.loads(text)
        if "probability" in reply:
            return float(reply["probability"])
        label = next(value for name, value in reply.items() if name != "confidence")
        confidence = float(reply["confidence"])
    except (ValueError, KeyError, TypeError, AttributeError, StopIteration):
        return None
    if label == "partially relevant":
        return 0.5
    return confidence if label in ("answerable", "relevant", "yes") else 1 - confidence


def by_sentence(table: Table, runtime: Runtime) -> list[float | None]:
    """Each sentence of an answer in a request of its own; the answer has the least of their scores."""
    found = []
    for item in table.items:
        whole = [turns(item.question, sentence.text) for sentence in punkt(item.answer)]
        results = run_many([hallucination_detection(said, list(item.documents)) for said in whole], runtime)
        scores = [one.score for one in results if not isinstance(one, IntrinsicsError) and one.score is not None]
        found.append(min(scores, default=None))
    return found


# --- what is printed --------------------------------------------------------------------------------------------------


def row(
    name: str, table: Table, scores: Sequence[float | None], now: Sequence[float], tokens: int | None = None
) -> list[float]:
    """A line of the table; the scores, a half where there is none."""
    known = [0.5 if score is None else score for score in scores]
    truth, texts = [bool(item.truth) for item in table.items], [item.text for item in table.items]
    called = [score >= 0.5 for score in known]
    right = sum(a == b for a, b in zip(called, truth, strict=True)) / len(truth)
    cells = [name, "" if tokens is None else str(tokens), with_interval(auroc, known, truth, texts)]
    pairs: Any = list(zip(known, now or known, strict=True))
    cells.append(with_interval(further, pairs, truth, texts) if now else "")
    print(f"| {' | '.join(cells)} | {sum(called) / len(called):.2f} | {right:.2f} | {scores.count(None)} |", flush=True)
    return known


def further(pairs: Any, truth: Sequence[bool]) -> float:
    """How much further the first scores rank apart than the second ones."""
    first, second = zip(*pairs, strict=True)
    return auroc(first, truth) - auroc(second, truth)


def show(table: Table, runtime: Kept, wanted: Sequence[str]) -> None:
    print(f"\n{table.name}, {len(table.items)} items\n")
    print("| wording | tokens read | AUROC | less as it is | called true | labels right | without a score |")
    print("|---" * 7 + "|")
    now: list[float] = []
    for name, change in CHANGES.items():
        if table.name in ONLY.get(name, JUDGES) and (name == "as it is" or not wanted or name in wanted):
            told = by_intrinsic(table, runtime, Changed(runtime, change))
            tokens = round(told.tokens[0] / max(1, told.requests))
            known = row(name, table, scores_of(table, told.results), now, tokens)
            now = now or known
    if table.name in _ASKED and (not wanted or "numbers" in wanted):
        row("as it is, the number that it states", table, by_number(table, runtime, CHANGES["as it is"]), now)
        row("a probability in place of a label", table, by_number(table, runtime, probability), now)
    if not wanted or "yes or no" in wanted:
        row("the same data, yes or no", table, by_first_token(table, runtime, CHANGES["as it is"]), now)
        row("between tags, yes or no", table, by_first_token(table, runtime, CHANGES["between tags"]), now)
    if table.name == "hallucination-detection" and (not wanted or "sentences" in wanted):
        row("each sentence in a request of its own", table, by_sentence(table, runtime), now)
    row("the plainest question, yes or no", table, plainest(table, runtime), now)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--door", choices=DOORS, required=True)
    parser.add_argument("--model", default="qwen", help="a name of benchmarks.fetch_models, or the server's own")
    parser.add_argument("--set", nargs="*", default=["dev", "hard_dev"])
    parser.add_argument("--items", type=int, default=48, help="of each table, in equal parts from the sets")
    parser.add_argument("--only", nargs="*", default=JUDGES, choices=JUDGES)
    parser.add_argument("--wordings", nargs="*", default=(), choices=[*CHANGES, "numbers", "yes or no", "sentences"])
    parser.add_argument("--keep", type=Path, help="a file of the model's replies: what is there is not asked again")
    options = parser.parse_args()
    parts = [tables(name, options.items // len(options.set)) for name in options.set]
    with door(options.door, options.model, None) as served:
        runtime = Kept(served, options.keep)
        for name in options.only:
            same = [table for part in parts for table in part if table.name == name]
            if same:
                items = [replace(item, text=item.text + 10_000 * i) for i, one in enumerate(same) for item in one.items]
                show(replace(same[0], items=items), runtime, options.wordings)


if __name__ == "__main__":
    main()
