"""Calls go in batches: gathered, sent once, read in any order, and sent again where needed."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from typing import Any, BinaryIO

import pytest

from recjury.errors import CallFailed, ConfigError, ProviderError
from recjury.llm import Backoff, EndpointSpec, Gateway, ModelSpec
from recjury.llm.batch.outbox import Outbox
from recjury.llm.batch.provider import BatchProvider
from recjury.llm.batch.spec import BatchModelSpec
from recjury.llm.transport import HttpSession
from recjury.records import ChatRequest, Message, Reply
from tests.batch_server import BatchEndpoint, Line
from tests.llm.doubles import MemoryRecorder
from tests.scripted_server import prompt


@pytest.fixture
def endpoint() -> Iterator[BatchEndpoint]:
    with BatchEndpoint(lambda body: f"to {prompt(body)}") as running:
        yield running


def spec_of(endpoint: BatchEndpoint, **fields: object) -> BatchModelSpec:
    """A model at the endpoint, in a hurry."""
    quick: dict[str, object] = {"wait": 0.05, "poll": 0.05, "batch_size": 1000}
    given = {"base_url": endpoint.url, "name": "scripted", **quick, **fields}
    return BatchModelSpec.model_validate(given)


def gateway_of(spec: ModelSpec, recorder: MemoryRecorder, **fields: Any) -> Gateway:
    """A gateway whose only model is `m`."""
    return Gateway({"m": spec}, recorder, backoff=Backoff(first=0.01, longest=0.02), **fields)


def asked(number: int) -> ChatRequest:
    """The request of this number."""
    return ChatRequest("m", (Message("user", (f"request {number}",)),), "test", max_tokens=50)


Outcome = Reply | Exception


def complete(
    spec: ModelSpec,
    count: int,
    recorder: MemoryRecorder | None = None,
    **fields: Any,
) -> list[Outcome]:
    """The replies to so many requests, or why there are none."""

    async def run() -> list[Outcome]:
        async with gateway_of(spec, recorder or MemoryRecorder(), **fields) as gateway:
            calls = (gateway.complete(asked(number)) for number in range(count))
            return list(await asyncio.gather(*map(_outcome, calls)))

    return asyncio.run(run())


async def _outcome(call: Coroutine[Any, Any, Reply]) -> Outcome:
    try:
        return await call
    except Exception as error:
        return error


def texts(found: list[Outcome]) -> list[str]:
    """The replies' texts; fails if there is none."""
    for each in found:
        if isinstance(each, Exception):
            raise each
    return [each.text for each in found if isinstance(each, Reply)]


def right(count: int) -> list[str]:
    """The replies that belong to the first requests."""
    return [f"to request {number}" for number in range(count)]


async def passed(condition: Callable[[], bool]) -> None:
    """Wait until the condition holds."""
    while not condition():  # noqa: ASYNC110
        await asyncio.sleep(0.005)


def test_calls_gather_in_one_batch(endpoint: BatchEndpoint) -> None:
    recorder = MemoryRecorder()
    assert texts(complete(spec_of(endpoint), 50, recorder)) == right(50)
    assert endpoint.sizes == [50]
    assert set(endpoint.processed) == set(recorder.calls)
    [batch] = endpoint.batches.values()
    assert batch.metadata["recjury_model"] == "scripted"
    assert endpoint.files == {}, "deleted once all replies are stored"


def test_full_files_are_sent_at_once(endpoint: BatchEndpoint) -> None:
    found = complete(spec_of(endpoint, batch_size=20), 50)
    assert texts(found) == right(50)
    assert sorted(endpoint.sizes) == [10, 20, 20]


def test_files_have_at_most_so_many_bytes(endpoint: BatchEndpoint) -> None:
    assert texts(complete(spec_of(endpoint, batch_mb=0.003), 50)) == right(50)
    assert len(endpoint.sizes) > 2
    assert max(endpoint.processed.values()) == 1


def test_a_request_larger_than_a_file_fails_alone(endpoint: BatchEndpoint) -> None:
    [failed] = complete(spec_of(endpoint, batch_mb=0.0001), 1)
    assert isinstance(failed, CallFailed)
    assert failed.permanent
    assert endpoint.sizes == []


def test_no_call_waits_for_ever_on_a_full_disk(
    endpoint: BatchEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_room(_: Outbox, size: int) -> BinaryIO:
        raise OSError(f"no room for {size} bytes")

    monkeypatch.setattr(Outbox, "_cut", no_room)
    assert all(isinstance(each, OSError) for each in complete(spec_of(endpoint), 5))
    assert endpoint.sizes == []


@pytest.mark.parametrize("fault", ["shuffled", "doubled"])
def test_lines_in_any_order_are_read_by_identity(endpoint: BatchEndpoint, fault: str) -> None:
    setattr(endpoint.faults, fault, True)
    assert texts(complete(spec_of(endpoint), 50)) == right(50)
    assert endpoint.sizes == [50]


@pytest.mark.parametrize("fault", ["missing", "expired", "unreadable"])
def test_lines_without_a_reply_are_sent_again_alone(endpoint: BatchEndpoint, fault: str) -> None:
    setattr(endpoint.faults, fault, 7)
    assert texts(complete(spec_of(endpoint), 50)) == right(50)
    assert endpoint.sizes == [50, 7]
    assert sum(count == 2 for count in endpoint.processed.values()) == 7


def test_a_call_is_sent_again_only_so_often(endpoint: BatchEndpoint) -> None:
    endpoint.faults.line = _of("request 3", {"code": "batch_expired", "message": "too late"})
    found = complete(spec_of(endpoint, retries=2), 5)
    assert endpoint.sizes == [5, 1, 1]
    assert isinstance(found[3], CallFailed)
    assert "too late (3 attempts)" in str(found[3])
    assert texts([*found[:3], found[4]]) == [*right(3), "to request 4"]


def test_a_request_that_is_refused_fails_alone(endpoint: BatchEndpoint) -> None:
    body = {"error": {"message": "content policy violation", "code": "content_filter"}}
    endpoint.faults.line = _of("request 3", {"status_code": 400, "body": body})
    found = complete(spec_of(endpoint), 5)
    assert endpoint.sizes == [5]
    assert isinstance(found[3], CallFailed)
    assert found[3].permanent
    assert texts([*found[:3], found[4]]) == [*right(3), "to request 4"]


def test_what_is_refused_is_learned(endpoint: BatchEndpoint) -> None:
    message = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."

    def refuse(line: Line) -> Line | None:
        if "max_tokens" not in line["body"]:
            return None
        error = {"message": message, "param": "max_tokens", "code": "unsupported_parameter"}
        return {"status_code": 400, "body": {"error": error}}

    endpoint.faults.line = refuse
    assert texts(complete(spec_of(endpoint), 5)) == right(5)
    assert endpoint.sizes == [5, 5]


def test_a_refused_upload_is_tried_again(endpoint: BatchEndpoint) -> None:
    endpoint.faults.uploads_refused = 2
    assert texts(complete(spec_of(endpoint), 5)) == right(5)
    assert endpoint.sizes == [5]


def test_a_file_that_is_too_large_stops_everything(endpoint: BatchEndpoint) -> None:
    endpoint.faults.largest_file = 3_000
    assert all(isinstance(each, ProviderError) for each in complete(spec_of(endpoint), 50))
    assert endpoint.sizes == []


@pytest.mark.parametrize("fault", ["uploads_unanswered", "creations_unanswered"])
def test_a_lost_answer_sends_nothing_twice(endpoint: BatchEndpoint, fault: str) -> None:
    setattr(endpoint.faults, fault, 1)
    assert texts(complete(spec_of(endpoint), 20)) == right(20)
    assert endpoint.sizes == [20]


def test_downloads_and_polls_are_repeated(endpoint: BatchEndpoint) -> None:
    endpoint.faults.downloads_cut = endpoint.faults.polls_failing = 2
    endpoint.faults.outputs_unnamed = 2
    assert texts(complete(spec_of(endpoint), 20)) == right(20)
    assert endpoint.sizes == [20]


@pytest.mark.slow
def test_a_file_of_answers_that_is_no_such_file_is_not_paid_for_again(
    endpoint: BatchEndpoint,
) -> None:
    endpoint.faults.pages_for_files = 4
    assert texts(complete(spec_of(endpoint), 20)) == right(20)
    assert endpoint.sizes == [20]


def test_a_full_queue_makes_smaller_batches(endpoint: BatchEndpoint) -> None:
    error = {"code": "token_limit_exceeded", "message": "Enqueued token limit reached for gpt"}
    endpoint.faults.refused_batches = [[error]]
    assert texts(complete(spec_of(endpoint), 20)) == right(20)
    assert endpoint.sizes[0] == 20
    assert max(endpoint.sizes[1:]) == 10
    assert max(endpoint.processed.values()) == 1


def test_a_batch_that_is_refused_without_a_reason_is_sent_again(endpoint: BatchEndpoint) -> None:
    endpoint.faults.refused_batches = [[{"code": "server_error", "message": "Try again"}]]
    assert texts(complete(spec_of(endpoint), 5)) == right(5)
    assert endpoint.sizes == [5, 5]


@pytest.mark.parametrize("status", ["cancelled", "gone", "queued"])
def test_what_becomes_of_a_batch_at_the_endpoint(endpoint: BatchEndpoint, status: str) -> None:
    async def run() -> list[Outcome]:
        async with gateway_of(spec_of(endpoint), MemoryRecorder()) as gateway:
            endpoint.held.clear()
            calls = [asyncio.create_task(_outcome(gateway.complete(asked(n)))) for n in range(5)]
            await passed(lambda: endpoint.polls > 1)
            [batch] = endpoint.batches.values()
            if status == "gone":
                endpoint.batches.clear()
            else:
                batch.status = status
            if status == "queued":  # a state that only this endpoint knows
                before = endpoint.polls
                await passed(lambda: endpoint.polls > before + 2)
                batch.status = ""
            endpoint.held.set()
            return list(await asyncio.gather(*calls))

    found = asyncio.run(run())
    if status == "queued":
        assert texts(found) == right(5)
        return
    said = "was cancelled at the endpoint" if status == "cancelled" else "no longer at the endpoint"
    assert all(isinstance(each, CallFailed) and said in str(each) for each in found)


def test_refused_lines_fail_alone(endpoint: BatchEndpoint) -> None:
    error = {"code": "invalid_value", "message": "messages is empty", "line": 3}
    endpoint.faults.refused_batches = [[error]]
    found = complete(spec_of(endpoint), 5)
    failed = [each for each in found if isinstance(each, Exception)]
    assert len(failed) == 1
    assert isinstance(failed[0], CallFailed)
    assert "messages is empty" in str(failed[0])
    assert endpoint.sizes == [5, 4]


def test_an_account_without_credit_stops_everything(endpoint: BatchEndpoint) -> None:
    error = {"code": "billing_hard_limit_reached", "message": "Billing hard limit has been reached"}
    endpoint.faults.refused_batches = [[error]]
    found = complete(spec_of(endpoint), 5)
    assert all(isinstance(each, ProviderError) for each in found)
    assert endpoint.sizes == [5]


def test_a_refused_key_stops_everything(
    endpoint: BatchEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    endpoint.key = "right"
    monkeypatch.setenv("SCRIPTED_KEY", "wrong")
    found = complete(spec_of(endpoint, key_env="SCRIPTED_KEY"), 5)
    assert all(isinstance(each, ProviderError) for each in found)
    assert "SCRIPTED_KEY" in str(found[0])
    assert "wrong" not in str(found[0])


def test_replies_are_those_of_the_plain_model(endpoint: BatchEndpoint) -> None:
    recorder = MemoryRecorder()
    complete(spec_of(endpoint), 5, recorder)
    plain = EndpointSpec(base_url=endpoint.url, name="scripted")
    assert texts(complete(plain, 5, recorder)) == right(5)
    assert endpoint.checks == 0
    assert spec_of(endpoint).reply_settings() == plain.reply_settings()


def test_the_check_makes_sure_that_there_are_batches(endpoint: BatchEndpoint) -> None:
    async def check() -> None:
        async with gateway_of(spec_of(endpoint), MemoryRecorder()) as gateway:
            await gateway.check()

    asyncio.run(check())
    assert endpoint.checks == 1
    assert endpoint.sizes == []


def test_files_are_kept_if_asked(endpoint: BatchEndpoint) -> None:
    complete(spec_of(endpoint, keep_files=True), 5)
    assert len(endpoint.files) == 2


def test_progress_is_shown(endpoint: BatchEndpoint) -> None:
    async def run() -> tuple[str, str]:
        async with gateway_of(spec_of(endpoint), MemoryRecorder()) as gateway:
            endpoint.held.clear()
            assert gateway.has_room
            calls = [asyncio.create_task(gateway.complete(asked(n))) for n in range(5)]
            [describe] = gateway.usage.deferred
            await passed(lambda: bool(describe()))
            gathering = describe()
            await passed(lambda: "done" in describe())
            sent = describe()
            endpoint.held.set()
            await asyncio.gather(*calls)
            assert describe() == ""
            return gathering, sent

    gathering, sent = asyncio.run(run())
    assert gathering == "5 calls for the next batch"
    assert sent.startswith("batch 1 of 1: ")
    assert sent.endswith("of 5 done")


def test_a_price_of_the_table_is_halved() -> None:
    at = {"base_url": "https://api.openai.com/v1", "name": "gpt-4o-mini"}
    plain, batch = EndpointSpec.model_validate(at), BatchModelSpec.model_validate(at)
    whole, half = plain.cost(1000, 500, 200), batch.cost(1000, 500, 200)
    assert whole is not None
    assert half == pytest.approx(whole / 2)
    assert batch.price_source.endswith(", less 50% in batches")
    own = BatchModelSpec.model_validate({**at, "price_in": 1, "price_out": 2})
    assert own.prices()[:2] == (1, 2)


def test_a_missing_key_is_named() -> None:
    spec = BatchModelSpec(base_url="http://x/v1", name="m", key_env="NOT_SET_ANYWHERE")
    with pytest.raises(ConfigError, match="NOT_SET_ANYWHERE"):
        BatchProvider(spec, HttpSession())


def _of(text: str, answer: Line) -> Callable[[Line], Line | None]:
    return lambda line: answer if prompt(line["body"]) == text else None
