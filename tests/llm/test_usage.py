"""What an endpoint says a call has used is counted where it can be true."""

import orjson
import pytest

from recjury.llm.openai_format import read_completion


@pytest.mark.parametrize(
    ("prompt", "reply", "cached", "counted"),
    [
        (100, 20, 60, (100, 20, 60)),
        (100.0, 20.0, None, (100, 20, 0)),
        (-5, 1e30, 2**31, (0, 0, 0)),
        ("100", [20], True, (0, 0, 0)),
        (None, {"all": 3}, -1, (0, 0, 0)),
        (10, 2, 60, (10, 2, 10)),
    ],
)
def test_numbers_of_tokens_that_cannot_be_are_not_counted(
    prompt: object, reply: object, cached: object, counted: tuple[int, int, int]
) -> None:
    usage = {
        "prompt_tokens": prompt,
        "completion_tokens": reply,
        "prompt_tokens_details": {"cached_tokens": cached},
    }
    said = read_completion(orjson.dumps({"choices": [{"message": {}}], "usage": usage}))
    assert (said.prompt_tokens, said.completion_tokens, said.cached_tokens) == counted


@pytest.mark.parametrize("usage", [None, "many", [1], {"prompt_tokens_details": "some"}])
def test_usage_that_is_none_is_no_fault(usage: object) -> None:
    said = read_completion(orjson.dumps({"choices": [{"message": {}}], "usage": usage}))
    assert (said.prompt_tokens, said.completion_tokens) == (0, 0)


@pytest.mark.parametrize(
    ("usage", "counted"),
    [
        ({"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 500}, (100, 400, 0)),
        ({"completion_tokens": 20, "total_tokens": 500}, (480, 20, 0)),
        ({"total_tokens": 500}, (500, 0, 0)),
        ({"input_tokens": 100, "output_tokens": 20}, (100, 20, 0)),
        ({"prompt_tokens": 9, "completion_tokens": 2, "prompt_cache_hit_tokens": 6}, (9, 2, 6)),
        ({"prompt_tokens": 9, "completion_tokens": 2, "cached_tokens": 6}, (9, 2, 6)),
    ],
)
def test_other_names_for_the_same_are_known(
    usage: dict[str, object], counted: tuple[int, int, int]
) -> None:
    said = read_completion(orjson.dumps({"choices": [{"message": {}}], "usage": usage}))
    assert (said.prompt_tokens, said.completion_tokens, said.cached_tokens) == counted
