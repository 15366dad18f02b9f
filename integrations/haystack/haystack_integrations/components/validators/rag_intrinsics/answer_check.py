"""Answer check."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal, get_args

from haystack import Document, component
from haystack.dataclasses import ChatMessage, StreamingCallbackT
from haystack_integrations.common.rag_intrinsics.base import History, Intrinsic, Replies, ReplyIntrinsic
from haystack_integrations.common.rag_intrinsics.pipeline_input import PipelineInput, is_structured, text_of, with_text
from haystack_integrations.components.validators.rag_intrinsics.markers import marked
from haystack_integrations.components.validators.rag_intrinsics.streams import audited

from intrinsics_core import Profile, StreamChecker
from intrinsics_core.chains import notes
from intrinsics_core.chains.checks import AnswerChecks, CheckedAnswer
from intrinsics_core.chains.policy import Decision
from intrinsics_core.protocol.names import named
from intrinsics_core.protocol.results import Faithfulness
from intrinsics_core.render.citations import STYLES, Style, labelled, view, write
from intrinsics_core.running.flows import BLOCKED
from intrinsics_core.running.steps import Steps

CitationForm = Literal["markers", "inline", "inline-snippet", "postfix", "postfix-snippet"]


@component
class RagIntrinsicsAnswerCheck(ReplyIntrinsic):
    """
    Says of an answer what its documents say about it, and can block it.

    Behind a chat generator: replies come out as copies, with the verdicts in `meta["rag_intrinsics"]` under the checks'
    names (`hallucination_detection`), and with references in the text. Offsets are those of the text as it came in.

    Before a chat generator, which it hands a streaming callback: the chunks are passed on to yours, and after a chunk
    that closes a sentence comes one without text, whose `meta["rag_intrinsics"]["sentences"]` has that sentence's
    verdict and citations. At the end comes one with the whole `meta["rag_intrinsics"]["audit"]`. The end is the chunk
    with a `finish_reason`; for a generator that names none, connect this callback with a check behind it, too. Each
    answer of a stream has an audit of its own; words before a tool call are no part of an answer.

    Usage example:

    ```python
    from haystack import Document
    from haystack_integrations.components.validators.rag_intrinsics import RagIntrinsicsAnswerCheck

    documents = [Document(id="mill", content="Ada Brink built the tide mill in 1911.")]
    result = RagIntrinsicsAnswerCheck().run(
        query="Who built the tide mill?",
        replies=["Ada Brink built the tide mill in 1911. She sold umbrellas."],
        documents=documents,
    )
    print(result["replies"][0].text)
    print([sentence["label"] for sentence in result["results"][0]["audit"]["sentences"]])
    # Ada Brink built the tide mill in 1911 [1]. She sold umbrellas.
    # ['faithful', 'unfaithful']
    ```
    """

    intrinsic: ClassVar[str] = "audit"

    def __init__(self, runtime: Any = None, *, checks: str | Sequence[str] = ("audit",),
                 mode: Literal["annotate", "block"] = "annotate",
                 labels: Faithfulness | Sequence[Faithfulness] = ("unfaithful",), text: str = BLOCKED,
                 citations: CitationForm | None = "markers", style: Style = "text",
                 stream: Literal["chunks", "hold"] = "chunks", options: Mapping[str, Mapping[str, Any]] | None = None,
                 meta_fields_to_embed: Sequence[str] | None = None, profile: Profile | str | None = None,
                 on_error: str | None = None, date: str | None = None) -> None:  # fmt: skip
        """
        Create a check. Nothing is loaded before `warm_up` or the first run.

        :param runtime: A config (`{"kind": "server", "base_url": ...}`), a chat generator or a runtime; None: embedded.
        :param checks: One or several: `"audit"` (in one request whether the documents answer the question, a verdict
            with citations for each sentence, a certainty, whether the question is addressed, and what of these does not
            go together), `"hallucination-detection"`, `"citations"` (a sentence that is judged unfaithful beside them
            gets none), `"fact-check"`, `"uncertainty"`, `"answer-relevance"`, `"evaluate"`, and
            `"check-citations"` of marks that the answer has itself.
        :param mode: `"annotate"` notes the verdicts; `"block"` puts `text` in the place of an answer with a label in
            `labels`, which needs a check with a verdict on each sentence.
        :param labels: Which labels of the answer as a whole count, one or several.
        :param text: What stands in the place of a blocked answer, which no check behind judges.
        :param citations: How an answer shows its citations: `"markers"` puts `[n]` behind sentences, where n counts the
            documents from 1, as `AnswerBuilder(reference_pattern=r"\\[(\\d+)\\]")` reads them; `"postfix"` writes
            behind the text what it rests on, `"inline"` in it which claim rests on what, and either with the cited
            words (`"postfix-snippet"`); None leaves the text as it is. A JSON object stays as it is.
        :param style: How these are written: as `"text"`, as `"markdown"` with footnotes, or as `"json"`.
        :param stream: Whether `"chunks"` pass at once, or `"hold"` keeps each sentence back until it is judged: a
            callback that raises at an unfaithful sentence has then not shown it.
        :param options: Further arguments of a check, by its name: `{"evaluate": {"metrics": ["coherence"]}}`.
        :param meta_fields_to_embed: Fields of `meta` that the answering model is shown: the judge is shown them, too.
        :param profile: A profile or its name; the runtime's own where left out.
        :param on_error: `"fallback"`: where a judgement failed, or left sentences out, the answer passes, and its
            verdict says so; or `"raise"`. None: `"fallback"` to annotate, `"raise"` to block.
        :param date: Date text for prompts that carry one; the day of the call where left out.
        :raises InvalidInput: If one of these has what it does not take.
        """
        self._checks = AnswerChecks(checks, mode=mode, labels=labels, on_error=on_error, date=date, options=options,
                                    modes=("annotate", "block"))  # fmt: skip
        Intrinsic.__init__(self, runtime, meta_fields_to_embed=meta_fields_to_embed, profile=profile,
                           on_error=self._checks.policy.on_error, date=date)  # fmt: skip
        self.checks, self.mode, self.labels = list(self._checks.checks), mode, self._checks.policy.labels
        self.text, self.options = text, {name: dict(given) for name, given in (options or {}).items()}
        self.citations: CitationForm | None = citations and named("citations", citations, get_args(CitationForm))
        self.style, self.stream = named("style", style, STYLES), named("stream", stream, ("chunks", "hold"))

    @component.output_types(replies=list[ChatMessage], results=list[dict[str, Any]],
                            streaming_callback=StreamingCallbackT | None)  # fmt: skip
    def run(self, query: str, documents: list[Document], replies: Replies | None = None, history: History = None,
            streaming_callback: StreamingCallbackT | None = None) -> dict[str, Any]:  # fmt: skip
        """
        Judge replies, or make a callback for the generator that is going to write one.

        :param query: The question.
        :param documents: What the answer should rest on; without any, nothing is judged.
        :param replies: Answers to it, as generators return them.
        :param history: Turns before the question, where it needs them to be understood.
        :param streaming_callback: Where chunks go; behind the generator, the callback of the check before it.
        :returns: `replies`: copies, with the verdicts in `meta`, and `results`: the verdicts on each, by name.
            Without replies `streaming_callback` alone: for the generator; None where there was none.
        :raises IntrinsicsError: Bad input is an InvalidInput that names it; see `intrinsics_core.protocol.errors`.
        """
        if replies is None:
            if streaming_callback is not None:
                self._ready()
            return self._watching(query, documents, history, streaming_callback)
        if end := getattr(streaming_callback, "finish", None):
            end()
        rows = self._rows(query, replies, documents, history)
        return self._outputs(rows, self._judged(rows))

    @component.output_types(replies=list[ChatMessage], results=list[dict[str, Any]],
                            streaming_callback=StreamingCallbackT | None)  # fmt: skip
    async def run_async(self, query: str, documents: list[Document], replies: Replies | None = None,
                        history: History = None,
                        streaming_callback: StreamingCallbackT | None = None) -> dict[str, Any]:  # fmt: skip
        """Like `run`, without blocking the event loop."""
        if replies is None:
            if streaming_callback is not None:
                await self._aready()
            return self._watching(query, documents, history, streaming_callback)
        if end := getattr(streaming_callback, "afinish", None):
            await end()
        elif end := getattr(streaming_callback, "finish", None):
            end()
        rows = self._rows(query, replies, documents, history)
        return self._outputs(rows, await self._ajudged(rows))

    def _watching(self, query: str, documents: Any, history: Any, tell: Any) -> dict[str, Any]:
        if tell is None:
            return {"streaming_callback": None}
        given = self._read(query, documents, history)

        def checker() -> StreamChecker:
            how: Any = {"profile": self.profile, "on_error": self.on_error, "date": self.date}
            return StreamChecker(given.messages, given.passages, runtime=self._engine.held_by(self), **how)

        return {"streaming_callback": audited(given, checker, tell, hold=self.stream == "hold")}

    def _judging(self, reply: ChatMessage, given: PipelineInput) -> Steps[CheckedAnswer]:
        if notes.verdicts_in(reply.meta).get(notes.CANNED):
            return CheckedAnswer(decision=Decision("pass"))
        known = notes.known_detection(reply.meta, given.turns[-1].text, given.passages)
        return (yield from self._checks.judge(given.messages, given.passages, known=known))

    def _outputs(self, rows: Sequence[Any], found: Sequence[CheckedAnswer]) -> dict[str, Any]:
        outputs: dict[str, Any] = {"replies": [], "results": []}
        for (reply, given), judged in zip(rows, found, strict=True):
            verdicts = {notes.underscored(name): given.placed(dump) for name, dump in judged.dumped.items()}
            outputs["results"].append(verdicts)
            blocked = judged.decision.act == "replace"
            if judged.decision.act != "pass":
                meta = notes.signed(reply.meta, verdicts, given.turns[-1].text, given.passages)
                meta = notes.with_verdicts(meta, {notes.CANNED: True}) if blocked else meta
                reply = with_text(reply, self.text if blocked else self._cited(reply, given, judged), meta)
            outputs["replies"].append(reply)
        return outputs

    def _cited(self, reply: ChatMessage, given: PipelineInput, judged: CheckedAnswer) -> str | None:
        """The text of an answer with its citations; None where it stays as it is."""
        cited = judged.citations
        if self.citations is None or cited is None or is_structured(reply) or not text_of(reply).strip():
            return None
        if self.citations == "markers":
            return marked(text_of(reply), given.placed(cited.model_dump(mode="json"))["citations"])
        shown = view(cited, text_of(reply), given.passages, self.citations)
        return write(shown, self.style, label=labelled(given.passages))
