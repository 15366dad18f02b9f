"""Verdicts as frameworks carry them: in the metadata of what they are about, under one key, by the intrinsic's name.

Names have underscores there: a template can read ``rag_intrinsics.fact_check``.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from intrinsics_core.protocol.results import Audit, Citations, HallucinationDetection

Line = Callable[[str, Any], str]

KEY = "rag_intrinsics"
CANNED = "canned"  # marks an answer that claims nothing: no judge has anything to say of it
RETRY = "retry"  # what the model is to be told that gives another answer, or was told
ABOUT = "about"  # by intrinsic, the digest of the answer and the documents that its verdict is about

# Verdicts on a text as it is: of a changed text they say nothing.
OF_A_TEXT = ("hallucination_detection", "citations", "fact_check", "audit", "evaluate", "uncertainty",
             "answer_relevance", "check_citations", ABOUT, RETRY)  # fmt: skip


def underscored(intrinsic: str) -> str:
    """An intrinsic's name as a key: ``context_relevance``, which a template can name and a vector store can keep."""
    return intrinsic.replace("-", "_")


def digest(answer: str, documents: Iterable[Mapping[str, Any]]) -> str:
    """What tells whether a verdict is about this answer and these documents, in whatever order they come.

    Args:
        answer: its text.
        documents: mappings with ``text`` and maybe ``title``, as the core takes them.
    """
    read = sorted({(document["text"], document.get("title") or "") for document in documents})
    return hashlib.sha256(json.dumps([answer, read]).encode()).hexdigest()


def copy_containers(value: Any) -> Any:
    """A value with its mappings and lists copied, at every depth, so that a change of the copy reaches no original.

    What they hold is shared: metadata may hold a client or a lock, which has no copy.
    """
    if isinstance(value, dict):
        return {name: copy_containers(held) for name, held in value.items()}
    return [copy_containers(held) for held in value] if isinstance(value, list) else value


def verdicts_in(metadata: Mapping[str, Any]) -> Mapping[str, Any]:
    """All verdicts by name; none where there are none, or where something that is not ours is called so."""
    found = metadata.get(KEY)
    return found if isinstance(found, Mapping) else {}


def verdict_in(metadata: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """The verdict of that name as plain values; empty where there is none."""
    verdicts = verdicts_in(metadata)
    found = verdicts.get(underscored(name), verdicts.get(name))
    return found if isinstance(found, Mapping) else {}


def with_verdicts(metadata: Mapping[str, Any], verdicts: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of the metadata with verdicts beside those that are there. What is not ours is replaced, not read."""
    marks = {**verdict_in(metadata, ABOUT), **verdicts.get(ABOUT, {})}
    return {**metadata, KEY: {**verdicts_in(metadata), **verdicts, **({ABOUT: marks} if marks else {})}}


def about(names: Collection[str], answer: str, documents: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """What tells, beside verdicts of these names, that they are about this answer and these documents (`digest`)."""
    return {ABOUT: dict.fromkeys(map(underscored, names), digest(answer, documents))} if names else {}


def is_about(metadata: Mapping[str, Any], name: str, answer: str, documents: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the metadata has a verdict of that name on this answer by these documents."""
    mark = verdict_in(metadata, ABOUT).get(underscored(name))
    return mark is not None and mark == digest(answer, documents)


def signed(
    metadata: Mapping[str, Any], verdicts: Mapping[str, Any], answer: str, documents: Iterable[Mapping[str, Any]]
) -> dict[str, Any]:
    """A copy of an answer's metadata with verdicts, and with what tells what they are about.

    Args:
        metadata: the answer's.
        verdicts: plain values by the intrinsic's name.
        answer: its text.
        documents: what they were judged by, as the core takes them.
    """
    named = {underscored(name): verdict for name, verdict in verdicts.items()}
    return with_verdicts(metadata, {**named, **about(verdicts, answer, documents)})


def known_detection(
    metadata: Mapping[str, Any], answer: str, documents: Sequence[Mapping[str, Any]]
) -> HallucinationDetection | None:
    """What was said of the sentences of this very text by these very documents before; None where nothing whole was."""
    for name, kind in (("hallucination-detection", HallucinationDetection), ("audit", Audit)):
        said = verdict_in(metadata, name) if is_about(metadata, name, answer, documents) else {}
        if said and not said.get("degraded") and not said.get("reason"):
            found = kind.model_validate(said)
            return found.hallucination if isinstance(found, Audit) else found
    return None


def without_verdicts(metadata: Mapping[str, Any], names: Collection[str] = OF_A_TEXT) -> dict[str, Any]:
    """A copy of the metadata without the verdicts of these names."""
    kept = {name: verdict for name, verdict in verdicts_in(metadata).items() if name not in names}
    return {**{name: value for name, value in metadata.items() if name != KEY}, **({KEY: kept} if kept else {})}


def without_wrong_citations(cited: Citations, found: HallucinationDetection | Audit | None) -> Citations:
    """The citations without those of sentences that are judged unfaithful: nothing supports these."""
    wrong = [row for row in found.sentences if row.label == "unfaithful"] if found else ()
    kept = [c for c in cited.citations
            if not any(c.response_begin < row.end and row.begin < c.response_end for row in wrong)]  # fmt: skip
    return cited if len(kept) == len(cited.citations) else cited.model_copy(update={"citations": tuple(kept)})


def heading(metadata: Mapping[str, Any], fields: Iterable[str] = (), line: Line = "{}: {}".format) -> str | None:
    """What is shown above a document's text: its title, then a ``line`` for each of the fields; None for nothing.

    The text itself stays as it is, so that offsets in it are exact.
    """
    title = metadata.get("title")
    lines = [title] if isinstance(title, str) and title else []
    shown = [field for field in fields if metadata.get(field) is not None and not (field == "title" and lines)]
    return "\n".join([*lines, *(line(field, metadata[field]) for field in shown)]) or None


def citation_title(metadata: Mapping[str, Any]) -> str | None:
    """What a citation calls a document: its title, or else its source, as loaders name it, and the page."""
    title, (name, page) = metadata.get("title"), source_and_page(metadata)
    if isinstance(title, str) and title:
        return title
    return f"{name}, {page}" if name and page else name


def source_and_page(metadata: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """The source of a document, as loaders name it, and its page, as ``page 3``.

    A source in a file system is called by the file's name: who reads a citation knows no folder of ours. Loaders count
    pages from 0 in ``page`` and write what the page says of itself in ``page_label``, which comes first.
    """
    found = (metadata.get(key) for key in ("source", "file_name", "file_path"))
    source = next((name for name in found if isinstance(name, str) and name), None)
    if source and "://" not in source:
        source = PurePosixPath(source.replace("\\", "/")).name or source
    page = next((p for p in map(metadata.get, ("page_label", "page")) if isinstance(p, str | int)), "")
    return source, None if page == "" else f"page {page}"


def citation_url(metadata: Mapping[str, Any]) -> str | None:
    """The web address that a document came from, where its metadata has one."""
    named = (metadata.get(key) for key in ("url", "source"))
    return next((u for u in named if isinstance(u, str) and u.startswith(("http://", "https://"))), None)
