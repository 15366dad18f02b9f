"""Small ``io.yaml`` files of our own, of the shape that published adapters have."""

from __future__ import annotations

from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

from intrinsics_core.profiles import io_yaml
from intrinsics_core.profiles.io_yaml import AdapterProfile

FILES: dict[str, str] = {
    "query_rewrite": """
        model: ~
        response_format: |
          {"type": "object", "properties": {"rewritten_question": {"type": "string"}},
           "required": ["rewritten_question"]}
        transformations: ~
        parameters: {temperature: 0.0, max_completion_tokens: 64}
    """,
    "answerability": """
        response_format: {type: string, enum: [answerable, unanswerable]}
        transformations:
        - {type: nest, input_path: [], field_name: answerability}
        parameters: {max_completion_tokens: 6}
    """,
    "context_relevance": """
        instruction: "PASSAGE: {document_content}\\n"
        response_format:
          type: object
          properties:
            context_relevance: {type: string, enum: [relevant, irrelevant, partially relevant]}
          required: [context_relevance]
    """,
    "uncertainty": """
        instruction: <certainty>
        response_format:
          type: object
          properties: {score: {type: string, enum: ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9']}}
          required: [score]
          additionalProperties: false
        transformations:
        - type: likelihood
          input_path: [score]
          categories_to_values: {'0': 0.05, '1': 0.15, '2': 0.25, '3': 0.35, '4': 0.45,
                                 '5': 0.55, '6': 0.65, '7': 0.75, '8': 0.85, '9': 0.95}
        - {type: project, input_path: [], retained_fields: {score: certainty}}
    """,
    "hallucination_detection": """
        instruction: "Judge every sentence of the last turn. Reply with JSON."
        sentence_boundaries: {last_message: i}
        response_format:
          type: array
          items:
            type: object
            properties:
              r: {type: integer, minimum: 0}
              f: {type: string, enum: [faithful, partial, unfaithful, NA]}
              e: {type: string}
            required: [r, f, e]
        transformations:
        - type: decode_sentences
          source: last_message
          input_path: [null, r]
          output_names: {begin: response_begin, end: response_end, text: response_text}
        - type: project
          input_path: []
          retained_fields:
            {response_begin: begin, response_end: end, response_text: text, f: faithfulness, e: explanation}
    """,
    "citations": """
        instruction: "For each sentence of the last turn, list the document sentences it rests on, as JSON."
        sentence_boundaries: {last_message: r, documents: c}
        response_format:
          $defs:
            Row:
              type: object
              properties:
                r: {type: integer, minimum: 0}
                c: {type: array, items: {type: integer, minimum: 0}}
              required: [r, c]
          type: array
          items: {$ref: '#/$defs/Row'}
        transformations:
        - {type: explode, input_path: [], target_field: c}
        - {type: drop_duplicates, input_path: [], target_fields: [r, c]}
        - type: decode_sentences
          source: last_message
          input_path: [null, r]
          output_names: {begin: response_begin, end: response_end, text: response_text}
        - type: decode_sentences
          source: documents
          input_path: [null, c]
          output_names: {begin: begin, end: end, text: text, document_id: document}
        - type: project
          input_path: []
          retained_fields: [response_begin, response_end, response_text, document, begin, end, text]
        - type: merge_spans
          input_path: []
          group_fields: [response_begin, response_end, response_text, document]
          begin_field: begin
          end_field: end
          text_field: text
    """,
    "query_clarification": """
        response_format:
          type: object
          properties: {clarification: {type: string}}
          required: [clarification]
    """,
    "requirement_check": """
        instruction: 'Requirement: {requirement} Reply {{"score": "yes"}} or {{"score": "no"}}.'
        response_format:
          type: object
          properties: {score: {type: string, enum: ['yes', 'no']}}
          required: [score]
        transformations:
        - {type: likelihood, input_path: [score], categories_to_values: {'yes': 1.0, 'no': 0.0}}
        - {type: nest, input_path: [], field_name: requirement_check}
    """,
    "context-attribution": """
        instruction: 'Say what each sentence came from, such as [{{"r": 0, "c": [2]}}].'
        sentence_boundaries: {last_message: r, documents: c, all_but_last_message: c}
        response_format:
          type: array
          items:
            type: object
            properties: {r: {type: integer}, c: {type: array, items: {type: integer}}}
            required: [r, c]
        transformations:
        - {type: explode, input_path: [], target_field: c}
        - {type: drop_duplicates, input_path: [], target_fields: [r, c]}
        - {type: decode_sentences, source: last_message, input_path: [null, r], output_names: {begin: said}}
        - type: decode_sentences
          source: [documents, all_but_last_message]
          input_path: [null, c]
          output_names: {begin: begin, end: end, text: text, document_id: document, message_index: message}
        - {type: project, input_path: [], retained_fields: [said, document, message, begin, end, text]}
    """,
}


def write(root: Path, *, inside: str = "", **files: str) -> Path:
    """A folder of adapters; ``inside`` are folders between a task's and its file."""
    for name, text in (files or FILES).items():
        folder = root / name / inside
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "io.yaml").write_text(text, encoding="utf-8")
    return root


def profile(**changes: Any) -> AdapterProfile:
    """All of them as a profile; ``changes`` are keys laid over every file."""
    return _profile() if not changes else _made(changes)


@cache
def _profile() -> AdapterProfile:
    return _made({})


@cache
def _values() -> dict[str, Any]:
    import yaml

    return {task: yaml.safe_load(text) for task, text in FILES.items()}


def _made(changes: dict[str, Any]) -> AdapterProfile:
    specs = {}
    for task, value in _values().items():
        name = io_yaml.location.intrinsic_of(task)
        specs[name] = io_yaml.parse(deepcopy(value) | changes, name, f"{task}/io.yaml")
    return io_yaml.from_specs(specs)
