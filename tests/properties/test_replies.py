"""Replies of models: what is read is the answer with the code, or nothing."""

import json
from contextlib import suppress

import pytest
from hypothesis import example, given

from recjury.debate.role_answer import parse_answer
from recjury.errors import ParseError
from recjury.judges.face.decomposer import read_particles
from recjury.llm import finished_text, parse_rating
from tests.llm.doubles import reply
from tests.properties.searching import for_a_while
from tests.properties.strategies import CODE, packed_texts, texts

RATING = f'<rating code="{CODE}">1</rating>'
ANSWER = json.dumps({"statement": "Poor.", "score": 20, "code": CODE})
SENTINEL = "zqxj"


@for_a_while
@given(texts)
def test_without_the_code_nothing_is_read(said: str) -> None:
    for read in (
        lambda text: parse_rating(reply(text, code=CODE), 0, 4),
        lambda text: parse_answer(reply(text, code=CODE)),
        lambda text: read_particles(reply(text, code=CODE), answered=True),
    ):
        with pytest.raises(ParseError):
            read(said)


@for_a_while
@given(packed_texts, packed_texts)
@example("{", "")
def test_text_around_an_answer_never_changes_it(before: str, after: str) -> None:
    with suppress(ParseError):
        assert parse_rating(reply(before + RATING + after, code=CODE), 0, 4).score == 1
    with suppress(ParseError):
        found = parse_answer(reply(before + ANSWER + after, code=CODE))
        assert (found.statement, found.score) == ("Poor.", 20)


@for_a_while
@given(texts)
def test_quoted_text_never_changes_the_score_of_a_statement(said: str) -> None:
    whole = json.dumps({"statement": f"It says: {said}", "score": 20, "code": CODE})
    bare = f'{{"statement": "It says: {said}", "score": 20, "code": "{CODE}"}}'
    for text in (whole, bare):
        with suppress(ParseError):
            assert parse_answer(reply(text, code=CODE)).score == 20


@for_a_while
@given(texts)
def test_a_second_question_quotes_nothing_of_the_reply(said: str) -> None:
    text = f"{SENTINEL} {said} {SENTINEL}"
    for read in (
        lambda: parse_rating(reply(text, code=CODE), 0, 4),
        lambda: parse_answer(reply(text, code=CODE)),
        lambda: parse_answer(reply(f'{{"statement": "{text}", "score": "{text}"}}')),
    ):
        with pytest.raises(ParseError) as refused:
            read()
        assert SENTINEL not in refused.value.problem


@for_a_while
@given(texts)
def test_what_was_said_is_a_part_of_the_reply(said: str) -> None:
    try:
        found = finished_text(reply(said))
    except ParseError:
        return
    assert found in said
