"""How many requests are open at one endpoint: found out, given up, and found again."""

import asyncio
from collections.abc import Mapping

import pytest

from recjury.llm import Gateway, NullRecorder
from recjury.llm.adaptive_concurrency import START, AdaptiveConcurrency, SentRequest
from tests.llm.limited_model import CLOCK, LimitedModel, ask_all, specs
from tests.llm.virtual_time import run_virtually

BY_TIME = ((15, 40), (35, 10), (1000, 60))
BY_CALLS = ((3333, 40), (6666, 10), (100_000, 60))


def run(models: Mapping[str, LimitedModel], calls: int, concurrency: int = 128) -> Gateway:
    """Ask each model so many calls, all models at the same time."""
    gateway = Gateway(
        specs(*models),
        NullRecorder(),
        concurrency=concurrency,
        clock=CLOCK,
        providers=dict(models),
    )

    async def work() -> None:
        workers = 2 * concurrency
        await asyncio.gather(*(ask_all(gateway, alias, calls, workers) for alias in models))

    run_virtually(work())
    return gateway


@pytest.mark.slow
@pytest.mark.parametrize(
    "model",
    [
        LimitedModel(BY_TIME),
        LimitedModel(BY_TIME, refused_after=0.2),
        LimitedModel(BY_TIME, refused_after=0.02, jitter=0.3),
        LimitedModel(BY_TIME, retry_after=1.0),
        LimitedModel(BY_CALLS, by_calls=True),
        LimitedModel(BY_CALLS, by_calls=True, refused_after=0.2),
        LimitedModel(BY_CALLS, by_calls=True, refused_after=0.05, jitter=0.5),
        LimitedModel(BY_CALLS, by_calls=True, refused_after=0.2, retry_after=1.0),
    ],
    ids=lambda m: f"{m.by_calls}-{m.refused_after}-{m.retry_after}-{m.jitter}",
)
def test_an_endpoint_is_used_as_far_as_it_allows(model: LimitedModel) -> None:
    calls = 10_000
    run({"m": model}, calls)
    assert model.answered == calls
    assert model.ideal_seconds(calls) / model.seconds >= 0.9
    assert model.refused <= 0.02 * calls


def test_a_slow_endpoint_that_refuses_nothing_is_soon_used_in_full() -> None:
    """Ten rounds of five seconds: none of them with the 64 requests of the beginning."""
    model = LimitedModel(((1e9, 1_000),), latency=5.0)
    run({"m": model}, 1_280)
    assert model.seconds < 51


def test_a_slow_endpoint_that_refuses_at_once_is_sent_no_more() -> None:
    model = LimitedModel(((1e9, 40),), latency=5.0, refused_after=0.1)
    run({"m": model}, 400)
    assert model.answered == 400
    assert START - 40 <= model.refused <= START


@pytest.mark.slow
def test_two_such_endpoints_do_not_disturb_each_other() -> None:
    calls = 5_000
    alone = LimitedModel(BY_TIME)
    run({"one": alone}, calls)
    one = LimitedModel(BY_TIME)
    other = LimitedModel(((15, 60), (35, 40), (1000, 10)))
    run({"one": one, "other": other}, calls)
    assert one.seconds <= 1.02 * alone.seconds
    assert other.ideal_seconds(calls) / other.seconds >= 0.9
    assert max(one.refused, other.refused) <= 0.02 * calls


def test_an_endpoint_that_hardly_answers_leaves_slots_to_the_other() -> None:
    slow, fast = LimitedModel(((1e9, 1000),), latency=500.0), LimitedModel(((1e9, 30),))
    run({"slow": slow, "fast": fast}, 600)
    assert fast.ideal_seconds(600) / fast.seconds >= 0.85


@pytest.mark.parametrize("allowed", [1, 2, 5])
def test_a_small_endpoint_is_found(allowed: int) -> None:
    model = LimitedModel(((1e9, allowed),))
    run({"m": model}, 1000)
    assert model.ideal_seconds(1000) / model.seconds >= 0.85
    assert model.refused <= 0.06 * 1000 + START


@pytest.mark.slow
def test_random_refusals_do_not_bring_everything_to_a_stop() -> None:
    class Moody(LimitedModel):
        @property
        def allowed(self) -> int:
            return 0 if self.chance.random() < 0.05 else 1000

    model = Moody(((1e9, 1000),))
    run({"m": model}, 5000)
    assert model.answered == 5000
    assert model.seconds <= 5000 * 0.2 / 4


def sends(found: AdaptiveConcurrency, many: int) -> list[SentRequest]:
    """So many requests, one after the other."""
    return [found.sent() for _ in range(many)]


def grown(to: int) -> AdaptiveConcurrency:
    """One that began with 10 and has grown at least to that number."""
    found = AdaptiveConcurrency(1000, start=10)
    while found.limit < to:
        for each in sends(found, found.limit):
            found.answered(each, is_saturated=True)
    return found


def test_it_grows_only_while_all_of_it_is_used() -> None:
    found = AdaptiveConcurrency(1000, start=10)
    for each in sends(found, 10):
        found.answered(each, is_saturated=False)
    assert found.limit == 10
    for each in sends(found, 10):
        found.answered(each, is_saturated=True)
    assert found.limit == 20


def test_an_episode_takes_the_share_that_was_refused() -> None:
    found = AdaptiveConcurrency(64)
    early = sends(found, 64)
    for each in early[:64]:
        found.answered(each, is_saturated=False)
    early = sends(found, 64)
    assert found.refused(early[40])
    assert (found.limit, found.episodes) == (63, 1)
    later = sends(found, 1)
    for each in early[41:]:
        assert found.refused(each)
    assert (found.limit, found.episodes, found.refusals) == (40, 1, 24)
    for each in (*early[:40], *later):
        found.answered(each, is_saturated=True)
    assert (found.limit, found.open) == (40, 0)


def test_replies_to_earlier_requests_shrink_it_no_further() -> None:
    found = AdaptiveConcurrency(64)
    early = sends(found, 64)
    for each in early[16:]:
        found.refused(each)
    assert (found.limit, found.episodes) == (16, 1)
    found.refused(found.sent())
    assert (found.limit, found.episodes) == (9, 2)
    for each in early[:16]:
        found.answered(each, is_saturated=True)
    assert found.limit == 9


def test_a_try_that_is_refused_leads_back_to_what_was_accepted() -> None:
    found = grown(30)
    for each in sends(found, found.limit):
        found.answered(each, is_saturated=False)
    before = found.limit
    requests = sends(found, before + 1)
    assert found.refused(requests[-1])
    assert before - 1 <= found.limit <= before


@pytest.mark.slow
def test_many_answers_lie_between_two_tries_of_the_same_limit() -> None:
    model = LimitedModel(((1e9, 30),))
    run({"m": model}, 10_000)
    assert 50 <= model.refused <= START + 100


def test_server_errors_do_not_make_it_smaller() -> None:
    found = AdaptiveConcurrency(64)
    for _ in sends(found, 64):
        found.failed()
    assert (found.limit, found.open) == (64, 0)


def test_a_number_stays() -> None:
    found = AdaptiveConcurrency(5, is_fixed=True)
    for _ in range(50):
        found.answered(found.sent(), is_saturated=True)
        assert not found.refused(found.sent())
    assert found.limit == 5
    found.change_most(7)
    assert found.limit == 7
