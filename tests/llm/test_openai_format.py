"""Texts in parts and choices out of order: read as they are meant, or not at all."""

import orjson
import pytest

from recjury.llm.openai_format import read_completion
from recjury.llm.provider import Retryable


def _body(*messages: object) -> bytes:
    return orjson.dumps({"choices": [{"message": {"content": each}} for each in messages]})


@pytest.mark.parametrize(
    "content",
    [
        [{"type": "text", "text": {"value": "Try Fargo (1996).", "annotations": []}}],
        [{"type": "text", "text": ["Try ", "Fargo (1996)."]}],
        [{"type": "text", "text": {"value": ["Try ", "Fargo (1996)."]}}],
        [{"text": "Try Fargo (1996)."}],
        [{"type": "output_text", "text": "Try "}, {"type": None, "text": "Fargo (1996)."}],
    ],
)
def test_the_text_of_parts_is_read(content: object) -> None:
    assert read_completion(_body(content)).text == "Try Fargo (1996)."


@pytest.mark.parametrize(
    "text", [None, 3, True, {}, {"text": "Try"}, {"value": None}, ["Try", {"value": "it"}], [["a"]]]
)
def test_a_part_without_a_plain_text_is_no_completion(text: object) -> None:
    with pytest.raises(Retryable, match="the reply is not a chat completion"):
        read_completion(_body([{"type": "text", "text": text}]))


def test_a_body_that_is_nested_too_deeply_is_no_completion() -> None:
    deep = b"[" * 1000 + b"]" * 1000
    body = b'{"model": %s, "choices": [{"message": {"content": "x"}, "finish_reason": "stop"}]}'
    with pytest.raises(Retryable, match="the reply is not a chat completion"):
        read_completion(body % deep)


@pytest.mark.parametrize("content", [0, False, {}, {"type": "text", "text": "Try"}])
def test_a_content_that_is_neither_text_nor_parts_is_no_completion(content: object) -> None:
    with pytest.raises(Retryable, match="the reply is not a chat completion"):
        read_completion(_body(content))


@pytest.mark.parametrize(
    ("places", "order"),
    [
        ([2, 0, 1], "bca"),
        ([0, 0, 1], "abc"),
        ([1, None, 0], "abc"),
        ([True, 2, 0], "abc"),
        ([[2], [1], [0]], "abc"),
        (["2", "1", "0"], "abc"),
    ],
)
def test_choices_are_read_by_index_if_each_has_its_own(places: list[object], order: str) -> None:
    choices = [
        {"index": place, "message": {"content": text}}
        for place, text in zip(places, "abc", strict=True)
    ]
    found = read_completion(orjson.dumps({"choices": choices}))
    assert found.text + "".join(each.text for each in found.further) == order
