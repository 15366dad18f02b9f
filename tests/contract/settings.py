"""``runtime=`` and ``api_key=`` as settings of a component: what holds for frameworks that take both.

Subclass ``RuntimeSettingTests`` on the framework's query rewriter.
"""

from __future__ import annotations

from typing import Any, ClassVar

import pytest

from intrinsics_core import InvalidInput

SECRET = "sk-package-0123456789"
SERVER = {"kind": "server", "base_url": "http://127.0.0.1:9", "api_key": SECRET}
ASKED = "Who built the mill?"
REWRITTEN = {"rewritten_question": ASKED}


class RuntimeSettingTests:
    rewriter: ClassVar[Any]  # the class
    reranker: ClassVar[Any]
    makes: ClassVar[str]  # the name of `as_runtime` where it is called

    def rewritten(self, rewriter: Any, question: str) -> str:
        raise NotImplementedError

    def runtimes(self) -> list[Any]:
        """The framework's chat model, which says ``REWRITTEN``, as it is and as a runtime."""
        raise NotImplementedError

    def test_all_shapes_of_runtime(self) -> None:
        for runtime in self.runtimes():
            assert self.rewritten(self.rewriter(runtime=runtime), "Who?") == ASKED
            assert self.rewritten(self.rewriter(runtime=runtime, profile="prompted"), "Who?") == ASKED
        for embedded in (None, {"kind": "embedded"}):
            assert self.rewritten(self.rewriter(runtime=embedded), ASKED) == ASKED

    def test_a_bad_setting_does_not_show_the_key_beside_it(self) -> None:
        with pytest.raises(ValueError, match="top_n") as caught:
            self.reranker(runtime=SERVER, top_n="many")
        assert SECRET not in str(caught.value)

    def test_a_key_without_a_config_is_an_error(self) -> None:
        with pytest.raises(InvalidInput, match="api_key") as caught:
            self.rewritten(self.rewriter(runtime=None, api_key=SECRET), "Who?")
        assert SECRET not in str(caught.value)

    def test_the_key_reaches_the_runtime(self, monkeypatch: pytest.MonkeyPatch) -> None:
        seen: list[Any] = []
        monkeypatch.setattr(self.makes, seen.append)
        _ = self.rewriter(runtime=SERVER).engine
        assert [{**spec, "api_key": spec["api_key"].get_secret_value()} for spec in seen] == [SERVER]

    def test_a_config_is_made_a_runtime_once(self) -> None:
        rewriter = self.rewriter(runtime={"kind": "embedded"})
        assert rewriter.engine is rewriter.engine
