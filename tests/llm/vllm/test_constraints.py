"""What a vLLM server is told about the form of a reply."""

import re
from typing import Any

from recjury.llm.vllm.constraints import structured_outputs
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


def test_a_schema_that_has_no_grammar_is_sent_as_it_is() -> None:
    fields = {"type": {"type": "string"}, "n": {"type": "number"}}
    schema: dict[str, object] = {"type": "object", "properties": fields}
    plain = ChatRequest("m", (Message("user", ("Hm.",)),), "test", schema=schema)
    assert structured_outputs(plain, 50) == {"json": schema}
    assert structured_outputs(ChatRequest("m", (), "test"), None) is None
