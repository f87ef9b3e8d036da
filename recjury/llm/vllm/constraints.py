"""What a vLLM server lets a model write: the form of a reply as `structured_outputs`.

Strings are bounded and hold no control characters: otherwise a weak model writes until its context
is full, or something that is not valid JSON.
"""

from recjury.llm.vllm.grammar import SIGN_OR_BREAK, object_grammar, rating_grammar
from recjury.records import JSON, ChatRequest, ChoiceForm, ObjectForm, RatingForm, TextForm

_SIGN = r"[^\x00-\x1f\x7f<>&{}]"  # as SIGN_OR_BREAK, on one line
_FIRST_OF_TEXT = r"[^\s\x00-\x1f\x7f<>&{}\[\]\"'`*“‘]"
_UNBOUNDED = 2000


GUIDANCE: dict[str, JSON] = {"backend": "guidance", "disable_any_whitespace": True}
"""What a server is told about structured outputs: this backend reads the grammars."""


def structured_outputs(request: ChatRequest, longest: int | None) -> dict[str, object] | None:
    """The constraint for a reply to `request`; None if any text will do.

    `longest` replaces larger bounds of strings, in characters. Ratings with reasons and objects
    are given as grammars, whose bounds are in tokens and thus not exact, but which cost the server
    far less time.
    """
    form = request.form
    if isinstance(form, RatingForm):
        return _rating(form, longest)
    if isinstance(form, TextForm):
        most = _bound(form.longest, longest)
        sign = SIGN_OR_BREAK if form.several_lines else _SIGN
        return {"regex": f"{_FIRST_OF_TEXT}{sign}{{0,{max(0, most - 1)}}}"}
    if isinstance(form, ChoiceForm):
        return {"choice": list(form.choices)}
    schema = form.schema if isinstance(form, ObjectForm) else request.schema
    if schema is None:
        return None
    grammar = object_grammar(schema, longest, _UNBOUNDED)
    return {"json": bounded(schema, longest)} if grammar is None else {"grammar": grammar}


def _rating(form: RatingForm, longest: int | None) -> dict[str, object]:
    if form.reasons:
        return {"grammar": rating_grammar(form, _bound(form.reasons, longest))}
    opened = f'<rating code="{form.code}">' if form.code else "<rating>"
    numbers = range(form.low, form.high + 1)
    return {"choice": [f"{opened}{number}</rating>" for number in numbers]}


def bounded(schema: dict[str, object], longest: int | None = None) -> dict[str, object]:
    """`schema` with a limit and a pattern for every string that has none."""
    found = {name: _inside(each, longest) for name, each in schema.items()}
    if schema.get("type") != "string" or not {"enum", "const", "pattern"}.isdisjoint(schema):
        return found
    most = schema.get("maxLength")
    most = _bound(most if isinstance(most, int) else _UNBOUNDED, longest)
    found.pop("maxLength", None)
    if found.pop("minLength", 0):
        found["pattern"] = rf"^[^\s\x00-\x1f\x7f<>&{{}}]{_SIGN}{{0,{max(0, most - 1)}}}$"
    else:
        found["pattern"] = f"^{_SIGN}{{0,{most}}}$"
    return found


def _inside(value: object, longest: int | None) -> object:
    if isinstance(value, dict):
        return bounded(value, longest)
    if isinstance(value, list):
        return [_inside(each, longest) for each in value]
    return value


def _bound(own: int, longest: int | None) -> int:
    return own if longest is None else min(own, longest)
