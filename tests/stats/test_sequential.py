"""Looking after every value: errors by simulation, and what is saved where systems differ."""

from itertools import combinations

import numpy as np
import pytest

from recjury.stats.sequential import SequentialPairs


def one_pair(confidence: float = 0.95, least: int = 1) -> SequentialPairs:
    return SequentialPairs([("a", "b")], -4, 4, confidence=confidence, least=least)


@pytest.mark.parametrize(
    "levels",
    [(-4, -1, 0, 0, 1, 4), (-1, 1), (-4, 0, 0, 0, 0, 0, 0, 0, 4), (-1, -1, -1, -1, 4)],
    ids=["grades", "coin", "seldom", "skewed"],
)
def test_equal_systems_are_told_apart_in_less_than_five_of_a_hundred(
    levels: tuple[int, ...],
) -> None:
    rng = np.random.default_rng(0)
    assert np.mean(levels) == 0
    wrong, draws = 0, 200
    for _ in range(draws):
        test = one_pair()
        for value in rng.choice(levels, 80):
            test.add({("a", "b"): float(value)})
        wrong += not test.undecided
    assert wrong / draws <= 0.096  # at most .05, and three standard errors


def test_a_clear_difference_is_decided_early() -> None:
    rng = np.random.default_rng(1)
    stopped = []
    for _ in range(50):
        test = one_pair()
        while test.undecided and test.decisions[0].n < 200:
            test.add({("a", "b"): float(np.clip(np.round(1 + 1.5 * rng.normal()), -4, 4))})
        stopped.append(test.decisions[0].n)
    assert np.median(stopped) < 60


@pytest.mark.parametrize(
    "means",
    [(1.0, 1.0, 1.0, 1.0), (0.2, 1.0, 1.0, 2.5), (1.0, 1.0, 2.5, 2.5)],
    ids=["all equal", "one pair", "two pairs"],
)
def test_equal_pairs_among_others_are_told_apart_in_less_than_five_of_a_hundred(
    means: tuple[float, ...],
) -> None:
    rng = np.random.default_rng(3)
    pairs = list(combinations(range(4), 2))
    names = {pair: (str(pair[0]), str(pair[1])) for pair in pairs}
    wrong, draws = 0, 200
    for _ in range(draws):
        test = SequentialPairs(names.values(), -4, 4, confidence=0.95, least=5)
        for _ in range(60):
            labels = np.clip(np.array(means) + rng.choice([-1, 0, 0, 3], 4) - 0.5, 0, 4)
            test.add({names[a, b]: float(labels[a] - labels[b]) for a, b in pairs})
        wrong += any(
            each.better is not None and means[int(each.a)] == means[int(each.b)]
            for each in test.decisions
        )
    assert wrong / draws <= 0.096  # at most .05, and three standard errors


def test_no_pair_is_decided_before_enough_values() -> None:
    test = SequentialPairs([("good", "bad"), ("good", "fair")], -4, 4, confidence=0.95, least=20)
    for place in range(40):
        even = 1.0 if place % 2 else -1.0
        test.add({("good", "bad"): -3.0, ("good", "fair"): even})
        (first, second) = test.decisions
        assert first.better == (None if place < 19 else "bad")
        assert second.better is None
    assert (first.mean, first.n, second.n) == (-3.0, 20, 40)


def test_a_decided_pair_takes_no_further_values() -> None:
    test = one_pair()
    while test.undecided:
        test.add({("a", "b"): 3.0})
    (decided,) = test.decisions
    test.add({})
    assert test.decisions == (decided,)


def test_p_is_that_of_the_most_likely_grouping() -> None:
    # Capitals of a pair alone, e1 to e3, against the closed test of three systems: a pair is
    # equal in {itself} and in {all three}, whose capital is the mean of all.
    names = [("a", "b"), ("a", "c"), ("b", "c")]
    gaps = [(1.0, 2.0, 1.0), (1.0, 2.0, 1.0), (0.0, 2.0, 2.0), (1.0, 1.0, 0.0)]
    every = SequentialPairs(names, -4, 4, confidence=0.999, least=2)
    alone = [SequentialPairs([name], -4, 4, confidence=0.999, least=2) for name in names]
    means = []
    for row in gaps:
        every.add(dict(zip(names, row, strict=True)))
        for each, name, gap in zip(alone, names, row, strict=True):
            each.add({name: gap})
        means.append(np.mean([1 / each.decisions[0].p for each in alone]))  # all rise
    for found, own in zip(every.decisions, alone, strict=True):
        assert found.p == pytest.approx(max(own.decisions[0].p, 1 / max(means)))


def test_where_a_score_is_missing_pairs_are_corrected_by_holm() -> None:
    names = [("a", "b"), ("a", "c"), ("b", "c")]
    every = SequentialPairs(names, -4, 4, confidence=0.95, least=20)
    alone = one_pair(least=20)
    for _ in range(12):
        every.add({names[0]: 3.0, names[1]: None, names[2]: 0.0})
        alone.add({("a", "b"): 3.0})
    assert every.decisions[0].p == pytest.approx(3 * alone.decisions[0].p)
    assert (every.decisions[1].n, every.decisions[1].mean) == (0, None)


def test_many_systems_are_decided_too() -> None:
    pairs = [(str(a), str(b)) for a, b in combinations(range(9), 2)]
    test = SequentialPairs(pairs, -10, 10, confidence=0.95, least=5)
    for _ in range(200):
        test.add({(a, b): float(a) - float(b) for a, b in pairs})
    assert [each.better for each in test.decisions] == [b for _, b in pairs]


def test_values_that_are_always_equal_decide_nothing() -> None:
    test = one_pair(least=20)
    assert test.decisions[0].mean is None
    for _ in range(50):
        test.add({("a", "b"): 0.0})
    (found,) = test.decisions
    assert found.p == 1
    assert found.better is None


def test_values_out_of_bounds_are_an_error() -> None:
    with pytest.raises(ValueError, match="5 is not between -4 and 4"):
        one_pair().add({("a", "b"): 5})
    with pytest.raises(ValueError, match="expected 1 < 0"):
        SequentialPairs([("a", "b")], 1, 2, confidence=0.95, least=2)
