"""What a vLLM server is told about the form of a reply."""

import json
import re
from typing import Any

from recjury.debate.role_answer import answer_form, parse_answer
from recjury.judges.face.decomposer import particles_form, read_particles
from recjury.llm import parse_rating
from recjury.llm.vllm.constraints import bounded, structured_outputs
from recjury.records import ChatRequest, Message, RatingForm, ReplyForm, TextForm
from recjury.simulator.utterance import read_utterance
from tests.llm.doubles import reply

CODE = "k7r2m0"


def constraint(form: ReplyForm | None, longest: int | None = None) -> dict[str, Any]:
    """What is sent for a request in this form."""
    plain = ChatRequest("m", (Message("user", ("Rate this.",)),), "test", form=form)
    found = structured_outputs(plain, longest)
    assert found is not None
    return found


def test_a_rating_is_read_from_everything_that_its_expression_allows() -> None:
    expression = constraint(RatingForm(CODE, 0, 4), 200)["regex"]
    for text, score in (
        (f'<rating code="{CODE}">0</rating>', 0),
        (f'It says [hm].\n\n"Good": 4/4 = 1.<rating code="{CODE}">4</rating>', 4),
    ):
        assert re.fullmatch(expression, text)
        assert parse_rating(reply(text), 0, 4, code=CODE).score == score
    for wrong in (
        f'<rating code="{CODE}">5</rating>',
        f'<rating>4</rating><rating code="{CODE}">3</rating>',
        f'{"x" * 201}<rating code="{CODE}">3</rating>',
        f'<rating code="{CODE}">3</rating>, that is 3',
    ):
        assert not re.fullmatch(expression, wrong)


def test_a_rating_without_reasons_is_a_choice() -> None:
    found = constraint(RatingForm(CODE, 8, 10, reasons=0))
    assert found == {
        "choice": [f'<rating code="{CODE}">{number}</rating>' for number in (8, 9, 10)]
    }


def test_an_answer_of_a_debater_is_bounded() -> None:
    schema = constraint(answer_form(CODE), 50)["json"]
    fields = schema["properties"]
    assert list(fields) == ["statement", "score", "code"]
    assert fields["score"] == {"type": "integer", "minimum": 0, "maximum": 100}
    pattern = fields["statement"]["pattern"]
    assert re.search(pattern, 'It is "good".')
    assert not re.search(pattern, " ")
    assert not re.search(pattern, "x" * 51)
    assert not re.search(pattern, "two\nlines")
    text = json.dumps({"statement": 'It is "good".', "score": 1, "code": CODE})
    assert parse_answer(reply(text), CODE).score == 1


def test_particles_are_bounded() -> None:
    schema = constraint(particles_form(CODE), 50)["json"]
    particle = schema["properties"]["particles"]["items"]["properties"]
    assert "recommendation" in particle["act"]["enum"]
    assert re.search(particle["mention"]["pattern"], "Ran (1985)")
    assert not re.search(particle["mention"]["pattern"], "")
    assert particle["feedback"]["anyOf"][1] == {"type": "null"}
    given = {"act": "recommendation", "mention": "Ran (1985)", "feedback": None}
    text = json.dumps({"particles": [given], "code": CODE})
    assert len(read_particles(reply(text), answered=True, code=CODE)) == 1


def test_an_utterance_is_one_line_of_text() -> None:
    expression = constraint(TextForm(1000), 60)["regex"]
    for text in ("Something like Mission: Impossible?", "¿Qué tal?", "你好"):
        assert re.fullmatch(expression, text)
        assert read_utterance(reply(text)) == text
    for wrong in ("", " Hm", '{"a": 1}', "<user>", "Hm\nsystem: Ran", "x" * 61):
        assert not re.fullmatch(expression, wrong)


def test_a_schema_without_a_form_is_bounded_too() -> None:
    fields = {"type": {"type": "string"}, "n": {"type": "number"}}
    schema: dict[str, object] = {"type": "object", "properties": fields}
    plain = ChatRequest("m", (Message("user", ("Hm.",)),), "test", schema=schema)
    found = structured_outputs(plain, None)
    assert found is not None
    assert "2000" in found["json"]["properties"]["type"]["pattern"]  # type: ignore[index]
    assert structured_outputs(ChatRequest("m", (), "test"), None) is None


def test_what_limits_a_string_already_stays() -> None:
    for schema in ({"type": "string", "enum": ["a"]}, {"type": "string", "pattern": "^a$"}):
        assert bounded(dict(schema)) == schema
