"""Promised error rates: the threshold whose false acceptance on further data is at most a stated share.

*False acceptance* is the share of the negative examples (label false) that reach the threshold. It only falls as the
threshold rises, and that is all the method needs. The method is Learn then Test (Angelopoulos, Bates, Candès, Jordan &
Lei 2021, arXiv 2110.01052) with fixed-sequence testing. Every threshold is a hypothesis: "the rate here is above what
was asked". Its p-value is the exact binomial tail of the errors at it, the test of Clopper & Pearson (1934). The
thresholds are tested from the safest one down until one is not rejected. No data chose this order, so no correction
for the number of thresholds is needed: the last one that was rejected breaks the promise with a probability of at most
one minus the confidence. Where `n` negative examples allow `k` errors, it lies just above the `k + 1`-th highest
negative score.

The curve may be fitted on the same examples: a rising curve keeps the order of the scores.

Plain Python: the tails are sums of as many terms as there are errors.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from itertools import islice

from intrinsics_core.protocol.errors import InvalidInput

_ROUNDING = 1 + 1e-9  # a tail that is the allowed one but for rounding is allowed


@dataclass(frozen=True, slots=True)
class ExampleData:
    """Which examples something was fitted on.

    Attributes:
        file: name of their file without its folder; None where there was none.
        rows: how many examples.
        sha256: of the examples, whatever their order, in hexadecimal digits.
    """

    file: str | None
    rows: int
    sha256: str

    @classmethod
    def of(cls, examples: Iterable[str], file: str | None = None) -> ExampleData:
        """The data of examples, each as one text that says all of it."""
        # Half a surrogate pair has no UTF-8, and may still stand in a text that JSON spelled.
        digests = sorted(sha256(text.encode("utf-8", "surrogatepass")).hexdigest() for text in examples)
        return cls(file, len(digests), sha256("\n".join(digests).encode()).hexdigest())


@dataclass(frozen=True, slots=True)
class Promise:
    """Of further examples like these, at most `rate` of the negative ones reach `threshold`.

    "Like these" means exchangeable: as if the examples and what comes later were drawn from one urn. Several examples
    made of one document break that, and so does a change of model, prompt or corpus.

    Attributes:
        rate: the largest false acceptance, above 0 and below 1.
        confidence: the probability, over draws of the examples, that the promise holds; above 0 and below 1.
        threshold: on the calibrated probability, 0 to 1.
        examples: the negative examples that it rests on.
        errors: how many of them reach the threshold.
        data: which examples it was fitted on; None where nothing is known about them.
    """

    rate: float
    confidence: float
    threshold: float
    examples: int
    errors: int
    data: ExampleData | None = None

    def __str__(self) -> str:
        return (
            f"at most {percent(self.rate)} of the negative examples reach {self.threshold:.4f}, with "
            f"{percent(self.confidence)} confidence ({self.examples} negative examples, {self.errors} of them above)"
        )


@dataclass(frozen=True, slots=True)
class Comparison:
    """New labelled examples beside a promise.

    Attributes:
        promise: what was promised.
        examples: the new negative examples.
        errors: how many of them reach the promised threshold.
        interval: of the false acceptance on the new data, two-sided, at the promise's confidence: Clopper & Pearson
            (1934), *The use of confidence or fiducial limits illustrated in the case of the binomial*.
        p_value: how probable as many errors or more are where the rate is exactly the promised one.
        positives, kept: the new true examples, and how many of them reach the threshold.
    """

    promise: Promise
    examples: int
    errors: int
    interval: tuple[float, float]
    p_value: float
    positives: int
    kept: int

    @property
    def holds(self) -> bool:
        """Whether the new examples do not contradict the promise: `p_value` is above one minus the confidence.

        While the rate is as promised, a look at new data says otherwise at most that often, each time anew.
        """
        return self.p_value > 1 - self.promise.confidence


def compare(promise: Promise, probabilities: Iterable[float], labels: Iterable[bool]) -> Comparison:
    """Compare calibrated probabilities of new examples, 0 to 1, and their labels with a promise.

    Args:
        promise: the promise of a fitted calibration.
        probabilities: calibrated probabilities of the new examples, 0 to 1.
        labels: for each probability whether the example is true.

    Returns:
        The counts on the new examples and the p-value under the promised rate.

    Raises:
        InvalidInput: the negative examples are too few to contradict the promise, even if all were accepted.
    """
    reached: dict[bool, list[bool]] = {False: [], True: []}
    for probability, label in zip(probabilities, labels, strict=True):
        reached[bool(label)].append(probability >= promise.threshold)
    examples, errors = len(reached[False]), sum(reached[False])
    least = max(1, math.ceil(math.log(1 - promise.confidence) / math.log(promise.rate) / _ROUNDING))
    if examples < least:
        raise InvalidInput(f"{examples} negative examples cannot contradict a promise of {percent(promise.rate)} with "
                           f"{percent(promise.confidence)} confidence", expected=f"at least {least}")  # fmt: skip
    return Comparison(
        promise,
        examples,
        errors,
        interval(errors, examples, promise.confidence),
        1 - tail(errors - 1, examples, promise.rate),
        len(reached[True]),
        sum(reached[True]),
    )


def allowed_errors(examples: int, rate: float, confidence: float) -> int | None:
    """How many of the negative examples may reach a threshold that is promised; None where it takes more examples.

    Args:
        examples: the negative examples, none or more.
        rate, confidence: above 0 and below 1.

    Returns:
        The largest number of such examples, or None.

    Raises:
        InvalidInput: a rate or a confidence outside of that.
    """
    _check(rate, confidence)
    most, chance = (1 - confidence) * _ROUNDING, 0.0
    for errors, term in enumerate(_terms(examples, rate)):
        chance += term
        if chance > most:
            return errors - 1 if errors else None
    return None


def examples_needed(errors: int, rate: float, confidence: float) -> int:
    """The fewest negative examples with which a threshold that so many of them reach can be promised.

    Without an error it is `log(1 - confidence) / log(1 - rate)`, rounded up: 45 for 5% with 90% confidence.

    Args:
        errors: negative examples that reach the threshold, none or more.
        rate: the promised rate, above 0 and below 1.
        confidence: the confidence of the promise, above 0 and below 1.

    Returns:
        The number of negative examples.

    Raises:
        InvalidInput: a rate or a confidence that is not above 0 and below 1.
    """
    _check(rate, confidence)
    most = (1 - confidence) * _ROUNDING
    low, high = errors, 2 * errors + 2  # too few, enough
    while tail(errors, high, rate) > most:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if tail(errors, middle, rate) > most else (low, middle)
    return high


def tail(errors: int, examples: int, rate: float) -> float:
    """How probable so many errors or fewer are, of independent examples that each are one at this rate (0 to 1).

    Args:
        errors: number of errors, none or more.
        examples: number of examples.
        rate: probability of an error in each example, 0 to 1.

    Returns:
        The probability, 0 to 1.
    """
    if errors < 0 or errors >= examples:
        return 0.0 if errors < 0 else 1.0
    if rate <= 0 or rate >= 1:
        return 1.0 if rate <= 0 else 0.0
    return min(1.0, math.fsum(islice(_terms(examples, rate), errors + 1)))


def interval(errors: int, examples: int, confidence: float) -> tuple[float, float]:
    """The two-sided interval of Clopper & Pearson (1934) of the rate behind so many errors of so many examples.

    Args:
        errors: number of errors, none or more.
        examples: number of examples, at least one.
        confidence: share of such intervals that contain the rate, above 0 and below 1.

    Returns:
        The bounds (low, high), each 0 to 1.
    """
    each = (1 - confidence) / 2
    low = 0.0 if errors == 0 else _rate_where(lambda rate: 1 - tail(errors - 1, examples, rate) < each)
    high = 1.0 if errors == examples else _rate_where(lambda rate: tail(errors, examples, rate) > each)
    return low, high


def percent(share: float) -> str:
    return f"{100 * share:g}%"


def _terms(examples: int, rate: float) -> Iterator[float]:
    """The probabilities of 0, 1, ... errors."""
    whole, yes, no = math.lgamma(examples + 1), math.log(rate), math.log1p(-rate)
    for k in range(examples + 1):
        ways = whole - math.lgamma(k + 1) - math.lgamma(examples - k + 1)
        yield math.exp(ways + k * yes + (examples - k) * no)


def _rate_where(below: Callable[[float], bool]) -> float:
    """Where a condition that holds for small rates ends, by halving."""
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if below(middle) else (low, middle)
    return (low + high) / 2


def _check(rate: float, confidence: float) -> None:
    for name, value in (("at_most", rate), ("confidence", confidence)):
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1:
            raise InvalidInput(f"{name} is out of range", expected="a share above 0 and below 1", got=repr(value))
