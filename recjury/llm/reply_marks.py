"""Marks in the text of a reply: those of chat templates, and which marks are quotations."""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

Span = tuple[int, int]

_ENDS_TURN = (
    r"(?:<\|(?:im_end|eot_id|end|endoftext|end_of_text|return|END_OF_TURN_TOKEN)\|>|</s>"
    r"|<end_of_turn>|<｜end▁of▁sentence｜>)"
)
_BEGINS_TURN = (
    r"(?:<\|(?:im_start|start_header_id|user|assistant|system|begin_of_text|START_OF_TURN_TOKEN)\|>"
    r"|<\|start\|>(?!assistant)|<start_of_turn>|<｜[A-Za-z▁]{1,30}｜>|<s>|\[INST\]|<think>)"
)
_END_OF_TURN = re.compile(_ENDS_TURN)
_NEXT_TURN = re.compile(rf"{_ENDS_TURN}\s{{0,8}}{_BEGINS_TURN}")
_FIRST_MARKS = ("<|channel|>final<|message|>", "<|START_RESPONSE|>", "<|begin_of_solution|>")
_LAST_MARK = re.compile(rf"(?:{_ENDS_TURN}|<\|(?:END_RESPONSE|end_of_solution)\|>)\Z")
_LONGEST_MARK, _MOST_LAST_MARKS, _MOST_TURNS = 40, 3, 4
_INVISIBLE = frozenset({"Zs", "Zl", "Zp", "Cc", "Cf"})
_QUOTES = {'"': '"', "'": "'", "`": "`", "“": "”", "‘": "’", "«": "»", "„": "“"}


def unquoted(text: str, marks: Iterable[Span], answers: Sequence[Span]) -> Iterator[Span]:
    """The marks that stand neither between quotation marks nor inside an answer."""
    firsts = [first for first, _ in answers]
    for start, end in marks:
        if _QUOTES.get(text[start - 1 : start], "none") == text[end : end + 1]:
            continue
        before = bisect_right(firsts, start) - 1
        if before < 0 or answers[before][1] <= start:
            yield start, end


def next_turns(text: str, answers: Sequence[Span]) -> list[int]:
    """Where a turn ends in `text` and another one begins, by the marks of a chat template.

    Only the first few places are given. Those inside `answers` are quotations.
    """
    found = (each.span() for each in _NEXT_TURN.finditer(text))
    return [start for start, _ in islice(unquoted(text, found, answers), _MOST_TURNS)]


def end_of_turn(text: str, place: int, answers: Sequence[Span]) -> int:
    """Where the turn ends that is said from `place` on; the end of `text` if no mark says so.

    A text with `answers` only ends where another turn begins: it may speak of such marks.
    """
    marks = _NEXT_TURN if answers else _END_OF_TURN
    struck = text.find("<s>", place + 1)  # a tag of HTML, and </s> its end
    found = (
        each.span()
        for each in marks.finditer(text, place)
        if not (each[0] == "</s>" and 0 <= struck < each.start())
    )
    return next((start for start, _ in unquoted(text, found, answers)), len(text))


def without_marks(text: str) -> str:
    """`text` without the marks that a chat template puts around the said part."""
    text = text.strip()
    if not any(map(_is_visible, text)):
        return ""
    for mark in _FIRST_MARKS:
        text = text.removeprefix(mark)
    for _ in range(_MOST_LAST_MARKS):
        found = _LAST_MARK.search(text, max(0, len(text) - _LONGEST_MARK))
        if found is None:
            break
        text = text[: found.start()].rstrip()
    return text.lstrip()


def _is_visible(sign: str) -> bool:
    """Whether a character is neither a space nor invisible, as a zero-width space is."""
    return unicodedata.category(sign) not in _INVISIBLE
