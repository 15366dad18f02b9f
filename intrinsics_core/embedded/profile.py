"""``embedded``: requests for small models instead of text. The default; no language model, no network.

The sentence encoder finds: rendering asks for the vectors of the texts at hand. The reader, where there is one, reads
the few sentences found beside the claim. Small fitted heads put both together with lexical evidence (see
:mod:`intrinsics_core.embedded`, where each module says what its method is, what it is not, and where a language model
does better).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import partial
from typing import Any

from intrinsics_core.calibration.loading import loaded
from intrinsics_core.embedded.answers import citations, claims_of, entailed, hallucination, leans
from intrinsics_core.embedded.commands import uncommanded
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
from intrinsics_core.protocol.requests import ScoreTask
from intrinsics_core.text.layout import laid_out


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
        {
            "query-rewrite": MultiStepFormat(partial(query_rewrite, own)),
            "query-expansion": MultiStepFormat(partial(query_expansion, own)),
            "pointwise": MultiStepFormat(uncommanded(partial(pointwise, own))),
            "context-relevance": MultiStepFormat.of_each(uncommanded(partial(relevance_of_each, own))),
            "relevance": MultiStepFormat.of_each(uncommanded(partial(relevance, own))),
            "answerability": MultiStepFormat(uncommanded(partial(answerability_of, own))),
            "uncertainty": MultiStepFormat(uncommanded(partial(uncertainty_of, own))),
            "hallucination-detection": MultiStepFormat(uncommanded(partial(hallucination, own))),
            "citations": MultiStepFormat(uncommanded(partial(citations, own))),
            "claims": MultiStepFormat(uncommanded(partial(claims_of, own))),
            "entailment": MultiStepFormat(uncommanded(partial(entailed, own))),
            "answer-relevance": MultiStepFormat(uncommanded(partial(answer_relevance, own))),
        },
        retries=0,  # vectors are never malformed
        split=laid_out,
        cut=turns_cut,
        note=own.note,
        leans=leans,
        made_by=(embedded_profile, (calibrations, thresholds, reads, own_encoder)),
        calibrations=fitted,
    )


PROFILE = embedded_profile()
