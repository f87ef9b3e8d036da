"""Who goes next: places, order, pace and budget."""

import asyncio
from collections.abc import Sequence

import pytest

from recjury.errors import CallFailed, ConfigError
from recjury.llm import Completion, EndpointSpec, Gateway, Retryable, ScriptedModel
from recjury.llm.adaptive_concurrency import AdaptiveConcurrency
from recjury.llm.call_slots import CallQueue, CallSlots, part_of
from recjury.llm.limits import RateLimiter
from recjury.records import ChatRequest
from tests.endpoint import ScriptedEndpoint
from tests.llm.doubles import FakeClock, MemoryRecorder, request, spec_of, until


class HeldModel:
    """A provider whose calls end when they are let go; `order` lists them as they came."""

    def __init__(self) -> None:
        self.order: list[str] = []
        self.open: dict[str, asyncio.Future[Completion]] = {}

    async def complete(self, request: ChatRequest) -> Completion:
        """Wait to be let go."""
        name = request.messages[0].text
        self.order.append(name)
        self.open[name] = asyncio.get_running_loop().create_future()
        return await self.open[name]

    async def check(self) -> None:
        """Nothing to check."""

    async def aclose(self) -> None:
        """Nothing to release."""

    def finish(self, name: str) -> None:
        """Let a call go."""
        self.open.pop(name).set_result(Completion(name))


SPEC = EndpointSpec(base_url="http://127.0.0.1:1/v1", name="m")


def held_gateway(
    models: Sequence[str], concurrency: int, limit: int | None = None
) -> tuple[Gateway, dict[str, HeldModel]]:
    """A gateway over held models of these aliases."""
    held = {alias: HeldModel() for alias in models}
    spec = SPEC.model_copy(update={"concurrency": limit})
    specs = dict.fromkeys(models, spec)
    gateway = Gateway(
        specs, MemoryRecorder(), concurrency=concurrency, providers=held, clock=FakeClock()
    )
    return gateway, held


def test_calls_go_first_come_first_served() -> None:
    async def run() -> None:
        gateway, held = held_gateway(["m"], 2)
        model = held["m"]
        calls = []
        for n in range(6):
            calls.append(asyncio.create_task(gateway.complete(request(str(n)))))
            await asyncio.sleep(0)
        assert model.order == ["0", "1"]
        for n in (1, 0, 2, 3, 4, 5):
            await until(lambda n=n: str(n) in model.open)  # type: ignore[misc]
            model.finish(str(n))
        await asyncio.gather(*calls)
        assert model.order == ["0", "1", "2", "3", "4", "5"]

    asyncio.run(run())


def slots_of(most: int) -> tuple[CallSlots, CallQueue]:
    """Slots for so many calls, and the queue of one endpoint."""
    slots = CallSlots(most)
    return slots, slots.add_endpoint(AdaptiveConcurrency(most)).queues["judges"]


async def acquire(slots: CallSlots, queue: CallQueue) -> None:
    """Take the slots of a call, or wait for them."""
    if not slots.take(queue):
        await slots.wait(queue)


def test_a_late_comer_cannot_take_a_place_that_was_just_freed() -> None:
    async def run() -> None:
        slots, queue = slots_of(1)
        await acquire(slots, queue)
        waiting = asyncio.create_task(acquire(slots, queue))
        await asyncio.sleep(0)
        slots.release(queue)
        late = asyncio.create_task(acquire(slots, queue))
        await waiting
        await asyncio.sleep(0)
        assert not late.done()
        slots.release(queue)
        await late

    asyncio.run(run())


def test_a_place_handed_to_one_who_has_given_up_goes_on_to_the_next() -> None:
    async def run() -> None:
        slots, queue = slots_of(1)
        await acquire(slots, queue)
        first, second = (asyncio.create_task(acquire(slots, queue)) for _ in range(2))
        await asyncio.sleep(0)
        slots.release(queue)
        first.cancel()
        await second
        third = asyncio.create_task(acquire(slots, queue))
        await asyncio.sleep(0)
        third.cancel()
        slots.release(queue)
        await acquire(slots, queue)
        await asyncio.gather(third, return_exceptions=True)
        assert (first.cancelled(), third.cancelled()) == (True, True)
        assert not slots.take(queue)

    asyncio.run(asyncio.wait_for(run(), 10))


def test_parts_have_their_own_limits() -> None:
    """A part that is full takes nothing from the others, at any endpoint."""

    async def run() -> None:
        slots = CallSlots(10, {"simulator": 2})
        one, other = (slots.add_endpoint(AdaptiveConcurrency(4)) for _ in range(2))
        taken = [slots.take(one.queues["simulator"]) for _ in range(4)]
        assert taken == [True, True, False, False]
        assert not slots.take(other.queues["simulator"])
        waiting = asyncio.create_task(slots.wait(other.queues["simulator"]))
        await asyncio.sleep(0)
        assert [slots.take(one.queues["judges"]) for _ in range(3)] == [True, True, False]
        slots.release(one.queues["simulator"])
        await waiting
        assert (one.open, other.open) == (3, 1)
        slots.change(parts={"simulator": 3})
        assert slots.take(other.queues["simulator"])

    asyncio.run(asyncio.wait_for(run(), 10))


@pytest.mark.parametrize(
    ("purpose", "part"),
    [
        ("simulator/speak", "simulator"),
        ("simulator/persuasiveness", "simulator"),
        ("system/chatcrs", "systems"),
        ("embedding", "systems"),
        ("judge/Novelty", "judges"),
        ("debate/Linguist/2", "judges"),
        ("face/decompose", "judges"),
    ],
)
def test_who_asks_is_known_by_the_purpose(purpose: str, part: str) -> None:
    assert part_of(purpose) == part


def test_a_retried_call_goes_ahead_of_those_that_came_after_it() -> None:
    async def run() -> None:
        gateway, held = held_gateway(["m"], 1)
        model = held["m"]
        calls = [asyncio.create_task(gateway.complete(request(str(n)))) for n in range(4)]
        await until(lambda: "0" in model.open)
        model.open.pop("0").set_exception(Retryable("busy"))
        for n in (1, 0, 2, 3):
            await until(lambda n=n: str(n) in model.open)  # type: ignore[misc]
            for _ in range(10):
                await asyncio.sleep(0)
            model.finish(str(n))
        await asyncio.gather(*calls)
        assert model.order == ["0", "1", "0", "2", "3"]

    asyncio.run(run())


def test_a_models_own_limit_keeps_no_place_from_others() -> None:
    async def run() -> None:
        gateway, held = held_gateway(["slow", "fast"], 3, limit=2)
        calls = [
            asyncio.create_task(gateway.complete(request(str(n), model="slow"))) for n in range(4)
        ]
        calls.append(asyncio.create_task(gateway.complete(request("f", model="fast"))))
        await until(lambda: held["fast"].order == ["f"])
        assert held["slow"].order == ["0", "1"]
        held["fast"].finish("f")
        for n in range(4):
            await until(lambda n=n: str(n) in held["slow"].open)  # type: ignore[misc]
            held["slow"].finish(str(n))
        await asyncio.gather(*calls)

    asyncio.run(run())


def test_the_endpoint_never_sees_more_at_once_than_allowed() -> None:
    async def run(spec: EndpointSpec) -> None:
        async with Gateway({"m": spec}, MemoryRecorder(), concurrency=5) as gateway:
            await asyncio.gather(*(gateway.complete(request(str(n))) for n in range(40)))

    with ScriptedEndpoint(lambda body: "x", latency=0.01) as endpoint:
        asyncio.run(run(spec_of(endpoint)))
        assert endpoint.most_in_flight == 5
        assert len(endpoint.bodies) == 40


def test_places_come_back_after_failures_and_cancellation() -> None:
    async def run() -> None:
        model = ScriptedModel(lambda r: CallFailed("no") if "bad" in r.messages[0].text else "x")
        gateway = Gateway({"m": SPEC}, MemoryRecorder(), concurrency=2, providers={"m": model})
        for n in range(10):
            with pytest.raises(CallFailed):
                await gateway.complete(request(f"bad {n}"))
        held, models = held_gateway(["m"], 1)
        stuck = asyncio.create_task(held.complete(request("stuck")))
        await until(lambda: "stuck" in models["m"].open)
        stuck.cancel()
        await asyncio.gather(stuck, return_exceptions=True)
        after = asyncio.create_task(held.complete(request("after")))
        await until(lambda: "after" in models["m"].open)
        models["m"].finish("after")
        await after
        assert (gateway.usage.failed, gateway.usage.in_flight, held.usage.in_flight) == (10, 0, 0)

    asyncio.run(asyncio.wait_for(run(), 10))


@pytest.mark.parametrize("concurrency", [0, -1])
def test_no_places_at_all_is_a_mistake(concurrency: int) -> None:
    with pytest.raises(ConfigError, match="at least 1"):
        Gateway({}, MemoryRecorder(), concurrency=concurrency)


def test_requests_keep_their_distance() -> None:
    clock = FakeClock()

    async def run() -> list[float]:
        pace = RateLimiter(clock, per_minute=30)
        turns = []
        for _ in range(4):
            await pace.wait_for_turn()
            turns.append(clock.time)
        clock.time += 100
        await pace.wait_for_turn()
        return [*turns, clock.time]

    assert asyncio.run(run()) == [1000, 1002, 1004, 1006, 1106]


class _EventClock(FakeClock):
    """A clock with many sleepers: `run_until` wakes them in the order of time."""

    def __init__(self) -> None:
        super().__init__()
        self._sleepers: list[tuple[float, asyncio.Future[None]]] = []

    async def sleep(self, seconds: float) -> None:
        woken = asyncio.get_running_loop().create_future()
        self._sleepers.append((self.time + seconds, woken))
        await woken

    async def run_until(self, end: float) -> None:
        while True:
            for _ in range(5):
                await asyncio.sleep(0)
            due = min(self._sleepers, key=lambda each: each[0], default=None)
            if due is None or due[0] > end:
                break
            self._sleepers.remove(due)
            self.time = due[0]
            due[1].set_result(None)
        self.time = end


def test_turns_that_a_pause_covers_come_after_it_at_their_distance() -> None:
    clock = _EventClock()
    left: list[float] = []

    async def turn(pace: RateLimiter) -> None:
        await pace.wait_for_turn()
        left.append(clock.time - 1000)

    async def run() -> None:
        pace = RateLimiter(clock, per_minute=60)
        calls = [asyncio.create_task(turn(pace)) for _ in range(9)]
        await clock.run_until(1004.5)
        pace.pause(30)
        await clock.run_until(1006)
        pace.pause(10)  # within the first
        late = asyncio.create_task(turn(pace))
        await clock.run_until(1100)
        await asyncio.gather(*calls, late)

    asyncio.run(run())
    assert left == [0, 1, 2, 3, 4, 35, 36, 37, 38, 39]


def test_all_clients_are_closed_even_if_one_raises() -> None:
    closed: list[str] = []

    class Closing(HeldModel):
        async def aclose(self) -> None:
            closed.append("one")
            raise OSError("broken")

    async def run() -> None:
        models = {"a": Closing(), "b": Closing()}
        gateway = Gateway(dict.fromkeys(models, SPEC), MemoryRecorder(), providers=models)
        await gateway.check()
        await gateway.aclose()

    with pytest.raises(OSError, match="broken"):
        asyncio.run(run())
    assert closed == ["one", "one"]
