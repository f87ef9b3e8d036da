"""An error is about this request, this minute, or the key and the model; each has its class."""

import asyncio
import json

import pytest

from recjury.errors import CallFailed, ProviderError
from recjury.llm import EndpointSpec, Gateway, Retryable
from recjury.llm.endpoint_errors import error_of
from recjury.llm.error_answer import error_inside, read_error
from recjury.llm.event_loop import gather
from tests.endpoint import Answer, Body, Fault, ScriptedEndpoint, prompt
from tests.llm.doubles import FakeClock, MemoryRecorder, request, spec_of

SPEC = EndpointSpec(base_url="http://127.0.0.1:9/v1", name="m", key_env="A_KEY")

ABOUT_THIS_REQUEST: dict[str, tuple[int, object]] = {
    "azure, content filter": (
        400,
        {
            "error": {
                "message": "The response was filtered due to the prompt triggering Azure OpenAI's "
                "content management policy. Please modify your prompt and retry.",
                "type": None,
                "param": "prompt",
                "code": "content_filter",
                "status": 400,
                "innererror": {"code": "ResponsibleAIPolicyViolation"},
            }
        },
    ),
    "openai, invalid prompt": (
        400,
        {
            "error": {
                "message": "Invalid prompt: your prompt was flagged as potentially violating our "
                "usage policy.",
                "code": "invalid_prompt",
            }
        },
    ),
    "openrouter, moderation": (
        403,
        {
            "error": {
                "code": 403,
                "message": "openai/gpt-4o requires moderation on OpenAI. Your input was flagged "
                'for "violence". No credits were charged.',
                "metadata": {"reasons": ["violence"], "flagged_input": "..."},
            }
        },
    ),
    "deepseek, risk": (400, {"error": {"message": "Content Exists Risk"}}),
    "alibaba, inspection": (
        400,
        {"error": {"code": "data_inspection_failed", "message": "Input data may be bad."}},
    ),
    "openai, length": (
        400,
        {
            "error": {
                "message": "This model's maximum context length is 8192 tokens. However, your "
                "messages resulted in 8227 tokens. Please reduce the length of the messages.",
                "param": "messages",
                "code": "context_length_exceeded",
            }
        },
    ),
    "llama.cpp, length": (
        400,
        {
            "error": {
                "code": 400,
                "message": "the request exceeds the available context size. try increasing it",
                "type": "exceed_context_size_error",
            }
        },
    ),
    "llama.cpp, length as 500": (500, {"error": {"message": "context size has been exceeded"}}),
    "anthropic, length": (
        400,
        {"type": "error", "error": {"message": "prompt is too long: 210000 tokens > 200000"}},
    ),
    "tgi, length": (
        422,
        {
            "error": "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. "
            "Given: 5000 `inputs` tokens",
            "error_type": "validation",
        },
    ),
    "too large a body": (413, "Request Entity Too Large"),
    "larger than a minute allows": (
        429,
        {"error": {"message": "Request too large for gpt-4o on tokens per min (TPM): Limit 100"}},
    ),
}

ABOUT_THIS_MINUTE: dict[str, tuple[int, object]] = {
    "rate limit": (429, {"error": {"message": "Rate limit reached", "code": "rate_limit"}}),
    "gemini, quota of a minute": (
        429,
        [{"error": {"code": 429, "message": "You exceeded your current quota"}}],
    ),
    "overloaded": (529, {"error": {"message": "Overloaded"}}),
    "bad gateway, as a page": (502, "<html><head><title>502 Bad Gateway</title></head></html>"),
    "a server that was too slow": (
        500,
        {"error": {"message": "The request took too long to process, please try again."}},
    ),
    "a server under load": (500, "Timed out: generation was too long for the current load"),
    "a server error about moderation": (503, {"error": "moderation service unavailable"}),
    "a model that loads": (503, {"error": {"message": "Loading model", "code": 503}}),
}

ABOUT_KEY_OR_MODEL: dict[str, tuple[int, object]] = {
    "openai, key": (
        401,
        {"error": {"message": "Incorrect API key provided", "code": "invalid_api_key"}},
    ),
    "gemini, key": (
        400,
        [{"error": {"code": 400, "message": "API key not valid. Please pass a valid API key."}}],
    ),
    "no permission": (403, {"error": {"message": "You do not have access to this project"}}),
    "openai, quota": (
        429,
        {"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}},
    ),
    "deepseek, balance": (402, {"error": {"message": "Insufficient Balance"}}),
    "anthropic, balance": (400, {"error": {"message": "Your credit balance is too low"}}),
    "ollama, model": (404, {"error": {"message": 'model "x" not found, try pulling it first'}}),
    "openrouter, model": (400, {"error": {"message": "x/y is not a valid model ID", "code": 400}}),
    "deepseek, model": (400, {"error": {"message": "Model Not Exist"}}),
    "a page": (404, "<!doctype html><title>Not Found</title>"),
    "a redirect": (308, ""),
}


def error(status: int, body: object) -> Exception:
    """The exception for that answer."""
    raw = body if isinstance(body, str) else json.dumps(body)
    return error_of(read_error(status, raw.encode()), {}, SPEC)


@pytest.mark.parametrize("name", ABOUT_THIS_REQUEST)
def test_about_this_request(name: str) -> None:
    found = error(*ABOUT_THIS_REQUEST[name])
    assert isinstance(found, CallFailed)
    assert found.permanent
    assert "\n" not in str(found)


@pytest.mark.parametrize("name", ABOUT_THIS_MINUTE)
def test_about_this_minute(name: str) -> None:
    status, body = ABOUT_THIS_MINUTE[name]
    found = error(status, body)
    assert isinstance(found, Retryable)
    assert found.rate_limited == (status == 429)
    assert found.may_be_outage == (status >= 500)
    assert "<" not in found.reason


@pytest.mark.parametrize("name", ABOUT_KEY_OR_MODEL)
def test_about_the_key_or_the_model(name: str) -> None:
    found = error(*ABOUT_KEY_OR_MODEL[name])
    assert isinstance(found, ProviderError)
    assert str(found).startswith("http://127.0.0.1:9/v1, model m: HTTP ")


@pytest.mark.parametrize(
    "body",
    ["", "null", "[]", "3", '"text"', "{}", '{"error": 3}', '{"error": [[[[[[[[[["x"]]]]]]]]]]}',
     '{"error": {"message": {"message": {"message": null}}}}', '{"detail": [null, 3, {"loc": 3}]}',
     '{"error": {"message": "{\\"a\\": "}}', "\x00\x01"],
)  # fmt: skip
@pytest.mark.parametrize("status", [400, 401, 404, 429, 500])
def test_every_error_body_can_be_read(body: str, status: int) -> None:
    assert "\n" not in str(error(status, body))


REFUSED = Fault("status", 403, json.dumps({"error": {"message": "Forbidden"}}), as_it_is=True)


def outcomes(
    endpoint: ScriptedEndpoint, *texts: str, clock: FakeClock | None = None, **fields: object
) -> list[object]:
    """What calls come to, one after the other, behind a check."""
    models = {"m": spec_of(endpoint, **fields)}
    gateway = Gateway(models, MemoryRecorder(), clock=clock or FakeClock())

    async def run() -> list[object]:
        found: list[object] = []
        async with gateway:
            await gateway.check()
            for text in texts:
                try:
                    found.append((await gateway.complete(request(text))).text)
                except (CallFailed, ProviderError) as problem:
                    found.append(problem)
        return found

    return asyncio.run(run())


@pytest.mark.parametrize("status", [401, 402, 403, 404, 302])
@pytest.mark.parametrize("said", ["", "Forbidden", "<html><title>Blocked</title></html>"])
def test_a_refusal_of_one_request_only_stops_no_campaign(status: int, said: str) -> None:
    """Firewalls answer so to what a prompt says; the endpoint takes a harmless one."""
    refusal = Fault("status", status, said, as_it_is=True)

    def script(body: Body) -> Answer:
        return refusal if "bad" in prompt(body) else "fine"

    with ScriptedEndpoint(script) as endpoint:
        good, bad, after = outcomes(endpoint, "good", "bad", "good again")
    assert (good, after) == ("fine", "fine")
    assert isinstance(bad, CallFailed)
    assert bad.permanent == (status == 403)


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 422])
def test_a_refusal_for_a_moment_costs_one_attempt(status: int) -> None:
    answers: list[Answer] = ["one", Fault("status", status, "oops"), "two"]
    with ScriptedEndpoint(lambda body: answers.pop(0)) as endpoint:
        found = outcomes(endpoint, "a", "b")
    assert found == ["one", "two"]


@pytest.mark.parametrize("status", [401, 402, 403, 404])
def test_a_key_that_stops_working_stops_the_campaign(status: int) -> None:
    works = [True, True]  # the check and one call

    def script(body: Body) -> Answer:
        return "fine" if works and works.pop() else Fault("status", status, "revoked")

    clock = FakeClock()
    with ScriptedEndpoint(script, scripted_checks=True) as endpoint:
        good, bad = outcomes(endpoint, "a", "b", clock=clock)
        assert len(endpoint.bodies) <= 2 + 1 + 2 + 8, "the waits between the probes grow"
    assert good == "fine"
    assert isinstance(bad, ProviderError)
    assert 30 <= clock.time - 1000 <= 63


MOMENTS: list[tuple[int, str]] = [
    (401, ""),
    (402, "oops"),
    (403, "<html><title>Just a moment...</title></html>"),
    (404, "404 page not found"),
    (302, ""),
]


@pytest.mark.parametrize(("status", "said"), MOMENTS)
@pytest.mark.parametrize("lost", [0, 4])
@pytest.mark.parametrize("many", [1, 40])
def test_a_refusal_of_all_requests_for_seconds_is_waited_for(
    status: int, said: str, lost: float, many: int
) -> None:
    """As an ingress does that restarts: connections are lost, then everything is refused."""
    clock = FakeClock()

    def script(body: Body) -> Answer:
        if 2000 <= clock.time < 2000 + lost:
            return Fault("drop")
        if 2000 + lost <= clock.time < 2000 + lost + 5:
            return Fault("status", status, said, as_it_is=True)
        return "fine"

    with ScriptedEndpoint(script, scripted_checks=True) as endpoint:
        gateway = Gateway({"m": spec_of(endpoint)}, MemoryRecorder(), clock=clock)

        async def run() -> list[str]:
            async with gateway:
                await gateway.check()
                clock.time = 2000.0
                found = await gather(gateway.complete(request(str(n))) for n in range(many))
                return [each.text for each in found]

        assert asyncio.run(run()) == ["fine"] * many
    assert clock.time <= 2060
    assert gateway.usage.down == {}


def test_without_patience_for_outages_a_key_is_believed_refused_after_the_retries() -> None:
    works = [True, True]

    def script(body: Body) -> Answer:
        return "fine" if works and works.pop() else Fault("status", 401, "revoked")

    with ScriptedEndpoint(script, scripted_checks=True) as endpoint:
        good, bad = outcomes(endpoint, "a", "b", outage_patience=0)
    assert good == "fine"
    assert isinstance(bad, ProviderError)


def test_an_unexplained_400_is_about_the_request_once_its_form_was_accepted() -> None:
    odd = Fault("status", 400, "nope")

    def script(body: Body) -> Answer:
        return odd if "bad" in prompt(body) else "fine"

    with ScriptedEndpoint(script) as endpoint:
        found = outcomes(endpoint, "bad", "good")
        assert len(endpoint.bodies) == 4
    assert isinstance(found[0], CallFailed)
    assert found[0].permanent
    assert found[1] == "fine"


@pytest.mark.parametrize(
    ("texts", "passes"),
    [
        (["one", "two"], True),
        ([Fault("status", 503), Fault("drop"), Fault("raw", text="{"), "ok"], True),
        ([Fault("status", 429), "x"], True),
        ([Fault("status", 500)] * 20, False),
        ([Fault("raw", text="<html></html>")] * 20, False),
    ],
)
def test_the_check_forgives_what_passes(texts: list[Answer], passes: bool) -> None:
    left = list(texts)
    with ScriptedEndpoint(lambda body: left.pop(0), scripted_checks=True) as endpoint:
        if passes:
            outcomes(endpoint)
        else:
            with pytest.raises(ProviderError, match="check base_url and that the server runs"):
                outcomes(endpoint)


@pytest.mark.parametrize(
    ("body", "status", "kind"),
    [
        ({"code": 20012, "message": "Insufficient balance", "data": None}, 402, ProviderError),
        ({"code": 50501, "message": "System is busy now"}, 502, Retryable),
        ({"code": 429, "message": "Slow down", "choices": None}, 429, Retryable),
        ({"code": 400, "message": "Content Exists Risk"}, 400, CallFailed),
        ({"error": {"message": "Insufficient balance", "code": -1}}, 402, ProviderError),
    ],
)
def test_an_error_with_status_200_is_that_error(
    body: Body, status: int, kind: type[Exception]
) -> None:
    found = error_inside(body)
    assert found is not None
    assert found.status == status
    assert type(error_of(found, {}, SPEC)) is kind


@pytest.mark.parametrize(
    "body",
    [
        {"code": 0, "message": "ok", "data": None},
        {"code": True, "message": "ok"},
        {"code": 20012},
        {"code": 20012, "message": "ok", "choices": [{"message": {"content": "Hi"}}]},
        [],
    ],
)
def test_what_names_no_error_is_none(body: object) -> None:
    assert error_inside(body) is None


def test_an_account_without_credit_that_says_so_with_status_200_ends_the_check() -> None:
    text = '{"code":20012,"message":"Insufficient balance","data":null}'
    fault = Fault("raw", text=text)
    with (
        ScriptedEndpoint(lambda body: fault, scripted_checks=True) as endpoint,
        pytest.raises(ProviderError, match="Insufficient balance: the account has no credit"),
    ):
        outcomes(endpoint)


def test_a_key_that_may_chat_but_not_list_is_accepted() -> None:
    with ScriptedEndpoint(lambda body: "fine", listed=()) as endpoint:
        assert outcomes(endpoint, "a") == ["fine"]
