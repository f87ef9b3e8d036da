"""JSON objects in a reply, also where a slip keeps a strict parser from reading them.

Read are trailing commas, single or curly quotation marks, names without quotation marks, missing
commas between lines, quotation marks inside a text, None, True and False, and unknown escapes.
Nothing is completed: an object that its text does not close is none, and neither is what stands
inside it.
"""

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

_START = re.compile(r"\{(?=\s{0,200}[\"'“A-Za-z_}])")
_MOST_STARTS = 2_000
_DEEPEST = 40

_SPACE = re.compile(r"[\s\ufeff]*")
_DOUBLE = re.compile(r'"([^"\\]*(?:\\.[^"\\]*)*)"', re.DOTALL)
_SINGLE = re.compile(r"'([^'\\]*(?:\\.[^'\\]*)*)'", re.DOTALL)
_CURLY = re.compile(r"“([^“”]*)”")
_AFTER_VALUE = r"""\s{0,200}(?:\}|,\s{0,200}["'“]?[A-Za-z_]\w{0,60}["'”]?\s{0,20}:)"""
_CLOSES = {sign: re.compile(rf"(?<!\\){sign}(?={_AFTER_VALUE})") for sign in "\"'”"}
_BRACKET = re.compile(r"[{}]")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,60}")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,30})(\.[0-9]{1,30})?([eE][+-]?[0-9]{1,4})?(?![\w.])")
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_WORDS = {"true": True, "false": False, "null": None}
_PYTHON_WORDS = {"True": True, "False": False, "None": None}


class RepeatedNames(dict[str, Any]):
    """An object that gives one name twice: which value is meant is in doubt."""


class FoundObject(NamedTuple):
    """An outermost object, its place in the text, and what of its form was not JSON.

    `value` is None for what begins as an object, with a name and a colon, and is none.
    """

    value: dict[str, Any] | None
    start: int
    end: int
    repaired: str


class _Broken(Exception):
    """The text is no object; `at_end` tells that it only ends too early."""

    def __init__(self, place: int, *, at_end: bool = False):
        super().__init__(place)
        self.place = place
        self.at_end = at_end


def find_objects(text: str) -> Iterator[FoundObject]:
    """The outermost JSON objects in `text`, up to one that the end of the text cuts off."""
    decoder = json.JSONDecoder(strict=False, object_pairs_hook=_object)
    scanned, most = 0, 4 * len(text) + 10_000
    found = _START.search(text)
    for _ in range(_MOST_STARTS):
        if found is None or scanned > most:
            return
        start = found.start()
        repaired, reader = "", _Reader(text)
        value: dict[str, Any] | None
        try:
            value, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError) as error:
            scanned += getattr(error, "pos", start) - start
            try:
                value, end = reader.object(start, 0)
                repaired = ", ".join(sorted(reader.repaired))
            except _Broken as broken:
                if broken.at_end:
                    return
                scanned += broken.place - start
                value, end = None, start + 1
        if value is not None or reader.has_name:
            yield FoundObject(value, start, end, repaired)
        found = _START.search(text, end)


def has_repeated_names(value: object) -> bool:
    """Whether an object in `value` gives a name twice."""
    if isinstance(value, dict):
        return isinstance(value, RepeatedNames) or any(map(has_repeated_names, value.values()))
    return isinstance(value, list) and any(map(has_repeated_names, value))


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    return found if len(found) == len(pairs) else RepeatedNames(found)


class _Reader:
    """Reads one value after the other; `repaired` names what was not JSON.

    `has_name` tells that a name and a colon were read.
    """

    def __init__(self, text: str):
        self._text = text
        self.repaired: set[str] = set()
        self.has_name = False

    def object(self, start: int, depth: int) -> tuple[dict[str, Any], int]:
        """The object that begins at `start`, and the place after it."""
        pairs: list[tuple[str, Any]] = []
        place = self._space(start + 1)
        while self._sign(place) != "}":
            name, place = self._name(place)
            place = self._space(place)
            if self._sign(place) != ":":
                raise _Broken(place)
            self.has_name = True
            value, place = self._member(self._space(place + 1), depth + 1)
            pairs.append((name, value))
            place = self._next(place, "}")
        return _object(pairs), place + 1

    def _member(self, place: int, depth: int) -> tuple[Any, int]:
        """A value of an object, whose text may hold the quotation marks that enclose it.

        Such a text ends where another name or the object's end follows. It may hold no bracket of
        an object: it could be another one's.
        """
        value, after = self._value(place, depth)
        if not isinstance(value, str) or self._sign(self._space(after)) in ",}":
            return value, after
        closing = _CLOSES["”" if self._sign(place) == "“" else self._sign(place)]
        bracket = _BRACKET.search(self._text, place)
        end = len(self._text) if bracket is None else bracket.end()
        found = closing.search(self._text, after, end)
        if found is None or "\n" in self._text[after : self._space(after)]:
            return value, after
        self.repaired.add("quotation marks inside a text")
        return self._plain(self._text[place + 1 : found.start()]), found.end()

    def _list(self, start: int, depth: int) -> tuple[list[Any], int]:
        values: list[Any] = []
        place = self._space(start + 1)
        while self._sign(place) != "]":
            value, place = self._value(place, depth + 1)
            values.append(value)
            place = self._next(place, "]")
        return values, place + 1

    def _next(self, place: int, closing: str) -> int:
        """The place after the comma that follows a value, or of the closing bracket."""
        after = self._space(place)
        sign = self._sign(after)
        if sign == closing:
            return after
        if sign == ",":
            place = self._space(after + 1)
            if self._sign(place) == closing:
                self.repaired.add("trailing comma")
            return place
        if "\n" in self._text[place:after] and sign in "\"'“{[":
            self.repaired.add("missing comma")
            return after
        raise _Broken(after)

    def _name(self, place: int) -> tuple[str, int]:
        found = _NAME.match(self._text, place)
        if found is None:
            return self._string(place)
        self.repaired.add("name without quotation marks")
        return found[0], found.end()

    def _value(self, place: int, depth: int) -> tuple[Any, int]:
        sign = self._sign(place)
        if depth > _DEEPEST:
            raise _Broken(place)
        if sign == "{":
            return self.object(place, depth)
        if sign == "[":
            return self._list(place, depth)
        if sign in "\"'“":
            return self._string(place)
        if (number := _NUMBER.match(self._text, place)) is not None:
            whole = number[1] is None and number[2] is None
            return (int(number[0]) if whole else float(number[0])), number.end()
        if (word := _NAME.match(self._text, place)) is not None:
            if word[0] in _WORDS:
                return _WORDS[word[0]], word.end()
            if word[0] in _PYTHON_WORDS:
                self.repaired.add(f"{word[0]} of Python")
                return _PYTHON_WORDS[word[0]], word.end()
        raise _Broken(place)

    def _string(self, place: int) -> tuple[str, int]:
        sign = self._sign(place)
        if sign not in "\"'“":
            raise _Broken(place)
        form = {'"': _DOUBLE, "'": _SINGLE, "“": _CURLY}[sign]
        found = form.match(self._text, place)
        if found is None:
            raise _Broken(len(self._text), at_end=True)
        if sign != '"':
            self.repaired.add("single quotation marks" if sign == "'" else "curly quotation marks")
        return self._plain(found[1]), found.end()

    def _plain(self, text: str) -> str:
        """`text` with its escapes replaced."""
        if "\\" not in text:
            return text
        text = _ESCAPE.sub(self._unescaped, text)
        # Two escapes may stand for the halves of one character.
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")

    def _unescaped(self, escape: re.Match[str]) -> str:
        sign = escape[1]
        if len(sign) > 1:
            return chr(int(sign[1:], 16))
        if sign not in _ESCAPED and sign not in '"\\/':
            self.repaired.add("unknown escape")
        return _ESCAPED.get(sign, sign)

    def _space(self, place: int) -> int:
        found = _SPACE.match(self._text, place)
        assert found is not None, "it may be empty"
        return found.end()

    def _sign(self, place: int) -> str:
        if place >= len(self._text):
            raise _Broken(place, at_end=True)
        return self._text[place]
