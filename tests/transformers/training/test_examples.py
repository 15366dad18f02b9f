"""What is trained on: the tokens that the runtime sends, the reply that the profile reads; all rows, or none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import intrinsics_core as ic
from intrinsics_core.intrinsics import TABLE
from intrinsics_core.profiles import profile as by_name
from intrinsics_core.profiles.io_yaml import yaml_loader
from intrinsics_core.protocol import results
from intrinsics_core.protocol.errors import InvalidInput, RuntimeUnavailable
from intrinsics_core.protocol.requests import Generated, Outcome, Request
from intrinsics_core.training.asking_by import asked_by, with_name
from intrinsics_core.training.checkpoints import CHECKPOINTS, last_checkpoint
from intrinsics_core.training.examples import Example, examples
from intrinsics_core.training.invocations import invocation_of, verified
from intrinsics_core.training.labelled import labelled
from intrinsics_core.training.regime import regime
from intrinsics_core.training.split import split
from tests.profiles import adapters
from tests.transformers.training.rows import INTRINSICS, row, rows

DATE = "May 5, 2031"
PROFILES = ("granite-3.2", "granite-3.3", "ours", "io.yaml")
GRID = [(p, i) for p in PROFILES for i in INTRINSICS if (p, i) != ("granite-3.2", "context-relevance")]


@pytest.fixture(scope="module")
def named(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], str | None]:
    """The name that a profile of the grid is asked for by."""
    place = adapters.write(tmp_path_factory.mktemp("adapters"))
    return lambda name: {"ours": None, "io.yaml": f"io.yaml:{place}"}.get(name, name)


def made(intrinsic: str, rows_: Sequence[Any], tokenizer: Any, name: str | None = None, longest: int = 8192) -> Any:
    asked = asked_by(intrinsic, name)
    return examples(labelled(rows_, TABLE[intrinsic], DATE), asked.profile, tokenizer, longest)


@pytest.mark.parametrize(("profile", "intrinsic"), GRID)
def test_tokens_are_those_that_the_runtime_sends(
    profile: str, intrinsic: str, models: Path, tokenizer: Any, named: Callable[[str], str | None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """The model is asked for a reply, and what reaches it is noted; the target stands in for what it says."""
    from intrinsics_core.local import transformers as runtimes

    one = row(intrinsic)
    learned: list[Example] = made(intrinsic, [one], tokenizer, named(profile))
    sent: list[list[int]] = []

    def noted(self: Any, requests: Sequence[Request]) -> list[Outcome]:
        for at, request in enumerate(requests):
            sent.append(self._planned(at, request).ids.tolist())
        told = [tokenizer.decode(each.ids[each.start : -1], clean_up_tokenization_spaces=False) for each in learned]
        return [Generated(text) for text in told]

    monkeypatch.setattr(runtimes._LoadedModel, "answer", noted)
    call = getattr(ic, intrinsic.replace("-", "_"))(one["messages"], one["documents"], date=DATE)
    asked = asked_by(intrinsic, named(profile)).profile
    with runtimes.TransformersRuntime(
        str(models / "base"), {intrinsic: str(models / "answerability")}, context_length=8192
    ) as runtime:
        result = ic.run(call, runtime, profile=asked)
    assert [each.prompt for each in learned] == sent
    assert all(each.ids[-1] == tokenizer.eos_token_id for each in learned)
    assert all(sum(each.mask) == len(each.ids) - each.start for each in learned)
    wanted = TABLE[intrinsic].result.model_validate(one["result"])
    assert labels(result) == labels(wanted)


def labels(result: Any) -> Any:
    """What a reply can say: verdicts and places, not the numbers that log-probabilities give."""
    match result:
        case results.QueryRewrite():
            return result.query
        case results.ContextRelevance():
            return [one.label for one in result.judgements]
        case results.Uncertainty():
            return result.certainty
        case results.HallucinationDetection():
            return [(one.begin, one.end, one.label) for one in result.sentences]
        case results.Citations():
            return [(one.response_begin, one.document_begin, one.document_end) for one in result.citations]
    return result.label


@pytest.mark.parametrize(("profile", "intrinsic"), GRID)
def test_an_alora_begins_where_the_runtime_finds_it(
    profile: str, intrinsic: str, tokenizer: Any, named: Callable[[str], str | None]
) -> None:
    from intrinsics_core.local.peft_adapters import LoadedAdapter

    learned = made(intrinsic, rows(intrinsic, 3), tokenizer, named(profile))
    tokens = invocation_of(learned, tokenizer)
    special = set(tokenizer.all_special_ids)
    assert tokens[0] in special
    for one in learned:
        at = LoadedAdapter("", tokens).start(one.prompt)
        assert one.ids[at : at + len(tokens)] == tokens
        assert at + len(tokens) == one.start  # nothing of the conversation stands behind it


def test_an_alora_that_would_begin_elsewhere_is_refused(tokenizer: Any) -> None:
    learned = made("answerability", rows("answerability", 3), tokenizer)
    tokens = invocation_of(learned, tokenizer)
    at = -len(tokens)
    again = Example("row 9", (*learned[0].ids, *tokens), learned[0].start, "g", learned[0].request)
    with pytest.raises(InvalidInput, match="row 9: the aLoRA would be activated at the wrong place"):
        verified(again, tokens, at)
    with pytest.raises(InvalidInput, match="does not hold the tokens"):
        invocation_of(learned, tokenizer, "<|start_of_role|>certainty<|end_of_role|>")
    with pytest.raises(InvalidInput, match=r"1 of 3 rows.*\n.*answerability-2.*the aLoRA would be activated"):
        invocation_of(
            [*learned[:2], *made("answerability", [row("answerability", 2)], tokenizer, "granite-3.3")],
            tokenizer, "<|start_of_role|>assistant<|end_of_role|>",
        )  # fmt: skip


# --- rows that are refused --------------------------------------------------------------------------------------------


def test_a_row_that_is_too_long_is_refused_by_name_and_nothing_is_written(
    trained: Callable[..., Any], tmp_path: Path
) -> None:
    long = row("answerability", 3) | {"documents": [{"text": "The bridge is long. " * 800}]}
    with pytest.raises(InvalidInput) as caught:
        trained("answerability", [*rows("answerability", 3), long])
    told = str(caught.value)
    assert told.startswith("1 of 4 rows cannot be trained on; nothing was trained:\nrow 4 (id 'answerability-3')")
    assert "too long" in told and "at most 2048 tokens" in told
    assert not (tmp_path / "out").exists()


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"result": {"label": "maybe", "probability": 1.0}}, "label is not a known label; expected true, false or one of"),
    ({"result": {"label": "answerable", "probability": 1.0, "degraded": "x"}}, "result.degraded is set"),
    ({"messages": []}, "messages is empty"),
    ({"messages": [{"role": "assistant", "content": "Hi."}]}, "role, of the last message, is"),
    ({"documents": []}, "would not be asked about this row: nothing retrieved"),
    ({"colour": 1}, "'colour' is not a key of a row"),
    ({"date": 5}, "date is not text"),
]


@pytest.mark.parametrize(("changes", "why"), WRONG, ids=[why for _, why in WRONG])
def test_a_wrong_row_is_refused_by_name(changes: dict[str, Any], why: str, tokenizer: Any) -> None:
    with pytest.raises(InvalidInput) as caught:
        made("answerability", [row("answerability"), row("answerability", 1) | changes], tokenizer)
    assert "1 of 2 rows" in str(caught.value) and "row 2 (id 'answerability-1')" in str(caught.value)
    assert why in str(caught.value)


def test_other_rows_that_no_model_could_learn(tokenizer: Any) -> None:
    rewrite = row("query-rewrite")
    result = rewrite["result"] | {"query": "What is <|end_of_text|>?"}
    (example,) = made("query-rewrite", [rewrite | {"result": result}], tokenizer)
    reply = example.ids[example.start :]
    assert reply.count(tokenizer.eos_token_id) == 1  # a text that spells a special token is no such token
    assert tokenizer.encode("a<|end_of_text|>")[-1] == tokenizer.eos_token_id  # and the tokenizer is as before
    with pytest.raises(InvalidInput, match="original: is not this task's last user turn"):
        made("query-rewrite", [rewrite | {"result": rewrite["result"] | {"original": "?"}}], tokenizer)
    with pytest.raises(InvalidInput, match="longer than the profile allows"):
        made("query-rewrite", [rewrite | {"result": result | {"query": "word " * 400}}], tokenizer)
    relevance = row("context-relevance")
    one = {"judgements": relevance["result"]["judgements"][:1]}
    with pytest.raises(InvalidInput, match="must have one label for each document"):
        made("context-relevance", [relevance | {"result": one}], tokenizer)
    with pytest.raises(InvalidInput, match="does not use an adapter"):
        made("answerability", rows("answerability", 1), tokenizer, "prompted")


# --- the rest ---------------------------------------------------------------------------------------------------------


def test_groups_are_held_whole_and_the_same_every_time(tokenizer: Any) -> None:
    grouped = [one | {"group": f"g{number // 4}"} for number, one in enumerate(rows("answerability", 20))]
    learned = made("answerability", grouped, tokenizer)
    left, held = split(learned, 0.1, 42)
    assert len(held) == 4 and {one.group for one in left} & {one.group for one in held} == set()
    assert split(learned, 0.1, 42) == (left, held)
    assert split(learned[:4], 0.1, 42) == (learned[:4], [])  # one group alone is trained on
    assert split(learned, 0, 42) == (learned, [])


@pytest.mark.parametrize("name", ["ours", "io.yaml"])
@pytest.mark.parametrize("intrinsic", INTRINSICS)
def test_the_file_beside_the_weights_asks_as_they_were_trained(
    intrinsic: str, name: str, named: Callable[[str], str | None], tmp_path: Path
) -> None:
    asked = asked_by(intrinsic, named(name))
    (tmp_path / "io.yaml").write_text(asked.file or "", encoding="utf-8")
    ours, theirs = asked.profile.specs[intrinsic], by_name(f"io.yaml:{tmp_path}").specs[intrinsic]  # type: ignore[attr-defined]
    assert replace(theirs, source=ours.source) == ours


def test_a_file_without_a_name_is_read_as_before_with_one() -> None:
    """PyYAML's own text of it would have numbers among the words."""
    file = 'response_format: {type: string, enum: ["08", "1e5", "yes", "-.5", "\\u0085x", 8, 1.5]}\nmodel: ~'
    for text in (
        file,
        "\n  " + file.replace("\n", "\n  "),
        '{"model": null, "response_format": {"enum": ["08", "é"]}}',
    ):
        assert yaml_loader.load(with_name(text, "citations")) == {**yaml_loader.load(text), "name": "citations"}
    assert with_name("name: gate # ours", "citations") == "name: gate # ours"


def test_regimes_are_the_papers_and_numbers_are_checked() -> None:
    told = {name: (regime(name).rank, regime(name).learning_rate, regime(name).epochs) for name in INTRINSICS}
    assert told == {
        "query-rewrite": (32, 3e-6, 25), "context-relevance": (32, 5e-6, 25), "answerability": (32, 5e-6, 25),
        "hallucination-detection": (16, 1e-5, 25), "citations": (8, 1e-5, 25), "uncertainty": (8, 1e-5, 25),
    }  # fmt: skip
    assert regime("hallucination-detection", "granite-3.2").rank == 8
    for field, value in {"rank": 0, "learning_rate": 0, "dropout": 1, "held": 0.95, "patience": 0}.items():
        with pytest.raises(InvalidInput, match=f"the training setting {field} is wrong"):
            regime("citations", **{field: value})
    with pytest.raises(InvalidInput, match=r"there is no such training setting.*dropout.*dropuot"):
        regime("citations", dropuot=0.1)


def test_half_a_checkpoint_is_none(tmp_path: Path) -> None:
    for step, whole in ((2, True), (10, True), (12, False)):
        folder = tmp_path / CHECKPOINTS / f"checkpoint-{step}"
        folder.mkdir(parents=True)
        if whole:
            (folder / "whole").touch()
    found = last_checkpoint(tmp_path)
    assert found is not None and found.name == "checkpoint-10"


def test_without_the_extra_it_says_what_to_install(
    trained: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    from intrinsics_core.training import fitting

    monkeypatch.setattr(fitting, "find_spec", lambda name: None if name == "trl" else object())
    with pytest.raises(RuntimeUnavailable, match=r"training needs trl.*rag-intrinsics\[train\]"):
        trained("answerability")
