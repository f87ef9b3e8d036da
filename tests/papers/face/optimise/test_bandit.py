"""UCB selection: what it spends, what it keeps, and that it finds what is best."""

import asyncio

import pytest

from benchmarks import face_ucb
from recjury.papers.face.optimise.bandit import Averaging, BestArms, Ucb, batch_size, play


def _play(arms: int, rewards: list[float | None], *, seed: int = 0, keep: int = 2) -> BestArms:
    async def reward(pull: int, arm: int) -> float | None:
        return rewards[arm]

    return asyncio.run(play(arms, reward, keep=keep, particles=8, seed=seed))


def test_it_spends_what_algorithm_2_says() -> None:
    selection = _play(64, [0.1] * 64, keep=16)
    assert len(selection.pulled) == 5 * 32
    batches = [selection.pulled[start : start + 32] for start in range(0, 160, 32)]
    assert all(len(set(batch)) == 32 for batch in batches), "a batch has different arms"
    assert sorted(batches[0] + batches[1]) == list(range(64)), "every arm before any again"
    assert sum(arm.pulls for arm in selection.arms) == 160
    assert all(arm.particles == 8 * arm.pulls for arm in selection.arms)
    assert len(set(selection.kept)) == 16


@pytest.mark.parametrize(("arms", "size"), [(1, 1), (2, 1), (3, 1), (5, 2), (64, 32)])
def test_half_of_the_arms_at_a_time(arms: int, size: int) -> None:
    assert batch_size(arms) == size
    assert len(_play(arms, [0.5] * arms).pulled) == 5 * size


def test_certain_rewards_are_kept_in_order() -> None:
    rewards: list[float | None] = [0.1, 0.9, -0.5, 0.8, 0.2, 0.3, 0.0, 0.25]
    assert _play(8, rewards, keep=3).kept == (1, 3, 5)


def test_an_undefined_reward_is_spent_and_counts_as_none() -> None:
    selection = _play(4, [None, 0.2, -0.2, None], keep=4)
    assert selection.kept[0] == 1
    assert selection.kept[3] == 2
    assert all(arm.pulls > 0 for arm in selection.arms)


def test_values_are_means_and_as_printed_if_asked() -> None:
    mean, printed = Ucb(1), Ucb(1, averaging="printed")
    for state in (mean, printed):
        state.observe(0, 0.6, 4)
        state.observe(0, 0.2, 4)
    assert mean.arms[0].value == pytest.approx(0.4)
    assert mean.arms[0][1:] == (8, 2)
    first = 0.6 / 4
    assert printed.arms[0].value == pytest.approx(first + (0.2 - first) / 8)


def test_the_criterion_is_the_papers() -> None:
    state = Ucb(2, exploration=1.0)
    state.observe(0, 0.5, 16)
    state.observe(1, 0.4, 4)
    # At time 3: .5 + sqrt(ln 3 / 16) = .76 against .4 + sqrt(ln 3 / 4) = .92.
    assert state.choose(1, time=3) == [1]
    assert state.choose(2, time=3) == [1, 0]
    greedy = Ucb(2, exploration=0.0)
    greedy.observe(0, 0.5, 16)
    greedy.observe(1, 0.4, 4)
    assert greedy.choose(1, time=3) == [0]


def test_ties_are_broken_by_lot() -> None:
    first = {_play(10, [0.0] * 10, seed=seed).pulled[0] for seed in range(30)}
    assert len(first) > 3
    assert _play(10, [0.0] * 10, seed=4) == _play(10, [0.0] * 10, seed=4)


@pytest.mark.slow
def test_the_best_of_64_is_among_the_16() -> None:
    """In 95 of 100 worlds and more: `benchmarks.face_ucb`."""
    found = [
        face_ucb.select(face_ucb.world(seed), seed, particles=64, averaging="mean")
        for seed in range(20)
    ]
    assert {(one.pulls, one.particles) for one in found} == {(160, 160 * 64)}
    assert sum(one.best_kept for one in found) >= 18


def test_it_regrets_less_than_uniform_sampling() -> None:
    def regret(averaging: Averaging | None) -> float:
        found = [
            face_ucb.select(face_ucb.world(seed), seed, particles=64, averaging=averaging)
            for seed in range(5)
        ]
        return sum(one.regret for one in found)

    assert regret("mean") < 0.95 * regret(None)
