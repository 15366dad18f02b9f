"""Why a sentence got its verdict, in words: what of it stands in no source, and which source sentence is closest."""

from __future__ import annotations

from collections.abc import Sequence

from intrinsics_core.embedded.scoring.evidence import Evidence
from intrinsics_core.embedded.scoring.keys import Unit
from intrinsics_core.embedded.scoring.support_head import Label


def _clip(text: str, limit: int = 160) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= limit else plain[: limit - 1].rstrip() + "…"


def missing_words(evidence: Evidence) -> tuple[str, ...]:
    """Surface forms of what is not in the sources: names and numbers first, then by rarity."""
    ordered = sorted(evidence.missing, key=lambda unit: (not (unit.is_name or unit.is_number), -unit.weight))
    return tuple(dict.fromkeys(unit.text for unit in ordered))


def _quoted(words: Sequence[str]) -> str:
    more = f" and {len(words) - 6} more" if len(words) > 6 else ""
    return ", ".join(f"'{word}'" for word in words[:6]) + more


def explanation(label: Label, missing: Sequence[str], foreign: Sequence[Unit], nearest: str | None) -> str:
    if label == "NA":
        return "makes no claim that sources could support"
    if nearest is None:
        return "there are no source sentences"
    parts = []
    if missing and label == "faithful":
        parts.append("the passages say it in other words than " + _quoted(missing))
    elif missing:
        parts.append("not in the passages kept: " + _quoted(missing))
    if foreign:
        parts.append("not where the rest of it stands: " + _quoted([unit.text for unit in foreign]))
    if not parts:
        but = "" if label == "faithful" else ", but not what it makes of them"
        parts.append("the passages kept hold its words and numbers" + but)
    parts.append(f'closest source sentence: "{_clip(nearest)}"')
    return "; ".join(parts)
