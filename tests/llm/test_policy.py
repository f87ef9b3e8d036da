"""What is done with each kind of answer: the page shows the table, the code follows it."""

from pathlib import Path

import pytest

from recjury.llm import EndpointSpec
from recjury.llm.endpoint_errors import error_of, kind_of
from recjury.llm.error_answer import ErrorAnswer
from recjury.llm.policy import POLICY, Again, AtLast, Kind
from recjury.llm.provider import Retryable

_PAGE = Path(__file__).parents[2] / "docs" / "endpoints.md"


def test_the_page_shows_the_table() -> None:
    lines = [line for line in _PAGE.read_text().splitlines() if line.startswith("| ")]
    for kind, rule in POLICY.items():
        most = f"`{rule.most}`" if isinstance(rule.most, str) else str(rule.most or "")
        again = "" if rule.again is Again.NOT else rule.again
        assert f"| {kind} | {rule.seen_as} | {again} | {most} | {rule.at_last} |" in lines


def test_every_setting_that_limits_is_one() -> None:
    settings = {rule.most for rule in POLICY.values() if isinstance(rule.most, str)}
    assert settings <= {"attempts", *EndpointSpec.model_fields}


@pytest.mark.parametrize(
    ("status", "words", "kind"),
    [
        (401, "", Kind.KEY),
        (402, "", Kind.CREDIT),
        (403, "your input was flagged", Kind.CONTENT),
        (404, "", Kind.MODEL),
        (404, "no endpoints found that can handle the requested parameters", Kind.FORM),
        (400, "temperature is not supported", Kind.FORM),
        (400, "prompt is too long", Kind.TOO_LONG),
        (400, "model not found", Kind.MODEL),
        (408, "", Kind.LATER),
        (413, "", Kind.REQUEST),
        (429, "", Kind.RATE_LIMIT),
        (429, "insufficient_quota", Kind.CREDIT),
        (429, "request too large", Kind.TOO_LONG),
        (308, "", Kind.REDIRECT),
        (500, "", Kind.SERVER_ERROR),
        (500, "overloaded", Kind.BUSY),
        (503, "", Kind.BUSY),
    ],
)
def test_an_answer_has_one_kind_and_the_error_of_its_rule(
    status: int, words: str, kind: Kind
) -> None:
    answer = ErrorAnswer(status, words, words=words)
    assert kind_of(answer) is kind
    error = error_of(answer, {}, EndpointSpec(base_url="http://127.0.0.1:9/v1", name="m"))
    rule = POLICY[kind]
    is_for_good = getattr(error, "permanent", False)
    assert is_for_good == (rule.at_last is AtLast.FOR_GOOD)
    waits = rule.again in (Again.AFTER_A_WAIT, Again.WHEN_ALLOWED)
    assert isinstance(error, Retryable) == waits
    assert (type(error).__name__ == "ProviderError") == (rule.at_last is AtLast.STOPS)
