"""What people do with answers: check, cite, evaluate, stream, chat. The number is the item that it belongs to."""

from __future__ import annotations

import asyncio
import math
from typing import Any, ClassVar

import pytest
from haystack import Document, Pipeline
from haystack.components.builders import AnswerBuilder, ChatPromptBuilder
from haystack.components.evaluators import FaithfulnessEvaluator
from haystack.components.joiners import BranchJoiner
from haystack.components.routers import ConditionalRouter
from haystack.dataclasses import ChatMessage, ToolCall
from haystack.evaluation import EvaluationRunResult
from haystack_integrations.components.evaluators.rag_intrinsics import RagIntrinsicsEvaluator
from haystack_integrations.components.query.rag_intrinsics import RagIntrinsicsQueryExpander
from haystack_integrations.components.routers.rag_intrinsics import RagIntrinsicsAnswerabilityRouter
from haystack_integrations.components.validators.rag_intrinsics import RagIntrinsicsAnswerCheck

from integrations.haystack.tests.adapter import COMPONENTS, built
from integrations.haystack.tests.generators import AsyncGenerator
from integrations.haystack.tests.scripts import FAITHFUL, INVENTED, QUESTION, chat, documents, retriever
from integrations.haystack.tests.scripts import judging as judging_runtime
from intrinsics_core import InvalidInput, RuntimeUnavailable
from tests.contract.judge import judge
from tests.scripted import Scripted

JUDGES = ("hallucination-detection", "citations", "fact-check", "uncertainty")


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
    found = run(RagIntrinsicsAnswerCheck(checks=JUDGES), asynchronous, query=QUESTION, replies=replies, documents=[])
    assert [r.text for r in found["replies"]] == ["", None, FAITHFUL]
    assert found["replies"][1].tool_calls == call.tool_calls
    assert {result["reason"] for result in found["results"][0].values()} == {"nothing said"}


@pytest.mark.parametrize("asynchronous", [False, True])
def test_01_a_pipeline_on_an_empty_reply(asynchronous: bool) -> None:
    [answer] = ask(chat(AsyncGenerator(lambda m, s: ChatMessage.from_assistant(""))), asynchronous)
    assert (answer.data, answer.documents) == ("", [])


@pytest.mark.parametrize("name", COMPONENTS)
def test_09_a_wrong_on_error_is_told_when_built(name: str) -> None:
    for wrong in ("ignore", "open") if name != "answerability" else ("ignore",):
        with pytest.raises(InvalidInput, match="on_error"):
            built(name, on_error=wrong)


@pytest.mark.parametrize("asynchronous", [False, True])
def test_09_a_judge_that_is_down_costs_no_answer(asynchronous: bool) -> None:
    [answer] = ask(chat(runtime=down_after(), checks=JUDGES), asynchronous)
    assert answer.data == FAITHFUL
    verdict = answer.meta["rag_intrinsics"]["hallucination_detection"]
    assert "refused" in verdict["degraded"] and {s["label"] for s in verdict["sentences"]} == {"NA"}
    for name in JUDGES:
        with pytest.raises(RuntimeUnavailable):
            RagIntrinsicsAnswerCheck(down_after(), checks=name, on_error="raise").run(
                query=QUESTION, replies=[FAITHFUL], documents=documents()
            )


def test_09_a_question_side_outage_is_raised_unless_put_up_with() -> None:
    with pytest.raises(Exception, match="refused"):
        ask(chat(runtime=down_after(answered=False)))


def test_09_a_runtime_that_cannot_warm_up_costs_no_answer() -> None:
    class Cold(Scripted):
        def warm_up(self) -> None:
            raise RuntimeUnavailable("nobody there")

    cold = Cold(lambda request: RuntimeUnavailable("nobody there"))
    found = RagIntrinsicsAnswerCheck(checks="hallucination-detection", runtime=cold).run(
        query=QUESTION, replies=[FAITHFUL], documents=documents()
    )
    assert found["replies"][0].text == FAITHFUL
    assert "nobody there" in found["results"][0]["hallucination_detection"]["degraded"]
    with pytest.raises(RuntimeUnavailable):
        RagIntrinsicsAnswerCheck(checks="hallucination-detection", runtime=cold, on_error="raise").run(
            query=QUESTION, replies=[FAITHFUL], documents=documents()
        )


@pytest.mark.parametrize("asynchronous", [False, True])
def test_10_it_streams_and_a_server_finds_where_to_put_its_callback(asynchronous: bool) -> None:
    # As Hayhooks looks for it: a socket named so, in a component of the pipeline.
    pipeline = chat(stream="chunks")
    assert "streaming_callback" in pipeline.inputs()["watch"]
    chunks: list[str] = []

    async def aheard(chunk: Any) -> None:
        chunks.append(chunk.content)

    tell = aheard if asynchronous else lambda chunk: chunks.append(chunk.content)
    [answer] = ask(pipeline, asynchronous, watch={"streaming_callback": tell})
    assert "".join(chunks) == FAITHFUL and answer.data.startswith(FAITHFUL[:-1])


def test_10_it_streams_in_a_pipeline_that_hayhooks_serves() -> None:
    hayhooks = pytest.importorskip("hayhooks", reason="hayhooks is not installed")
    given = {"rewriter": {"query": QUESTION}}
    chunks = list(hayhooks.streaming_generator(chat(), pipeline_run_args=given))
    assert "".join(chunk.content for chunk in chunks) == FAITHFUL

    async def awaited() -> list[Any]:
        return [chunk async for chunk in hayhooks.async_streaming_generator(chat(), pipeline_run_args=given)]

    assert "".join(chunk.content for chunk in asyncio.run(awaited())) == FAITHFUL


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("checks", ["audit", ("citations", "hallucination-detection")])
def test_14_an_answer_that_is_not_supported_is_blocked(checks: Any, asynchronous: bool) -> None:
    for said, shown in ((INVENTED, "No."), (FAITHFUL, "Ada Brink built the mill in 1911 [1].")):
        [answer] = ask(chat(said, mode="block", text="No.", checks=checks), asynchronous)
        assert answer.data == shown and len(answer.documents) == (said == FAITHFUL)
        blocked = ChatMessage.from_assistant(answer.data, meta=answer.meta)
        [again] = RagIntrinsicsAnswerCheck().run(query=QUESTION, documents=documents(), replies=[blocked])["results"]
        assert bool(again) == (said == FAITHFUL)  # what stands in place of an answer is not judged
    with pytest.raises(InvalidInput, match="verdict on each sentence"):
        RagIntrinsicsAnswerCheck(mode="block", checks="uncertainty")


def test_13_users_metadata_of_our_name() -> None:
    named = [Document(id="mill", content=FAITHFUL, meta={"rag_intrinsics": "mine"})]
    reply = ChatMessage.from_assistant(FAITHFUL, meta={"rag_intrinsics": "mine too"})
    found = RagIntrinsicsAnswerCheck().run(query=QUESTION, replies=[reply], documents=named)
    assert found["replies"][0].meta["rag_intrinsics"]["audit"]["label"] == "faithful"
    assert named[0].meta == {"rag_intrinsics": "mine"} and reply.meta == {"rag_intrinsics": "mine too"}


class TestEvaluators:
    """Item 15."""

    ROWS: ClassVar[dict[str, Any]] = {
        "questions": [QUESTION, QUESTION, "How tall is the lighthouse?", QUESTION],
        "contexts": [[FAITHFUL], [FAITHFUL, "Fog is common in May."], [], [FAITHFUL]],
        "predicted_answers": [FAITHFUL, INVENTED, "It is 30 metres tall.", ""],
    }

    @pytest.mark.parametrize("asynchronous", [False, True])
    def test_15_they_make_an_evaluation_run(self, asynchronous: bool) -> None:
        pipeline = Pipeline()
        pipeline.add_component("faithful", RagIntrinsicsEvaluator("hallucination-detection"))
        pipeline.add_component("answerable", RagIntrinsicsEvaluator("answerability"))
        pipeline.add_component("relevant", RagIntrinsicsEvaluator("context-relevance"))
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
        def sometimes(request: Any) -> Any:
            return RuntimeUnavailable("refused") if INVENTED in str(request) else judge(request)

        found = RagIntrinsicsEvaluator("hallucination-detection", Scripted(sometimes)).run(**self.ROWS)
        assert [r["status"] for r in found["results"]] == ["evaluated", "error", "nothing to judge", "nothing to judge"]
        assert "refused" in found["results"][1]["reason"]
        assert (found["score"], found["individual_scores"][0]) == (1.0, 1.0)
        assert all(map(math.isnan, found["individual_scores"][1:])) and found["results"][1]["score"] is None
        EvaluationRunResult("mine", inputs=self.ROWS, results={"faithful": found}).detailed_report()
        with pytest.raises(RuntimeUnavailable):
            RagIntrinsicsEvaluator("hallucination-detection", Scripted(sometimes), on_error="raise").run(**self.ROWS)
        # So it is in the report of Haystack's own evaluator.
        peer = FaithfulnessEvaluator(chat_generator=AsyncGenerator(lambda m, s: "no JSON"), raise_on_failure=False)
        theirs = peer.run(**self.ROWS)["individual_scores"]
        assert all(map(math.isnan, theirs))

    def test_15_a_row_without_contexts_counts_where_the_retriever_is_evaluated(self) -> None:
        found = RagIntrinsicsEvaluator("context-relevance").run([QUESTION, QUESTION], [[FAITHFUL], []])
        assert found["individual_scores"] == [1.0, 0.0] and found["score"] == 0.5

    def test_15_a_row_without_a_probability_says_why(self) -> None:
        asked, found = ["Wo liegt der Bahnhof?"], [["Der Bahnhof liegt am Müllerplatz, gleich neben der Post."]]
        said = ["Der Bahnhof wurde von vierzig Matrosen golden gestrichen."]
        for told in (
            RagIntrinsicsEvaluator("hallucination-detection").run(asked, found, said),
            RagIntrinsicsEvaluator("answerability").run(asked, found),
        ):
            [row] = told["results"]
            assert (row["status"], math.isnan(told["score"])) == ("error", True) and "German" in row["reason"]
        [thanks] = RagIntrinsicsEvaluator("hallucination-detection").run(["Thanks!"], found, ["You are welcome!"])[
            "results"
        ]
        assert (thanks["status"], thanks["reason"]) == ("nothing to judge", "nothing in the answer makes a claim")

    def test_15_rows_are_read_as_elsewhere(self) -> None:
        hours = {"Harbour Pool": "Opening hours: 9 am to 6 pm.", "City Museum": "Opening hours: 10 am to 4 pm."}
        titled = [Document(content=text, meta={"title": title}) for title, text in hours.items()]
        asked = "When is the Harbour Pool open?"
        routed = RagIntrinsicsAnswerabilityRouter().run(query=asked, documents=titled)["result"]
        [row] = RagIntrinsicsEvaluator("answerability").run([asked], [titled])["results"]  # type: ignore[list-item]
        assert row["probability"] == routed["probability"]
        for said in ("The Harbour Pool is open from 9 am to 6 pm.", '{"pool": "Harbour Pool", "opens": "9 am"}'):
            check = RagIntrinsicsAnswerCheck(checks="hallucination-detection")
            checked = check.run(query=asked, replies=[said], documents=titled)["results"][0]["hallucination_detection"]
            [row] = RagIntrinsicsEvaluator("hallucination-detection").run([asked], [titled], [said])["results"]  # type: ignore[list-item]
            assert row["sentences"] == checked["sentences"]

    def test_15_a_blank_question_is_one_row(self) -> None:
        rows = {"questions": [" ", *self.ROWS["questions"][1:]], "contexts": self.ROWS["contexts"]}
        found = RagIntrinsicsEvaluator("answerability", judging_runtime()).run(**rows)
        assert found["results"][0]["status"] == "error" and "InvalidInput" in found["results"][0]["reason"]
        assert found["results"][1]["status"] == "evaluated" and not math.isnan(found["score"])
        with pytest.raises(InvalidInput):
            RagIntrinsicsEvaluator("answerability", judging_runtime(), on_error="raise").run(**rows)
        nothing = RagIntrinsicsEvaluator("answerability", judging_runtime()).run([" "], [[FAITHFUL]])
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
        with pytest.raises(InvalidInput, match=named):
            RagIntrinsicsEvaluator("hallucination-detection", judging_runtime()).run(**{**self.ROWS, **wrong})


class TestMarkers:
    """Item 17."""

    def cited(self, replies: list[Any]) -> str:
        builder = RagIntrinsicsAnswerCheck(judging_runtime(), checks="citations")
        return builder.run(query=QUESTION, replies=replies, documents=documents())["replies"][0].text or ""

    def test_17_where_the_model_has_cited_already(self) -> None:
        assert self.cited(["Ada Brink built the mill in 1911 [2]."]) == "Ada Brink built the mill in 1911 [2]."

    def test_17_inside_a_table(self) -> None:
        text = self.cited(["| Ada Brink built the mill in 1911 |"])
        assert text == "| Ada Brink built the mill in 1911 [2] |"

    def test_17_not_on_a_sentence_that_was_judged_wrong(self) -> None:
        text = "Ada Brink built the mill in 1911."
        checked = RagIntrinsicsAnswerCheck(
            checks="hallucination-detection",
            runtime=Scripted(lambda r: {"sentences": [{"id": "r0", "reason": "no", "faithfulness": "unfaithful"}]}),
        ).run(query=QUESTION, replies=[text], documents=documents())["replies"]
        assert self.cited(checked) == text
        assert self.cited([text]) != text


def test_18_a_chat_app_with_history() -> None:
    said = iter(["Ada Brink built the mill in 1911.", "It was built in 1911."])
    pipeline = chat(AsyncGenerator(lambda m, s: next(said)))
    history: list[ChatMessage] = []
    answers = []
    for question in ("Who built the tide mill?", "When was the mill built?", "How many tourists come each year?"):
        found = pipeline.run({"rewriter": {"query": question, "history": history}})
        answer = found["answers"]["answers"][0].data if "answers" in found else found["router"]["unanswerable"]
        history += [ChatMessage.from_user(question), ChatMessage.from_assistant(answer)]
        answers.append(answer)
    assert answers[0].endswith("[1].") and "1911 [1]" in answers[1] and "tourists" in answers[2]


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
    type: haystack_integrations.components.validators.rag_intrinsics.answer_check.RagIntrinsicsAnswerCheck
    init_parameters: {checks: hallucination-detection}
  citations:
    type: haystack_integrations.components.validators.rag_intrinsics.answer_check.RagIntrinsicsAnswerCheck
    init_parameters: {checks: [citations], meta_fields_to_embed: [page]}
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
    assert found["checker"]["results"][0]["hallucination_detection"]["label"] == "faithful"
    assert found["citations"]["replies"][0].text == "Ada Brink built the mill in 1911 [1]."
    assert Pipeline.loads(pipeline.dumps()).to_dict()["components"] == pipeline.to_dict()["components"]


def test_18_answers_built_with_references_of_an_answer_that_cites_nothing() -> None:
    cited = RagIntrinsicsAnswerCheck(checks="citations").run(query=QUESTION, replies=[INVENTED], documents=documents())
    builder = AnswerBuilder(reference_pattern=r"\[(\d+)\]")
    [answer] = builder.run(query=QUESTION, replies=cited["replies"], documents=documents())["answers"]
    assert (answer.data, answer.documents) == (INVENTED, [])


def test_18_a_link_is_no_reference() -> None:
    said = "The bakery [1](https://ellery.example/1) sold purple umbrellas."
    [answer] = ask(chat(said))
    assert (answer.data, answer.documents) == (said, [])


def ask(pipeline: Pipeline, asynchronous: bool = False, **more: Any) -> Any:
    """The answers to the question."""
    data = {"rewriter": {"query": QUESTION}, **more}
    found = asyncio.run(pipeline.run_async(data)) if asynchronous else pipeline.run(data)
    return found["answers"]["answers"]
