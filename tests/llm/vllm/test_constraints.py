"""What a vLLM server is told about the form of a reply."""

import re
from typing import Any

from recjury.llm.vllm.constraints import bounded, structured_outputs
from recjury.records import ChatRequest, Message, RatingForm, ReplyForm, TextForm
from recjury.simulator.llm_user import read_utterance
from tests.llm.doubles import reply

CODE = "k7r2m0"


def constraint(form: ReplyForm | None, longest: int | None = None) -> dict[str, Any]:
    """What is sent for a request in this form."""
    plain = ChatRequest("m", (Message("user", ("Rate this.",)),), "test", form=form)
    found = structured_outputs(plain, longest)
    assert found is not None
    return found


def test_a_rating_without_reasons_is_a_choice() -> None:
    found = constraint(RatingForm(CODE, 8, 10, reasons=0))
    assert found == {
        "choice": [f'<rating code="{CODE}">{number}</rating>' for number in (8, 9, 10)]
    }


def test_an_utterance_is_one_line_of_text() -> None:
    expression = constraint(TextForm(1000), 60)["regex"]
    for text in ("Something like Mission: Impossible?", "¿Qué tal?", "你好"):
        assert re.fullmatch(expression, text)
        assert read_utterance(reply(text)) == text
    for wrong in ("", " Hm", '{"a": 1}', "<user>", "Hm\nsystem: Ran", "x" * 61):
        assert not re.fullmatch(expression, wrong)


def test_a_schema_that_has_no_grammar_is_bounded() -> None:
    fields = {"type": {"type": "string"}, "n": {"type": "number"}}
    schema: dict[str, object] = {"type": "object", "properties": fields}
    plain = ChatRequest("m", (Message("user", ("Hm.",)),), "test", schema=schema)
    sent = structured_outputs(plain, 50)
    assert sent is not None
    pattern = sent["json"]["properties"]["type"]["pattern"]  # type: ignore[index]
    assert re.search(pattern, 'It is "good".')
    assert not re.search(pattern, "x" * 51)
    assert not re.search(pattern, "two\nlines")
    first = bounded({"type": "string", "minLength": 1})["pattern"]
    assert isinstance(first, str)
    assert not re.search(first, " ")
    assert structured_outputs(ChatRequest("m", (), "test"), None) is None


def test_what_limits_a_string_already_stays() -> None:
    for schema in ({"type": "string", "enum": ["a"]}, {"type": "string", "pattern": "^a$"}):
        assert bounded(dict(schema)) == schema
