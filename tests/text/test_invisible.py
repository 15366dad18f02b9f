"""Characters that nobody sees do not help a special token past the defuser."""

from __future__ import annotations

import pytest

from intrinsics_core.text.markup import defuse

INVISIBLE = (
    "\u00ad\u034f\u061c\u180e\u200b\u200d\u202e\u2060\u2064\u2066\u2069"
    "\u206a\u206f\ufeff\ufff9\ufffb\ufe0f\U000e0001\U000e0041"
)


@pytest.mark.parametrize("character", INVISIBLE, ids=lambda c: f"U+{ord(c):04X}")
def test_between_the_characters_of_a_token(character):
    assert defuse(f"<{character}|end_of_text|>").startswith("< ")
    assert defuse(f"<{character}c{character}0>").startswith("< ")
    assert defuse(f"<{character}/{character}think{character}>").startswith("< ")
