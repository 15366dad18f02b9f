"""What an in-process model is shown of a chat request, by templates as models bring them."""

from __future__ import annotations

import pytest

from intrinsics_core import InvalidInput
from intrinsics_core.local.tokens import chat_text
from intrinsics_core.protocol.requests import Generate
from intrinsics_core.protocol.task import Document, Message

ASKED = Generate(
    "x", messages=(Message("user", "When was it lit?"),), documents=(Document("It was lit in 1871.", "a"),)
)
TURNS = "{% for m in messages %}[{{ m.role }}] {{ m.content }}\n{% endfor %}"


class Tokenizer:
    """A template of jinja, as transformers renders one."""

    def __init__(self, template: str) -> None:
        self.chat_template = template

    def apply_chat_template(self, messages, tokenize, **arguments):
        jinja2 = pytest.importorskip("jinja2")
        assert not tokenize
        return jinja2.Template(self.chat_template).render(messages=messages, **arguments)


def test_documents_stand_where_the_template_has_a_place_for_them():
    shown = "{% for d in documents %}<{{ d.doc_id }}> {{ d.text }}\n{% endfor %}" + TURNS
    assert chat_text(Tokenizer(shown), ASKED) == "<a> It was lit in 1871.\n[user] When was it lit?\n"


def test_a_template_that_ignores_documents_finds_them_in_the_messages():
    """As prereleases of Granite 4.2 do, and most models that are not Granite."""
    text = chat_text(Tokenizer(TURNS), ASKED)
    assert text.startswith("[system] You are a helpful assistant with access to the following documents.")
    assert '{"doc_id": "a", "text": "It was lit in 1871."}' in text
    assert text.endswith("[user] When was it lit?\n")


def test_an_adapter_inside_a_checkpoint_is_refused():
    request = Generate("x", messages=ASKED.messages, template={"adapter_name": "answerability"})
    with pytest.raises(InvalidInput, match="Granite Switch"):
        chat_text(Tokenizer(TURNS), request)
