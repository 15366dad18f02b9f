"""The contract tests, written once. Each compares an integration with the core on the same runtime and input."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar

import pytest

from intrinsics_core import (
    INTRINSICS,
    IntrinsicsError,
    InvalidInput,
    MalformedReply,
    Runtime,
    RuntimeUnavailable,
    as_runtime,
    run,
)
from intrinsics_core.intrinsics import TABLE
from intrinsics_core.protocol.results import Result
from tests.contract import cases, decisions
from tests.contract.adapter import Adapter
from tests.contract.judge import judge
from tests.contract.runtimes import OnLoop, Waiting
from tests.loop import files_on_loop
from tests.scripted import Scripted

SECRET = "sk-contract-0123456789"
# What `on_error` is given to see a fallback; where there is one of several, not the one that "fallback" names.
FALLBACKS = {name: record.on_error[-1] for name, record in TABLE.items()}
RUNTIMES = {"embedded": lambda: None, "judge": lambda: Scripted(judge)}


def shown(intrinsic: str, result: Result) -> dict[str, Any]:
    """The part of a core result that every integration shows, as plain values.

    The rewritten query; the texts of the expansion; document ids, ranks and scores; the judgements of the documents
    that a filter keeps by default; every other result in full. Positions are the core's way to tell documents apart.
    """
    dump = _without_positions(result.model_dump(mode="json"))
    show = {
        "query-rewrite": lambda: {"query": dump["query"]},
        "query-expansion": lambda: {"queries": [query["text"] for query in dump["queries"]]},
        "reranking": lambda: {"ranking": [_only(row, "document_id", "rank", "score") for row in dump["ranking"]]},
        "context-relevance": lambda: {
            "judgements": [
                _only(j, "document_id", "label", "score") for j in dump["judgements"] if j["label"] != "irrelevant"
            ]
        },
    }.get(intrinsic, lambda: dump)()
    return show | ({"degraded": dump["degraded"]} if "degraded" in dump else {})


def _without_positions(value: Any) -> Any:
    if isinstance(value, list):
        return [_without_positions(item) for item in value]
    if isinstance(value, dict):
        return {k: _without_positions(v) for k, v in value.items() if k not in ("index", "document_index")}
    return value


_SERVER = {"kind": "server", "base_url": "http://127.0.0.1:1/v1"}


def _only(row: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: row[name] for name in names}


@contextmanager
def failing(kind: type[IntrinsicsError]) -> Iterator[list[IntrinsicsError]]:
    """Expects an error of the core, which the framework may have wrapped; the list holds it afterwards."""
    found: list[IntrinsicsError] = []
    with pytest.raises(Exception) as caught:
        yield found
    error: BaseException | None = caught.value
    while error is not None and not isinstance(error, IntrinsicsError):
        error = error.__cause__ or error.__context__
    assert isinstance(error, kind), f"expected {kind.__name__}, got {caught.value!r}"
    found.append(error)


class ContractTests:
    """Subclass it, set ``adapter``."""

    adapter: ClassVar[Adapter]

    # --- helpers ------------------------------------------------------------------------------------------------

    def given(self, intrinsic: str, documents: Sequence[Mapping[str, Any]] | None = None) -> Any:
        passages = cases.documents() if documents is None else documents
        return self.adapter.inputs(intrinsic, cases.messages(intrinsic), passages)

    def core(self, intrinsic: str, runtime: Runtime | None, documents: Sequence[Any] | None = None) -> dict[str, Any]:
        passages = cases.documents() if documents is None else documents
        return shown(
            intrinsic, run(INTRINSICS[intrinsic](cases.messages(intrinsic), cases.for_core(passages)), runtime)
        )

    def answer(self, intrinsic: str, component: Any, documents: Sequence[Any] | None = None) -> dict[str, Any]:
        inputs = self.given(intrinsic, documents)
        return self.told(intrinsic, inputs, self.adapter.call(component, inputs))

    async def aanswer(self, intrinsic: str, component: Any) -> dict[str, Any]:
        inputs = self.given(intrinsic)
        return self.told(intrinsic, inputs, await self.adapter.acall(component, inputs))

    def told(self, intrinsic: str, inputs: Any, output: Any) -> dict[str, Any]:
        told: dict[str, Any] = _without_positions(self.adapter.result(intrinsic, inputs, output))
        return told

    @pytest.fixture(params=sorted(INTRINSICS))
    def intrinsic(self, request: pytest.FixtureRequest) -> str:
        if request.param not in self.adapter.intrinsics:
            pytest.skip(f"this integration has no component for {request.param}")
        return str(request.param)

    @pytest.fixture(params=sorted(RUNTIMES))
    def runtime(self, request: pytest.FixtureRequest) -> Runtime | None:
        asked = request.node.callspec.params.get("intrinsic")
        if request.param == "embedded" and asked in cases.NEEDS_A_MODEL:
            pytest.skip(f"{asked} needs a language model")
        return RUNTIMES[request.param]()

    # --- verdicts -----------------------------------------------------------------------------------------------

    def test_same_as_the_core(self, intrinsic: str, runtime: Runtime | None) -> None:
        component = self.adapter.build(intrinsic, runtime=runtime)
        assert self.answer(intrinsic, component) == self.core(intrinsic, runtime)

    def test_sync_equals_async(self, intrinsic: str, runtime: Runtime | None) -> None:
        component = self.adapter.build(intrinsic, runtime=runtime)
        assert asyncio.run(self.aanswer(intrinsic, component)) == self.answer(intrinsic, component)

    @pytest.mark.parametrize("intrinsic", ["citations", "hallucination-detection"], indirect=True)
    def test_offsets_are_the_callers(self, intrinsic: str, runtime: Runtime | None) -> None:
        found = self.answer(intrinsic, self.adapter.build(intrinsic, runtime=runtime))
        answer, texts = cases.ANSWER["content"], {d["id"]: d["text"] for d in cases.DOCUMENTS}
        rows = found.get("sentences") or found.get("citations")
        assert rows
        for row in rows:
            if intrinsic == "citations":
                assert answer[row["response_begin"] : row["response_end"]] == row["response_text"]
                source = texts[row["document_id"]]
                assert source[row["document_begin"] : row["document_end"]] == row["document_text"]
            else:
                assert answer[row["begin"] : row["end"]] == row["text"]

    # --- what the caller gave -----------------------------------------------------------------------------------

    def test_inputs_unchanged(self, intrinsic: str, runtime: Runtime | None) -> None:
        inputs = self.given(intrinsic)
        before = self.adapter.snapshot(inputs)
        component = self.adapter.build(intrinsic, runtime=runtime)
        self.adapter.call(component, inputs)
        assert self.adapter.snapshot(inputs) == before
        asyncio.run(self.adapter.acall(component, inputs))
        assert self.adapter.snapshot(inputs) == before

    @pytest.mark.parametrize("intrinsic", cases.RETURNS_DOCUMENTS, indirect=True)
    def test_ids_and_metadata_preserved(self, intrinsic: str, runtime: Runtime | None) -> None:
        output = self.adapter.call(self.adapter.build(intrinsic, runtime=runtime), self.given(intrinsic))
        returned = self.adapter.documents(output)
        given = {d["id"]: d for d in cases.DOCUMENTS}
        assert returned
        assert len({d["id"] for d in returned}) == len(returned)
        for document in returned:
            original = given[document["id"]]
            assert document["text"] == original["text"]
            assert {key: document["metadata"].get(key) for key in original["metadata"]} == original["metadata"]

    @pytest.mark.parametrize("judging", ["hallucination-detection", "audit", "revise"])
    def test_what_a_judge_left_out_is_told(self, judging: str) -> None:
        if judging not in self.adapter.intrinsics:
            pytest.skip(f"this integration has no component for {judging}")

        def skipping(request: Any) -> Any:
            reply = judge(request)
            if isinstance(reply, dict) and isinstance(reply.get("sentences"), list):
                return reply | {
                    "sentences": [row for row in reply["sentences"] if str(row.get("id")).strip("r") == "0"]
                }
            return reply

        found = self.answer(judging, self.adapter.build(judging, runtime=Scripted(skipping)))
        assert found == self.core(judging, Scripted(skipping))
        assert found["missing"] and "not judged" in found["degraded"]

    @pytest.mark.parametrize("intrinsic", cases.RETURNS_DOCUMENTS, indirect=True)
    def test_output_does_not_share_the_callers_documents(self, intrinsic: str) -> None:
        inputs = self.given(intrinsic)
        before = self.adapter.snapshot(inputs)
        for document in self.adapter.documents(self.adapter.call(self.adapter.build(intrinsic), inputs)):
            document["metadata"]["page"] = "changed by whoever got the output"
            document["metadata"].get("nested", {"a": []})["a"].append("changed, too")
        assert self.adapter.snapshot(inputs) == before

    @pytest.mark.parametrize("seed", range(4))
    def test_scores_on_the_right_passage(self, runtime: Runtime | None, seed: int) -> None:
        documents = cases.documents()
        # The same text twice, under two ids and with two metadata.
        documents.append({**cases.documents()[1], "id": "mill again", "metadata": {"page": 70}})
        random.Random(seed).shuffle(documents)
        given = {d["id"]: d for d in documents}
        component = self.adapter.build("reranking", runtime=runtime)
        inputs = self.given("reranking", documents)
        output = self.adapter.call(component, inputs)
        found = self.adapter.result("reranking", inputs, output)
        assert found == self.core("reranking", runtime, documents)
        # Place by place: the document that stands there is the one that the score was given to.
        for row, document in zip(found["ranking"], self.adapter.documents(output), strict=True):
            assert document["id"] == row["document_id"]
            assert document["text"] == given[row["document_id"]]["text"]
            assert document["metadata"]["page"] == given[row["document_id"]]["metadata"]["page"]
        assert found["ranking"][0]["document_id"].startswith("mill")

    def test_documents_without_ids(self) -> None:
        documents = [{key: d[key] for key in ("text", "metadata")} for d in cases.documents()]
        component = self.adapter.build("reranking", runtime=Scripted(judge))
        output = self.adapter.call(component, self.given("reranking", documents))
        returned = self.adapter.documents(output)
        assert sorted(d["text"] for d in returned) == sorted(d["text"] for d in documents)
        assert returned[0]["text"] == documents[1]["text"]

    def test_ids_may_repeat(self, runtime: Runtime | None) -> None:
        documents = cases.documents()
        for document in documents:
            document["id"] = "1"
        component = self.adapter.build("reranking", runtime=runtime)
        inputs = self.given("reranking", documents)
        output = self.adapter.call(component, inputs)
        returned = self.adapter.documents(output)
        assert sorted(d["text"] for d in returned) == sorted(d["text"] for d in documents)
        assert returned[0]["text"] == documents[1]["text"]
        pages = {d["text"]: d["metadata"]["page"] for d in documents}
        assert all(d["metadata"]["page"] == pages[d["text"]] for d in returned)
        assert self.adapter.result("reranking", inputs, output) == self.core("reranking", runtime, documents)

    def test_scores_of_a_fallback_are_those_that_were_there(self) -> None:
        component = self.adapter.build("reranking", runtime=_down(), on_error="fallback")
        output = self.adapter.call(component, self.given("reranking"))
        assert [d["text"] for d in self.adapter.documents(output)] == [d["text"] for d in cases.documents()]
        for document in self.adapter.documents(output):
            assert document["metadata"].get("relevance_score") is None

    # --- nothing, and wrong things --------------------------------------------------------------------------------

    def test_empty_documents(self, intrinsic: str, runtime: Runtime | None) -> None:
        component = self.adapter.build(intrinsic, runtime=runtime)
        inputs = self.given(intrinsic, [])
        if intrinsic in cases.RETURNS_DOCUMENTS:
            assert self.adapter.documents(self.adapter.call(component, inputs)) == []
            assert self.adapter.documents(asyncio.run(self.adapter.acall(component, inputs))) == []
        else:
            assert self.answer(intrinsic, component, []) == self.core(intrinsic, runtime, [])

    @pytest.mark.parametrize("intrinsic", cases.NEEDS_DOCUMENTS, indirect=True)
    def test_documents_without_text(self, intrinsic: str, runtime: Runtime | None) -> None:
        blank = [{"id": name, "text": text, "metadata": {}} for name, text in (("picture", ""), ("scan", " \n"))]
        component = self.adapter.build(intrinsic, runtime=runtime)
        assert self.answer(intrinsic, component, blank) == self.core(intrinsic, runtime, blank)

    @pytest.mark.parametrize("intrinsic", cases.ENDS_WITH_ANSWER, indirect=True)
    @pytest.mark.parametrize("said", ["", "  \n"])
    def test_an_answer_that_says_nothing(self, intrinsic: str, said: str) -> None:
        runtime = _down()  # nothing is asked
        component = self.adapter.build(intrinsic, runtime=runtime)
        messages = [*cases.QUESTION, {"role": "assistant", "content": said}]
        inputs = self.adapter.inputs(intrinsic, messages, cases.documents())
        found = self.told(intrinsic, inputs, self.adapter.call(component, inputs))
        assert found == shown(
            intrinsic, run(INTRINSICS[intrinsic](messages, cases.for_core(cases.documents())), runtime)
        )
        assert runtime.requests == []

    def test_on_error_is_checked_when_a_component_is_built(self, intrinsic: str) -> None:
        with failing(InvalidInput):
            self.adapter.build(intrinsic, on_error="ignore")

    @pytest.mark.parametrize(
        ("runtime", "told"),
        [
            ("embeded", "did you mean 'embedded'"),
            ({"kind": "embeded"}, "did you mean 'embedded'"),
            ({"kind": "embedded", "treads": 2}, "did you mean 'threads'"),
            ({"kind": "embedded", "threads": "two"}, "runtime.threads"),
            (_SERVER | {"adapters": {"query_rewite": "mine"}}, "did you mean 'query-rewrite'"),
            (_SERVER | {"profile": "granit-3.3"}, "did you mean 'granite-3.3'"),
            ({"kind": "mixed", "routes": {"answerabilty": {"kind": "embedded"}}}, "did you mean 'answerability'"),
            (7, "neither a runtime nor a config"),
        ],
    )
    def test_a_runtime_is_checked_when_a_component_is_built(self, runtime: Any, told: str) -> None:
        for intrinsic in self.adapter.intrinsics:
            with failing(InvalidInput) as errors:
                self.adapter.build(intrinsic, runtime=runtime)
            assert told in str(errors[0])

    def test_a_draft_in_thoughts_is_not_the_verdict(self) -> None:
        draft = '{"answerability": "unanswerable", "confidence": 0.9}'
        reply = f'<think>{draft}</think>{{"answerability": "answerable", "confidence": "90%"}}'
        found = self.answer("answerability", self.adapter.build("answerability", runtime=Scripted(lambda _: reply)))
        assert (found["label"], found["probability"]) == ("answerable", pytest.approx(0.9))

    @pytest.mark.parametrize("asynchronous", [False, True])
    @pytest.mark.parametrize("reply", ["", "I would rather not say.", '{"answerability": "perhaps"', "[]"])
    def test_malformed_reply(self, intrinsic: str, reply: str, asynchronous: bool) -> None:
        if intrinsic in cases.ANSWERS_FREELY and reply:
            pytest.skip("any words are an answer")
        component = self.adapter.build(intrinsic, runtime=Scripted(lambda request: reply))
        with failing(MalformedReply) as found:
            if asynchronous:
                asyncio.run(self.adapter.acall(component, self.given(intrinsic)))
            else:
                self.adapter.call(component, self.given(intrinsic))
        assert found[0].intrinsic in {intrinsic, cases.ASKS_FIRST.get(intrinsic)}
        assert found[0].raw == reply

    def test_failure_is_raised_by_default(self, intrinsic: str) -> None:
        component = self.adapter.build(intrinsic, runtime=_down())
        with failing(RuntimeUnavailable) as found:
            self.adapter.call(component, self.given(intrinsic))
        assert found[0].intrinsic in {intrinsic, cases.ASKS_FIRST.get(intrinsic)}

    @pytest.mark.parametrize("intrinsic", FALLBACKS, indirect=True)
    def test_fallback_says_that_it_is_one(self, intrinsic: str) -> None:
        component = self.adapter.build(intrinsic, runtime=_down(), on_error=FALLBACKS[intrinsic])
        expected = shown(intrinsic, run(
            INTRINSICS[intrinsic](cases.messages(intrinsic), cases.documents(), on_error=FALLBACKS[intrinsic]), _down()
        ))  # fmt: skip
        found = self.answer(intrinsic, component)
        assert "RuntimeUnavailable" in found["degraded"]
        assert found == expected
        assert asyncio.run(self.aanswer(intrinsic, component)) == expected

    # --- the event loop -------------------------------------------------------------------------------------------

    def test_loop_is_free_while_a_blocking_runtime_works(self, intrinsic: str) -> None:
        async def main() -> None:
            runtime = Waiting()
            task = asyncio.create_task(self.aanswer(intrinsic, self.adapter.build(intrinsic, runtime=runtime)))
            while not runtime.entered.is_set() and not task.done():  # noqa: ASYNC110  (a thread enters)
                await asyncio.sleep(0.001)
            runtime.released.set()  # only a loop that is free comes here in time
            await task

        asyncio.run(main())

    def test_async_runtime_works_on_the_callers_loop(self, intrinsic: str) -> None:
        async def main() -> None:
            runtime = OnLoop()
            await self.aanswer(intrinsic, self.adapter.build(intrinsic, runtime=runtime))
            assert runtime.loops == {asyncio.get_running_loop()}

        asyncio.run(main())

    @pytest.mark.parametrize("intrinsic", cases.NEEDS_DOCUMENTS, indirect=True)
    def test_the_embedded_runtime_reads_long_texts_off_the_loop(self, intrinsic: str) -> None:
        # Texts of its own for each intrinsic: vectors are cached.
        story = "The keeper of light {} wrote on {} that the fog of day {} hid the tide mill at Port Ellery. "
        documents = [
            {"id": str(d), "text": "".join(story.format(d, intrinsic, 97 * d + s) for s in range(10)), "metadata": {}}
            for d in range(3)
        ]

        as_runtime(None)  # the first use makes the default: milliseconds, whichever test is the first

        async def main() -> None:
            await self.adapter.acall(self.adapter.build(intrinsic), self.given(intrinsic, documents))

        assert not files_on_loop(main)

    # --- what chains decide ---------------------------------------------------------------------------------------

    @pytest.mark.parametrize("case", decisions.GUARDED, ids=lambda case: case.name)
    def test_what_becomes_of_an_agents_answer(self, case: decisions.Guarded) -> None:
        text, verdicts = self.adapter.guarded(case.question, case.calls, case.answer, **case.settings)
        assert text == (decisions.BLOCKED if case.blocked else case.answer)
        verdict = verdicts.get("hallucination_detection")
        assert (verdict and verdict["label"]) == case.label

    @pytest.mark.parametrize("asynchronous", [False, True])
    @pytest.mark.parametrize(("mode", "second", "text", "label"), decisions.RETRIED)
    def test_an_agent_is_told_once_what_is_not_supported(
        self, mode: str, second: str, text: str, label: str, asynchronous: bool
    ) -> None:
        if not hasattr(self.adapter, "retried"):
            pytest.skip("nothing asks this framework's agents again")
        answers = [decisions.INVENTED, second, "never asked for"]
        texts, verdicts, asked = self.adapter.retried(answers, asynchronous=asynchronous, mode=mode)
        assert texts[-1] == text and verdicts["hallucination_detection"]["label"] == label
        assert all(decisions.INVENTED not in before for before in texts[:-1])  # nor what the model was told
        assert decisions.INVENTED in asked and decisions.MILL not in asked

    @pytest.mark.parametrize("checks", ["audit", "hallucination-detection"])
    def test_an_answer_is_blocked_or_annotated(self, checks: str) -> None:
        for mode, invented in (("annotate", decisions.INVENTED), ("block", decisions.BLOCKED)):
            component = self.adapter.check(checks=checks, mode=mode, text=decisions.BLOCKED)
            for answer, shown_as in ((decisions.INVENTED, invented), (decisions.MILL, decisions.MILL)):
                messages = [*cases.QUESTION, {"role": "assistant", "content": answer}]
                inputs = self.adapter.inputs("audit", messages, cases.documents())
                for output in (
                    self.adapter.call(component, inputs),
                    asyncio.run(self.adapter.acall(component, inputs)),
                ):
                    text, verdicts = self.adapter.answered(output)
                    assert text == shown_as
                    assert verdicts[checks.replace("-", "_")]["sentences"]

    def test_several_checks_are_one_answer_with_a_verdict_each(self) -> None:
        checks = ("hallucination-detection", "citations", "fact-check", "uncertainty")
        inputs = self.given("audit")
        _, verdicts = self.adapter.answered(self.adapter.call(self.adapter.check(checks=checks), inputs))
        for name in checks:
            _, alone = self.adapter.answered(self.adapter.call(self.adapter.check(checks=name), inputs))
            key = name.replace("-", "_")
            if name != "citations":
                assert verdicts[key] == alone[key]
        wrong = [row for row in verdicts["hallucination_detection"]["sentences"] if row["label"] == "unfaithful"]
        assert not {row["begin"] for row in wrong} & {c["response_begin"] for c in verdicts["citations"]["citations"]}

    def test_citations_as_text_list_sources_that_a_person_can_read(self) -> None:
        """Titles, addresses, files and pages, or how a text begins; never an id. What cites nothing has no list."""
        for said, listed in decisions.CITED:
            messages = [*cases.QUESTION, {"role": "assistant", "content": said}]
            text = self.adapter.cited(self.adapter.inputs("citations", messages, decisions.SOURCES))
            assert text.partition("\n\nCitations:\n")[0].replace("[1]", "") == said
            assert text.partition("\n\nCitations:\n")[2].splitlines() == listed

    def test_a_verdict_that_an_answer_carries_is_used_again(self) -> None:
        inputs = self.given("audit")
        checked = self.adapter.call(
            self.adapter.check(checks="hallucination-detection", runtime=Scripted(judge)), inputs
        )
        runtime = Scripted(judge)
        self.adapter.call(self.adapter.build("revise", runtime=runtime), self.adapter.again(inputs, checked))
        assert "hallucination-detection" not in [request.intrinsic for request in runtime.requests[:1]]

    def test_a_retrievers_score_counts_once_and_for_its_question(self) -> None:
        documents = [{**d, "score": 0.9 - 0.1 * i} for i, d in enumerate(cases.documents())]
        given = self.given("reranking", documents)
        component = self.adapter.build("reranking")
        first = self.adapter.call(component, given)
        second = self.adapter.call(component, self.adapter.again(given, first))
        ranked = [self.adapter.result("reranking", given, output)["ranking"] for output in (first, second)]
        scores = [{row["document_id"]: row["score"] for row in rows} for rows in ranked]
        before = [
            {d["id"]: d["metadata"]["retrieval_score"] for d in self.adapter.documents(o)} for o in (first, second)
        ]
        assert before[0] == before[1] == {d["id"]: d["score"] for d in documents}
        assert scores[0].keys() == scores[1].keys()
        other = [{"role": "user", "content": "When is there fog?"}]
        fresh = self.adapter.inputs("reranking", other, cases.documents())
        stale = self.adapter.again(self.adapter.inputs("reranking", other, documents), first)
        found = [self.adapter.documents(self.adapter.call(component, inputs)) for inputs in (fresh, stale)]
        by_id = [{d["id"]: d["metadata"]["reranking_score"] for d in rows} for rows in found]
        assert by_id[0] == by_id[1] and not any("retrieval_score" in d["metadata"] for d in found[1])

    # --- saving and showing -----------------------------------------------------------------------------------------

    def test_serialisation_round_trip(self, intrinsic: str) -> None:
        component = self.adapter.build(intrinsic, runtime={"kind": "embedded"})
        if intrinsic in cases.NEEDS_A_MODEL:
            pytest.skip(f"{intrinsic} needs a language model")
        again = self.adapter.load(json.loads(json.dumps(self.adapter.dump(component))))
        assert type(again) is type(component)
        assert self.adapter.dump(again) == self.adapter.dump(component)
        assert self.answer(intrinsic, again) == self.answer(intrinsic, component)

    def test_no_secret_is_shown(self, intrinsic: str) -> None:
        config = {"kind": "server", "base_url": "http://127.0.0.1:9", "api_key": SECRET}
        component = self.adapter.build(intrinsic, runtime=config)
        for text in [*self.adapter.renderings(component), json.dumps(self.adapter.dump(component))]:
            assert SECRET not in text
        assert config["api_key"] == SECRET  # the caller's own config is left alone


def _down() -> Scripted:
    return Scripted(lambda request: RuntimeUnavailable("connection refused"))
