"""Which requests are worked on together: nothing lost, nothing twice, bounds kept. Needs no model."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from intrinsics_core.local.batches import SHORT, WORTH_SHARING, common, families, packed
from intrinsics_core.local.kv_cache import Prefixes

tokens = st.lists(st.integers(0, 2), max_size=90).map(np.array)


@given(tokens, tokens)
def test_common_beginning(a: np.ndarray, b: np.ndarray) -> None:
    n = common(a, b)
    assert a[:n].tolist() == b[:n].tolist()
    assert n == min(len(a), len(b)) or a[n] != b[n]


stems = st.sampled_from([[0] * 50, [0] * 40 + [1] * 40, [2] * 64])


@given(st.lists(st.tuples(stems, st.lists(st.integers(0, 2), max_size=20)).map(lambda p: np.array(p[0] + p[1]))))
def test_families_share_what_they_say_they_share(beginnings: list[np.ndarray]) -> None:
    found = families(beginnings)
    assert sorted(i for members, _ in found for i in members) == list(range(len(beginnings)))
    for members, shared in found:
        assert len({tuple(beginnings[i][:shared].tolist()) for i in members}) == 1
        assert all(len(beginnings[i]) >= shared for i in members)
        assert len(members) == 1 or shared >= WORTH_SHARING


@given(st.lists(st.tuples(st.integers(1, 3000), st.integers(1, 200))), st.integers(1, 8000))
def test_batches_keep_their_bound(jobs: list[tuple[int, int]], bound: int) -> None:
    lengths, budgets = [n for n, _ in jobs], [n for _, n in jobs]
    batches = packed(lengths, budgets, bound)
    assert sorted(i for batch in batches for i in batch) == list(range(len(jobs)))
    for batch in batches:
        assert len(batch) == 1 or len(batch) * max(lengths[i] for i in batch) <= bound
        assert len({budgets[i] > SHORT for i in batch}) == 1


def test_prefixes_forget_the_least_recently_used() -> None:
    a, b, c = (np.full(40, fill) for fill in range(3))
    kept = Prefixes(limit=100)
    kept.put(a, (("keys a", "values a"),))
    kept.put(b, (("keys b", "values b"),))
    assert kept.longest(np.concatenate([a, b])) == ((("keys a", "values a"),), 40)
    kept.put(c, (("keys c", "values c"),))
    assert kept.tokens == 80
    assert kept.longest(b)[1] == 0 and kept.longest(a)[1] == 40 and kept.longest(c)[1] == 40


def test_a_longer_prefix_replaces_the_shorter_one_it_contains() -> None:
    kept = Prefixes(limit=1000)
    kept.put(np.arange(50), (("short", "short"),))
    kept.put(np.arange(80), (("long", "long"),))
    assert kept.tokens == 80
    assert kept.longest(np.arange(60)) == ((("long", "long"),), 60)


def test_padding_is_weighed_against_a_batch_of_its_own() -> None:
    lengths = [60, 1000] * 4
    assert packed(lengths, [1] * 8, 100_000, step=16) == [[1, 3, 5, 7], [0, 2, 4, 6]]  # padding would cost more
    assert len(packed(lengths, [1000] * 8, 100_000, step=16)) == 1  # steps of a long reply would cost more
    assert len(packed([997, 1000] * 4, [1] * 8, 100_000, step=16)) == 1  # hardly any padding
