"""What people do with answers: check, cite, evaluate, stream, chat. The number is the item that it belongs to."""

from __future__ import annotations

import asyncio
import math
from typing import Any, ClassVar

import pytest
from haystack import Document, Pipeline
from haystack.components.builders import AnswerBuilder, ChatPromptBuilder
from haystack.components.evaluators import FaithfulnessEvaluator
from haystack.components.generators.chat import MockChatGenerator
from haystack.components.joiners import BranchJoiner
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
from haystack.components.routers import ConditionalRouter
from haystack.dataclasses import ChatMessage, ToolCall
from haystack.evaluation import EvaluationRunResult
from haystack_integrations.components.evaluators.rag_intrinsics import (
    RagIntrinsicsFactChecker,
    RagIntrinsicsUncertaintyScorer,
)
from haystack_integrations.components.pipelines.rag_intrinsics import RagIntrinsicsPipeline
from haystack_integrations.components.query.rag_intrinsics import RagIntrinsicsQueryExpander
from haystack_integrations.components.routers.rag_intrinsics import RagIntrinsicsAnswerabilityRouter
from haystack_integrations.components.validators.rag_intrinsics import (
    RagIntrinsicsCitationBuilder,
    RagIntrinsicsGroundednessChecker,
)

from integrations.haystack.tests.adapter import COMPONENTS
from integrations.haystack.tests.generators import AsyncGenerator
from integrations.haystack.tests.scripts import FAITHFUL, INVENTED, QUESTION, documents, retriever
from integrations.haystack.tests.scripts import judging as judging_runtime
from intrinsics_core import InvalidInput, RuntimeUnavailable
from intrinsics_core.running.flows import CANNED
from tests.contract.judge import judge
from tests.scripted import Scripted

JUDGES = (
    RagIntrinsicsGroundednessChecker,
    RagIntrinsicsCitationBuilder,
    RagIntrinsicsFactChecker,
    RagIntrinsicsUncertaintyScorer,
)


def down_after(answered: bool = True) -> Scripted:
    """A judge whose outage begins where answers are judged."""

    def reply(request: Any) -> Any:
        late = request.intrinsic in ("hallucination-detection", "citations", "fact-check", "uncertainty")
        return RuntimeUnavailable("refused") if late or not answered else judge(request)

    return Scripted(reply)


def run(thing: Any, asynchronous: bool, **given: Any) -> Any:
    return asyncio.run(thing.run_async(**given)) if asynchronous else thing.run(**given)


@pytest.mark.parametrize("asynchronous", [False, True])
def test_01_an_empty_reply_a_tool_call_and_no_documents(asynchronous: bool) -> None:
    call = ChatMessage.from_assistant(tool_calls=[ToolCall(tool_name="send", arguments={}, id="1")])
    replies = [ChatMessage.from_assistant(""), call, ChatMessage.from_assistant(FAITHFUL)]
    for kind in JUDGES:
        found = run(kind(), asynchronous, query=QUESTION, replies=replies, documents=[])
        assert [r.text for r in found["replies"]] == ["", None, FAITHFUL]
        assert found["replies"][1].tool_calls == call.tool_calls
        assert found["results"][0]["reason"] == "nothing said"


@pytest.mark.parametrize("asynchronous", [False, True])
def test_01_the_prewired_pipeline_on_an_empty_reply(asynchronous: bool) -> None:
    rag = RagIntrinsicsPipeline(retriever(), AsyncGenerator(lambda m, s: ChatMessage.from_assistant("")))
    found = run(rag, asynchronous, query=QUESTION)
    assert [a.data for a in found["answers"]] == [""]
    assert found["answers"][0].documents == []


@pytest.mark.parametrize("name", COMPONENTS)
def test_09_a_wrong_on_error_is_told_when_built(name: str) -> None:
    for wrong in ("ignore", "open") if name != "answerability" else ("ignore",):
        with pytest.raises(InvalidInput, match="on_error"):
            COMPONENTS[name](on_error=wrong)


@pytest.mark.parametrize("asynchronous", [False, True])
def test_09_a_judge_that_is_down_costs_no_answer(asynchronous: bool) -> None:
    rag = RagIntrinsicsPipeline(retriever(), AsyncGenerator(lambda m, s: FAITHFUL), down_after())
    [answer] = run(rag, asynchronous, query=QUESTION)["answers"]
    assert answer.data == FAITHFUL
    verdict = answer.meta["rag_intrinsics"]["hallucination_detection"]
    assert "refused" in verdict["degraded"] and {s["label"] for s in verdict["sentences"]} == {"NA"}
    for kind in JUDGES:
        with pytest.raises(RuntimeUnavailable):
            kind(down_after(), on_error="raise").run(query=QUESTION, replies=[FAITHFUL], documents=documents())


def test_09_a_question_side_outage_is_raised_unless_put_up_with() -> None:
    def rag(**settings: Any) -> Any:
        generator = AsyncGenerator(lambda m, s: FAITHFUL)
        return RagIntrinsicsPipeline(retriever(), generator, down_after(answered=False), **settings)

    with pytest.raises(Exception, match="refused"):
        rag().run(query=QUESTION)
    assert rag(on_error="fallback").run(query=QUESTION)["answers"][0].data == FAITHFUL


def test_09_a_runtime_that_cannot_warm_up_costs_no_answer() -> None:
    class Cold(Scripted):
        def warm_up(self) -> None:
            raise RuntimeUnavailable("nobody there")

    cold = Cold(lambda request: RuntimeUnavailable("nobody there"))
    found = RagIntrinsicsGroundednessChecker(cold).run(query=QUESTION, replies=[FAITHFUL], documents=documents())
    assert found["replies"][0].text == FAITHFUL and "nobody there" in found["results"][0]["degraded"]
    with pytest.raises(RuntimeUnavailable):
        RagIntrinsicsGroundednessChecker(cold, on_error="raise").run(
            query=QUESTION, replies=[FAITHFUL], documents=documents()
        )


class TestArguments:
    """Item 10."""

    def store(self) -> InMemoryBM25Retriever:
        return retriever([
            Document(id="ours", content="Ada Brink built the mill in 1911.", meta={"tenant": "a"}),
            Document(id="theirs", content="Berta Klos built the mill in 1920, secretly.", meta={"tenant": "b"}),
            Document(id="more", content="The mill, when Ada Brink built it, had one wheel.", meta={"tenant": "a"}),
        ])  # fmt: skip

    @pytest.mark.parametrize("asynchronous", [False, True])
    def test_10_filters_and_top_k_are_passed_on(self, asynchronous: bool) -> None:
        rag = RagIntrinsicsPipeline(self.store(), AsyncGenerator(lambda m, s: FAITHFUL))
        tenant = {"field": "meta.tenant", "operator": "==", "value": "b"}
        found = run(rag, asynchronous, query=QUESTION, filters=tenant)
        assert [d.id for d in found["documents"]] == ["theirs"]
        assert len(run(rag, asynchronous, query=QUESTION, top_k=1)["documents"]) == 1
        assert len(run(rag, asynchronous, query=QUESTION, retriever_top_k=2)["documents"]) == 2
        assert len(run(rag, asynchronous, query=QUESTION, filters=None, top_k=None)["documents"]) == 3

    def test_10_what_nothing_takes_is_refused_not_dropped(self) -> None:
        rag = RagIntrinsicsPipeline(self.store(), AsyncGenerator(lambda m, s: FAITHFUL))
        with pytest.raises(InvalidInput, match=r"filter is not taken.*filters"):
            rag.run(query=QUESTION, filter={"field": "meta.tenant", "operator": "==", "value": "b"})
        with pytest.raises(InvalidInput, match="streaming_callback is not taken"):
            rag.run(query=QUESTION, streaming_callback=print)  # this generator does not stream

    def test_10_the_generator_sees_system_prompt_variables_and_history(self) -> None:
        generator = AsyncGenerator(lambda m, s: FAITHFUL)
        prompt = "In {{ tone }} words. {% for d in documents %}{{ d.content }} {% endfor %}{{ query }}"
        rag = RagIntrinsicsPipeline(self.store(), generator, prompt=prompt, system_prompt="You are the archivist.")
        history = [ChatMessage.from_user("Is there a mill?"), ChatMessage.from_assistant("There is a mill.")]
        rag.run(query="Who built it?", history=history, tone="plain")
        turns = generator.seen[0]["messages"]
        assert [t.role.value for t in turns] == ["system", "user", "assistant", "user"]
        assert turns[0].text == "You are the archivist." and turns[1:3] == history
        assert turns[3].text.startswith("In plain words. ") and "mill" in turns[3].text
        rag.run(query="Who built the mill?", tone="plain", system_prompt="You are the mayor.")
        assert generator.seen[1]["messages"][0].text == "You are the mayor."
        assert Pipeline.loads(
            _piped(RagIntrinsicsPipeline(self.store(), MockChatGenerator("x"), prompt=prompt)).dumps()
        )

    @pytest.mark.parametrize("asynchronous", [False, True])
    @pytest.mark.parametrize(("query", "said"), [(QUESTION, FAITHFUL), ("How tall is the lighthouse?", CANNED)])
    def test_10_it_streams_answers_and_refusals(self, asynchronous: bool, query: str, said: str) -> None:
        chunks: list[str] = []

        async def aheard(chunk: Any) -> None:
            chunks.append(chunk.content)

        def heard(chunk: Any) -> None:
            chunks.append(chunk.content)

        rag = RagIntrinsicsPipeline(retriever(), MockChatGenerator(FAITHFUL))
        found = run(rag, asynchronous, query=query, streaming_callback=aheard if asynchronous else heard)
        assert "".join(chunks) == said
        assert found["answers"][0].data.startswith(said[:-1])

    def test_10_it_streams_in_a_pipeline_that_hayhooks_serves(self) -> None:
        hayhooks = pytest.importorskip("hayhooks", reason="hayhooks is not installed")
        pipeline = _piped(RagIntrinsicsPipeline(retriever(), MockChatGenerator(FAITHFUL)))
        given = {"rag": {"query": QUESTION}}
        chunks = list(hayhooks.streaming_generator(pipeline, pipeline_run_args=given))
        assert "".join(chunk.content for chunk in chunks) == FAITHFUL

        async def awaited() -> list[Any]:
            return [chunk async for chunk in hayhooks.async_streaming_generator(pipeline, pipeline_run_args=given)]

        assert "".join(chunk.content for chunk in asyncio.run(awaited())) == FAITHFUL

    @pytest.mark.parametrize("asynchronous", [False, True])
    def test_10_a_server_finds_where_to_put_its_callback(self, asynchronous: bool) -> None:
        # As Hayhooks looks for it: a socket named so, in a component of the pipeline.
        pipeline = _piped(RagIntrinsicsPipeline(retriever(), MockChatGenerator(FAITHFUL)))
        assert "streaming_callback" in pipeline.inputs()["rag"]
        chunks: list[str] = []

        async def aheard(chunk: Any) -> None:
            chunks.append(chunk.content)

        tell = aheard if asynchronous else lambda chunk: chunks.append(chunk.content)
        data = {"rag": {"query": QUESTION, "streaming_callback": tell}}
        asyncio.run(pipeline.run_async(data)) if asynchronous else pipeline.run(data)
        assert "".join(chunks) == FAITHFUL

    def test_10_what_the_prompt_shows_of_the_metadata_the_judges_are_shown(self) -> None:
        found = [Document(id="b", content="Revenue was 2.4 million.", meta={"company": "Initech"})]
        generator, runtime = AsyncGenerator(lambda m, s: "Initech earned 2.4 million."), judging_runtime()
        rag = RagIntrinsicsPipeline(retriever(found), generator, runtime, meta_fields_to_embed=["company"])
        rag.run(query="What was the revenue of Initech?")
        asked = {r.intrinsic: str(r) for r in runtime.requests}
        for judge_ in ("answerability", "hallucination-detection"):
            assert "company: Initech" in asked[judge_]
        assert "company: Initech" in generator.seen[0]["messages"][-1].text


def test_13_users_metadata_of_our_name_and_an_empty_canned_answer() -> None:
    named = [Document(id="mill", content=FAITHFUL, meta={"rag_intrinsics": "mine"})]
    reply = ChatMessage.from_assistant(FAITHFUL, meta={"rag_intrinsics": "mine too"})
    found = RagIntrinsicsGroundednessChecker().run(query=QUESTION, replies=[reply], documents=named)
    assert found["replies"][0].meta["rag_intrinsics"]["hallucination_detection"]["label"] == "faithful"
    assert named[0].meta == {"rag_intrinsics": "mine"} and reply.meta == {"rag_intrinsics": "mine too"}
    rag = RagIntrinsicsPipeline(retriever([]), AsyncGenerator(lambda m, s: FAITHFUL), canned="")
    assert rag.run(query=QUESTION)["answers"][0].data == ""
    with pytest.raises(InvalidInput, match="canned"):
        RagIntrinsicsPipeline(retriever([]), AsyncGenerator(), canned=lambda query: "no")


class TestEvaluators:
    """Item 15."""

    ROWS: ClassVar[dict[str, Any]] = {
        "questions": [QUESTION, QUESTION, "How tall is the lighthouse?", QUESTION],
        "contexts": [[FAITHFUL], [FAITHFUL, "Fog is common in May."], [], [FAITHFUL]],
        "predicted_answers": [FAITHFUL, INVENTED, "It is 30 metres tall.", ""],
    }

    @pytest.mark.parametrize("asynchronous", [False, True])
    def test_15_they_make_an_evaluation_run(self, asynchronous: bool) -> None:
        from haystack_integrations.components.evaluators.rag_intrinsics import (
            RagIntrinsicsAnswerabilityEvaluator,
            RagIntrinsicsContextRelevanceEvaluator,
            RagIntrinsicsFaithfulnessEvaluator,
        )

        pipeline = Pipeline()
        pipeline.add_component("faithful", RagIntrinsicsFaithfulnessEvaluator())
        pipeline.add_component("answerable", RagIntrinsicsAnswerabilityEvaluator())
        pipeline.add_component("relevant", RagIntrinsicsContextRelevanceEvaluator())
        asked = {name: self.ROWS[name] for name in ("questions", "contexts")}
        data = {"faithful": self.ROWS, "answerable": asked, "relevant": asked}
        found = asyncio.run(pipeline.run_async(data)) if asynchronous else pipeline.run(data)
        report = EvaluationRunResult("mine", inputs=self.ROWS, results=found)
        scores = report.aggregated_report()["score"]  # type: ignore[index,call-overload]
        assert all(isinstance(score, float) and 0 <= score <= 1 for score in scores)
        detailed: Any = report.detailed_report()
        assert [math.isnan(score) for score in detailed["faithful"]] == [False, False, True, True]  # as Haystack's own
        rows = found["faithful"]["results"]
        assert [r["status"] for r in rows] == ["evaluated", "evaluated", "nothing to judge", "nothing to judge"]
        assert [r.get("reason") for r in rows[2:]] == ["nothing retrieved", "nothing said"]
        assert found["faithful"]["score"] == pytest.approx((rows[0]["score"] + rows[1]["score"]) / 2)
        assert rows[0]["statements"] == [FAITHFUL] and rows[0]["score"] > rows[1]["score"]
        assert found["relevant"]["individual_scores"] == [1.0, 0.5, 0.0, 1.0]
        assert Pipeline.loads(pipeline.dumps()).dumps() == pipeline.dumps()

    def test_15_one_failed_row_is_one_row(self) -> None:
        from haystack_integrations.components.evaluators.rag_intrinsics import RagIntrinsicsFaithfulnessEvaluator

        def sometimes(request: Any) -> Any:
            return RuntimeUnavailable("refused") if INVENTED in str(request) else judge(request)

        found = RagIntrinsicsFaithfulnessEvaluator(Scripted(sometimes)).run(**self.ROWS)
        assert [r["status"] for r in found["results"]] == ["evaluated", "error", "nothing to judge", "nothing to judge"]
        assert "refused" in found["results"][1]["reason"]
        assert (found["score"], found["individual_scores"][0]) == (1.0, 1.0)
        assert all(map(math.isnan, found["individual_scores"][1:])) and found["results"][1]["score"] is None
        EvaluationRunResult("mine", inputs=self.ROWS, results={"faithful": found}).detailed_report()
        with pytest.raises(RuntimeUnavailable):
            RagIntrinsicsFaithfulnessEvaluator(Scripted(sometimes), on_error="raise").run(**self.ROWS)
        # So it is in the report of Haystack's own evaluator.
        peer = FaithfulnessEvaluator(chat_generator=AsyncGenerator(lambda m, s: "no JSON"), raise_on_failure=False)
        theirs = peer.run(**self.ROWS)["individual_scores"]
        assert all(map(math.isnan, theirs))

    def test_15_a_blank_question_is_one_row(self) -> None:
        from haystack_integrations.components.evaluators.rag_intrinsics import RagIntrinsicsAnswerabilityEvaluator

        rows = {"questions": [" ", *self.ROWS["questions"][1:]], "contexts": self.ROWS["contexts"]}
        found = RagIntrinsicsAnswerabilityEvaluator(judging_runtime()).run(**rows)
        assert found["results"][0]["status"] == "error" and "InvalidInput" in found["results"][0]["reason"]
        assert found["results"][1]["status"] == "evaluated" and not math.isnan(found["score"])
        with pytest.raises(InvalidInput):
            RagIntrinsicsAnswerabilityEvaluator(judging_runtime(), on_error="raise").run(**rows)
        nothing = RagIntrinsicsAnswerabilityEvaluator(judging_runtime()).run([" "], [[FAITHFUL]])
        assert math.isnan(nothing["score"])

    @pytest.mark.parametrize(
        ("wrong", "named"),
        [
            ({"questions": ["one"]}, "different lengths"),
            ({"contexts": ["text", "text", "text", "text"]}, r"contexts\[0\]"),
            ({"predicted_answers": [None, "a", "b", "c"]}, r"predicted_answers\[0\]"),
        ],
    )
    def test_15_what_is_wrong_is_named(self, wrong: Any, named: str) -> None:
        from haystack_integrations.components.evaluators.rag_intrinsics import RagIntrinsicsFaithfulnessEvaluator

        with pytest.raises(InvalidInput, match=named):
            RagIntrinsicsFaithfulnessEvaluator(judging_runtime()).run(**{**self.ROWS, **wrong})

    def test_15_a_row_without_a_probability_says_why(self) -> None:
        from haystack_integrations.components.evaluators.rag_intrinsics import (
            RagIntrinsicsAnswerabilityEvaluator,
            RagIntrinsicsFaithfulnessEvaluator,
        )

        asked, found = ["Wo liegt der Bahnhof?"], [["Der Bahnhof liegt am Müllerplatz, gleich neben der Post."]]
        said = ["Der Bahnhof wurde von vierzig Matrosen golden gestrichen."]
        for told in (
            RagIntrinsicsFaithfulnessEvaluator().run(asked, found, said),
            RagIntrinsicsAnswerabilityEvaluator().run(asked, found),
        ):
            [row] = told["results"]
            assert (row["status"], math.isnan(told["score"])) == ("error", True) and "German" in row["reason"]
        [thanks] = RagIntrinsicsFaithfulnessEvaluator().run(["Thanks!"], found, ["You are welcome!"])["results"]
        assert (thanks["status"], thanks["reason"]) == ("nothing to judge", "nothing in the answer makes a claim")

    def test_15_rows_are_read_as_elsewhere(self) -> None:
        from haystack_integrations.components.evaluators.rag_intrinsics import (
            RagIntrinsicsAnswerabilityEvaluator,
            RagIntrinsicsFaithfulnessEvaluator,
        )

        hours = {"Harbour Pool": "Opening hours: 9 am to 6 pm.", "City Museum": "Opening hours: 10 am to 4 pm."}
        titled = [Document(content=text, meta={"title": title}) for title, text in hours.items()]
        asked = "When is the Harbour Pool open?"
        routed = RagIntrinsicsAnswerabilityRouter().run(query=asked, documents=titled)["result"]
        [row] = RagIntrinsicsAnswerabilityEvaluator().run([asked], [titled])["results"]  # type: ignore[list-item]
        assert row["probability"] == routed["probability"]
        for said in ("The Harbour Pool is open from 9 am to 6 pm.", '{"pool": "Harbour Pool", "opens": "9 am"}'):
            checked = RagIntrinsicsGroundednessChecker().run(asked, [said], titled)["results"][0]
            [row] = RagIntrinsicsFaithfulnessEvaluator().run([asked], [titled], [said])["results"]  # type: ignore[list-item]
            assert row["sentences"] == checked["sentences"]


class TestMarkers:
    """Item 17."""

    def cited(self, replies: list[Any]) -> str:
        builder = RagIntrinsicsCitationBuilder(judging_runtime())
        return builder.run(query=QUESTION, replies=replies, documents=documents())["replies"][0].text or ""

    def test_17_where_the_model_has_cited_already(self) -> None:
        assert self.cited(["Ada Brink built the mill in 1911 [2]."]) == "Ada Brink built the mill in 1911 [2]."

    def test_17_inside_a_table(self) -> None:
        text = self.cited(["| Ada Brink built the mill in 1911 |"])
        assert text == "| Ada Brink built the mill in 1911 [2] |"

    def test_17_not_on_a_sentence_that_was_judged_wrong(self) -> None:
        text = "Ada Brink built the mill in 1911."
        checked = RagIntrinsicsGroundednessChecker(
            Scripted(lambda r: {"sentences": [{"id": "r0", "reason": "no", "faithfulness": "unfaithful"}]})
        ).run(query=QUESTION, replies=[text], documents=documents())["replies"]
        assert self.cited(checked) == text
        assert self.cited([text]) != text


def test_18_a_chat_app_with_history() -> None:
    said = iter(["Ada Brink built the mill in 1911.", "It was built in 1911."])
    rag = RagIntrinsicsPipeline(retriever(), AsyncGenerator(lambda m, s: next(said)))
    history: list[ChatMessage] = []
    answers = []
    for question in ("Who built the tide mill?", "When was the mill built?", "How many tourists come each year?"):
        answer = rag.run(query=question, history=history)["answers"][0].data
        history += [ChatMessage.from_user(question), ChatMessage.from_assistant(answer)]
        answers.append(answer)
    assert answers[0].endswith("[1].") and "1911 [1]" in answers[1] and answers[2] == CANNED


def test_18_corrective_retrieval_in_a_loop() -> None:
    """Retrieve, gate, ask again in other words, give up where there are none: a pipeline with a loop."""
    noise = Document(id="noise", content="Who, and when? And who, and when, and who?")
    more = [
        {"condition": "{{ queries[1:] }}", "output": "{{ queries[1] }}", "output_name": "again", "output_type": str},
        {"condition": "{{ True }}", "output": "{{ queries[0] }}", "output_name": "given_up", "output_type": str},
    ]
    template = [ChatMessage.from_user("{% for d in documents %}{{ d.content }} {% endfor %}")]
    pipeline = Pipeline()
    for name, part in {
        "query": BranchJoiner(str),
        "retriever": retriever([*documents(), noise], top_k=1),
        "router": RagIntrinsicsAnswerabilityRouter(),
        "expander": RagIntrinsicsQueryExpander(),
        "more": ConditionalRouter(more),
        "prompt": ChatPromptBuilder(template, required_variables="*"),
        "generator": AsyncGenerator(lambda m, s: FAITHFUL),
    }.items():
        pipeline.add_component(name, part)
    for sender, receiver in [
        ("query", "retriever.query"), ("query", "router.query"), ("retriever", "router.documents"),
        ("router.answerable", "prompt.documents"), ("prompt", "generator.messages"),
        ("router.unanswerable", "expander.query"), ("expander.queries", "more.queries"), ("more.again", "query"),
    ]:  # fmt: skip
        pipeline.connect(sender, receiver)
    found = pipeline.run({"query": {"value": QUESTION}}, include_outputs_from={"retriever"})
    assert found["generator"]["replies"][0].text == FAITHFUL
    assert [d.id for d in found["retriever"]["documents"]] == ["mill"]
    lost = pipeline.run({"query": {"value": "What does a crane driver earn?"}})
    assert "generator" not in lost and "crane" in lost["more"]["given_up"]


def test_18_a_pipeline_written_as_yaml() -> None:
    text = r"""
components:
  ranker:
    type: haystack_integrations.components.rankers.rag_intrinsics.ranker.RagIntrinsicsRanker
    init_parameters: {runtime: embedded, top_k: 2}
  router:
    type: haystack_integrations.components.routers.rag_intrinsics.answerability_router.RagIntrinsicsAnswerabilityRouter
    init_parameters: {runtime: {kind: embedded}, on_error: closed}
  checker:
    type: "haystack_integrations.components.validators.rag_intrinsics.groundedness_checker.\
      RagIntrinsicsGroundednessChecker"
  citations:
    type: haystack_integrations.components.validators.rag_intrinsics.citation_builder.RagIntrinsicsCitationBuilder
    init_parameters: {meta_fields_to_embed: [page]}
connections:
  - {sender: ranker.documents, receiver: router.documents}
  - {sender: router.answerable, receiver: checker.documents}
  - {sender: router.answerable, receiver: citations.documents}
  - {sender: checker.replies, receiver: citations.replies}
"""
    pipeline = Pipeline.loads(text)
    asked = {name: {"query": QUESTION} for name in ("ranker", "router", "checker", "citations")}
    asked["ranker"] = {"query": QUESTION, "documents": documents()}  # type: ignore[dict-item]
    asked["checker"] = {"query": QUESTION, "replies": [FAITHFUL]}  # type: ignore[dict-item]
    found = pipeline.run(asked, include_outputs_from={"checker"})
    assert found["checker"]["results"][0]["label"] == "faithful"
    assert found["citations"]["replies"][0].text == "Ada Brink built the mill in 1911 [1]."
    assert Pipeline.loads(pipeline.dumps()).to_dict()["components"] == pipeline.to_dict()["components"]


def test_18_answers_built_with_references_of_an_answer_that_cites_nothing() -> None:
    cited = RagIntrinsicsCitationBuilder().run(query=QUESTION, replies=[INVENTED], documents=documents())
    builder = AnswerBuilder(reference_pattern=r"\[(\d+)\]")
    [answer] = builder.run(query=QUESTION, replies=cited["replies"], documents=documents())["answers"]
    assert (answer.data, answer.documents) == (INVENTED, [])


def test_18_a_link_is_no_reference() -> None:
    said = "The bakery [1](https://ellery.example/1) sold purple umbrellas."
    [answer] = RagIntrinsicsPipeline(retriever(), MockChatGenerator(said)).run(query=QUESTION)["answers"]
    assert (answer.data, answer.documents) == (said, [])


def _piped(rag: Any) -> Pipeline:
    pipeline = Pipeline()
    pipeline.add_component("rag", rag)
    return pipeline
