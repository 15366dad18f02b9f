"""The data sets: files of our own text in each set's format, and what is read from them."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from intrinsics_core.bench.datasets import (
    CLAIMS,
    QUESTIONS,
    REWRITES,
    ClaimRow,
    PassageRow,
    QuestionRow,
    RecordedAnswer,
    RewriteRow,
    recorded_answers,
    wikipedia,
)
from intrinsics_core.bench.folder import DataFolder
from intrinsics_core.bench.support_sets import Answered, answered
from intrinsics_core.training.rows_from import build
from training.reader.data import CLAIMS as READER_CLAIMS
from training.reader.measuring import TABLES
from training.support_data import SETS, Example

BUILT, GROUND = "Ada Brink built the mill.", "It ground flour until 1958."
BOTH = f"{BUILT} {GROUND}"
ASKED = "Who built the mill?"
Rows = list[dict[str, Any]]

_ENTAILED: Rows = [{"premise": BOTH, "hypothesis": BUILT, "label": "entailment"},
                   {"premise": BOTH, "hypothesis": GROUND, "label": "neutral"}]  # fmt: skip
_PAIR = [ClaimRow(BUILT, (BOTH,), True), ClaimRow(GROUND, (BOTH,), False)]

CLAIM_FILES: dict[str, tuple[dict[str, Rows], list[ClaimRow]]] = {
    "everyday": (
        {"everyday_dev": [{"doc": BOTH, "q": ASKED, "true": ["Ada."], "false": ["Karl."], "other_q": [],
                           "other_a": [["Until when?", "1958.", True]]}]},
        [ClaimRow("Ada.", (BOTH,), True, ASKED), ClaimRow("Karl.", (BOTH,), False, ASKED),
         ClaimRow("1958.", (BOTH,), True, "Until when?")],
    ),
    "lfqa": (
        {"lfqa_verification": [
            {"id": 1, "docs_set": "a", "system": "s", "n": 1, "sentence": "Pigs fly.", "label": "partially"},
            {"id": 1, "docs_set": "a", "system": "s", "n": 0, "sentence": BUILT, "label": "supported",
             "question": ASKED, "docs": [{"text": BOTH}]}]},
        [ClaimRow(f"{BUILT} Pigs fly.", (BOTH,), False, ASKED, (), ((BUILT, True), ("Pigs fly.", False)), "1", "s")],
    ),
    "begin": (
        {"begin": [{"premise": BOTH, "message": "Tell me.", "hypothesis": BUILT, "label": label}
                   for label in ("Fully attributable", "Not fully attributable", "Generic")]},
        [ClaimRow(BUILT, (BOTH,), supported, "Tell me.") for supported in (True, False, None)],
    ),
    "fever": (
        {"fever_dev_nli": [{"premise": BOTH, "hypothesis": c, "label": i} for c, i in ((BUILT, 1), (GROUND, 0))]},
        _PAIR,
    ),
    "halueval": (
        {"halueval": [{"knowledge": BOTH, "question": ASKED, "answer": "Ada", "hallucinated": 0}]},
        [ClaimRow("Ada", (BOTH,), True, ASKED)],
    ),
    "summedits": (
        {"summedits": [{"doc_id": "d", "summary": BUILT, "label": 1, "doc": BOTH},
                       {"doc_id": "d", "summary": GROUND, "label": 0}]},
        [ClaimRow(BUILT, (BOTH,), True, group="d"), ClaimRow(GROUND, (BOTH,), False, group="d")],
    ),
    "healthver": (
        {"healthver": [{"evidence": BOTH, "claim": BUILT, "label": "Supports"},
                       {"evidence": BOTH, "claim": GROUND, "label": "Neutral"}]},
        _PAIR,
    ),
    "climate-fever": (
        {"climate_fever": [{"evidence": BOTH, "claim": BUILT, "label": "SUPPORTS"},
                           {"evidence": BOTH, "claim": GROUND, "label": "NOT_ENOUGH_INFO"}]},
        _PAIR,
    ),
    "covid-fact": (
        {"covidfact": [{"evidence": [BUILT, GROUND], "claim": BUILT, "label": "SUPPORTED"}]},
        [ClaimRow(BUILT, (BUILT, GROUND), True)],
    ),
    "fm2": (
        {"fm2": [{"claim": "Ada built it.", "gold": [BUILT], "retrieved": [GROUND, BUILT], "label": "SUPPORTS"}]},
        [ClaimRow("Ada built it.", ((BUILT, GROUND),), True, gold=((0,),), group=BUILT)],
    ),
    "expertqa": (
        {"expertqa_claims": [
            {"question": ASKED, "system": "x", "claim": BUILT, "support": "Complete",
             "evidence": [f"[1] http://a {BOTH * 2}", "[2] http://b "]},
            {"question": ASKED, "system": "x", "claim": GROUND, "evidence": ["[1] http://a"], "support": "Complete"}]},
        [ClaimRow(BUILT, (BOTH * 2, ""), True, ASKED, system="x")],
    ),
    "scifact": (
        {"scifact_corpus": [{"id": 7, "title": "Mills", "sentences": [BUILT, GROUND]}],
         "scifact_claims": [{"claim": "Ada built it.", "docs": [7],
                             "evidence": {"7": [{"sentences": [0], "label": "SUPPORT"}]}}]},
        [ClaimRow("Ada built it.", ((BUILT, GROUND),), True, gold=((0,),))],
    ),
    "wice": (
        {"wice": [{"split": "test", "claim": "It ground.", "evidence": [BUILT, GROUND], "supporting": [[1], []],
                   "label": "supported"}]},
        [ClaimRow("It ground.", ((BUILT, GROUND),), True, gold=((1,),), group=BUILT + GROUND, part="test")],
    ),
    "snli": ({"snli_devtest": _ENTAILED}, _PAIR),
    "mnli": ({"mnli_dev": _ENTAILED}, _PAIR),
    "cad": ({"cad_nli": _ENTAILED}, _PAIR),
    "med": ({"med": _ENTAILED}, _PAIR),
    "help": ({"help": _ENTAILED}, _PAIR),
    "lingnli": ({"lingnli": _ENTAILED}, _PAIR),
    "clapnq": (
        {"clapnq_dev": [
            {"id": "1", "question": ASKED, "title": "Mills", "sentences": [BUILT, GROUND], "answerable": True,
             "answer": "Ada.", "selected_sentences": [BUILT]},
            {"id": "2", "question": "Where?", "title": "Mills", "sentences": [BUILT, GROUND], "answerable": False}]},
        [ClaimRow("Ada.", ((BUILT, GROUND),), True, ASKED, gold=((0,),))],
    ),
}  # fmt: skip

QUESTION_FILES: dict[str, tuple[dict[str, Rows], list[QuestionRow]]] = {
    "everyday": (
        {"everyday_dev": [{"doc": BOTH, "q": ASKED, "other_q": [["Where?", False]]}]},
        [QuestionRow(ASKED, (BOTH,), True), QuestionRow("Where?", (BOTH,), False)],
    ),
    "squad2": (
        {"squad2_dev_b": [{"id": "1", "title": "Tide_mill", "context": BOTH, "question": ASKED, "answerable": True,
                           "answers": ["Ada Brink"]}]},
        [QuestionRow(ASKED, (BOTH,), True, ("Ada Brink",), title="Tide_mill", identity="1")],
    ),
    "clapnq": (
        CLAIM_FILES["clapnq"][0],
        [QuestionRow(ASKED, ((BUILT, GROUND),), True, ("Ada.",), (0,), "Mills", "1"),
         QuestionRow("Where?", ((BUILT, GROUND),), False, title="Mills", identity="2")],
    ),
    "cast": (
        {"cast_answerability": [{"question": ASKED, "passage": BOTH, "answerable": True, "grade": 3}]},
        [QuestionRow(ASKED, (BOTH,), True, grade=3)],
    ),
    "policyqa": (
        {"policyqa": [{"context": BOTH, "question": ASKED, "answers": ["Ada"]}]},
        [QuestionRow(ASKED, (BOTH,), True, ("Ada",))],
    ),
    "pubmedqa": (
        {"pubmedqa": [{"id": "9", "question": ASKED, "contexts": [BUILT, GROUND], "answer": "Ada."}]},
        [QuestionRow(ASKED, (BUILT, GROUND), True, ("Ada.",), identity="9")],
    ),
}  # fmt: skip

REWRITE_FILES: dict[str, tuple[dict[str, Rows], list[RewriteRow]]] = {
    "canard": (
        {"qr_canard_dev": [{"id": "C_1", "history": ["Ada", "Life", "Where?", "In Brink."], "question": "When?",
                            "rewrite": "When in Brink?"}]},
        [RewriteRow("C_1", (("user", "Ada"), ("user", "Life"), ("user", "Where?"), ("assistant", "In Brink.")), "When?",
                 "When in Brink?")],
    ),
    "cast-ikat": (
        {"qr_cast_ikat": [{"id": "cast19:1_1", "source": "cast19", "history": [], "question": "Who?",
                           "rewrite": "Who?"}]},
        [RewriteRow("cast19:1_1", (), "Who?", "Who?", "cast19")],
    ),
    "alexa": (
        {"qr_alexa_cqr": [{"history": [{"role": "user", "content": "Gas"}], "question": "Go",
                           "rewrite": "Go for gas"}]},
        [RewriteRow("0", (("user", "Gas"),), "Go", "Go for gas")],
    ),
}  # fmt: skip


def written(folder: Path, files: dict[str, Rows]) -> DataFolder:
    for name, rows in files.items():
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        (folder / f"{name}.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    return DataFolder(folder)


@pytest.mark.parametrize("name", CLAIM_FILES)
def test_claims_are_read_from_the_sets_own_format(name: str, tmp_path: Path) -> None:
    files, expected = CLAIM_FILES[name]
    assert list(CLAIMS[name].read(written(tmp_path, files))) == expected


@pytest.mark.parametrize("name", QUESTION_FILES)
def test_questions_are_read_from_the_sets_own_format(name: str, tmp_path: Path) -> None:
    files, expected = QUESTION_FILES[name]
    assert list(QUESTIONS[name](written(tmp_path, files))) == expected


@pytest.mark.parametrize("name", REWRITE_FILES)
def test_rewrites_are_read_from_the_sets_own_format(name: str, tmp_path: Path) -> None:
    files, expected = REWRITE_FILES[name]
    assert list(REWRITES[name](written(tmp_path, files))) == expected


def test_every_set_has_a_file_of_our_own_here() -> None:
    assert set(CLAIM_FILES) == set(CLAIMS)
    assert set(QUESTION_FILES) == set(QUESTIONS)
    assert set(REWRITE_FILES) == set(REWRITES)


def test_passages_and_recorded_answers(tmp_path: Path) -> None:
    folder = written(tmp_path, {
        "wikipedia_passages": [{"id": 3, "text": f"Mills\n{BOTH}"}],
        "uq_recorded": [{"question": ASKED, "answer": "Ada.", "logprobs": [-0.5], "truthful": 1}],
    })  # fmt: skip
    assert list(wikipedia(folder)) == [PassageRow("3", f"Mills\n{BOTH}")]
    assert list(recorded_answers(folder)) == [RecordedAnswer(ASKED, "Ada.", (-0.5,), True)]


def test_a_table_a_head_and_the_reader_take_what_they_need_of_the_same_set(tmp_path: Path) -> None:
    folder = written(tmp_path, CLAIM_FILES["wice"][0])
    claim, first, second = "It ground.", len(BUILT) + 1, len(BOTH)
    assert list(answered("wice")(folder)) == [Answered(claim, (BOTH,), True, gold=(((0, first, second),),))]
    assert list(SETS["wice"].read(tmp_path)) == [Example("wice", [claim], [[BUILT, GROUND]], [1.0], 1.0, gold=[[1]])]
    parts = [list(READER_CLAIMS["wice"](tmp_path, part)) for part in ("train", "dev", "held")]
    ((row,),) = filter(None, parts)  # in one part of the split, and in no other
    assert (row.sources, row.claim, row.label, row.gold) == ((BUILT, GROUND), claim, 1.0, (1,))


def test_what_is_not_labelled_or_has_no_words_is_left_to_no_table(tmp_path: Path) -> None:
    rows = [*CLAIM_FILES["begin"][0]["begin"], {"premise": " ", "message": "", "hypothesis": BUILT,
                                                "label": "Fully attributable"}]  # fmt: skip
    found = list(answered("begin")(written(tmp_path, {"begin": rows})))
    assert [row.supported for row in found] == [True, False]


def test_lists_of_evidence_are_texts_to_tables_and_one_text_to_the_reader(tmp_path: Path) -> None:
    folder = written(tmp_path, CLAIM_FILES["covid-fact"][0])
    ((text, claim),) = next(iter(TABLES["COVID-Fact"][0](tmp_path, None))).pairs  # type: ignore[arg-type]
    assert (text, claim) == (BOTH, BUILT)
    assert next(answered("covid-fact")(folder)).sources == (BUILT, GROUND)


def test_rows_to_train_on_come_from_the_same_sets(tmp_path: Path) -> None:
    written(tmp_path, QUESTION_FILES["clapnq"][0])
    rows, dropped = build("answerability", tmp_path, sets=("clapnq",))
    assert not dropped and [row["id"] for row in rows] == ["clapnq-1", "clapnq-2"]
    assert [row["documents"] for row in rows] == [[{"text": BOTH, "title": "Mills"}]] * 2
