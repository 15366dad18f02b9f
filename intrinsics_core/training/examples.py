"""LabelledRow rows to token numbers: what the runtime sends for them, and the reply it should get.

The requests are those that the intrinsic itself yields with this profile, their tokens those that
:func:`intrinsics_core.local.tokens.token_ids` gives the runtime. A reply is what the profile's format writes,
its text free of special tokens, and the token that ends it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from intrinsics_core.local.tokens import token_ids
from intrinsics_core.protocol.errors import IntrinsicsError, InvalidInput
from intrinsics_core.protocol.profile import Format, Profile
from intrinsics_core.protocol.requests import Choice, Generate, Generated
from intrinsics_core.protocol.results import ContextRelevance
from intrinsics_core.protocol.task import Task
from intrinsics_core.training.labelled import LabelledRow, refusing


@dataclass(frozen=True)
class Example:
    """``ids[:start]`` is the prompt, the rest the reply with its end, which alone is learned."""

    name: str
    ids: tuple[int, ...]
    start: int
    group: str
    request: Generate

    @property
    def prompt(self) -> list[int]:
        return list(self.ids[: self.start])

    @property
    def mask(self) -> list[int]:
        return [0] * self.start + [1] * (len(self.ids) - self.start)


def examples(rows: Sequence[LabelledRow], profile: Profile, tokenizer: Any, longest: int) -> list[Example]:
    """One example for each request that a row's intrinsic makes.

    Args:
        tokenizer: of the base model.
        longest: most tokens of prompt and reply together.

    Raises:
        InvalidInput: rows cannot be asked, written or fitted; names them. None is left out, none is cut.
    """
    end = tokenizer.eos_token_id
    if end is None:
        raise InvalidInput("the tokenizer has no token that ends a text", expected="a tokenizer with eos_token")
    made = refusing(rows, lambda row: _of_row(row, profile, tokenizer, end, longest))
    return [example for of_row in made for example in of_row]


def _of_row(row: LabelledRow, profile: Profile, tokenizer: Any, end: int, longest: int) -> list[Example]:
    try:
        return [
            _of_request(row, request, task, value, profile, tokenizer, end, longest)
            for request, (task, value) in zip(_requests(row, profile), _parts(row), strict=True)
        ]
    except IntrinsicsError as error:
        raise InvalidInput(f"{row.name}: {error}") from error


def _requests(row: LabelledRow, profile: Profile) -> list[Any]:
    """What the intrinsic asks first, as a driver would be asked."""
    program = row.call.program(row.call.task, profile.serving(row.call.task.intrinsic))
    try:
        return list(next(program))
    except StopIteration as stop:
        raise InvalidInput(f"the model would not be asked about this row: {stop.value.reason}") from None
    finally:
        program.close()


def _parts(row: LabelledRow) -> list[tuple[Task, Any]]:
    """The verdict of each request: context relevance asks about one document at a time."""
    task = row.call.task
    if not isinstance(row.result, ContextRelevance):
        return [(task, row.result)]
    judged = row.result.judgements
    if [one.index for one in judged] != list(range(len(task.documents))):
        raise InvalidInput("result.judgements must have one entry for each document, in order",
                           expected=f"indices 0 to {len(task.documents) - 1}",
                           got=repr([one.index for one in judged]))  # fmt: skip
    return [(task.only(i), one.model_copy(update={"index": 0, "document_id": task.document_id(i)}))
            for i, one in enumerate(judged)]  # fmt: skip


def _of_request(
    row: LabelledRow, request: Any, task: Task, value: Any, profile: Profile, tokenizer: Any, end: int, longest: int
) -> Example:
    if not isinstance(request, Generate) or request.adapter is None:
        raise InvalidInput(
            "the profile does not use an adapter for this intrinsic",
            expected="granite-3.2, granite-3.3, io.yaml:FOLDER",
        )
    text = _written(task, value, request, profile)
    prompt, reply = token_ids(tokenizer, request), _plain(tokenizer, text)
    _fits(request, prompt, [*reply, end], longest)
    return Example(row.name, (*prompt, *reply, end), len(prompt), row.group, request)


def _fits(request: Generate, prompt: Sequence[int], reply: Sequence[int], longest: int) -> None:
    if len(prompt) + len(reply) > longest:
        raise InvalidInput("the row is too long for the model", expected=f"at most {longest} tokens",
                           got=f"{len(prompt)} of prompt and {len(reply)} of reply")  # fmt: skip
    # The end itself need not fit: a reply of that length ends anyway.
    if request.max_tokens is not None and len(reply) - 1 > request.max_tokens:
        raise InvalidInput("the reply is longer than the profile allows",
                           expected=f"at most {request.max_tokens} tokens", got=f"{len(reply) - 1}")  # fmt: skip


def _written(task: Task, value: Any, request: Generate, profile: Profile) -> str:
    """The reply's text, which the profile reads back without complaint and its constraint admits."""
    owner = profile.owner(task.intrinsic)
    form = owner.formats[task.intrinsic] if owner else None
    if owner is None or not isinstance(form, Format):
        raise InvalidInput(
            "the profile does not ask for this intrinsic in one request", expected="a format of one request"
        )
    text = owner.write(task.intrinsic, task, value)
    form.parse(replace(task, split=owner.split), [Generated(text)])
    if isinstance(request.constraint, Choice) and text not in request.constraint.options:
        raise InvalidInput("the profile does not allow this reply", expected=", ".join(request.constraint.options),
                           got=repr(text))  # fmt: skip
    if cut := next((stop for stop in request.stop if stop in text), None):
        raise InvalidInput(
            "the reply contains a stop text, at which generation would end", expected=f"text without {cut!r}"
        )
    return text


def _plain(tokenizer: Any, text: str) -> list[int]:
    """The tokens of a reply. A text that spells a special token is no such token."""
    ids: list[int] = tokenizer.encode(text, add_special_tokens=False, split_special_tokens=True)
    tokenizer.encode("", add_special_tokens=False, split_special_tokens=False)  # the switch stays as it was last set
    if special := sorted(set(ids) & set(tokenizer.all_special_ids)):
        raise InvalidInput("the reply contains a special token", expected="text without it",
                           got=tokenizer.convert_ids_to_tokens(special[0]))  # fmt: skip
    if tokenizer.decode(ids, clean_up_tokenization_spaces=False) != text:
        raise InvalidInput(
            "the tokenizer does not decode the reply to the same text",
            expected="text that it can encode and decode",
            got=text,
        )
    return ids
