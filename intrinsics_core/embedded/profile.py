"""``embedded``: requests for small models instead of text. The default; no language model, no network.

The sentence encoder finds: vectors of the texts at hand. The reader, where there is one, reads the few sentences found
beside the claim. Small fitted heads put both together with words. Each module says what its method is not.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import Any

from intrinsics_core.calibration.loading import loaded
from intrinsics_core.embedded.answers import citations, claims_of, entailed, hallucination, leans
from intrinsics_core.embedded.overrides import Overrides, checked_thresholds
from intrinsics_core.embedded.relevance import (
    answer_relevance,
    answerability_of,
    pointwise,
    relevance,
    relevance_of_each,
)
from intrinsics_core.embedded.rewrite.standing_alone import query_expansion, query_rewrite, turns_cut
from intrinsics_core.embedded.uncertainty import uncertainty_of
from intrinsics_core.protocol.profile import MultiStepFormat, Profile
from intrinsics_core.protocol.requests import Program, ScoreTask
from intrinsics_core.text.layout import laid_out

_ASKED: dict[str, Callable[..., Program[Any]]] = {
    "query-rewrite": query_rewrite,
    "query-expansion": query_expansion,
    "pointwise": pointwise,
    "answerability": answerability_of,
    "uncertainty": uncertainty_of,
    "hallucination-detection": hallucination,
    "citations": citations,
    "claims": claims_of,
    "entailment": entailed,
    "answer-relevance": answer_relevance,
}
_OF_EACH: dict[str, Callable[..., Program[list[Any]]]] = {
    "context-relevance": relevance_of_each,
    "relevance": relevance,
}


def embedded_profile(
    calibrations: Mapping[str, Any] | None = None,
    thresholds: Mapping[str, Mapping[str, float]] | None = None,
    reads: Collection[ScoreTask] = (),
    own_encoder: bool = False,
) -> Profile:
    """The profile, with the caller's own calibrations and thresholds by intrinsic.

    Args:
        calibrations: by intrinsic, what `calibrate` fitted.
        thresholds: by intrinsic and name.
        reads: tasks of the runtime's reader, which then reads what was found.
        own_encoder: the vectors are not of the encoder that ships.

    Raises:
        InvalidInput: one of them is of an intrinsic that has none, or cannot be read, or is out of range.
    """
    fitted = loaded(calibrations or {})
    own = Overrides(checked_thresholds(thresholds or {}), tuple(fitted), reads, own_encoder)
    return Profile(
        "embedded",
        {name: MultiStepFormat(partial(ask, own)) for name, ask in _ASKED.items()}
        | {name: MultiStepFormat.of_each(partial(each, own)) for name, each in _OF_EACH.items()},
        retries=0,  # vectors are never malformed
        split=laid_out,
        cut=turns_cut,
        note=own.note,
        leans=leans,
        made_by=(embedded_profile, (calibrations, thresholds, reads, own_encoder)),
        calibrations=fitted,
    )


PROFILE = embedded_profile()
