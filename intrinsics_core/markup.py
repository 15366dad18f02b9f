"""Text that is not ours must not act as markup: it can neither forge a turn nor shift a citation.

Queries, documents and answers go into prompts as data. Special tokens of chat templates and our own sentence tags in
them are broken with a space after their first character, which tokenizers no longer take for the token and readers
hardly see. The caller's text is never changed: offsets are counted in it, not in the prompt.
"""

from __future__ import annotations

import re

# Each pattern matches up to the character before which the space goes.
_SPECIAL = re.compile(
    r"<(?=\|)"  # <|start_of_role|>, <|im_start|>, <|eot_id|> …
    r"|<(?=/?(?:s|bos|eos|pad|unk|start_of_turn|end_of_turn|documents?|tool_call|think)>)"
    r"|<(?=[cri]\d+>)"  # <c0>, <r1>, <i2>: sentence tags
    r"|<(?=<SYS>>|</SYS>>)"
    r"|\[(?=/?INST\])",
    re.IGNORECASE,
)


def defuse(text: str) -> str:
    """The text with a space in every special token and sentence tag; any other text comes back as it is."""
    return _SPECIAL.sub(lambda match: match[0] + " ", text)
