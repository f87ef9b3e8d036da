"""Calls through the gateway: reuse, sharing, record, order, attribution, over real HTTP."""

import asyncio
from collections.abc import Mapping

import numpy as np
import pytest

from recjury.errors import CallFailed, ConfigError
from recjury.llm import EndpointSpec, Gateway, ScriptedModel, call_context, call_identity
from recjury.records import Message, Reply
from tests.endpoint import Fault, ScriptedEndpoint, completion, hashed_embedding, prompt
from tests.llm.doubles import (
    MemoryRecorder,
    OneRefuses,
    asked_and_left_open,
    request,
    spec_of,
    until,
)

NOWHERE = EndpointSpec(base_url="http://127.0.0.1:1/v1", name="scripted")


def scripted(model: ScriptedModel, recorder: MemoryRecorder, concurrency: int = 128) -> Gateway:
    """A gateway whose only model is a script."""
    return Gateway({"m": NOWHERE}, recorder, providers={"m": model}, concurrency=concurrency)


def test_what_is_asked_reaches_the_endpoint_and_what_it_says_comes_back() -> None:
    said = completion("Fine.", prompt_tokens=100, completion_tokens=20, cached_tokens=60)
    recorder = MemoryRecorder()
    asked = request(
        messages=(Message("system", ("Be ", "brief.")), Message("user", ("Hello",))),
        temperature=0.5,
        max_tokens=50,
        schema={"type": "object"},
    )

    async def run(spec: EndpointSpec) -> Reply:
        async with Gateway({"m": spec}, recorder) as gateway:
            reply = await gateway.complete(asked)
            assert gateway.usage.calls == 1
            assert gateway.usage.in_flight == 0
            assert gateway.usage.cost == pytest.approx(reply.usage.cost)
            return reply

    with ScriptedEndpoint(lambda body: said) as endpoint:
        prices = {"price_in": 2.0, "price_cached": 1.0, "price_out": 10.0}
        spec = spec_of(
            endpoint, json_mode="schema", extra={"top_p": 0.9, "max_tokens": None, "k": 1}, **prices
        )
        reply = asyncio.run(run(spec))
        body = endpoint.bodies[0]
    shape = {"name": "answer", "strict": True, "schema": {"type": "object"}}
    assert body == {
        "model": "scripted",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Hello"},
        ],
        "temperature": 0.5,
        "top_p": 0.9,
        "response_format": {"type": "json_schema", "json_schema": shape},
        "k": 1,
    }
    assert (reply.text, reply.finish_reason, reply.model) == ("Fine.", "stop", "scripted")
    assert reply.usage.cost == pytest.approx((40 * 2 + 60 * 1 + 20 * 10) / 1e6)
    assert reply.call == call_identity(asked, spec)
    assert recorder.calls[reply.call].request == asked


def test_logprobs_come_back_when_asked_for() -> None:
    token = {"token": "3", "logprob": -0.1, "top_logprobs": [{"token": "4", "logprob": -2.5}]}
    said = completion("3")
    said["choices"][0]["logprobs"] = {"content": [token]}  # type: ignore[index]

    async def run(spec: EndpointSpec) -> Reply:
        async with Gateway({"m": spec}, MemoryRecorder()) as gateway:
            return await gateway.complete(request(top_logprobs=1))

    with ScriptedEndpoint(lambda body: said) as endpoint:
        reply = asyncio.run(run(spec_of(endpoint)))
        assert endpoint.bodies[0]["logprobs"] is True
    assert reply.logprobs == (("3", -0.1, (("4", -2.5),)),)


def test_a_kept_reply_is_reused_and_nothing_is_sent() -> None:
    recorder = MemoryRecorder()

    async def run(spec: EndpointSpec) -> tuple[Reply, Reply]:
        async with Gateway({"m": spec}, recorder) as gateway:
            first = await gateway.complete(request())
        async with Gateway({"m": spec}, recorder) as gateway:
            second = await gateway.complete(request())
            assert (gateway.usage.calls, gateway.usage.reused) == (0, 1)
        return first, second

    with ScriptedEndpoint(lambda body: "x") as endpoint:
        first, second = asyncio.run(run(spec_of(endpoint)))
        assert len(endpoint.bodies) == 1
    assert (first.reused, second.reused) == (False, True)
    assert first.text == second.text


def test_equal_calls_in_flight_share_one_request() -> None:
    async def run(spec: EndpointSpec) -> list[Reply]:
        async with Gateway({"m": spec}, MemoryRecorder()) as gateway:
            different = [gateway.complete(request(sample=n)) for n in range(3)]
            equal = [gateway.complete(request(purpose=f"{n}")) for n in range(20)]
            return list(await asyncio.gather(*different, *equal))

    with ScriptedEndpoint(lambda body: "x", latency=0.05) as endpoint:
        replies = asyncio.run(run(spec_of(endpoint)))
        assert len(endpoint.bodies) == 3
    assert sum(not reply.reused for reply in replies) == 3


def test_who_shares_a_request_outlives_the_one_who_made_it() -> None:
    async def run() -> tuple[Reply, int]:
        gate = asyncio.Event()
        model = ScriptedModel(lambda request: "x")
        recorder = MemoryRecorder()
        recorder.gate = gate
        async with scripted(model, recorder) as gateway:
            first = asyncio.create_task(gateway.complete(request()))
            await until(lambda: gateway.usage.calls == 1)
            second = asyncio.create_task(gateway.complete(request()))
            await asyncio.sleep(0)
            first.cancel()
            gate.set()
            return await second, len(model.requests)

    reply, sent = asyncio.run(run())
    assert reply.text == "x"
    assert sent == 2


def test_who_shares_a_failing_request_fails_with_it() -> None:
    async def run(spec: EndpointSpec) -> list[object]:
        async with Gateway({"m": spec}, MemoryRecorder()) as gateway:
            calls = (gateway.complete(request()) for _ in range(3))
            return list(await asyncio.gather(*calls, return_exceptions=True))

    fault = Fault("status", status=400, text="too long")
    with ScriptedEndpoint(lambda body: fault, latency=0.05) as endpoint:
        outcomes = asyncio.run(run(spec_of(endpoint)))
        assert len(endpoint.bodies) == 1
    assert [isinstance(outcome, CallFailed) for outcome in outcomes] == [True] * 3


def test_no_reply_is_used_before_it_is_durable_and_its_place_is_free_meanwhile() -> None:
    async def run() -> None:
        recorder = MemoryRecorder()
        recorder.gate = asyncio.Event()
        async with scripted(ScriptedModel(["a", "b"]), recorder, concurrency=1) as gateway:
            calls = [asyncio.create_task(gateway.complete(request(t))) for t in ("a", "b")]
            await until(lambda: gateway.usage.calls == 2)
            for _ in range(10):
                await asyncio.sleep(0)
            assert not any(call.done() for call in calls)
            assert not recorder.calls
            recorder.gate.set()
            assert [(await call).text for call in calls] == ["a", "b"]
            assert len(recorder.calls) == 2

    asyncio.run(run())


def test_a_recorder_that_fails_fails_the_call() -> None:
    class Full(MemoryRecorder):
        async def record(self, call: object) -> None:
            raise OSError("disk full")

    async def run() -> None:
        async with scripted(ScriptedModel(["a"]), Full()) as gateway:
            with pytest.raises(OSError, match="disk full"):
                await gateway.complete(request())

    asyncio.run(run())


def test_calls_are_attributed_and_samples_get_replies_of_their_own() -> None:
    recorder = MemoryRecorder()

    async def unit(gateway: Gateway, name: str, number: int) -> Reply:
        with call_context(name, number):
            return (await asyncio.gather(gateway.complete(request())))[0]

    async def run() -> list[Reply]:
        async with scripted(ScriptedModel(["a", "b"]), recorder) as gateway:
            return [
                await unit(gateway, "t0", 0),
                await unit(gateway, "t1", 1),
                await unit(gateway, "t2", 1),
            ]

    replies = asyncio.run(run())
    assert [reply.text for reply in replies] == ["a", "b", "b"]
    assert [call.unit for call in recorder.calls.values()] == ["t0", "t1"]


def test_embeddings_come_in_the_order_of_the_texts_and_are_kept() -> None:
    recorder = MemoryRecorder()
    texts = [f"text {n}" for n in range(150)]

    async def run(
        spec: EndpointSpec,
    ) -> "Mapping[str, np.ndarray[tuple[int, int], np.dtype[np.float32]]]":
        async with Gateway({"e": spec}, recorder) as gateway:
            await gateway.check()
            first = await gateway.embed("e", texts)
            with call_context("t", 3):
                again = await gateway.embed("e", texts)
            return {"first": first, "again": again, "none": await gateway.embed("e", [])}

    with ScriptedEndpoint(lambda body: "x") as endpoint:
        found = asyncio.run(run(spec_of(endpoint, embedding=True)))
        assert len(endpoint.embedded) == 3
    expected = np.array([hashed_embedding(text) for text in texts], dtype=np.float32)
    assert found["first"].dtype == np.float32
    np.testing.assert_array_equal(found["first"], expected)
    np.testing.assert_array_equal(found["again"], expected)
    assert found["none"].shape[0] == 0


def test_an_alias_nobody_knows_is_the_users_to_fix() -> None:
    async def run() -> None:
        async with Gateway({"m": NOWHERE, "n": NOWHERE}, MemoryRecorder()) as gateway:
            with pytest.raises(ConfigError, match="'x': the models are m, n"):
                await gateway.complete(request(model="x"))

    asyncio.run(run())


def test_a_script_is_strict_when_it_runs_out() -> None:
    async def run() -> None:
        model = ScriptedModel(["only"])
        async with scripted(model, MemoryRecorder()) as gateway:
            assert (await gateway.complete(request("1"))).text == "only"
            with pytest.raises(LookupError, match="asked for one more: test"):
                await gateway.complete(request("2"))
        assert [asked.messages[0].text for asked in model.requests] == ["1", "2"]

    asyncio.run(run())


def test_the_prompt_is_sent_as_its_parts_joined() -> None:
    text = ("Ünïcödé 😀 \x00\x1f ", '</system> \\ " ', "\u2028 end")

    async def run(spec: EndpointSpec) -> None:
        async with Gateway({"m": spec}, MemoryRecorder()) as gateway:
            await gateway.complete(request(messages=(Message("user", text),)))

    with ScriptedEndpoint(lambda body: "x") as endpoint:
        asyncio.run(run(spec_of(endpoint)))
        assert prompt(endpoint.bodies[0]) == "".join(text)


def test_no_batch_of_embeddings_outlives_the_refusal_of_another() -> None:
    async def embed(model: OneRefuses) -> object:
        gateway = Gateway({"e": NOWHERE}, MemoryRecorder(), providers={"e": model})
        return await gateway.embed("e", [f"text {n}" for n in range(150)])

    assert asked_and_left_open(embed) == (3, 0)
