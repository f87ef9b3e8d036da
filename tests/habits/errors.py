"""Error answers: about this minute, about one request, or about the key and the model."""

import json

from recjury.records import Factor
from tests.habits.habit import ALL, JUDGES, SPEAKERS, habit
from tests.habits.meaning import Meaning
from tests.scripted_server import Answer, Fault

SPOILED = Factor.NATURALNESS
"""The factor whose requests are refused for good."""


def refusal(status: int, message: str, **fields: object) -> Fault:
    """An error answer as OpenAI writes it."""
    body = json.dumps({"error": {"message": message, **fields}})
    return Fault("status", status, body, as_it_is=True)


def is_about_one_factor(meant: Meaning) -> bool:
    """Whether a judge is asked about the factor that is refused."""
    return meant.kind == "judge" and str(SPOILED) in meant.asked


@habit("errors", "read", when="first")
def rate_limit(meant: Meaning) -> Answer:
    """429 without Retry-After"""
    return Fault("status", 429, "Rate limit reached")


@habit("errors", "read", when="first")
def rate_limit_with_a_time(meant: Meaning) -> Answer:
    """429 with `Retry-After: 1`"""
    return Fault("status", 429, "Rate limit reached", retry_after="1")


@habit("errors", "read", when="first")
def rate_limit_with_a_date(meant: Meaning) -> Answer:
    """429 with a date in the past as Retry-After"""
    return Fault("status", 429, "Slow down", retry_after="Wed, 21 Oct 2015 07:28:00 GMT")


@habit("errors", "read", when="first")
def server_error(meant: Meaning) -> Answer:
    """500"""
    return Fault("status", 500, "The server had an error")


@habit("errors", "read", when="first")
def unavailable(meant: Meaning) -> Answer:
    """503 with Retry-After"""
    return Fault("status", 503, "No healthy upstream", retry_after="1")


@habit("errors", "read", when="first")
def overloaded(meant: Meaning) -> Answer:
    """529"""
    return Fault("status", 529, '{"type": "error", "error": {"type": "overloaded_error"}}')


@habit("errors", "read", when="first")
def rate_limit_page(meant: Meaning) -> Answer:
    """429 with a page in HTML, by a proxy"""
    return Fault("status", 429, "<html><h1>429 Too Many Requests</h1></html>", as_it_is=True)


@habit("errors", "read", when="first")
def gateway_timeout(meant: Meaning) -> Answer:
    """504 with a text, by a service mesh"""
    return Fault("status", 504, "upstream request timeout", as_it_is=True)


@habit("errors", "read", when="first")
def cloudflare_timeout(meant: Meaning) -> Answer:
    """524 with a page in HTML, as Cloudflare writes it"""
    page = "<!DOCTYPE html><title>example.com | 524: A timeout occurred</title>"
    return Fault("status", 524, page, as_it_is=True)


@habit("errors", "read", when="first")
def closed_by_the_client(meant: Meaning) -> Answer:
    """500 that says that the client closed the connection, which it did not"""
    return refusal(500, "499 Client Closed Request", type="internal_server_error")


@habit("errors", "read", when="first")
def too_early(meant: Meaning) -> Answer:
    """425 with an empty body"""
    return Fault("status", 425, "", as_it_is=True)


@habit("errors", "read", when="first")
def error_in_a_list(meant: Meaning) -> Answer:
    """503 with the error in a list, as Gemini writes it"""
    error = {"error": {"code": 503, "message": "Overloaded.", "status": "UNAVAILABLE"}}
    return Fault("status", 503, json.dumps([error]), as_it_is=True)


@habit("errors", "read", when="first")
def request_timeout(meant: Meaning) -> Answer:
    """408 with an empty body"""
    return Fault("status", 408, "", as_it_is=True)


@habit("errors", "unscored", on=JUDGES)
def content_filter_for_one_factor(meant: Meaning) -> Answer | None:
    """400 by a content filter, for the requests about one factor"""
    return (
        refusal(
            400,
            "The response was filtered due to the prompt triggering Azure OpenAI's content "
            "management policy. Please modify your prompt and retry.",
            code="content_filter",
            param="prompt",
            innererror={"code": "ResponsibleAIPolicyViolation"},
        )
        if is_about_one_factor(meant)
        else None
    )


@habit("errors", "unscored", on=JUDGES)
def context_length_for_one_factor(meant: Meaning) -> Answer | None:
    """400 since the prompt is too long, for the requests about one factor"""
    return (
        refusal(
            400,
            "This model's maximum context length is 8192 tokens. However, your messages resulted "
            "in 9001 tokens. Please reduce the length of the messages.",
            code="context_length_exceeded",
            param="messages",
        )
        if is_about_one_factor(meant)
        else None
    )


@habit("errors", "unscored", on=JUDGES)
def moderation_for_one_factor(meant: Meaning) -> Answer | None:
    """403 by a moderation, for the requests about one factor"""
    reasons = {"reasons": ["violence"], "flagged_input": "..."}
    return (
        refusal(403, "Your input was flagged", code=403, metadata=reasons)
        if is_about_one_factor(meant)
        else None
    )


@habit("errors", "unscored", on=JUDGES)
def forbidden_without_a_word_for_one_factor(meant: Meaning) -> Answer | None:
    """403 by a firewall with a page in HTML, for the requests about one factor"""
    page = "<html><head><title>403 Forbidden</title></head></html>"
    return Fault("status", 403, page, as_it_is=True) if is_about_one_factor(meant) else None


@habit("errors", "unscored", on=JUDGES)
def unnamed_refusal_for_one_factor(meant: Meaning) -> Answer | None:
    """400 with an empty body, for the requests about one factor"""
    return Fault("status", 400, "", as_it_is=True) if is_about_one_factor(meant) else None


@habit("errors", "unscored", on=JUDGES)
def too_large_for_one_factor(meant: Meaning) -> Answer | None:
    """413, for the requests about one factor"""
    return refusal(413, "Request Entity Too Large") if is_about_one_factor(meant) else None


@habit("errors", "unscored", on=JUDGES)
def server_breaks_on_one_factor(meant: Meaning) -> Answer | None:
    """500 again and again, for the requests about one factor"""
    return Fault("status", 500, "CUDA error") if is_about_one_factor(meant) else None


@habit("errors", "failed", on=SPEAKERS)
def moderation_of_a_conversation(meant: Meaning) -> Answer:
    """403 by a moderation, for one conversation"""
    return refusal(403, "Your input was flagged", code=403, metadata={"reasons": ["self-harm"]})


@habit("errors", "failed", on=SPEAKERS)
def content_filter_of_a_conversation(meant: Meaning) -> Answer:
    """400 by a content filter, for one conversation"""
    return refusal(400, "Content Exists Risk", type="invalid_request_error")


@habit("errors", "read", when="first", on=ALL)
def key_refused_for_a_moment(meant: Meaning) -> Answer:
    """401 once for each request, between answers"""
    return refusal(401, "Incorrect API key provided", code="invalid_api_key")


@habit("errors", "read", when="first", on=ALL)
def model_missing_for_a_moment(meant: Meaning) -> Answer:
    """404 once for each request, between answers"""
    return refusal(404, "The model does not exist", code="model_not_found")


@habit("errors", "read", when="first", on=ALL)
def page_missing_for_a_moment(meant: Meaning) -> Answer:
    """404 by a proxy that restarts, once for each request"""
    return Fault("status", 404, "404 page not found", as_it_is=True)


@habit("errors", "read", when="first", on=ALL)
def no_credit_for_a_moment(meant: Meaning) -> Answer:
    """429 with `insufficient_quota` once for each request, between answers"""
    return refusal(429, "You exceeded your current quota", code="insufficient_quota")


@habit("errors", "read", when="first", on=ALL)
def refused_by_chance(meant: Meaning) -> Answer:
    """400 by a content filter, once for each request"""
    return refusal(400, "Content Exists Risk", type="invalid_request_error")


@habit("errors", "failed", on=SPEAKERS)
def server_breaks_on_one_conversation(meant: Meaning) -> Answer:
    """500 again and again, for one conversation"""
    return Fault("status", 500, "CUDA error")
