"""Ratings and objects as grammars of llguidance. `tests/vllm` has texts that llguidance made."""

import pytest

from recjury.debate.role_answer import answer_form
from recjury.judges.face.decomposer import particles_form
from recjury.llm.vllm.constraints import structured_outputs
from recjury.llm.vllm.grammar import object_grammar, rating_grammar
from recjury.records import ChatRequest, RatingForm, ReplyForm, TextForm


def _sent(form: ReplyForm | None, longest: int | None = None) -> dict[str, object] | None:
    return structured_outputs(ChatRequest("m", (), "test", form=form), longest)


def test_a_rating_comes_after_reasons_or_before_them() -> None:
    reasons = r"reasons[max_tokens=50]: /[^\x00-\x09\x0b-\x1f\x7f<>&{}]*/"
    assert rating_grammar(RatingForm("k7r2m0", 0, 2), 200).splitlines() == [
        r'start: reasons "<rating code=\"k7r2m0\">" number "</rating>"',
        'number: "0" | "1" | "2"',
        reasons,
    ]
    first = rating_grammar(RatingForm("", 1, 2, rating_first=True), 200).splitlines()
    assert first == ['start: "<rating>" number "</rating>" reasons', 'number: "1" | "2"', reasons]


def test_an_answer_of_a_debater_has_its_fields_in_order() -> None:
    grammar = object_grammar(answer_form().schema, 640, 2000)
    assert grammar is not None
    rules = dict(line.split(": ", 1) for line in grammar.splitlines())
    fields = r'"{\"statement\": " r1 ", \"score\": " r2 ", \"code\": " "\"\\u001fcode\\u001f\"" "}"'
    assert rules[rules["start"]] == fields
    assert rules["r1"] == r'"\"" (first | escape) (piece | escape){0,10} "\""'
    assert rules["r2"] == f"/{'|'.join(map(str, range(101)))}/"
    assert rules["escape"] == r'"\\" /["\\]/'


def test_particles_have_a_grammar() -> None:
    grammar = object_grammar(particles_form().schema, None, 2000)
    assert grammar is not None
    assert r'"\"recommendation\""' in grammar
    assert '"null"' in grammar


@pytest.mark.parametrize(
    "kind",
    [
        {"type": "number"},
        {"type": "string", "pattern": "^a"},
        {"type": "string", "minLength": 2},
        {"type": "integer", "minimum": 0},
        {"type": "integer", "minimum": 0, "maximum": 10**9},
        {"type": "array", "items": {"type": "null"}},
        {"type": "object", "properties": {}, "required": [], "additionalProperties": False},
        {"type": "object", "properties": {"a": {"type": "null"}}},
        {"$ref": "#/a"},
    ],
)
def test_what_has_no_grammar_stays_a_schema(kind: dict[str, object]) -> None:
    fields = {"type": "object", "properties": {"a": kind}}
    schema = {**fields, "required": ["a"], "additionalProperties": False}
    assert object_grammar(schema, None, 2000) is None
    sent = structured_outputs(ChatRequest("m", (), "test", schema=schema), None)
    assert sent is not None
    assert [*sent] == ["json"]


def test_short_forms_stay_choices_and_expressions() -> None:
    assert [*(_sent(RatingForm("a", 0, 4)) or ())] == ["grammar"]
    assert [*(_sent(RatingForm("a", 0, 4, reasons=0)) or ())] == ["choice"]
    assert [*(_sent(TextForm(100)) or ())] == ["regex"]
    assert _sent(None) is None
