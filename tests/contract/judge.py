"""A judge that answers the ``prompted`` profile from the words it is shown: no constant reply, so that a verdict on the
wrong passage shows.
"""

from __future__ import annotations

import re
from typing import Any

from intrinsics_core.profiles.asking import data_of
from intrinsics_core.protocol.requests import Generate

_STOP = frozenset(
    [
        "a",
        "an",
        "and",
        "by",
        "did",
        "do",
        "does",
        "for",
        "had",
        "has",
        "have",
        "how",
        "in",
        "is",
        "it",
        "many",
        "of",
        "on",
        "s",
        "the",
        "to",
        "was",
        "what",
        "when",
        "where",
        "who",
    ]
)


def judge(request: Generate) -> str | dict[str, Any]:
    """The reply to one request, by the title of its schema."""
    assert request.messages is not None
    if request.constraint is None:
        return f"I recall that {data_of(request.messages[-1].content)['conversation'][-1]['content']}"
    shown = data_of(request.messages[-1].content)
    return _REPLIES[request.constraint.schema["title"]](shown)  # type: ignore[union-attr]


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.casefold())) - _STOP


def _share(of: str, found_in: str) -> float:
    words = _words(of)
    return round(len(words & _words(found_in)) / len(words), 3) if words else 0.0


def _question(shown: dict[str, Any]) -> str:
    before = [turn["content"] for turn in shown.get("conversation", ()) if turn["role"] == "user"]
    return " ".join([*before, *([shown["question"]] if "question" in shown else [])])


def _rewrite(shown: dict[str, Any]) -> dict[str, Any]:
    return {"rewritten_question": _question(shown)}


def _synonym(shown: dict[str, Any]) -> dict[str, Any]:
    return {"query": f"in other words: {_question(shown)}"}


def _reverse(shown: dict[str, Any]) -> dict[str, Any]:
    return {"question": f"What is {shown['answer']}"}


def _relevance(shown: dict[str, Any]) -> dict[str, Any]:
    share = _share(_question(shown), shown["document"]["text"])
    label = "relevant" if share >= 0.5 else "partially relevant" if share >= 0.2 else "irrelevant"
    return {"context_relevance": label, "confidence": 0.4 + share / 2}


def _answerability(shown: dict[str, Any]) -> dict[str, Any]:
    share = max((_share(_question(shown), d["text"]) for d in shown["documents"]), default=0.0)
    return {"answerability": "answerable" if share >= 0.4 else "unanswerable", "confidence": 0.5 + share / 2}


def _comparison(shown: dict[str, Any]) -> dict[str, Any]:
    a, b = (_share(_question(shown), shown["passages"][name]["text"]) for name in "AB")
    return {"preferred": "A" if a >= b else "B", "confidence": 0.9}


def _listwise(shown: dict[str, Any]) -> dict[str, Any]:
    asked = _question(shown)
    ranked = sorted(shown["documents"], key=lambda d: -_share(asked, d["text"]))
    return {"ranking": [d["id"] for d in ranked]}


def _certainty(shown: dict[str, Any]) -> dict[str, Any]:
    sources = " ".join(d["text"] for d in shown["documents"])
    told = shown.get("response") or shown["conversation"][-1]["content"]
    return _correct(_share(told, sources), "confidence")


def _correct(share: float, confidence: str) -> dict[str, Any]:
    return {"correct": "yes" if share >= 0.5 else "no", confidence: max(share, round(1 - share, 3))}


def _hallucination(shown: dict[str, Any]) -> dict[str, Any]:
    sources = " ".join(d["text"] for d in shown["documents"])
    rows = []
    for name, sentence in shown["response"].items():
        share = _share(sentence, sources)
        label = "faithful" if share >= 0.7 else "partial" if share >= 0.4 else "unfaithful"
        rows.append({"id": name, "reason": f"{share} of its words are in the documents", "faithfulness": label})
    return {"sentences": rows}


def _citations(shown: dict[str, Any]) -> dict[str, Any]:
    sources = {name: text for d in shown["documents"] for name, text in d["sentences"].items()}
    return {
        "citations": [
            {"response": name, "sources": [c for c, text in sources.items() if _share(sentence, text) >= 0.6]}
            for name, sentence in shown["response"].items()
        ]
    }


def _entailment(shown: dict[str, Any]) -> dict[str, Any]:
    share = _share(shown["claim"].rpartition(": ")[2], shown["source"]["text"])
    return {"supported": "yes" if share >= 0.5 else "no", "confidence": 0.5 + share / 2}


def _evaluate(shown: dict[str, Any]) -> dict[str, Any]:
    sources = {d["id"]: d["text"] for d in shown["documents"]} | {t["id"]: t["content"] for t in shown["conversation"]}
    share = _share(shown["response"], " ".join(sources.values()))
    best = max(sources, key=lambda name: _share(shown["response"], sources[name]), default="response")
    quote = " ".join(sources.get(best, shown["response"]).split()[:4])
    return {
        "explanation": f"{shown['metric']}: {share} of its words are in what was given",
        "statements": [{"text": "It has words in common with this.", "citations": [{"source": best, "quote": quote}]}],
        "rating": "yes" if share >= 0.5 else "no",
        "confidence": 0.5 + share / 2,
    }


def _preference(shown: dict[str, Any]) -> dict[str, Any]:
    a, b = (_share(_question(shown), shown["responses"][name]) for name in "AB")
    return {"preferred": "A" if a >= b else "B", "confidence": 0.9}


def _answer_relevance(shown: dict[str, Any]) -> dict[str, Any]:
    share = _share(_question(shown), shown["response"])
    label = "relevant" if share >= 0.5 else "partially relevant" if share >= 0.2 else "irrelevant"
    return {"answer_relevance": label, "confidence": 0.4 + share / 2}


def _answer_rewrite(shown: dict[str, Any]) -> dict[str, Any]:
    return {"rewritten_answer": f"{_question(shown)} {shown['response']}"}


def _hyde(shown: dict[str, Any]) -> dict[str, Any]:
    return {"passage": f"It is known of this: {_question(shown)}"}


def _candidate(shown: dict[str, Any]) -> dict[str, Any]:
    return {"reasoning": "As it was asked.", "answer": f"I recall that {_question(shown)}"}


def _agreement(shown: dict[str, Any]) -> dict[str, Any]:
    groups: dict[frozenset[str], list[str]] = {}
    for name, text in shown["answers"].items():
        groups.setdefault(frozenset(_words(text)), []).append(name)
    return {"groups": list(groups.values())}


def _audit(shown: dict[str, Any]) -> dict[str, Any]:
    """The same verdicts as one by one."""
    whole = [{"text": " ".join(d["sentences"].values())} for d in shown["documents"]]
    verdicts, cited = _hallucination({**shown, "documents": whole}), _citations(shown)
    rows = zip(verdicts["sentences"], cited["citations"], strict=True)
    answer, sources = " ".join(shown["response"].values()), " ".join(d["text"] for d in whole)
    return {
        **_answerability({**shown, "documents": whole}),
        "sentences": [{**verdict, "sources": row["sources"]} for verdict, row in rows],
        "answers_question": "yes" if _share(_question(shown), answer) > 0.2 else "no",
        **_correct(_share(answer, sources), "certainty"),
    }


def _mended(shown: dict[str, Any]) -> dict[str, Any]:
    """Each flagged sentence without the words that stand in no document; too few of them, and it goes."""
    sources = _words(" ".join(d["text"] for d in shown["documents"]))
    rows = []
    for name in shown["flagged"]:
        words = shown["response"][name].split()
        kept = [word for word in words if _words(word) <= sources]
        rows.append({"id": name, "text": " ".join(kept) if 2 * len(kept) > len(words) else ""})
    return {"mended": rows}


_REPLIES = {
    "evaluate": _evaluate,
    "preference": _preference,
    "answer_relevance": _answer_relevance,
    "answer_rewrite": _answer_rewrite,
    "hyde": _hyde,
    "candidate": _candidate,
    "agreement": _agreement,
    "query_rewrite": _rewrite,
    "synonym_query": _synonym,
    "reverse_question": _reverse,
    "context_relevance": _relevance,
    "answerability": _answerability,
    "comparison": _comparison,
    "listwise": _listwise,
    "uncertainty": _certainty,
    "hallucination_detection": _hallucination,
    "citations": _citations,
    "entailment": _entailment,
    "audit": _audit,
    "revise": _mended,
}
