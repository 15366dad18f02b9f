"""What a runtime has come to know of its server, and what follows from it. No I/O in here: the runtime asks, and tells
what came.

Everything is learnt once per server and told once in a warning. What the caller's config says stays as it is.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from intrinsics_core.protocol.errors import IntrinsicsError, InvalidInput, RuntimeUnavailable, UnknownAdapter
from intrinsics_core.protocol.requests import Generate, Generated
from intrinsics_core.replies.reasoning import unfinished
from intrinsics_core.runtimes import configs
from intrinsics_core.runtimes.configs import Constraints, Documents
from intrinsics_core.runtimes.server.constraint_support import constraint_kept
from intrinsics_core.runtimes.server.dialect import OF_MODEL, Dialect, Lesson, body
from intrinsics_core.runtimes.server.known import LLAMA_CPP, Known, by_address, by_listing, by_tokenizer, lost, shown
from intrinsics_core.runtimes.server.listing import Entry, Listing, activated

log = logging.getLogger(__name__)

_REASONING = 4096  # tokens that a model gets to reason in, once a reply has ended inside its reasoning


@dataclass(slots=True)
class ServerState:
    """What is known of one server.

    Attributes:
        base_url: its address, for warnings.
        constraints: the key to constrain with that the caller chose; None leaves it to what is known.
        documents: the way of documents that the caller chose.
        dialect: how it is spoken to, as far as all of its models are alike.
        known: which server it is; None where that is not known.
        template_shows: whether its chat template shows documents.
        kept: whether replies kept to their constraints; False once one did not.
        logprobs: whether it gives log-probabilities.
    """

    base_url: str
    constraints: Constraints | None
    documents: Documents
    dialect: Dialect = field(default_factory=Dialect)
    known: Known | None = None
    template_shows: bool | None = None
    kept: bool | None = None
    logprobs: bool | None = None
    _tried_next: bool = False  # whether the next way to constrain was tried because replies did not keep to the first
    _of_models: dict[str, dict[str, Any]] = field(default_factory=dict)  # what single models do not take, by name
    _switch_adapters: dict[str, bool] = field(default_factory=dict)  # adapters inside the checkpoint, by name
    _suspected: set[str] = field(default_factory=set)  # adapters that were warned of

    @classmethod
    def begin(cls, config: configs.ServerConfig) -> ServerState:
        """Before anything was asked: what the caller and the address say."""
        chosen = None if config.constraints == "auto" else config.constraints
        dialect = Dialect(
            constraints=chosen or "structured_outputs",
            documents="template" if config.documents == "template" else "messages",
            reasoning=config.reasoning_tokens,
            length=config.max_tokens_key,
            temperature=config.temperature,
            top_p=config.top_p,
            seed=config.seed,
            extra=config.extra_body or {},
            alternatives=Dialect().alternatives if config.logprobs else 0,
        )
        made = cls(config.base_url, chosen, config.documents, dialect, logprobs=None if config.logprobs else False)
        if known := by_address(config.base_url):
            made.identify(known)
        return made

    def capabilities(self) -> Capabilities:
        decided = self.documents != "auto" or self.template_shows is not None
        return Capabilities(
            server=self.known.name if self.known else None,
            constraints=self.dialect.constraints,
            constraints_kept=self.kept,
            logprobs=self.logprobs,
            documents=self.dialect.documents if decided else None,
            template=self.dialect.template,
            reasoning_tokens=self.dialect.reasoning,
            refused=tuple(dict.fromkeys(name for learnt in self._of_models.values() for name in learnt)),
        )

    def dialect_of(self, model: str) -> Dialect:
        """How this model of the server is spoken to."""
        return replace(self.dialect, **self._of_models.get(model, {}))

    # --- which server it is -------------------------------------------------------------------------------------------

    def identify(self, known: Known) -> None:
        """Note which server it is, and begin with what is known of it."""
        self.known = known
        fresh = {
            name: value for name, value in known.begins.items() if not (self.constraints and name == "constraints")
        }
        self.dialect = self.dialect.weaker(replace(self.dialect, **fresh))

    def listed(self, listing: Listing) -> None:
        """Note what its list of models says of it."""
        if self.known is None and (known := by_listing(listing)):
            self.identify(known)

    def answered(self, server: str | None) -> None:
        """Note the server that the headers of a reply name."""
        if self.known is None and server == LLAMA_CPP.name:
            self.identify(LLAMA_CPP)

    @property
    def may_count(self) -> bool:
        """Whether its tokenizer is worth asking: that of vLLM, and of who does not say who it is."""
        return self.known is None or self.known.vllm

    # --- documents and adapters ---------------------------------------------------------------------------------------

    def documents_undecided(self, request: Generate) -> bool:
        """Whether the way of this request's documents has to be found out first."""
        return bool(request.documents) and self.documents == "auto" and self.template_shows is None

    def decide_documents(self, answer: Any) -> None:
        """Which way documents go from now on.

        Args:
            answer: what the tokenizer answered to a long document, be it a refusal's text; empty where it said nothing.
        """
        found = shown(answer)
        if self.known is None:
            self.identify(by_tokenizer(answer))
        vllm = self.known is not None and self.known.vllm
        # vLLM behind a gateway that hides its tokenizer: its template is taken at its word, and the first replies tell.
        self.template_shows = vllm if found is None else found
        if self.template_shows:
            self.dialect = replace(self.dialect, documents="template")
            return
        why = "its chat template has no place for them" if vllm else "it is not known to be vLLM"
        self._warn('is shown documents in the messages: %s (documents="template" in the config says otherwise)', why)

    def drops_documents(self, request: Generate) -> IntrinsicsError | None:
        """The error for documents that the caller wants in the template of a server that is known to drop them."""
        if not (request.documents and self.documents == "template" and self.known and self.known.drops_documents):
            return None
        return InvalidInput(
            f"the model would not see the documents, because {self.known.name} drops the request's documents silently",
            expected='documents="messages" or "auto" in the runtime\'s config', got='documents="template"',
        )  # fmt: skip

    def has_switch_adapter(self, name: str) -> bool | None:
        """Whether the chat template knows an adapter inside the checkpoint; None where it was not asked yet."""
        return self._switch_adapters.get(name) if self.may_count else False

    def note_switch_adapter(self, name: str, plain: Any, named: Any) -> None:
        """Note whether the tokens of a prompt change with an adapter's name: all that it can change is the prompt."""
        self._switch_adapters[name] = isinstance(named, Mapping) and "count" in named and named != plain

    def lacks_switch_adapter(self, name: str) -> UnknownAdapter:
        return UnknownAdapter(
            f"the server does not pass adapter_name={name!r} to the model, so another adapter would answer instead",
            expected="vLLM with the Granite Switch plugin, on a checkpoint that has this adapter",
            got=self.known.name if self.known else None,
        )

    def refusal(self, entry: Entry) -> IntrinsicsError | None:
        """The error for an adapter that would answer wrongly on this server, where that can be seen."""
        if not entry.parent or not self.may_count:
            return None
        found = activated(entry)
        if found:
            return RuntimeUnavailable(
                f"{entry.name!r} is an Activated LoRA, which vLLM loads as a plain LoRA, so it would answer wrongly",
                expected="the LoRA version of it, or the transformers runtime", got=entry.root,
            )  # fmt: skip
        if found is None and entry.name not in self._suspected:
            self._suspected.add(entry.name)
            self._warn("lists %r, by its name an Activated LoRA, whose folder cannot be looked into from here: vLLM "
                       "loads one as a plain LoRA, which answers wrongly", entry.name)  # fmt: skip
        return None

    # --- what replies show --------------------------------------------------------------------------------------------

    def learn_from_reply(
        self, request: Generate, dialect: Dialect, said: Mapping[str, Any], reply: Generated, *, cramped: bool
    ) -> Lesson | IntrinsicsError | None:
        """What a reply shows of the server, beside what it says: what to try instead, once per server; or the error
        that it is no reply to what was asked.

        Args:
            dialect: how the request was said, and ``said`` the body that came of it.
            cramped: there is no room to reason in beside this prompt.
        """
        if "documents" in said and lost(request, reply.usage.prompt_tokens):
            if self.documents == "auto":
                return Lesson(lambda d: replace(d, documents="messages"), lasting=True)
            return InvalidInput(
                "the model did not see the documents, because the server's chat template has no place for them",
                expected='documents="messages" in the runtime\'s config',
                got=f"a prompt of {reply.usage.prompt_tokens} tokens",
            )
        held = request.constraint if dialect.constraint_key in said else None
        kept = constraint_kept(held, reply) if held else None
        cut = not (dialect.reasoning or cramped or request.max_tokens is None) and unfinished(reply, request.constraint)
        prose = cut and not unfinished(reply)  # nothing held it to JSON, or it is a thought without a tag
        # A reply may say who the server is: then it ignored the key, even if the reply keeps to it.
        ignored = held and self.constraints is None and (prose or self.dialect.constraints == "response_format")
        if (ignored or (kept is False and not self._tried_next)) and self._next_way(request, dialect, said):
            self._tried_next = self._tried_next or kept is False
            return Lesson(lambda d: replace(d, constraints="response_format"), lasting=True)
        if cut:
            own = dialect.constraints if self._tried_next else self.dialect.constraints
            return Lesson(lambda d: replace(d, reasoning=_REASONING, constraints=own), lasting=True)
        if kept is not None:
            if not kept and self.kept is not False:
                self._warn("does not enforce %s. Replies may be malformed", dialect.constraints)
            self.kept = kept and self.kept is not False
        return None

    def _next_way(self, request: Generate, dialect: Dialect, said: Mapping[str, Any]) -> bool:
        """Whether the constraint can be said another way."""
        if dialect.constraints != "structured_outputs" or (self.known and self.known.vllm):
            return False
        return "response_format" in body(request, said["model"], replace(dialect, constraints="response_format"))

    def learn(self, request: Generate, model: str, before: Dialect, after: Dialect, reply: Generated) -> None:
        """Remember what rejections and replies taught, and say once what is lost with it."""
        if learnt := self.dialect_of(model).taught(before, after):
            changes = ", ".join(f"{name}={value!r}" for name, value in learnt.items())
            self._warn("refuses or ignores a key of the request. From now on requests are made with %s", changes)
            own = {name: learnt.pop(name) for name in OF_MODEL if name in learnt}
            self._of_models[model] = self._of_models.get(model, {}) | own
            self.dialect = replace(self.dialect, **learnt)
        if request.logprobs and reply.logprobs is None and self.logprobs is None:
            self._warn("returns no log-probabilities. Scores are the confidence that the model states")
        if request.logprobs and (reply.text or self.logprobs is None):
            self.logprobs = reply.logprobs is not None

    def _warn(self, message: str, *arguments: object) -> None:
        log.warning("%s " + message, configs.shown(self.base_url), *arguments)


# --- what is told of it -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Capabilities:
    """None stands for what has not shown yet.

    Attributes:
        server: its name, e.g. ``"vLLM"``, else what it says in its list of models that owns them.
        constraints: the key by which replies are constrained.
        constraints_kept: whether the replies kept to their constraints; False once one did not.
        logprobs: whether replies come with log-probabilities.
        documents: how documents reach the model: through the chat template, or in the messages.
        template: whether arguments of the chat template are taken.
        reasoning_tokens: how many tokens a reply may have beyond what its verdict needs.
        refused: what a model refused and is asked without (``"temperature"``) or otherwise (``"length"``).
    """

    server: str | None
    constraints: Constraints
    constraints_kept: bool | None
    logprobs: bool | None
    documents: Literal["template", "messages"] | None
    template: bool
    reasoning_tokens: int
    refused: tuple[str, ...] = ()
