"""``granite-3.3``: the LoRA adapters of ``ibm-granite/granite-3.3-8b-rag-agent-lib`` and their base model.

Prompts match the published adapters' training format byte for byte; the date in the system prompt is the task's.
Reranking, query expansion, HyDE and self-consistency are prompts to the base model. The fact check reads relevance from
the context-relevance adapter and support from the hallucination adapter, one source at a time. Answer relevance has two
adapters (`answer_relevance`).

Sources: the adapters' model cards; *A Library of LLM Intrinsics for RAG* (2025).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from intrinsics_core.profiles import adapter_names, asking, common_formats
from intrinsics_core.profiles.granite import answer_relevance, prompts
from intrinsics_core.profiles.granite.prompts import Family, Shown, ask, opening, turn, within_expansion
from intrinsics_core.profiles.turns import to_last_question
from intrinsics_core.protocol.profile import Format, Profile
from intrinsics_core.protocol.requests import Choice, JsonSchema, Regex, Reply
from intrinsics_core.protocol.results import Citations, HallucinationDetection, Judgement
from intrinsics_core.protocol.task import Task
from intrinsics_core.replies import readers, sentence_ids, writers
from intrinsics_core.text.markup import defuse, header


def _documents(documents: Sequence[Shown]) -> str:
    return "".join(turn(f'document {{"document_id": "{header(name)}"}}', "\n" + text) for name, text in documents)


_DIALECT = Family(grounded=" " + prompts.GROUNDED, documents=_documents)

_REWRITE = """\
rewrite: Given the conversation history above and the specific query provided in the 'query_to_rewrite' role, \
rewrite that query into a standalone question that captures the user's intent without requiring the conversation \
context. If the query is already clear and standalone, output it as is.
Your output should be a JSON structure with the rewritten question:
```json
{
    "rewritten_question": "YOUR_REWRITTEN_QUESTION_HERE"
}
```"""
_RELEVANCE = """\
context_relevance: Analyze the provided document in relation to the final user query from the conversation. \
Determine if the document contains information that could help answer the final user query. Output 'relevant' if the \
document contains substantial information directly useful for answering the final user query. Output 'partially \
relevant' if the document contains some related information that could partially help answer the query, or if you are \
uncertain about the relevance - err on the side of 'partially relevant' when in doubt. Output 'irrelevant' only if the \
document clearly contains no information that could help answer the final user query. When uncertain, choose \
'partially relevant' rather than 'irrelevant'. Your output should be a JSON structure with the context relevance \
classification:
```json
{
    "context_relevance": "YOUR_CONTEXT_RELEVANCE_CLASSIFICATION_HERE"
}
```"""
_DETECT = (
    "Split the last assistant response into individual sentences. For each sentence in the last assistant response, "
    "identify the faithfulness by comparing with the provided documents and generate the faithfulness reasoning and "
    "faithfulness decision. Ensure that your output includes all response sentence IDs, and for each response sentence "
    "ID, provide the corresponding faithfulness reasoning and faithfulness decision. The output must be a json "
    "structure."
)
_CITE = (
    "Split the last assistant response into individual sentences. For each sentence in the response, identify the "
    "statement IDs from the documents that it references. Ensure that your output includes all response sentence IDs, "
    "and for each response sentence ID, provide the list of corresponding referring document sentence IDs. The output "
    "must be a json structure."
)
_REWRITE_REGEX = r"```json\n\{\s*\"rewritten_question\"\s*:\s*\"[^\"]*\"\s*\}\n```"
_RELEVANCE_REGEX = Regex(
    r"```json\n\{\s*\"context_relevance\"\s*:\s*\"(irrelevant|relevant|partially relevant)\"\s*\}\n```"
)


def _list_of(**fields: dict[str, object]) -> JsonSchema:
    entry = {
        "additionalProperties": False,
        "properties": fields,
        "required": list(fields),
        "title": "_MODEL_OUTPUT_ENTRY",
        "type": "object",
    }
    items = {"$ref": "#/$defs/_MODEL_OUTPUT_ENTRY"}
    return JsonSchema(
        {"$defs": {"_MODEL_OUTPUT_ENTRY": entry}, "items": items, "title": "_MODEL_OUTPUT", "type": "array"}
    )


_VERDICTS = _list_of(
    i={"minimum": 0, "title": "I", "type": "integer"},
    r={"title": "R", "type": "string"},
    f={"title": "F", "type": "string"},
)
_LINKS = _list_of(
    r={"minimum": 0, "title": "R", "type": "integer"},
    c={"items": {"minimum": 0, "type": "integer"}, "title": "C", "type": "array"},
)


def _rewrite_prompt(task: Task) -> str:
    context = _DIALECT.context(task, to_last_question(task))
    return context + turn("query_to_rewrite", defuse(task.query)) + opening(_REWRITE)


def _relevance_prompt(task: Task) -> str:
    context = _DIALECT.context(task, to_last_question(task)) + turn("final_user_query", defuse(task.query))
    # One document a request, and the adapter knows it as "1", whatever its id.
    return context + _documents([("1", defuse(task.documents[0].text))]) + opening(_RELEVANCE)


def _relevance(task: Task, replies: Sequence[Reply]) -> Judgement:
    name = "context_relevance"
    value, reply = asking.read_object(replies, f'{{"{name}": one of {", ".join(readers.RELEVANCE)}}}')
    return readers.judgement(task, *asking.label_in(value, reply, name))


def _detect(task: Task, replies: Sequence[Reply]) -> HallucinationDetection:
    reply, expected = readers.generated(replies), '[{"i": sentence, "r": reasoning, "f": faithfulness}, ...]'
    rows = readers.entries(reply, expected)
    numbers = readers.row_numbers(rows, "i", "i")
    sentence_ids.check_numbers(numbers, range(len(task.response_sentences)), reply)
    verdicts = (readers.verdict(row, reply, "f", "r") for row in rows)
    return sentence_ids.hallucination(task, zip(numbers, verdicts, strict=True))


def _cite(task: Task, replies: Sequence[Reply]) -> Citations:
    reply = readers.generated(replies)
    rows = readers.entries(reply, '[{"r": sentence, "c": [document sentences]}, ...]')
    sentence_ids.check_numbers(readers.row_numbers(rows, "r"), range(len(task.response_sentences)), reply)
    return sentence_ids.citations(task, readers.links(rows, reply, "r", "c"))


def _fenced(name: str, write: Callable[[Task, Any], str], task: Task, value: Any) -> str:
    """One field in a code fence, as trained. The adapters' expressions allow no quote within the text."""
    return f'```json\n{{\n    "{name}": {writers.without_quotes(write(task, value))}\n}}\n```'


def _write_verdicts(task: Task, value: HallucinationDetection) -> str:
    verdicts = enumerate(writers.verdicts(task, value))
    return writers.as_json([{"i": i, "r": verdict.explanation or "", "f": verdict.label} for i, verdict in verdicts])


_ask_rewrite = partial(ask, "query-rewrite", _rewrite_prompt, max_tokens=256, constraint=Regex(_REWRITE_REGEX))
_detection = prompts.detection_prompt(_DIALECT, "i", _DETECT)
_ask_detect = ask("hallucination-detection", _detection, max_tokens=4096, constraint=_VERDICTS)


def profile(*, explain: bool = True) -> Profile:
    """The profile.

    Args:
        explain: let the base model explain a comparison of two passages, as published. False asks for the letter
            alone: the same ranking at a fraction of the tokens.
    """
    formats: dict[str, Format[Any]] = {
        "query-rewrite": Format(
            within_expansion(_ask_rewrite(seed=42), _ask_rewrite()),
            readers.rewrite,
            partial(_fenced, "rewritten_question", writers.query),
        ),
        "context-relevance": Format(
            ask("context-relevance", _relevance_prompt, max_tokens=100, constraint=_RELEVANCE_REGEX, logprobs=True),
            _relevance,
            partial(_fenced, "context_relevance", writers.judgement),
        ),
        "answerability": prompts.answerability(_DIALECT, max_tokens=16, constraint=Choice(readers.ANSWERABLE)),
        "uncertainty": prompts.uncertainty(_DIALECT),
        "hallucination-detection": Format(_ask_detect, _detect, _write_verdicts),
        "citations": Format(
            ask("citations", prompts.citation_prompt(_DIALECT, _CITE), max_tokens=1024, constraint=_LINKS),
            _cite,
            lambda task, value: writers.as_json([{"r": i, "c": c} for i, c in enumerate(writers.cited(task, value))]),
        ),
        "entailment": Format(_ask_detect, prompts.entailment(_detect), writers.entailment(_write_verdicts)),
    }
    formats["relevance"] = common_formats.logit_of_score(formats["context-relevance"])
    formats |= answer_relevance.formats(_DIALECT)
    formats |= prompts.base_formats(_DIALECT, 4096 if explain else 2)
    return Profile(
        "granite-3.3", formats, models=adapter_names.GRANITE_3_3, made_by=(partial(profile, explain=explain), ())
    )


PROFILE = profile()
