"""How many tokens replies need is learned, and changes no identity."""

import asyncio

import pytest

from recjury.llm import EndpointSpec, Gateway, read_reply
from recjury.llm.call_tokens import ReplyRoom
from recjury.llm.spoken_text import finished_text
from recjury.records import JSON, Reply, Status, Usage
from tests.endpoint import Answer, Body, ScriptedEndpoint, completion
from tests.llm.doubles import FakeClock, MemoryRecorder, request, spec_of

OWN = 16_384  # an endpoint's own limit


class Script:
    """A model that takes `needed` tokens, and has said `text` by then if it is cut off.

    `limits` are those that were asked for.
    """

    def __init__(self, needed: int, *, text: str = "", own: int = OWN):
        self.needed, self.text, self.own = needed, text, own
        self.limits: list[int | None] = []

    def __call__(self, body: Body) -> Answer:
        """The whole reply if the limit allows it."""
        limit = body.get("max_tokens")
        assert limit is None or isinstance(limit, int)
        self.limits.append(limit)
        most = self.own if limit is None else limit
        if most < self.needed:
            return completion(self.text, finish_reason="length", completion_tokens=most)
        return completion("fine", completion_tokens=self.needed)


def asked(
    script: Script, texts: str, **fields: object
) -> tuple[list[Status], dict[str, dict[str, JSON]]]:
    """What became of one request after the other, and what was learned."""
    with ScriptedEndpoint(script) as endpoint:
        gateway = Gateway({"m": spec_of(endpoint)}, MemoryRecorder(), clock=FakeClock())

        async def run() -> list[Status]:
            async with gateway:
                asked_for = [request(text, **fields) for text in texts]
                return [
                    (await read_reply(gateway, each, finished_text)).status for each in asked_for
                ]

        return asyncio.run(run()), gateway.learned


@pytest.mark.parametrize(
    ("needed", "limits"),
    [
        (200, [300, 300, 300]),
        (700, [300, 2400, 2400, 2400]),
        (1500, [300, 2400, 3000, 3000]),
        (5000, [300, 2400, 19_200, 19_200, 19_200]),
        (25_000, [300, 2400, 19_200, 32_768, 32_768]),
    ],
)
def test_a_reasoning_model_is_cut_off_in_its_first_calls_only(
    needed: int, limits: list[int]
) -> None:
    script = Script(needed)
    found, learned = asked(script, "abc", max_tokens=300)
    assert found[1:] == [Status.SCORED] * 2
    assert (found[0] is Status.SCORED) == (needed <= 19_200)
    assert script.limits == limits
    assert learned == ({"m": {"least_tokens": limits[-1]}} if needed > 300 else {})


def test_thoughts_that_no_tag_opens_are_given_room_too() -> None:
    script = Script(1000, text="Hmm, the user wants")
    assert asked(script, "abc", max_tokens=300)[0] == [Status.SCORED] * 3
    assert script.limits == [300, 600, 1200, 2000, 2000]


def test_one_reply_that_never_ends_gives_no_room_to_others() -> None:
    def script(body: Body) -> Answer:
        if "b" in str(body["messages"]):
            most = body["max_tokens"]
            assert isinstance(most, int)
            return completion("on and on", finish_reason="length", completion_tokens=most)
        limits.append(body["max_tokens"])
        return completion("fine", completion_tokens=40)

    limits: list[object] = []
    with ScriptedEndpoint(script) as endpoint:

        async def run() -> None:
            async with Gateway({"m": spec_of(endpoint)}, MemoryRecorder()) as gateway:
                for text in "axbxc":
                    await read_reply(gateway, request(text, max_tokens=300), finished_text)

        asyncio.run(run())
    assert limits == [300, 300, 300]


@pytest.mark.parametrize(("own", "limits"), [(OWN, [None, 2 * OWN]), (256, [None, 8192])])
def test_more_room_is_more_than_the_endpoint_gives_by_itself(
    own: int, limits: list[int | None]
) -> None:
    script = Script(own + 1, text="It is", own=own)
    assert asked(script, "a")[0] == [Status.SCORED]
    assert script.limits == limits


def test_room_does_not_grow_without_end() -> None:
    script, recorder = Script(10**9, text="It is"), MemoryRecorder()
    with ScriptedEndpoint(script) as endpoint:

        async def run() -> None:
            async with Gateway({"m": spec_of(endpoint)}, recorder) as gateway:
                await read_reply(gateway, request("a"), finished_text)
                await read_reply(gateway, request("a", max_tokens=50_000), finished_text)
                await read_reply(gateway, request("a", max_tokens=100_000), finished_text)

        for _ in range(4):
            asyncio.run(run())
    limits = [limit for limit in script.limits if limit is not None]
    assert max(limits) == 100_000
    assert min(limits) > OWN
    assert sorted(set(limits))[-2] == 65_536


def test_what_a_filter_withholds_gets_no_more_room() -> None:
    limits: list[object] = []

    def script(body: Body) -> Answer:
        limits.append(body.get("max_tokens"))
        return completion("fi", finish_reason="content_filter")

    with ScriptedEndpoint(script) as endpoint:

        async def run() -> None:
            async with Gateway({"m": spec_of(endpoint)}, MemoryRecorder()) as gateway:
                await read_reply(gateway, request("a"), finished_text)
                await read_reply(gateway, request("a", max_tokens=300), finished_text)

        asyncio.run(run())
    assert limits == [None] * 3 + [300] * 3


def test_a_later_run_finds_all_replies_and_begins_with_their_room() -> None:
    script, recorder = Script(700), MemoryRecorder()
    with ScriptedEndpoint(script) as endpoint:

        async def run(texts: str) -> None:
            async with Gateway({"m": spec_of(endpoint)}, recorder) as gateway:
                for text in texts:
                    found = await read_reply(gateway, request(text, max_tokens=300), finished_text)
                    assert found.value == "fine"

        asyncio.run(run("ab"))
        assert script.limits == [300, 2400, 2400]
        asyncio.run(run("ab"))
        assert len(script.limits) == 3, "nothing is sent again"
        asyncio.run(run("abc"))
    assert script.limits[3:] == [2400], "what the store has teaches, too"


def test_log_probabilities_are_asked_for_as_they_are() -> None:
    room = ReplyRoom(EndpointSpec(base_url="http://127.0.0.1:1/v1", name="m"))
    plain, scored = request("a", max_tokens=1), request("a", max_tokens=1, top_logprobs=5)
    cut = Reply("0" * 32, "", "length", "m", Usage(completion_tokens=1))
    room.learn(scored, cut)
    assert room.least == 0
    room.learn(plain, cut)
    assert room.applied(plain).least_tokens == 8
    assert room.applied(scored) is scored
