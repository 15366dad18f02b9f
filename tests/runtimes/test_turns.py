"""A server whose chat template insists on an order of turns: it is learnt from its refusal, once."""

from __future__ import annotations

from typing import Any

import pytest
from jinja2 import Environment

from intrinsics_core import answerability, run
from intrinsics_core.protocol.task import Message
from intrinsics_core.runtimes.server import ServerRuntime
from intrinsics_core.runtimes.shown_turns import shown_turns
from tests.loopback import Received, Reply, completion
from tests.runtimes.templates import GEMMA, MISTRAL

QUESTION = [{"role": "user", "content": "When was it lit?"}]
FACT = "The lighthouse of Borrowdale was lit in 1871."


ASKED = """
name: answerability
instruction: Is it answerable?
response_format: {type: string, enum: [answerable, unanswerable]}
parameters: {temperature: 0.0, max_completion_tokens: 16}
"""


class Refusal(Exception):
    pass


class Templated:
    """A server that writes the messages as its model's template does, and says what the template said."""

    def __init__(self, template: str) -> None:
        def refuse(words: str) -> None:
            raise Refusal(words)

        self.template = Environment().from_string(template)
        self.values: dict[str, Any] = {"raise_exception": refuse, "bos_token": "<s>", "eos_token": "</s>",
                                       "add_generation_prompt": True}  # fmt: skip
        self.seen: list[str] = []
        self.refused = 0

    def __call__(self, received: Received) -> Reply:
        if not received.path.endswith("/chat/completions"):
            return Reply({"detail": "Not Found"}, status=404)
        try:
            self.seen.append(self.template.render(messages=received.body["messages"], **self.values))
        except Refusal as error:
            self.refused += 1
            return Reply({"error": {"message": str(error)}}, status=400)
        return Reply(completion('"answerable"'))


@pytest.mark.parametrize(("template", "refusals"), [(MISTRAL, 2), (GEMMA, 1)], ids=["mistral", "gemma"])
def test_the_order_is_learnt_once(serve: Any, tmp_path: Any, template: str, refusals: int) -> None:
    model = Templated(template)
    (tmp_path / "io.yaml").write_text(ASKED, encoding="utf-8")
    url = serve(model).url
    with ServerRuntime(base_url=url, model="m", adapters={"answerability": "m"}) as runtime:
        for _ in range(3):
            result = run(answerability(QUESTION, [FACT]), runtime, profile=f"io.yaml:{tmp_path}")
            assert result.label == "answerable"
    assert model.refused == refusals
    for prompt in model.seen:
        assert prompt.index(FACT) < prompt.index("When was it lit?") < prompt.index("Is it answerable?")


def test_no_text_is_lost() -> None:
    said = [("system", "a"), ("user", "b"), ("assistant", "c"), ("user", "d"), ("user", "e")]
    messages = [Message(*one) for one in said]
    for level, roles in (
        ("as given", ["system", "user", "assistant", "user", "user"]),
        ("alternating", ["system", "user", "assistant", "user"]),
        ("no system", ["user", "assistant", "user"]),
    ):
        shown = shown_turns(messages, level)  # type: ignore[arg-type]
        assert [one.role for one in shown] == roles
        assert "".join(one.content for one in shown).replace("\n", "") == "abcde"
