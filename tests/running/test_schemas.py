"""The JSON schemas of results are published files: results keep to them, and a change of them is a new version."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, ClassVar

import jsonschema
import pytest
from pydantic import ValidationError
from typer.testing import CliRunner

from intrinsics_core import INTRINSICS, InvalidInput, compare, run
from intrinsics_core.cli import app
from intrinsics_core.protocol.results import Answerability, Audit, Citations, QueryRewrite, Result
from intrinsics_core.running.flows import RagResult
from intrinsics_core.running.schemas import FOLDER, RESULTS, published
from tests.contract.judge import judge
from tests.running.schema_files import differing, write
from tests.scripted import Scripted
from tests.tide_mill import ANSWERED, ASKED, DOCUMENTS

AFTER_A_QUESTION = ("query-rewrite", "query-expansion", "context-relevance", "answerability", "reranking", "hyde",
                    "self-consistency")  # fmt: skip
SURE = Answerability(label="answerable", probability=0.9)


def results() -> dict[str, Result]:
    """One of each intrinsic."""
    runtime = Scripted(judge)
    found = {}
    for name, function in INTRINSICS.items():
        turns = ASKED if name in AFTER_A_QUESTION else ANSWERED
        found[name] = run(function(turns, *((DOCUMENTS,) if name not in _WITHOUT_DOCUMENTS else ())), runtime)
    return found


_WITHOUT_DOCUMENTS = ("query-rewrite", "query-expansion", "hyde")


def test_what_is_published_is_what_results_are() -> None:
    assert differing() == {}, "python -m tests.running.schema_files --write"
    for path in FOLDER.iterdir():
        name, version, suffix = path.name.split(".")
        assert suffix == "json" and 1 <= int(version) <= RESULTS[name].schema_version
        jsonschema.Draft202012Validator.check_schema(json.loads(path.read_text()))


def test_every_result_keeps_to_its_schema() -> None:
    found = results() | {
        "compare": run(compare(ASKED, "Ada Brink.", "Nobody."), Scripted(judge)),
        "rag": RagResult(answer="Ada.", answered=True, query="Who?", documents=(), answerability=SURE),
    }
    assert set(found) == set(RESULTS) - {"adapter"}
    for name, result in found.items():
        for told in (result.model_dump(mode="json"), json.loads(result.model_dump_json())):
            jsonschema.validate(told, published(name))
            with pytest.raises(jsonschema.ValidationError):
                jsonschema.validate(told | {"mood": "sunny"}, published(name))
            assert told["schema_version"] == RESULTS[name].schema_version
            assert json.dumps(told).count("schema_version") == 1, "only the whole has one, not its parts"
        again = RESULTS[name].model_validate(result.model_dump(mode="json"))
        assert RESULTS[name].model_validate_json(result.model_dump_json()) == again


class Wider(Answerability):
    """A result that got a field."""

    mood: str = ""


class WiderAndNewer(Wider):
    schema_version: ClassVar[int] = 2


def test_a_changed_result_of_the_same_version_fails_the_check(tmp_path: Path) -> None:
    write({"answerability": Answerability}, tmp_path)
    (file,) = tmp_path.iterdir()
    before = file.read_text()
    assert differing({"answerability": Answerability}, tmp_path) == {}
    assert "schema_version is 1 as before" in differing({"answerability": Wider}, tmp_path)["answerability"]
    with pytest.raises(InvalidInput, match="answerability: the result changed"):
        write({"answerability": Wider, "audit": Audit}, tmp_path)
    assert list(tmp_path.iterdir()) == [file] and file.read_text() == before

    newer = {"answerability": WiderAndNewer}
    assert "answerability.2.json is missing" in differing(newer, tmp_path)["answerability"]
    assert [path.name for path in write(newer, tmp_path)] == ["answerability.2.json"]
    assert differing(newer, tmp_path) == {} and file.read_text() == before

    write({"answerability": Wider}, tmp_path, unreleased=True)
    assert file.read_text() != before


def test_what_was_written_can_be_read_again() -> None:
    dump = SURE.model_dump()
    assert dump == {"label": "answerable", "probability": 0.9, "schema_version": 1}
    assert Answerability.model_validate(dump) == SURE == Answerability(**dump)
    assert WiderAndNewer.model_validate(dump) == WiderAndNewer(label="answerable", probability=0.9)  # an older file
    rewrite = QueryRewrite(query="Who?", original="Who?", changed=False)
    assert QueryRewrite.model_validate(rewrite.model_dump()) == rewrite
    for version in (2, 0, True, "1", None, 1.0):
        with pytest.raises(ValidationError, match="schema_version"):
            Answerability.model_validate(dump | {"schema_version": version})


@pytest.mark.parametrize(
    "options",
    [{}, {"indent": 2}, {"include": {"label"}}, {"include": {"schema_version"}}, {"exclude": {"schema_version"}},
     {"exclude": {"label", "probability"}, "indent": 4}],
)  # fmt: skip
def test_both_dumps_say_the_same(options: dict[str, Any]) -> None:
    for result in (SURE, Citations(citations=())):
        told = result.model_dump(mode="json", **{k: v for k, v in options.items() if k != "indent"})
        text = result.model_dump_json(**options)
        compact = {} if "indent" in options else {"separators": (",", ":")}
        assert text == json.dumps(told, indent=options.get("indent"), **compact)  # type: ignore[arg-type]


def test_unknown_results_and_versions_are_named() -> None:
    assert published("answerability", 1)["properties"]["schema_version"] == {"const": 1, "type": "integer"}
    for asked, named in ((("answer",), "answerability"), (("audit", 99), "1 to"), (("audit", "1"), "1 to")):
        with pytest.raises(InvalidInput, match=named):
            published(*asked)  # type: ignore[arg-type]


def test_rows_of_the_command_line_say_their_version(tmp_path: Path) -> None:
    given, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    given.write_text(json.dumps({"id": 7, "messages": ASKED, "documents": DOCUMENTS}) + "\n")
    ran = CliRunner().invoke(app, ["run", "answerability", "-i", str(given), "-o", str(out)])
    assert ran.exit_code == 0, ran.output
    row = json.loads(out.read_text())
    jsonschema.validate(row["result"], published("answerability", row["result"]["schema_version"]))
