"""What a vLLM server lets a model write: the form of a reply as `structured_outputs`.

Strings are bounded and hold no control characters: otherwise a weak model writes until its context
is full, or something that is not valid JSON.
"""

from recjury.records import ChatRequest, ChoiceForm, ObjectForm, RatingForm, TextForm

# No control characters, and nothing that begins a tag, an entity or an object: a reader could take
# it for another answer. A line break may stand in reasons only.
_SIGN = r"[^\x00-\x1f\x7f<>&{}]"
_SIGN_OR_BREAK = r"[^\x00-\x09\x0b-\x1f\x7f<>&{}]"
_FIRST_OF_TEXT = r"[^\s\x00-\x1f\x7f<>&{}\[\]\"'`*“‘]"
_UNBOUNDED = 2000


def structured_outputs(request: ChatRequest, longest: int | None) -> dict[str, object] | None:
    """The constraint for a reply to `request`; None if any text will do.

    `longest` replaces larger bounds of strings, in characters.
    """
    form = request.form
    if isinstance(form, RatingForm):
        return _rating(form, longest)
    if isinstance(form, ObjectForm):
        return {"json": bounded(form.schema, longest)}
    if isinstance(form, TextForm):
        most = _bound(form.longest, longest)
        sign = _SIGN_OR_BREAK if form.several_lines else _SIGN
        return {"regex": f"{_FIRST_OF_TEXT}{sign}{{0,{max(0, most - 1)}}}"}
    if isinstance(form, ChoiceForm):
        return {"choice": list(form.choices)}
    if request.schema is not None:
        return {"json": bounded(request.schema, longest)}
    return None


def _rating(form: RatingForm, longest: int | None) -> dict[str, object]:
    numbers = [str(number) for number in range(form.low, form.high + 1)]
    opened = f'<rating code="{form.code}">' if form.code else "<rating>"
    if not form.reasons:
        return {"choice": [f"{opened}{number}</rating>" for number in numbers]}
    reasons = f"{_SIGN_OR_BREAK}{{0,{_bound(form.reasons, longest)}}}"
    tag = f"{opened}({'|'.join(numbers)})</rating>"
    return {"regex": f"{tag}{reasons}" if form.rating_first else f"{reasons}{tag}"}


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
