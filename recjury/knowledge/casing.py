"""When a title that is an ordinary word ("It", "Up", "Her", "Once") is meant as a title.

The rule, for titles of which every word is ordinary (`ordinary.txt`, a number, or one letter).
Such a title counts as a mention only
1. with its year behind it in brackets, or
2. in quotation marks, or between * or _ as in Markdown, or
3. alone in an entry of a numbered or bulleted list, or
4. capitalised where a sentence does not ask for it: each of its words that is not a small word
   (of, the, and, ...) begins with a capital, at least one of these stands elsewhere than at
   the start of a sentence and is longer than one letter, and the text is neither written in
   capitals nor in title case (at least a quarter of its words begin in lower case).
"""

import re
from functools import cache, cached_property
from pathlib import Path

from recjury.knowledge.names import Word

MAX_ORDINARY_WORDS = 3
LOWER_CASE_SHARE = 0.25

_OPENING = "\"“‘'«„*_`"
_CLOSING = "\"”’'»“*_`"
_SENTENCE_START = re.compile(r"(?:^|[.!?:;…\n])[\s\"“‘'«(\[*_-]*$")
_LIST_ENTRY = re.compile(r"(?:^|\n)\s*(?:\d{1,3}\s*[.):]|[-•*–])\s*$")
_ENTRY_END = re.compile(r"\s*[.,;]?\s*(?:\n|$)")
_SMALL = frozenset("a an and as at but by for from in into of on or the to with".split())  # noqa: SIM905


@cache
def ordinary_words() -> frozenset[str]:
    """Words that people use without meaning a title, in lower case."""
    text = Path(__file__).with_name("ordinary.txt").read_text("utf-8")
    return frozenset(line for line in text.splitlines() if line and line[0] != "#")


def is_ordinary(keys: list[str]) -> bool:
    """Whether a title of these words could stand in a sentence without being meant."""
    if len(keys) > MAX_ORDINARY_WORDS:
        return False
    known = ordinary_words()
    return all(key in known or key.isdigit() or len(key) == 1 for key in keys)


class Casing:
    """What the quotation marks and capitals of one text say about its words."""

    def __init__(self, text: str, found: list[Word]):
        """`found` are the words of `text`."""
        self._text = text
        self._words = found

    def is_title(self, first: int, length: int) -> bool:
        """Whether the `length` words from word `first` on are marked as a title."""
        span = self._words[first : first + length]
        start, end = span[0].start, span[-1].end
        return (
            self._is_quoted(start, end)
            or self._is_list_entry(start, end)
            or (self._tells and self._is_capitalised(span))
        )

    def _is_quoted(self, start: int, end: int) -> bool:
        before = self._text[start - 1 : start]
        behind = self._text[end : end + 2].lstrip(".,!?")[:1]
        return bool(before and behind) and before in _OPENING and behind in _CLOSING

    def _is_list_entry(self, start: int, end: int) -> bool:
        before = self._text[max(0, start - 12) : start]
        if start > len(before):
            before = before[before.find("\n") :] if "\n" in before else "x" + before
        return bool(_LIST_ENTRY.search(before) and _ENTRY_END.match(self._text, end))

    def _is_capitalised(self, span: list[Word]) -> bool:
        telling = False
        for word in span:
            if word.key in _SMALL and word is not span[0]:
                continue
            if not word.text[0].isupper():
                return False
            telling |= len(word.text) > 1 and not self._starts_sentence(word.start)
        return telling

    def _starts_sentence(self, start: int) -> bool:
        return _SENTENCE_START.search(self._text[max(0, start - 8) : start]) is not None or not (
            self._text[:start].strip()
        )

    @cached_property
    def _tells(self) -> bool:
        """Whether capitals carry a meaning in this text."""
        lower = sum(word.text[0].islower() for word in self._words)
        return lower >= LOWER_CASE_SHARE * len(self._words)
