"""When a title that is ordinary words ("It", "Up", "Her", "About Time") is meant as a title.

Titles of one word are ordinary when that word is (`ordinary.txt`), those of two or three words
when all are among the commonest words (`common.txt`); numbers and single letters count as such
words. An ordinary title is a mention only
1. with its year behind it in brackets, or
2. in quotation marks, or between * or _ as in Markdown, or
3. alone in an entry of a numbered or bulleted list, or
4. capitalised where a sentence does not ask for it: each of its words that is no number and no
   small word (of, the, and, ...) begins with a capital and is not written in capitals for
   emphasis; at least one of them has two letters or more and does not start a sentence; and the
   text as a whole is neither in capitals nor in title case (at least a quarter of its words
   begin in lower case). A pronoun or answer word ("It", "They", "Yes") must moreover follow a
   word in lower case and not be followed by one of the verbs and adverbs that pronouns take:
   people who write without full stops begin sentences with these.
"""

import re
from functools import cache, cached_property
from pathlib import Path

from recjury.knowledge.names import Word

MAX_ORDINARY_WORDS = 3
LOWER_CASE_SHARE = 0.25

_OPENING = "\"“‘'«„*_`"
_CLOSING = "\"”’'»“*_`"
_SENTENCE_START = re.compile(r"[.!?:;…\n][\s\"“‘'«(\[*_-]*$")
_LIST_ENTRY = re.compile(r"(?:^|\n)\s*(?:\d{1,3}\s*[.):]|[-•*–])\s*$")
_ENTRY_END = re.compile(r"\s*[.,;]?\s*(?:\n|$)")
_SMALL = frozenset("a an and as at but by for from in into of on or the to with".split())  # noqa: SIM905


@cache
def word_list(name: str) -> frozenset[str]:
    """The words of one of the two lists of this package, in lower case."""
    text = Path(__file__).with_name(f"{name}.txt").read_text("utf-8")
    return frozenset(line for line in text.splitlines() if line and line[0] != "#")


def is_ordinary(keys: list[str]) -> bool:
    """Whether a title of these words could stand in a sentence without being meant."""
    if len(keys) > MAX_ORDINARY_WORDS:
        return False
    known = word_list("ordinary" if len(keys) == 1 else "common")
    return all(key in known or key.isdigit() or len(key) == 1 for key in keys)


_PRONOUNS = frozenset(
    "he her him i it me no she that them they this to us we what who yes you".split()  # noqa: SIM905
)
_TAKEN_BY_PRONOUNS = frozenset(
    (  # noqa: SIM905
        "is was are were am be been has have had does did do will would can could should may might "
        "must looks looked sounds sounded seems seemed makes made really also just all never "
        "always s isnt wasnt doesnt didnt wont wouldnt cant im ive i it the a that"
    ).split()
)


def is_pronoun(key: str) -> bool:
    """Whether the word is one that begins a clause: "It's" is not something that It owns."""
    return key in _PRONOUNS


class Casing:
    """What the quotation marks and capitals of one text say about its words."""

    def __init__(self, text: str, found: list[Word]):
        """`found` are the words of `text`."""
        self._text = text
        self._words = found

    def is_title(self, first: int, length: int, spelling: str) -> bool:
        """Whether the `length` words from word `first` on are marked as the title `spelling`."""
        span = self._words[first : first + length]
        start, end = span[0].start, span[-1].end
        return (
            self._is_quoted(start, end)
            or self._is_list_entry(start, end)
            or (
                self._tells
                and self._is_capitalised(span, spelling)
                and not (length == 1 and is_pronoun(span[0].key) and self._begins_clause(first))
            )
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

    def _is_capitalised(self, span: list[Word], spelling: str) -> bool:
        telling = False
        for word in span:
            if word.text.isdigit() or (word.key in _SMALL and word is not span[0]):
                continue
            shouted = len(word.text) > 1 and word.text.isupper() and word.text not in spelling
            if shouted or not word.text[0].isupper():
                return False
            telling |= len(word.text) > 1 and not self._starts_sentence(word.start)
        return telling

    def _begins_clause(self, place: int) -> bool:
        before = self._words[place - 1] if place else None
        behind = self._words[place + 1] if place + 1 < len(self._words) else None
        return (before is None or not before.text[0].islower()) or (
            behind is not None and behind.key in _TAKEN_BY_PRONOUNS
        )

    def _starts_sentence(self, start: int) -> bool:
        before = self._text[max(0, start - 8) : start]
        return start == self._words[0].start or _SENTENCE_START.search(before) is not None

    @cached_property
    def _tells(self) -> bool:
        """Whether capitals carry a meaning in this text."""
        lower = sum(word.text[0].islower() for word in self._words)
        return lower >= LOWER_CASE_SHARE * len(self._words)
