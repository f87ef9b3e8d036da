"""Vectors of texts: sent as an endpoint wants them, kept, and found again."""

import asyncio
from typing import Any

import numpy as np
import pytest

from recjury.errors import Stop
from recjury.llm import Answer
from recjury.records import Status
from tests.llm.doubles import Memory, ask_of, gateway
from tests.scripted_endpoint import Body, Reply, ScriptedEndpoint


def vector(body: Body) -> Reply:
    """The length of the text, and its number of words."""
    text = body["input"]
    numbers = [float(len(text)), len(text.split()) / 3]
    data = [{"object": "embedding", "index": 0, "embedding": numbers}]
    return Reply({"data": data, "model": "e", "usage": {"prompt_tokens": 4, "total_tokens": 4}})


async def embedded(
    server: ScriptedEndpoint, *texts: str, memory: Memory | None = None, **model: Any
) -> Answer[Any]:
    async with gateway(base_url=server.url, memory=memory, **model) as opened:
        return await ask_of(opened).embeddings(texts, model="main")


def test_vectors_are_kept_and_found_again() -> None:
    memory = Memory()
    with ScriptedEndpoint(vector) as server:
        extra = {"dimensions": 2}
        first: Any = asyncio.run(embedded(server, "a b", "abcd", memory=memory, extra=extra)).value
        again: Any = asyncio.run(embedded(server, "abcd", "new", memory=memory, extra=extra)).value
        assert np.allclose(first, [[3, 2 / 3], [4, 1 / 3]])
        assert first.dtype == again.dtype == np.float32
        assert np.array_equal(first[1], again[0])
        assert [asked.path for asked in server.asked] == ["/v1/embeddings"] * 3
        assert server.asked[0].body == {
            "model": "m",
            "input": "a b",
            "encoding_format": "float",
            "dimensions": 2,
        }
    assert all(kept.tokens_in == 4 for kept in memory.kept.values())


@pytest.mark.parametrize(
    "answer",
    [
        {"data": []},
        {"data": [{"embedding": None}]},
        {"data": [{"embedding": ["x"]}]},
        {"data": "x"},
    ],
)
def test_an_answer_without_a_vector_is_asked_for_again(answer: Body) -> None:
    answers = iter([Reply(answer)])
    with ScriptedEndpoint(lambda body: next(answers, None) or vector(body)) as server:
        assert asyncio.run(embedded(server, "a")).value is not None
        assert len(server.asked) == 2


def test_a_text_that_is_refused_has_a_reason() -> None:
    long = Reply({"error": {"message": "maximum context length is 8192 tokens"}}, 400)
    with ScriptedEndpoint(lambda body: long if "x" in body["input"] else vector(body)) as server:
        answer = asyncio.run(embedded(server, "a", "x", "b"))
    assert answer.value is None
    assert answer.status is Status.REFUSED
    assert "context length" in answer.reason


def test_a_server_without_embeddings_stops_the_run() -> None:
    missing = Reply({"detail": "Not Found"}, 404)
    with (
        ScriptedEndpoint(lambda body: missing) as server,
        pytest.raises(Stop, match="check `base_url` and `name`"),
    ):
        asyncio.run(embedded(server, "a"))
