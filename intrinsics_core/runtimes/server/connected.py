"""What a runtime that asks an HTTP server is: a client with bounds, a key that nobody sees, so many places."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from intrinsics_core._support.redaction import hide, path_secrets
from intrinsics_core.protocol.errors import IntrinsicsError
from intrinsics_core.runtimes import configs
from intrinsics_core.runtimes.base import AsyncRuntime
from intrinsics_core.runtimes.configs import EncodersConfig, ServerConfig
from intrinsics_core.runtimes.configured import ConfiguredRuntime
from intrinsics_core.runtimes.limiter import Limiter
from intrinsics_core.runtimes.server.sessions import Sessions
from intrinsics_core.runtimes.server.transport import client as http_client
from intrinsics_core.runtimes.server.transport import translate

if TYPE_CHECKING:
    import openai

_SHORTEST_KEY = 8  # characters; of shorter ones base64 is too little to know it by
_LONGEST_WORD = 15  # characters; longer keys are hidden in replies even where they hold no digit
_NO_KEY = "none"  # the client insists on a key; servers at home want none


class ConnectedRuntime(ConfiguredRuntime, AsyncRuntime):
    """Asks the server at ``config.base_url``."""

    config: ServerConfig | EncodersConfig

    def prepare(self) -> None:
        self._limiter = Limiter(self.config.concurrency)
        self._key = self.config.api_key or configs.environment_key()
        self._sessions = Sessions(self._connect)

    @property
    def base_url(self) -> str:
        return str(self.config.base_url)

    @property
    def concurrency(self) -> int:
        """Requests under way at once; may be changed at any time."""
        return self._limiter.limit

    @concurrency.setter
    def concurrency(self, value: int) -> None:
        self._limiter.limit = value
        self.config = self.config.model_copy(update={"concurrency": value})

    def close(self) -> None:
        """Close all connections. Called on an event loop it cannot wait for that loop's own: prefer ``aclose``."""
        self._sessions.close()

    def _connect(self) -> openai.AsyncOpenAI:
        import openai

        config = self.config
        return openai.AsyncOpenAI(
            base_url=self.base_url, api_key=self._key_text or _NO_KEY,
            timeout=config.timeout, max_retries=config.max_retries,
            http_client=http_client(config.max_reply_bytes, config.timeout),
        )  # fmt: skip

    def _translated(self, error: openai.APIError, model: str, *, tried: int = 0) -> IntrinsicsError:
        """The error of the exception tree that says it."""
        return translate(error, server=configs.shown(self.base_url), model=model, timeout=self.config.timeout,
                         clean=self._clean, has_key=self._key is not None, tried=tried)  # fmt: skip

    def _clean(self, text: str) -> str:
        """Servers quote what they were sent: no key in a message, nor what looks like one in the address."""
        key = self._key_text
        return self._without(_forms(key) if len(key) >= _SHORTEST_KEY else (key,) if key else (), text)

    def _clean_reply(self, text: str) -> str:
        """The same for what a model says. A key that is a word (``test``, ``ollama``) stays: it is a part of the reply,
        and without it labels, ids and answers would say something else.
        """
        key = self._key_text
        return self._without(() if _is_word(key) else _forms(key), text)

    @property
    def _key_text(self) -> str:
        return self._key.get_secret_value() if self._key else ""

    def _without(self, forms: Sequence[str], text: str) -> str:
        text = hide(text, path_secrets(self.base_url))
        for form in forms:
            text = text.replace(form, "***")
        return text


def _is_word(key: str) -> bool:
    """Whether an ordinary text may hold the key by chance, as it does the names that local servers are given for one
    (``1``, ``none``, ``lm-studio``).
    """
    return len(key) < _SHORTEST_KEY or (len(key) <= _LONGEST_WORD and not any(map(str.isdigit, key)))


@lru_cache(maxsize=8)
def _forms(key: str) -> tuple[str, ...]:
    """A key as itself and in base64, wherever in a longer text it stood: what is the same in all three alignments."""
    found = [key]
    for before in range(3):
        encoded = base64.b64encode(b"\0" * before + key.encode())
        # The first characters hold bits of what stood before, the last ones of what came after.
        begin, end = (0, 2, 3)[before], len(encoded) - (0, 3, 2)[(before + len(key)) % 3]
        plain = encoded[begin:end].decode()
        found += [plain, plain.replace("+", "-").replace("/", "_")]
    return tuple(dict.fromkeys(found))
