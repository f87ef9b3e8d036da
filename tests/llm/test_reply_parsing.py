"""What cannot be read never becomes a score."""

import json

import pytest
from pydantic import BaseModel

from recjury.errors import ParseError
from recjury.llm import finished_text, parse_rating, read_object
from tests.llm.doubles import reply


class Opinion(BaseModel):
    """What the JSON tests ask for."""

    score: int
    statement: str


def test_a_rating_is_read_with_the_reasons_around_it() -> None:
    read = parse_rating(reply("It asks twice. \n<rating> 3 </rating>\n"), 0, 4)
    assert (read.score, read.rationale) == (3, "It asks twice.")


@pytest.mark.parametrize(
    "text",
    [
        "<rating>2</rating> so again: <rating>2</rating>",
        "I end with <rating>N</rating>. <rating>2</rating>",
        "<RATING>2</RATING>",
        "<think>Perhaps <rating>4</rating>?</think> <rating>2</rating>",
    ],
)
def test_one_distinct_value_is_a_rating(text: str) -> None:
    assert parse_rating(reply(text), 0, 4).score == 2


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("<rating>7</rating>", "outside 0 to 4"),
        ("<rating>-1</rating>", "outside 0 to 4"),
        ("<rating>3.5</rating>", "not a whole number"),
        ("<rating>3/5</rating>", "is not of 4"),
        ("<rating>3 or 4</rating>", "not a whole number"),
        ("<rating>٣</rating>", "not a whole number"),
        ("<rating>1e1</rating>", "not a whole number"),
        ("<rating>" + "9" * 5000 + "</rating>", "not a whole number"),
        ("<rating>2</rating> no, <rating>3</rating>", "two different"),
        ("<rating>0</rating> to <rating>4</rating>: <rating>2</rating>", "two different"),
        ("The rubric says <rating>4</rating> is best.\n<rating>1</rating>", "two different"),
        ("I would say 3.", "no <rating>"),
        ("<rating>three</rating>", "no <rating>"),
        ("<rating></rating>", "no <rating>"),
        ("Reasons, and then <rating>3", "no <rating>"),
        ("&lt;rating&gt;4&lt;/rating&gt;", "no <rating>"),
        ("<think><rating>4</rating></think>", "empty"),
        ("", "empty"),
        (" \n\t", "empty"),
    ],
)  # fmt: skip
def test_anything_else_is_refused_and_says_why(text: str, said: str) -> None:
    with pytest.raises(ParseError, match=said) as caught:
        parse_rating(reply(text), 0, 4)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize("reason", ["length", "content_filter"])
def test_a_cut_off_reply_is_refused_even_with_a_rating(reason: str) -> None:
    with pytest.raises(ParseError, match="cut off"):
        parse_rating(reply("<rating>3</rating> and", reason), 0, 4)
    with pytest.raises(ParseError, match="cut off"):
        read_object(reply('{"score": 1, "statement": "x"}', reason), Opinion)


def test_a_huge_reply_is_read_in_passing() -> None:
    text = "<rating>" * 200_000 + "words " * 200_000 + "<rating>1</rating>"
    assert parse_rating(reply(text), 0, 4).score == 1


@pytest.mark.parametrize(
    "text",
    [
        '{"score": 70, "statement": "Fine."}',
        '```json\n{"score": 70, "statement": "Fine."}\n```',
        'Here it is:\n```\n{"score": 70, "statement": "Fine."}\n```\nThat is all.',
        'I weigh {three} factors. {"score": 70, "statement": "Fine."}',
        'For example {"a": 1}. Mine: {"score": 70, "statement": "Fine."}',
        '{"score": 70, "statement": "Fine."} As said: {"statement": "Fine.", "score": 70}',
        '<think>{"score": 1, "statement": "?"}</think>{"score": 70, "statement": "Fine."}',
    ],
)
def test_json_is_found_in_what_stands_around_it(text: str) -> None:
    assert read_object(reply(text), Opinion).value == Opinion(score=70, statement="Fine.")


def test_raw_control_characters_inside_strings_are_tolerated() -> None:
    read = read_object(reply('{"score": 5, "statement": "one\ntwo\tthree\x07"}'), Opinion).value
    assert read.statement == "one\ntwo\tthree\x07"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "empty"),
        ("no braces", "no JSON object"),
        ("[1, 2]", "no JSON object"),
        ('{"score": "70", "statement": "x"}', "score"),
        ('{"score": 70.5, "statement": "x"}', "score"),
        ('{"score": true, "statement": "x"}', "score"),
        ('{"score": NaN, "statement": "x"}', "score"),
        ('{"score": 1}', "statement"),
        ('{"score": 1, "score": 99, "statement": "x"}', "twice"),
        ('{"score": 1, "statement": "x"} {"score": 2, "statement": "x"}', "two different"),
        ('{"score": 1, "statement": "x', "no JSON object"),
        ('{"all": [{"score": 1, "statement": "x"}, {"score": 2, "sta', "no JSON object"),
        ('{"score": 1, "statement": "\\ud83d"}', "cannot be used"),
        ('{"a":' * 100_000, "no JSON object|too deeply"),
        ("{" * 100_000, "no JSON object"),
        ("{ " * 1_000_000, "too long"),
    ],
)
def test_json_of_another_form_is_refused(text: str, said: str) -> None:
    with pytest.raises(ParseError, match=said):
        read_object(reply(text), Opinion)


def test_a_long_statement_is_no_hindrance() -> None:
    text = json.dumps({"score": 3, "statement": "word " * 100_000})
    assert read_object(reply(text), Opinion).value.score == 3


def test_free_text_comes_without_thoughts() -> None:
    assert finished_text(reply("<think>what to say</think>\nHello.")) == "Hello."


def test_a_number_that_python_does_not_read_is_no_score() -> None:
    text = f'{{"score": {"9" * 5000}, "statement": "Much."}}'
    with pytest.raises(ParseError, match="no JSON object"):
        read_object(reply(text), Opinion)
