"""An endpoint that is down pauses the calls to it, and fails them only after a time."""

import asyncio
from collections.abc import Callable, Iterable

import pytest

from recjury.errors import CallFailed
from recjury.llm import Backoff, Completion, EndpointSpec, Gateway, Retryable
from recjury.llm.endpoint_check import CHECK_PROMPT
from recjury.llm.policy import Kind
from recjury.records import ChatRequest
from tests.endpoint import Answer, Body, Fault, ScriptedEndpoint, prompt
from tests.llm.doubles import FakeClock, MemoryRecorder, request, spec_of, until

REFUSED = Retryable("cannot connect (Connection refused)", Kind.NO_CONNECTION)
BROKEN = Retryable("HTTP 503", Kind.BUSY)


class FailingModel:
    """A provider that is down until the clock shows `until`; `asked` are the times of checks."""

    def __init__(
        self, clock: FakeClock, until: float, problem: Retryable, takes: float = 0.0
    ) -> None:
        self.clock, self.until, self.problem, self.takes = clock, until, problem, takes
        self.checked: list[float] = []
        self.asked: list[float] = []
        self.probing = 0
        self.most_probing = 0

    async def complete(self, request: ChatRequest) -> Completion:
        """Answer, or fail."""
        self.asked.append(self.clock.now())
        await asyncio.sleep(0)
        if self.clock.now() < self.until:
            raise self.problem
        return Completion(request.messages[0].text)

    async def check(self) -> None:
        """The small request."""
        self.checked.append(self.clock.now())
        self.probing += 1
        self.most_probing = max(self.probing, self.most_probing)
        await asyncio.sleep(0)
        self.probing -= 1
        if self.clock.now() < self.until:
            raise self.problem

    async def aclose(self) -> None:
        """Nothing to release."""


def spec(**fields: object) -> EndpointSpec:
    """A model of a provider that stands in."""
    return EndpointSpec.model_validate({"base_url": "http://127.0.0.1:1/v1", "name": "m", **fields})


def gateway_of(
    model: FailingModel, clock: FakeClock, models: Iterable[str] = ("m",), **fields: object
) -> Gateway:
    """A gateway whose aliases are all served by `model`."""
    return Gateway(
        dict.fromkeys(models, spec(**fields)),
        MemoryRecorder(),
        clock=clock,
        backoff=Backoff(chance=lambda: 1.0),
        providers=dict.fromkeys(models, model),
    )


def run(gateway: Gateway, calls: int, model: str = "m") -> list[object]:
    """What so many calls at once come to."""

    async def all_of_them() -> list[object]:
        async with gateway:
            asked = (gateway.complete(request(str(n), model=model)) for n in range(calls))
            found = await asyncio.gather(*asked, return_exceptions=True)
            return [getattr(each, "text", each) for each in found]

    return asyncio.run(all_of_them())


@pytest.mark.parametrize("problem", [REFUSED, BROKEN])
@pytest.mark.parametrize("calls", [1, 4, 200])
def test_calls_outlast_an_outage(problem: Retryable, calls: int) -> None:
    clock = FakeClock()
    model = FailingModel(clock, 1400.0, problem)
    gateway = gateway_of(model, clock, retries=2)
    assert run(gateway, calls) == [str(n) for n in range(calls)]
    assert (gateway.usage.failed, gateway.usage.down) == (0, {})
    assert model.most_probing == 1
    assert 1400.0 <= clock.time <= 1470.0


def test_the_waits_grow_to_a_minute() -> None:
    clock = FakeClock()
    model = FailingModel(clock, 1400.0, REFUSED)
    run(gateway_of(model, clock), 20)
    since = [time - 1000.0 for time in model.checked]
    assert since == [1, 3, 7, 15, 31, 63, 123, 183, 243, 303, 363, 423]


@pytest.mark.parametrize("problem", [REFUSED, BROKEN])
def test_calls_fail_after_the_patience_in_one_line(problem: Retryable) -> None:
    clock = FakeClock()
    model = FailingModel(clock, 10_000.0, problem)
    gateway = gateway_of(model, clock, outage_patience=100)
    outcomes = run(gateway, 20)
    for outcome in outcomes:
        assert isinstance(outcome, CallFailed)
        assert not outcome.permanent
        assert "\n" not in str(outcome)
        assert problem.reason in str(outcome)
        assert "100 s" in str(outcome)
    assert 1100.0 <= clock.time <= 1110.0
    assert gateway.usage.failed == 20


def test_after_the_patience_calls_fail_at_once_until_it_is_time_to_ask_again() -> None:
    clock = FakeClock()
    model = FailingModel(clock, 1500.0, REFUSED)
    gateway = gateway_of(model, clock, outage_patience=100)

    async def outcome(text: str) -> object:
        try:
            return (await gateway.complete(request(text))).text
        except CallFailed:
            return None

    async def run_on() -> None:
        async with gateway:
            assert await outcome("a") is None
            asked, then = len(model.checked), clock.time
            assert [await outcome(str(n)) for n in range(30)] == [None] * 30
            assert len(model.checked) - asked <= 1
            assert clock.time == then
            clock.time = 1600.0
            assert await outcome("b") == "b"

    asyncio.run(run_on())


def test_other_endpoints_go_on() -> None:
    clock = FakeClock()
    down, up = FailingModel(clock, 1500.0, REFUSED), FailingModel(clock, 0.0, REFUSED)
    specs = {"down": spec(), "up": spec(base_url="http://127.0.0.1:2/v1")}
    gateway = Gateway(
        specs, MemoryRecorder(), clock=clock, concurrency=2, providers={"down": down, "up": up}
    )

    async def run_on() -> list[str]:
        async with gateway:
            waiting = [
                asyncio.create_task(gateway.complete(request(str(n), model="down")))
                for n in range(5)
            ]
            found = [(await gateway.complete(request(str(n), model="up"))).text for n in range(5)]
            for each in waiting:
                await each
            return found

    assert asyncio.run(run_on()) == list("01234")


def test_models_of_one_endpoint_wait_together() -> None:
    clock = FakeClock()
    model = FailingModel(clock, 1100.0, REFUSED)
    gateway = gateway_of(model, clock, ("a", "b"))

    async def run_on() -> None:
        async with gateway:
            await asyncio.gather(
                *(gateway.complete(request(str(n), model="ab"[n % 2])) for n in range(10))
            )

    asyncio.run(run_on())
    assert model.most_probing == 1
    assert len(model.checked) == 7


def test_a_probing_call_that_is_cancelled_hands_over() -> None:
    clock = FakeClock()
    model = FailingModel(clock, 1400.0, REFUSED)
    gateway = gateway_of(model, clock)

    async def run_on() -> list[str]:
        async with gateway:
            calls = [asyncio.create_task(gateway.complete(request(str(n)))) for n in range(6)]
            await until(lambda: len(model.checked) >= 3)
            calls[0].cancel()
            calls[1].cancel()
            return [(await call).text for call in calls[2:]]

    assert asyncio.run(run_on()) == list("2345")


def test_it_is_said_when_it_begins_and_when_it_is_over(
    capfd: pytest.CaptureFixture[str],
) -> None:
    clock = FakeClock()
    model = FailingModel(clock, 1010.0, REFUSED)
    run(gateway_of(model, clock), 3)
    begun, over = capfd.readouterr().err.splitlines()
    assert "endpoint does not answer" in begun
    assert "Connection refused" in begun
    assert "http://127.0.0.1:1/v1" in begun
    assert "answers again" in over


def test_a_failure_that_passes_at_once_is_not_spoken_of(
    capfd: pytest.CaptureFixture[str],
) -> None:
    clock = FakeClock()
    model = FailingModel(clock, 1000.5, REFUSED)
    assert run(gateway_of(model, clock), 3) == ["0", "1", "2"]
    assert capfd.readouterr().err == ""


def poison(faulty: Callable[[Body], bool]) -> Callable[[Body], Answer]:
    """A script that breaks on some requests, and says "fine" to others."""
    return lambda body: Fault("status", 500, "worker died") if faulty(body) else "fine"


def test_a_request_that_breaks_the_server_fails_alone() -> None:
    clock = FakeClock()
    with ScriptedEndpoint(poison(lambda body: "bad" in prompt(body))) as endpoint:
        gateway = Gateway({"m": spec_of(endpoint)}, MemoryRecorder(), clock=clock)

        async def run_on() -> list[object]:
            async with gateway:
                asked = (gateway.complete(request(text)) for text in ("bad", "good", "bad 2"))
                return list(await asyncio.gather(*asked, return_exceptions=True))

        bad, good, other = asyncio.run(run_on())
    assert getattr(good, "text", "") == "fine"
    assert all(isinstance(each, CallFailed) and "worker died" in str(each) for each in (bad, other))
    assert clock.time < 1300.0


def test_a_server_that_stops_and_starts_again() -> None:
    """Over HTTP: a broken server, and its small requests."""
    clock = FakeClock()
    down = lambda body: clock.time < 1100.0  # noqa: E731
    with ScriptedEndpoint(poison(down), scripted_checks=True) as endpoint:
        gateway = Gateway({"m": spec_of(endpoint)}, MemoryRecorder(), clock=clock)
        assert run(gateway, 30) == ["fine"] * 30
        probes = [body for body in endpoint.bodies if CHECK_PROMPT in prompt(body)]
    assert len(probes) <= 12
    assert gateway.usage.failed == 0


def test_without_patience_nothing_waits() -> None:
    clock = FakeClock()
    model = FailingModel(clock, 10_000.0, REFUSED)
    outcomes = run(gateway_of(model, clock, outage_patience=0, retries=1), 3)
    assert all("(2 attempts)" in str(each) for each in outcomes)
    assert model.checked == []
