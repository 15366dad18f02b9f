"""Hallucination and citations from passages: an answer is made of a passage's sentences, some edited, some without the
sentence that they rest on.

Of three sentences one is repeated as it stands (faithful, and cited), one with a number or a word turned round
(unfaithful), one that was taken out of the document (unfaithful: nothing says it). Which is which changes from passage
to passage. Citations are of answers without edits: what is edited rests on nothing that a label should point to.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from intrinsics_core.bench.datasets import wikipedia
from intrinsics_core.bench.folder import DataFolder, Row
from intrinsics_core.protocol.task import Task, check
from intrinsics_core.replies import sentence_ids
from intrinsics_core.text.sentences import punkt

_SPACED = re.compile(r" (?=[,.;:!?%)\]])|(?<=[(\[]) ")  # "word , word ( word )": a tokenised spelling
_SHORTENED = re.compile(r" (?=(?:n't|'(?:s|ve|re|ll|d|m))\b)")
_QUOTES = (("`` ", "“"), (" ''", "”"))
_NUMBER = re.compile(r"\b\d{1,9}\b")
_TURNED = tuple(
    (re.compile(rf"\b{one}\b"), other)
    for one, other in (
        ("is not", "is"), ("was not", "was"), ("is", "is not"), ("was", "was not"), ("are", "are not"),
        ("were", "were not"), ("can", "cannot"), ("all", "none"), ("before", "after"), ("first", "last"),
    )
)  # fmt: skip
_ASKED = "What does the text say?"
_LEAST = 5  # sentences of a passage


def plain(text: str) -> str:
    """The passage as people write."""
    for marks, written in _QUOTES:
        text = text.replace(marks, written)
    return _SPACED.sub("", _SHORTENED.sub("", text))


def edited(sentence: str, by: int) -> str | None:
    """The sentence saying something else: a number changed, else a word turned round; None where neither is there."""
    if found := _NUMBER.search(sentence):
        return f"{sentence[: found.start()]}{int(found[0]) + 1 + by % 9}{sentence[found.end() :]}"
    for pattern, other in _TURNED:
        changed = pattern.sub(other, sentence, count=1)
        if changed != sentence:
            return changed
    return None


def _passages(folder: DataFolder) -> Iterator[tuple[int, str, list[str]]]:
    for number, row in enumerate(wikipedia(folder)):
        sentences = [span.text for span in punkt(plain(row.text))]
        if len(sentences) >= _LEAST and len(set(sentences)) == len(sentences):
            yield number, row.identity, sentences


def _task(intrinsic: str, document: list[str], answer: list[str]) -> Task | None:
    """The task, or None where joining sentences made others of them."""
    turns = [{"role": "user", "content": _ASKED}, {"role": "assistant", "content": " ".join(answer)}]
    task = check(intrinsic, turns, [" ".join(document)], ends_with=["assistant"], date="")
    kept = [span.text for span in task.response_sentences] == answer
    return task if kept and [span.text for span in task.document_sentences[0]] == document else None


def _row(name: str, task: Task, result: dict[str, object]) -> Row:
    messages = [{"role": turn.role, "content": turn.content} for turn in task.messages]
    return {"id": name, "messages": messages, "documents": [task.documents[0].text], "result": result, "group": name}


def verdicts(folder: DataFolder) -> Iterator[Row]:
    for number, name, sentences in _passages(folder):
        unchanged, changed, removed = (sentences[(number + i) % len(sentences)] for i in (0, 2, 4))
        wrong = edited(changed, number)
        if wrong is None:
            continue
        answer = [(unchanged, "faithful", 1.0, None), (wrong, "unfaithful", 0.0, "The document says otherwise."),
                  (removed, "unfaithful", 0.0, "The document does not say this.")]  # fmt: skip
        answer = [answer[(i + number) % 3] for i in range(3)]
        task = _task("hallucination-detection", [s for s in sentences if s != removed], [text for text, *_ in answer])
        if task is None:
            continue
        said = [(i, (label, score, why)) for i, (_, label, score, why) in enumerate(answer)]
        result = sentence_ids.hallucination(task, said)  # type: ignore[arg-type]  # labels are texts to mypy
        yield _row(f"wikipedia-{name}", task, result.model_dump(mode="json"))


def links(folder: DataFolder) -> Iterator[Row]:
    for number, name, sentences in _passages(folder):
        one, other, removed = (sentences[(number + i) % len(sentences)] for i in (0, 2, 4))
        document = [text for text in sentences if text != removed]
        answer = [[one, other, removed][(i + number) % 3] for i in range(3)]
        task = _task("citations", document, answer)
        if task is None:
            continue
        rests = [(i, document.index(text)) for i, text in enumerate(answer) if text != removed]
        yield _row(f"wikipedia-{name}", task, sentence_ids.citations(task, rests).model_dump(mode="json"))
