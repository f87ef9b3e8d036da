"""JSON objects in a reply, also where a slip keeps a strict parser from reading them.

Read are trailing commas, single or curly quotation marks, names without quotation marks, None,
True and False, raw line breaks and unknown escapes. Nothing is completed: an object that its text
does not close is none, and neither is what stands inside it.
"""

import json
import re
from bisect import bisect_left
from collections.abc import Iterator
from typing import Any, NamedTuple

_START = re.compile(
    r"""\{\s{0,200}(?:"(?:[^"\\]|\\.){0,200}"|'(?:[^'\\]|\\.){0,200}'|“[^“”]{0,200}”"""
    r"""|[A-Za-z_]\w{0,60})\s{0,200}:""",
    re.DOTALL,
)
_TOKEN = re.compile(
    r"""\s*(?:(?P<double>"[^"\\]*(?:\\.[^"\\]*)*")"""
    r"""|(?P<single>'[^'\\]*(?:\\.[^'\\]*)*')"""
    r"""|(?P<curly>“[^“”]*”)"""
    r"""|(?P<opens>[{\[])|(?P<closes>[}\]])"""
    r"""|(?P<trailing>,(?=\s{0,200}[}\]]))|(?P<sign>[,:])"""
    r"""|(?P<python>(?:True|False|None)\b)"""
    r"""|(?P<name>[A-Za-z_]\w{0,60}(?=\s{0,200}:))"""
    r"""|(?P<word>[\w.+-]+)|(?P<cut>["'“]|\Z))""",  # a text that is not closed, or nothing more
    re.DOTALL,
)
_REPAIRS = {
    "single": "single quotation marks",
    "curly": "curly quotation marks",
    "trailing": "trailing comma",
    "name": "name without quotation marks",
}
_PYTHON = {"True": "true", "False": "false", "None": "null"}
_MOST_INSIDE = 200  # objects inside the one with the word
_ESCAPE = re.compile(r'\\(.)|"', re.DOTALL)
_JSON_ESCAPES = '"\\/bfnrtu'


class RepeatedNames(dict[str, Any]):
    """An object that gives one name twice: which value is meant is in doubt."""


class ObjectInText(NamedTuple):
    """An object, its place in the text, and what of its form was not JSON.

    `value` is None for what begins as an object, with a name and a colon, and is none; `is_cut` if
    the text ends before it does.
    """

    value: dict[str, Any] | None
    start: int
    end: int
    repaired: str
    is_cut: bool = False


def objects_with(text: str, word: str) -> Iterator[ObjectInText]:
    """The objects in `text` that have `word` as a value of their own, in order.

    For each place of `word` the nearest object around it is taken. What is cut off before it, or
    stands around it, does not matter.
    """
    starts = [begun.start() for begun in _START.finditer(text)]
    last = -1
    for place in re.finditer(re.escape(word), text, re.IGNORECASE):
        before = bisect_left(starts, place.start())
        for start in reversed(starts[max(0, before - _MOST_INSIDE) : before]):
            found = _object_at(text, start)
            if found.value is None or found.end < place.end():
                continue
            texts = (value for value in found.value.values() if isinstance(value, str))
            if any(value.strip().casefold() == word for value in texts):
                if start > last:
                    yield found
                last = max(last, start)
                break


def _object_at(text: str, start: int) -> ObjectInText:
    tokens = _tokens(text, start)
    repairs: set[str] = set()
    is_cut = tokens[-1].lastgroup == "cut"
    value = None if is_cut else _value(tokens, repairs)
    return ObjectInText(value, start, tokens[-1].end(), ", ".join(sorted(repairs)), is_cut)


def find_objects(text: str) -> Iterator[ObjectInText]:
    """The outermost JSON objects in `text`, up to one that the end of the text cuts off."""
    scanned, most = 0, 4 * len(text) + 10_000
    begun = _START.search(text)
    while begun is not None and scanned <= most:
        found = _object_at(text, begun.start())
        scanned += found.end - found.start
        if found.value is not None:
            yield found
        elif found.is_cut:
            return
        begun = _START.search(text, found.start + 1 if found.value is None else found.end)


def begins_object(text: str) -> bool:
    """Whether an object begins in `text`, whole or not."""
    return _START.search(text) is not None


def has_repeated_names(value: object) -> bool:
    """Whether an object in `value` gives a name twice."""
    if isinstance(value, dict):
        return isinstance(value, RepeatedNames) or any(map(has_repeated_names, value.values()))
    return isinstance(value, list) and any(map(has_repeated_names, value))


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    return value if len(value) == len(pairs) else RepeatedNames(value)


def _tokens(text: str, start: int) -> list[re.Match[str]]:
    """The tokens of the object that begins at `start`.

    They stop early before what cannot follow a value, and with "cut" where the text ends.
    """
    tokens: list[re.Match[str]] = []
    place, depth, after_value = start, 0, False
    while (token := _TOKEN.match(text, place)) is not None:
        kind = token.lastgroup
        if after_value and kind not in ("closes", "trailing", "sign", "cut"):
            break
        tokens.append(token)
        place = token.end()
        depth += (kind == "opens") - (kind == "closes")
        if depth == 0 or kind == "cut":
            break
        after_value = kind not in ("opens", "trailing", "sign")
    return tokens


def _value(tokens: list[re.Match[str]], repairs: set[str]) -> dict[str, Any] | None:
    """The object, None if it is none; what was repaired is added to `repairs`."""
    plain = "".join(_as_json(token, repairs) for token in tokens)
    try:
        value: dict[str, Any] = json.loads(plain, strict=False, object_pairs_hook=_object)
    except (ValueError, RecursionError):
        return None
    return value


def _as_json(token: re.Match[str], repairs: set[str]) -> str:
    """The token as JSON has it; what had to be changed is added to `repairs`."""
    kind = str(token.lastgroup)
    text = token[kind]
    if kind in _REPAIRS:
        repairs.add(_REPAIRS[kind])
    if kind in ("double", "single", "curly"):
        inner = _ESCAPE.sub(_as_json_escape, text[1:-1])
        if kind == "double" and inner != text[1:-1]:
            repairs.add("unknown escape")
        return f'"{inner}"'
    if kind == "python":
        repairs.add(f"{text} of Python")
        return _PYTHON[text]
    if kind == "name":
        return f'"{text}"'
    return "" if kind == "trailing" else text


def _as_json_escape(found: re.Match[str]) -> str:
    sign = found[1]
    if sign is None:
        return '\\"'  # a quotation mark inside a text that other marks enclose
    return found[0] if sign in _JSON_ESCAPES else str(sign)
