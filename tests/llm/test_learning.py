"""What an endpoint refuses is found out from its answers, and not sent again."""

import asyncio
import json
from collections.abc import Callable

import pytest

from recjury.errors import CallFailed, ProviderError
from recjury.llm import EndpointSpec, Gateway
from recjury.llm.adaptation import FEATURES
from recjury.llm.call_identity import call_identity
from recjury.llm.endpoint_check import CHECK_PROMPT
from recjury.llm.policy import REFUSED_CHECKS
from recjury.records import ChatRequest, Message
from tests.endpoint import Answer, Body, Fault, ScriptedEndpoint, prompt
from tests.llm.doubles import FakeClock, MemoryRecorder, request, spec_of

SYSTEM = Message("system", ("Be brief.",))
USER = Message("user", ("Which film?",))
ASSISTANT = Message("assistant", ("Hello, what do you like?",))


def refusal(status: int, body: object) -> Fault:
    """An error answer with that body, as it is."""
    return Fault("status", status, json.dumps(body), as_it_is=True)


def openai(message: str, param: str | None, code: str = "unsupported_parameter") -> object:
    """An error body of OpenAI."""
    error = {"message": message, "type": "invalid_request_error", "param": param, "code": code}
    return {"error": error}


def has_role(body: Body, role: str) -> bool:
    """Whether a message has that role."""
    return any(message["role"] == role for message in messages(body))


def messages(body: Body) -> list[dict[str, str]]:
    """The messages of a chat request."""
    return body["messages"]  # type: ignore[return-value]


def roles(body: Body) -> list[str]:
    """The roles of its messages, in order."""
    return [message["role"] for message in messages(body)]


def is_strict(body: Body) -> bool:
    """Whether user and assistant take turns, the user first and last."""
    found = [role for role in roles(body) if role != "system"]
    return found == ["user", "assistant"] * (len(found) // 2) + ["user"]


# What a server refuses, its answer, and the body that it gets then. Worded as these servers do.
REFUSALS: dict[str, tuple[Callable[[Body], bool], Fault, str, object]] = {
    "openai reasoning, temperature": (
        lambda body: "temperature" in body,
        refusal(
            400,
            openai(
                "Unsupported value: 'temperature' does not support 0 with this model. Only the "
                "default (1) value is supported.",
                "temperature",
                "unsupported_value",
            ),
        ),
        "temperature",
        None,
    ),
    "openai reasoning, max_tokens": (
        lambda body: "max_tokens" in body,
        refusal(
            400,
            openai(
                "Unsupported parameter: 'max_tokens' is not supported with this model. Use "
                "'max_completion_tokens' instead.",
                "max_tokens",
            ),
        ),
        "max_completion_tokens",
        64,
    ),
    "a model that has lost max_tokens": (
        lambda body: "max_tokens" in body,
        refusal(
            400,
            openai(
                "Unsupported parameter for this model: 'max_tokens' has been deprecated, use "
                "'max_completion_tokens' instead.",
                None,
            ),
        ),
        "max_completion_tokens",
        64,
    ),
    "a model for which temperature is gone": (
        lambda body: "temperature" in body,
        refusal(
            400, openai("For this model the parameter temperature is no longer available", None)
        ),
        "temperature",
        None,
    ),
    "mistral, temperature": (
        lambda body: "temperature" in body,
        refusal(
            422,
            {
                "object": "error",
                "message": {
                    "detail": [
                        {
                            "type": "extra_forbidden",
                            "loc": ["body", "temperature"],
                            "msg": "Extra inputs are not permitted",
                            "input": 3,
                        }
                    ]
                },
                "type": "invalid_request_error",
                "param": None,
                "code": None,
            },
        ),
        "temperature",
        None,
    ),
    "gemini, temperature": (
        lambda body: "temperature" in body,
        refusal(
            400,
            [
                {
                    "error": {
                        "code": 400,
                        "message": 'Invalid JSON payload received. Unknown name "temperature": '
                        "Cannot find field.",
                        "status": "INVALID_ARGUMENT",
                    }
                }
            ],
        ),
        "temperature",
        None,
    ),
    "groq, n": (
        lambda body: "n" in body,
        refusal(400, {"error": {"message": "'n' : number must be at most 1", "type": "x"}}),
        "n",
        None,
    ),
    "gemini, n": (
        lambda body: "n" in body,
        refusal(400, {"error": {"message": "Multiple candidates is not enabled for this model"}}),
        "n",
        None,
    ),
    "gemini, logprobs": (
        lambda body: "logprobs" in body,
        refusal(400, {"error": {"message": "Logprobs is not enabled for models/gemini-2.5-pro"}}),
        "top_logprobs",
        None,
    ),
    "deepseek, json_schema": (
        lambda body: body.get("response_format", {"type": "json_object"})["type"] != "json_object",  # type: ignore[index]
        refusal(
            400,
            openai("This response_format type is unavailable now", None, "invalid_request_error"),
        ),
        "response_format",
        {"type": "json_object"},
    ),
    "siliconflow, json": (
        lambda body: "response_format" in body,
        refusal(400, {"code": 20024, "message": "Json mode is not supported for this model."}),
        "response_format",
        None,
    ),
    "tgi, temperature of 0": (
        lambda body: body.get("temperature") == 0,
        refusal(
            422,
            {
                "error": "Input validation error: `temperature` must be strictly positive",
                "error_type": "validation",
            },
        ),
        "temperature",
        0.01,
    ),
    "groq, too many tokens": (
        lambda body: int(body.get("max_tokens", 0)) > 32,  # type: ignore[call-overload]
        refusal(
            400, openai("`max_tokens` must be less than or equal to `32`", None, "invalid_request")
        ),
        "max_tokens",
        32,
    ),
    "openrouter, wrapped": (
        lambda body: "temperature" in body,
        refusal(
            400,
            {
                "error": {
                    "message": "Provider returned error",
                    "code": 400,
                    "metadata": {"raw": '{"detail":"Unsupported parameter: temperature"}'},
                }
            },
        ),
        "temperature",
        None,
    ),
    "an error in a 200": (
        lambda body: "temperature" in body,
        Fault("raw", text='{"error": {"code": 400, "message": "unknown parameter: temperature"}}'),
        "temperature",
        None,
    ),
}

FULL = ChatRequest(
    "m",
    (SYSTEM, USER),
    "test",
    max_tokens=64,
    schema={"type": "object"},
    top_logprobs=5,
    n=2,
)


def ask(
    endpoint: ScriptedEndpoint, *requests: ChatRequest, **fields: object
) -> tuple[list[str], Gateway]:
    """The texts of the replies, one request after the other."""
    gateway = Gateway({"m": spec_of(endpoint, **fields)}, MemoryRecorder(), clock=FakeClock())

    async def run() -> list[str]:
        async with gateway:
            return [(await gateway.complete(each)).text for each in requests]

    return asyncio.run(run()), gateway


def refusing(refuses: Callable[[Body], bool], answer: Answer) -> Callable[[Body], Answer]:
    """A script that answers so where a body is refused, and "fine" otherwise."""
    return lambda body: answer if refuses(body) else "fine"


@pytest.mark.parametrize("name", REFUSALS)
def test_what_is_refused_is_sent_otherwise_and_only_once_as_before(name: str) -> None:
    refuses, answer, field, value = REFUSALS[name]
    with ScriptedEndpoint(refusing(refuses, answer)) as endpoint:
        second = FULL._replace(messages=(SYSTEM, Message("user", ("And another?",))))
        texts, gateway = ask(endpoint, FULL, second, json_mode="schema")
        bodies = list(endpoint.bodies)
    assert texts == ["fine", "fine"]
    assert gateway.usage.retried == 0
    assert not refuses(bodies[-1])
    assert bodies[-1].get(field) == value
    assert len(bodies) == 3 if name != "siliconflow, json" else len(bodies) == 4
    assert list(gateway.learned) == ["m"]


PASSING = [
    (500, "The system met an unexpected condition (message id 4711)."),
    (500, "Unexpected system state; role assignment of the replica is unknown, try again"),
    (500, "Sampler state invalid: temperature buffer not available on rank 2"),
    (500, "CUDA error: max_tokens_in_batch exceeded, scheduler restarted"),
    (501, "Upstream stop: worker was removed from the pool"),
]


@pytest.mark.parametrize(("status", "message"), PASSING)
def test_a_fault_of_the_moment_teaches_nothing(status: int, message: str) -> None:
    """It may name what a request has."""
    left = [refusal(status, {"error": {"message": message}})]

    def script(body: Body) -> Answer:
        return "fine" if CHECK_PROMPT in prompt(body) or not left else left.pop()

    with ScriptedEndpoint(script, scripted_checks=True) as endpoint:
        gateway = Gateway({"m": spec_of(endpoint)}, MemoryRecorder(), clock=FakeClock())

        async def run() -> str:
            async with gateway:
                await gateway.check()
                return (await gateway.complete(FULL._replace(n=1, top_logprobs=None))).text

        assert asyncio.run(run()) == "fine"
    assert gateway.learned == {}


def test_one_of_several_servers_that_refuses_a_temperature_teaches_nothing() -> None:
    answer, temperatures = REFUSALS["openai reasoning, temperature"][1], []

    def script(body: Body) -> Answer:
        temperatures.append(body.get("temperature"))
        return answer if len(temperatures) in (4, 8) else "fine"

    with ScriptedEndpoint(script) as endpoint:
        texts, gateway = ask(endpoint, *(request(str(n)) for n in range(8)))
    assert texts == ["fine"] * 8
    assert gateway.learned == {}
    assert temperatures[-1] == 0


def test_a_template_that_fails_with_500_is_still_learned() -> None:
    status, body = SYSTEM_REFUSED[3]
    refuses = lambda sent: has_role(sent, "system")  # noqa: E731
    with ScriptedEndpoint(refusing(refuses, refusal(status, body))) as endpoint:
        first, second = request(messages=(SYSTEM, USER)), request(messages=(SYSTEM, USER), sample=1)
        texts, gateway = ask(endpoint, first, second)
        assert len(endpoint.bodies) == 3 + 1
    assert texts == ["fine"] * 2
    assert gateway.learned == {"m": {"system": True}}


def test_adapting_changes_no_identity() -> None:
    refuses, answer, _, _ = REFUSALS["openai reasoning, temperature"]
    recorder = MemoryRecorder()
    with ScriptedEndpoint(refusing(refuses, answer)) as endpoint:
        spec = spec_of(endpoint)

        async def run() -> None:
            async with Gateway({"m": spec}, recorder) as gateway:
                await gateway.complete(FULL)

        asyncio.run(run())
        assert list(recorder.calls) == [call_identity(FULL, spec)]
        assert next(iter(recorder.calls.values())).request == FULL
    told = spec.model_copy(update={"refuses": ("temperature",), "outage_patience": 3})
    assert call_identity(FULL, told) == call_identity(FULL, spec)
    assert told.reply_settings() == spec.reply_settings()


SYSTEM_REFUSED = [
    (400, {"error": {"message": "System role not supported", "code": 400}}),
    (
        400,
        openai(
            "Unsupported value: 'messages[0].role' does not support 'system' with this model.",
            "messages[0].role",
            "unsupported_value",
        ),
    ),
    (400, {"error": {"message": "Developer instruction is not enabled for models/gemma-3-27b-it"}}),
    (
        500,
        {
            "error": {
                "code": 500,
                "message": "\n------------\nWhile executing CallExpression\nError: Jinja "
                "Exception: Only user, assistant and tool roles are supported, got system.",
                "type": "server_error",
            }
        },
    ),
    (
        422,
        {
            "error": "Template error: invalid operation: Conversation roles must alternate "
            "user/assistant/user/assistant/... (in <string>:1)",
            "error_type": "template_error",
        },
    ),
]


@pytest.mark.parametrize(("status", "body"), SYSTEM_REFUSED)
def test_a_system_message_that_is_refused_stands_before_the_first_question(
    status: int, body: object
) -> None:
    answer = refusal(status, body)
    with ScriptedEndpoint(refusing(lambda sent: has_role(sent, "system"), answer)) as endpoint:
        texts, gateway = ask(endpoint, request(messages=(SYSTEM, USER)), outage_patience=0)
        assert texts == ["fine"]
        assert messages(endpoint.bodies[-1]) == [
            {"role": "user", "content": "Be brief.\n\nWhich film?"}
        ]
    assert gateway.learned == {"m": {"system": True}}
    assert gateway.usage.retried == 0


ORDER_REFUSED = [
    (
        400,
        {
            "object": "error",
            "message": "After the optional system message, conversation roles must alternate "
            "user/assistant/user/assistant/...",
            "type": "BadRequestError",
            "param": None,
            "code": 400,
        },
    ),
    (
        400,
        {
            "type": "error",
            "error": {
                "type": "invalid_request_error",
                "message": 'messages: first message must use the "user" role',
            },
        },
    ),
    (
        400,
        {
            "object": "error",
            "message": "Expected last role User or Tool (or Assistant with prefix True) for "
            "serving but got assistant",
            "type": "invalid_request_message_order",
            "param": None,
            "code": "3230",
        },
    ),
    (
        500,
        {
            "error": {
                "code": 500,
                "message": "Conversation roles must alternate user/assistant/user/assistant/... "
                "at row 19, column 27:\n {%- if (message['role'] == 'user') %}",
                "type": "server_error",
            }
        },
    ),
]


@pytest.mark.parametrize(
    "said",
    [
        (SYSTEM, ASSISTANT, USER),
        (ASSISTANT, USER),
        (SYSTEM, USER, USER),
        (SYSTEM, USER, ASSISTANT),
        (USER, SYSTEM, USER),
        (SYSTEM, USER, ASSISTANT, ASSISTANT, USER),
    ],
)
@pytest.mark.parametrize(("status", "body"), ORDER_REFUSED)
def test_every_order_of_roles_is_sent_so_that_strict_templates_take_it(
    said: tuple[Message, ...], status: int, body: object
) -> None:
    answer = refusal(status, body)
    with ScriptedEndpoint(refusing(lambda sent: not is_strict(sent), answer)) as endpoint:
        texts, gateway = ask(endpoint, request(messages=said), outage_patience=0)
        sent = endpoint.bodies[-1]
    assert texts == ["fine"]
    assert is_strict(sent)
    for message in said:
        assert message.text in prompt(sent)
    assert gateway.learned["m"] == {"roles": True}


def strict_and_without_system(body: Body) -> Answer:
    """The template of an early Mistral: no system role, and strict turns."""
    wrong = {"object": "error", "message": "Conversation roles must alternate user/assistant"}
    return "fine" if is_strict(body) and not has_role(body, "system") else refusal(400, wrong)


def test_the_system_message_comes_first_where_the_assistant_opens() -> None:
    with ScriptedEndpoint(strict_and_without_system) as endpoint:
        ask(endpoint, request(messages=(SYSTEM, ASSISTANT, USER)))
        assert messages(endpoint.bodies[-1]) == [
            {"role": "user", "content": "Be brief."},
            {"role": "assistant", "content": "Hello, what do you like?"},
            {"role": "user", "content": "Which film?"},
        ]


def test_a_temperature_above_1_that_is_refused_is_lowered_and_others_stay() -> None:
    message = "temperature: range: 0..1"
    answer = refusal(400, {"error": {"message": message, "type": "invalid_request_error"}})
    with ScriptedEndpoint(refusing(lambda b: b["temperature"] > 1, answer)) as endpoint:  # type: ignore[operator]
        warm = [request(str(heat), temperature=heat) for heat in (1.5, 0.0, 0.7)]
        ask(endpoint, *warm)
        assert [body["temperature"] for body in endpoint.bodies[1:]] == [1.0, 0.0, 0.7]


def check(spec: EndpointSpec, uses: tuple[str, ...] = ()) -> Gateway:
    """A gateway that has checked its model."""
    gateway = Gateway(
        {"m": spec},
        MemoryRecorder(),
        clock=FakeClock(),
        uses={"m": uses},  # type: ignore[dict-item]
    )

    async def run() -> None:
        async with gateway:
            await gateway.check()

    asyncio.run(run())
    return gateway


def test_the_check_sends_one_small_request_per_kind_of_call() -> None:
    with ScriptedEndpoint(lambda body: "x", scripted_checks=True) as endpoint:
        check(spec_of(endpoint))
        assert len(endpoint.bodies) == 1
        assert roles(endpoint.bodies[0]) == ["system", "user"]
        assert endpoint.bodies[0]["temperature"] == 0
        check(spec_of(endpoint, json_mode="schema"), ("n", "logprobs"))
        plain, schema, several, logprobs = endpoint.bodies[1:]
        assert "response_format" not in plain
        assert schema["response_format"]["type"] == "json_schema"  # type: ignore[index]
        assert (several["n"], logprobs["top_logprobs"]) == (2, 5)


NO_ENDPOINTS = (
    "No endpoints found that can handle the requested parameters. To learn more about provider "
    "routing, visit: https://openrouter.ai/docs/provider-routing"
)


@pytest.mark.parametrize(
    ("refuses", "learned"),
    [
        (lambda body: "temperature" in body, {"temperature": True}),
        (lambda body: "max_tokens" in body, {"max_tokens": "max_completion_tokens"}),
        (
            lambda body: "max_tokens" in body or "temperature" in body,
            {"temperature": True, "max_tokens": "left out"},
        ),
    ],
)
def test_the_check_finds_out_which_parameters_no_server_accepts(
    refuses: Callable[[Body], bool], learned: dict[str, object]
) -> None:
    answer = refusal(404, {"error": {"message": NO_ENDPOINTS, "code": 404}})
    with ScriptedEndpoint(refusing(refuses, answer), scripted_checks=True) as endpoint:
        gateway = check(spec_of(endpoint))
        assert len(endpoint.bodies) <= 12
    assert gateway.learned.get("m", {}) == learned


@pytest.mark.parametrize("said", ["", "Bad Request", "<html><body>nope</body></html>"])
def test_a_refusal_that_names_nothing_is_shown(said: str) -> None:
    answer = Fault("status", 400, said, as_it_is=True)
    with (
        ScriptedEndpoint(lambda body: answer, scripted_checks=True) as endpoint,
        pytest.raises(ProviderError, match="HTTP 400"),
    ):
        check(spec_of(endpoint))
    assert len(endpoint.bodies) == REFUSED_CHECKS


def test_a_404_about_the_parameters_is_learned_from_as_a_400() -> None:
    answer = refusal(404, {"error": {"message": NO_ENDPOINTS, "code": 404}})
    with ScriptedEndpoint(refusing(lambda body: "temperature" in body, answer)) as endpoint:
        texts, gateway = ask(endpoint, FULL)
        assert "temperature" not in endpoint.bodies[-1]
    assert texts == ["fine"]
    assert list(gateway.learned) == ["m"]
    with (
        ScriptedEndpoint(lambda body: answer) as endpoint,
        pytest.raises(CallFailed, match="HTTP 404: No endpoints found"),
    ):
        ask(endpoint, FULL)


def test_learning_at_the_check_costs_the_run_nothing() -> None:
    refuses, answer, _, _ = REFUSALS["openai reasoning, max_tokens"]
    with ScriptedEndpoint(refusing(refuses, answer), scripted_checks=True) as endpoint:
        gateway = Gateway({"m": spec_of(endpoint)}, MemoryRecorder())

        async def run() -> None:
            async with gateway:
                await gateway.check()
                await gateway.complete(request(max_tokens=9))

        asyncio.run(run())
        asked = [body for body in endpoint.bodies if CHECK_PROMPT not in prompt(body)]
    assert [body["max_completion_tokens"] for body in asked] == [9]


def test_what_was_learned_is_said_in_one_line(capfd: pytest.CaptureFixture[str]) -> None:
    refuses, answer, _, _ = REFUSALS["openai reasoning, temperature"]
    with ScriptedEndpoint(refusing(refuses, answer), scripted_checks=True) as endpoint:
        check(spec_of(endpoint))
    said = capfd.readouterr().err.splitlines()
    assert len(said) == 1
    assert "`temperature` is left out" in said[0]
    assert "scripted" in said[0]


def test_many_calls_at_once_learn_it_once(capfd: pytest.CaptureFixture[str]) -> None:
    refuses, answer, _, _ = REFUSALS["openai reasoning, temperature"]

    async def run(spec: EndpointSpec) -> int:
        async with Gateway({"m": spec}, MemoryRecorder()) as gateway:
            await asyncio.gather(*(gateway.complete(request(str(n))) for n in range(50)))
            await gateway.complete(request("last"))
            return gateway.usage.calls

    with ScriptedEndpoint(refusing(refuses, answer), latency=0.01) as endpoint:
        assert asyncio.run(run(spec_of(endpoint))) == 51
        assert sum(map(refuses, endpoint.bodies)) <= 50
        assert len(endpoint.bodies) <= 101
    assert len(capfd.readouterr().err.splitlines()) == 1


def test_a_refusal_that_the_change_does_not_mend_teaches_nothing() -> None:
    answer = refusal(400, openai("temperature is invalid", "temperature"))
    with ScriptedEndpoint(lambda body: answer) as endpoint:
        with pytest.raises(CallFailed, match="temperature is invalid"):
            _, gateway = ask(endpoint, request())
        assert len(endpoint.bodies) == 2
        gateway = Gateway({"m": spec_of(endpoint)}, MemoryRecorder())
        assert gateway.learned == {}


@pytest.mark.parametrize(
    ("fields", "name"),
    [
        ({"temperature": 0.3}, "temperature"),
        ({"extra": {"temperature": 0.3}}, "temperature"),
        ({"refuses": ["n"]}, "temperature"),
    ],
)
def test_a_setting_of_the_model_is_never_changed(fields: dict[str, object], name: str) -> None:
    refuses, answer, _, _ = REFUSALS["openai reasoning, temperature"]
    with ScriptedEndpoint(refusing(refuses, answer), scripted_checks=True) as endpoint:
        with pytest.raises(ProviderError, match=r"temperature.*check the model's settings"):
            check(spec_of(endpoint, **fields))
        assert all(name in body for body in endpoint.bodies)


def test_what_refuses_names_is_never_sent() -> None:
    with ScriptedEndpoint(lambda body: "fine") as endpoint:
        ask(endpoint, FULL, refuses=FEATURES)
        (body,) = endpoint.bodies
    assert body == {
        "model": "scripted",
        "messages": [{"role": "user", "content": "Be brief.\n\nWhich film?"}],
    }


def test_a_prompt_that_fits_only_without_a_limit_is_sent_without_one_and_others_with_it() -> None:
    error = openai(
        "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens "
        "(1000 in the messages, 4000 in the completion).",
        "messages",
        "context_length_exceeded",
    )

    def script(body: Body) -> Answer:
        return refusal(400, error) if "max_tokens" in body and "long" in prompt(body) else "fine"

    with ScriptedEndpoint(script) as endpoint:
        limited = [request(text, max_tokens=4000) for text in ("long", "short")]
        texts, gateway = ask(endpoint, *limited)
        assert ["max_tokens" in body for body in endpoint.bodies] == [True, False, True]
    assert (texts, gateway.learned) == (["fine", "fine"], {})


def test_a_reply_cut_before_its_first_word_is_a_reply() -> None:
    """OpenAI's reasoning models say so with a status of 400."""
    message = (
        "Could not finish the message because max_tokens or model output limit was reached. "
        "Please try again with higher max_tokens."
    )
    with ScriptedEndpoint(lambda body: refusal(400, openai(message, None))) as endpoint:
        gateway = Gateway({"m": spec_of(endpoint)}, MemoryRecorder())

        async def run() -> tuple[str, str]:
            async with gateway:
                found = await gateway.complete(request(max_tokens=5))
                return found.text, found.finish_reason

        assert asyncio.run(run()) == ("", "length")
