"""Debates of earlier packs verify under the readers of their time."""

import pytest

from recjury.debate.earlier_replies import parse_earlier_answer, parse_earlier_rating
from recjury.errors import ParseError
from recjury.llm import parse_rating
from tests.llm.doubles import reply


def test_they_read_what_was_read_then() -> None:
    assert parse_earlier_rating(reply("So. <rating>3</rating>"), 0, 4) == (3, "So.")
    quoted = "It says <rating>4</rating>. I say **2**."
    assert parse_earlier_rating(reply(quoted), 0, 4)[0] == 4
    with pytest.raises(ParseError):
        parse_rating(reply(quoted), 0, 4, code="a1b2c3")
    answer = parse_earlier_answer(reply('Hm. {"statement": "Good.", "score": 0.66}'))
    assert (answer.statement, answer.score) == ("Good.", 0.66)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"statement": "Good.", "score": "70"}', "score"),
        ('{"statement": "Good.", "score": 70, "score": 1}', "twice"),
        ('{"statement": "Good.", "score": 70', "no JSON object"),
        ('{"statement": "A", "score": 1} {"statement": "B", "score": 2}', "two different"),
        ("", "empty"),
    ],
)
def test_they_refuse_what_was_refused_then(text: str, said: str) -> None:
    with pytest.raises(ParseError, match=said):
        parse_earlier_answer(reply(text))
