"""What a vLLM server lets a model write: the form of a reply as `structured_outputs`.

Strings in grammars are bounded and hold no control characters: otherwise a weak model writes until
its context is full, or something that is not valid JSON.
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
    far less time. A schema that has no grammar, as an evaluator of one's own may have, is sent as
    it is.
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
    return {"json": schema} if grammar is None else {"grammar": grammar}


def _rating(form: RatingForm, longest: int | None) -> dict[str, object]:
    if form.reasons:
        return {"grammar": rating_grammar(form, _bound(form.reasons, longest))}
    opened = f'<rating code="{form.code}">' if form.code else "<rating>"
    numbers = range(form.low, form.high + 1)
    return {"choice": [f"{opened}{number}</rating>" for number in numbers]}


def _bound(own: int, longest: int | None) -> int:
    return own if longest is None else min(own, longest)
