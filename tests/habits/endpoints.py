"""What endpoints refuse: all requests of a campaign meet it, its checks included."""

import json
from typing import Any

from tests.habits.errors import refusal
from tests.habits.habit import EVERYTHING, habit
from tests.habits.meaning import Meaning, said
from tests.llm.raw_server import response
from tests.scripted_server import Answer, Body, Fault


def _roles(body: Body) -> list[str]:
    messages: Any = body["messages"]
    return [message["role"] for message in messages]


def _unsupported(name: str, instead: str = "") -> Fault:
    message = f"Unsupported parameter: '{name}' is not supported with this model.{instead}"
    return refusal(400, message, param=name, code="unsupported_parameter")


@habit("endpoints", "read", on=EVERYTHING, lasting=True)
def refuses_system_role(meant: Meaning, body: Body) -> Answer | None:
    """the system role"""
    wrong = "System role not supported"
    return refusal(400, wrong, type="BadRequestError") if "system" in _roles(body) else None


@habit("endpoints", "read", on=EVERYTHING, lasting=True)
def refuses_two_of_a_role(meant: Meaning, body: Body) -> Answer | None:
    """turns that do not alternate, or do not begin with the user"""
    roles = [role for role in _roles(body) if role != "system"]
    expected = [("user", "assistant")[place % 2] for place in range(len(roles))]
    wrong = "Conversation roles must alternate user/assistant/user/assistant/..."
    return refusal(400, wrong) if roles != expected or roles[-1] != "user" else None


@habit("endpoints", "read", on=EVERYTHING, lasting=True)
def refuses_roles_and_system(meant: Meaning, body: Body) -> Answer | None:
    """the system role, and turns that do not alternate, in one message"""
    roles = _roles(body)
    expected = [("user", "assistant")[place % 2] for place in range(len(roles))]
    wrong = "Conversation roles must alternate user/assistant/user/assistant/..."
    return refusal(400, wrong) if roles != expected else None


@habit("endpoints", "read", on=EVERYTHING, lasting=True)
def refuses_temperature(meant: Meaning, body: Body) -> Answer | None:
    """any temperature"""
    return _unsupported("temperature") if "temperature" in body else None


@habit("endpoints", "read", on=EVERYTHING, lasting=True)
def refuses_max_tokens(meant: Meaning, body: Body) -> Answer | None:
    """`max_tokens`; it wants `max_completion_tokens`"""
    instead = " Use 'max_completion_tokens' instead."
    return _unsupported("max_tokens", instead) if "max_tokens" in body else None


@habit("endpoints", "read", on=EVERYTHING, lasting=True)
def refuses_any_limit(meant: Meaning, body: Body) -> Answer | None:
    """`max_tokens` and `max_completion_tokens`"""
    name = next((n for n in ("max_tokens", "max_completion_tokens") if n in body), "")
    return _unsupported(name) if name else None


@habit("endpoints", "read", on=EVERYTHING, lasting=True)
def refuses_n(meant: Meaning, body: Body) -> Answer | None:
    """`n` above 1"""
    count = body.get("n", 1)
    assert isinstance(count, int)
    wrong = "Only n=1 is supported"
    return refusal(400, wrong, param="n") if count > 1 else None


@habit("endpoints", "read", on=EVERYTHING, lasting=True)
def refuses_response_format(meant: Meaning, body: Body) -> Answer | None:
    """`response_format`"""
    return _unsupported("response_format") if "response_format" in body else None


@habit("endpoints", "read", on=EVERYTHING, lasting=True)
def refuses_fields_as_fastapi(meant: Meaning, body: Body) -> Answer | None:
    """422 for temperature, with the place of the field in a list (FastAPI)"""
    wrong = {"type": "extra_forbidden", "loc": ["body", "temperature"], "msg": "Extra inputs"}
    said = Fault("status", 422, json.dumps({"detail": [wrong]}), as_it_is=True)
    return said if "temperature" in body else None


@habit("endpoints", "read", on=EVERYTHING, lasting=True)
def refuses_as_older_vllm(meant: Meaning, body: Body) -> Answer | None:
    """400 for the system role, without `error` around it (older vLLM)"""
    wrong = {"object": "error", "message": "System role not supported", "code": 400}
    said = Fault("status", 400, json.dumps(wrong), as_it_is=True)
    return said if "system" in _roles(body) else None


@habit("endpoints", "read", on=EVERYTHING, lasting=True)
def refuses_several_without_a_name(meant: Meaning, body: Body) -> Answer | None:
    """temperature and `response_format`, with a 404 that names neither (OpenRouter)"""
    wrong = "No endpoints found that can handle the requested parameters."
    return refusal(404, wrong) if {"temperature", "response_format"} & set(body) else None


@habit("endpoints", "read", on=EVERYTHING, lasting=True)
def refuses_with_500(meant: Meaning, body: Body) -> Answer | None:
    """the system role, with status 500 and a traceback"""
    wrong = "jinja2.exceptions.TemplateError: System role not supported"
    return Fault("status", 500, wrong) if "system" in _roles(body) else None


@habit("endpoints", "read", on=EVERYTHING, lasting=True)
def refuses_all_that_can_be_refused(meant: Meaning, body: Body) -> Answer | None:
    """system role, alternation, temperature, `max_tokens`, one after the other"""
    for refusing in (refuses_temperature, refuses_max_tokens, refuses_roles_and_system):
        answer = refusing(meant, body)
        if answer is not None:
            return answer
    return None


@habit("endpoints", "read", on=EVERYTHING, lasting=True)
def refuses_temperature_0(meant: Meaning, body: Body) -> Answer | None:
    """a temperature of 0"""
    wrong = "`temperature` must be strictly positive"
    return refusal(422, wrong) if body.get("temperature") == 0 else None


@habit("endpoints", "read", on=EVERYTHING, lasting=True)
def refuses_many_tokens(meant: Meaning, body: Body) -> Answer | None:
    """`max_tokens` above 200"""
    limit = body.get("max_tokens", 0)
    assert isinstance(limit, int)
    wrong = "max_tokens is too large: this model supports at most 200 completion tokens"
    return refusal(400, wrong, param="max_tokens") if limit > 200 else None


@habit("endpoints", "read", on=EVERYTHING, lasting=True)
def short_unless_told(meant: Meaning, body: Body) -> Answer | None:
    """replies are cut off unless `max_tokens` is given"""
    limit = body.get("max_tokens", 0)
    assert isinstance(limit, int)
    return None if limit >= 100 or meant.kind == "check" else said(meant.answer()[:9], "length")


@habit("endpoints", "stopped", on=EVERYTHING, lasting=True)
def only_streams(meant: Meaning, body: Body) -> Answer | None:
    """requests without `stream`"""
    wrong = "This model only supports streaming"
    return refusal(400, wrong) if not body.get("stream") else None


@habit("endpoints", "read", on=EVERYTHING, lasting=True)
def one_choice_whatever_n(meant: Meaning, body: Body) -> Answer | None:
    """`n` is not looked at: one choice comes"""
    return said(meant.answer()) if body.get("n", 1) != 1 else None


@habit("endpoints", "read", on=EVERYTHING, when="a while", lasting=True)
def down_for_a_while(meant: Meaning) -> Answer:
    """all connections are closed for half a second, in the middle of the campaign"""
    return Fault("drop")


@habit("endpoints", "read", on=EVERYTHING, when="a while", lasting=True)
def errors_for_a_while(meant: Meaning) -> Answer:
    """500 for everything for half a second"""
    return Fault("status", 500, "Internal error")


@habit("endpoints", "read", on=EVERYTHING, when="a while", lasting=True)
def loading_for_a_while(meant: Meaning) -> Answer:
    """503 for everything for half a second"""
    return refusal(503, "Loading model", type="unavailable_error")


@habit("endpoints", "read", on=EVERYTHING, when="a while", lasting=True)
def key_refused_for_a_while(meant: Meaning) -> Answer:
    """401 for everything for half a second"""
    return refusal(401, "Incorrect API key provided", code="invalid_api_key")


@habit("endpoints", "read", on=EVERYTHING, when="a while", lasting=True)
def page_missing_for_a_while(meant: Meaning) -> Answer:
    """404 by a proxy that restarts for everything for half a second"""
    return Fault("status", 404, "404 page not found", as_it_is=True)


@habit("endpoints", "read", on=EVERYTHING, when="a while", lasting=True)
def challenge_for_a_while(meant: Meaning) -> Answer:
    """403 with a page of a firewall for everything for half a second"""
    return Fault("status", 403, "<html><title>Just a moment...</title></html>", as_it_is=True)


@habit("endpoints", "read", on=EVERYTHING, when="a while", lasting=True)
def redirect_for_a_while(meant: Meaning) -> Answer:
    """a redirect to a login for everything for half a second"""
    return response(b"", "Location: https://login.example/", status="302 Found")


@habit("endpoints", "read", on=EVERYTHING, when="a while", lasting=True)
def no_credit_for_a_while(meant: Meaning) -> Answer:
    """429 with `insufficient_quota` for everything for half a second"""
    return refusal(429, "You exceeded your current quota", code="insufficient_quota")


@habit("endpoints", "read", on=EVERYTHING, when="a while", lasting=True)
def system_error_for_a_while(meant: Meaning) -> Answer:
    """500 that speaks of the system and a message for everything for half a second"""
    return refusal(500, "The system met an unexpected condition (message id 4711)")


@habit("endpoints", "stopped", on=EVERYTHING, lasting=True)
def key_refused(meant: Meaning) -> Answer:
    """401 for every request"""
    return refusal(401, "Incorrect API key provided", code="invalid_api_key")


@habit("endpoints", "stopped", on=EVERYTHING, lasting=True)
def redirect(meant: Meaning) -> Answer:
    """a redirect to a page where one signs in"""
    return response(b"", "Location: https://login.example/", status="302 Found")


@habit("endpoints", "stopped", on=EVERYTHING, lasting=True)
def html_for_everything(meant: Meaning) -> Answer:
    """a page in HTML for every request"""
    return Fault("raw", text="<html><head><title>Sign in</title></head></html>")


@habit("endpoints", "stopped", on=EVERYTHING, lasting=True)
def credit_used_up(meant: Meaning) -> Answer:
    """429 with `insufficient_quota`"""
    return refusal(429, "You exceeded your current quota", code="insufficient_quota")
