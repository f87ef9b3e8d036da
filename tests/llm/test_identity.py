"""The identity of a call changes with what can change its reply, and with nothing else."""

import pytest

from recjury.llm import EndpointSpec, call_identity
from recjury.records import ChatRequest, Message
from tests.llm.doubles import request

SPEC = EndpointSpec(base_url="http://127.0.0.1:1/v1", name="m1")
PLAIN = request()


def spec(**fields: object) -> EndpointSpec:
    """SPEC with other fields."""
    return EndpointSpec.model_validate({**SPEC.model_dump(), **fields})


def of(*messages: Message) -> ChatRequest:
    """A request of these messages."""
    return ChatRequest("m", messages, "test")


@pytest.mark.parametrize(
    "other",
    [
        request("Rate that."),
        request(temperature=0.7),
        request(max_tokens=10),
        request(schema={"type": "object"}),
        request(top_logprobs=0),
        request(sample=1),
        request(attempt=1),
        of(Message("system", ("Rate this.",))),
        of(Message("user", ("Rate this.",)), Message("user", ("",))),
        of(Message("user", ("Rate ",)), Message("user", ("this.",))),
    ],
)
def test_other_requests_are_other_calls(other: ChatRequest) -> None:
    assert call_identity(other, SPEC) != call_identity(PLAIN, SPEC)


@pytest.mark.parametrize(
    "other",
    [
        spec(name="m2"),
        spec(base_url="http://127.0.0.1:2/v1"),
        spec(temperature=1.0),
        spec(max_tokens=10),
        spec(json_mode="object"),
        spec(extra={"min_p": 0.1}),
        spec(embedding=True),
    ],
)
def test_other_models_and_settings_are_other_calls(other: EndpointSpec) -> None:
    assert call_identity(PLAIN, other) != call_identity(PLAIN, SPEC)


def test_another_repeat_is_another_call_and_no_sample_of_the_first() -> None:
    repeats = {call_identity(request(sample=s), SPEC, r) for s in range(3) for r in range(3)}
    assert len(repeats) == 9


@pytest.mark.parametrize(
    "other",
    [
        of(Message("user", ("Ra", "te this", "."))),
        request(model="another alias"),
        request(purpose="another purpose"),
    ],
)
def test_cuts_alias_and_purpose_have_no_part_in_it(other: ChatRequest) -> None:
    assert call_identity(other, SPEC) == call_identity(PLAIN, SPEC)


@pytest.mark.parametrize(
    "other",
    [
        spec(retries=0),
        spec(timeout=1),
        spec(concurrency=1),
        spec(requests_per_minute=1),
        spec(price_in=1, price_out=1, price_cached=1),
        spec(key_env="SOME_KEY"),
        spec(base_url="http://127.0.0.1:1/v1/"),
    ],
)
def test_limits_prices_and_keys_have_no_part_in_it(other: EndpointSpec) -> None:
    assert call_identity(PLAIN, other) == call_identity(PLAIN, SPEC)


def test_what_the_model_replaces_is_hashed_as_it_is_sent() -> None:
    fixed = spec(temperature=1.0, max_tokens=50)
    assert call_identity(request(temperature=0.3), fixed) == call_identity(
        request(max_tokens=9), fixed
    )


def test_the_order_of_settings_has_no_part_in_it() -> None:
    one, other = spec(extra={"a": 1, "b": 2}), spec(extra={"b": 2, "a": 1})
    assert call_identity(PLAIN, one) == call_identity(PLAIN, other)


def test_it_is_32_hex_digits_and_the_same_on_every_machine() -> None:
    assert call_identity(PLAIN, SPEC) == "d95569edf5450306cae9054038ad5c9a"


def test_a_lone_surrogate_can_be_hashed() -> None:
    assert call_identity(request("\ud83d"), SPEC) != call_identity(request("\ud83e"), SPEC)
