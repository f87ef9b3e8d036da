"""How a text marks titles: quotation marks, lists, capitals, and where a name begins and ends."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property

from recjury.corpora.words import Word, is_common

_OPENING, _CLOSING = "\"“‘'«„*_`", "\"”’'»“*_`"
_LIST_ENTRY = re.compile(r"(?:^|\n)\s*(?:\d{1,3}\s*[.):]|[-*•–])\s*[\"“'*_]*$")
_ENTRY_END = re.compile(r"[\"”'*_]*\s*(?:$|\n|[-–—:(,.;!?])")
_SENTENCE_END = re.compile(r"[.!?;\n](?:\s|$)|\n")
SMALL = frozenset("a an and as at but by for from in into of on or the to with".split())  # noqa: SIM905
_NO_NOUNS = frozenset("a an any every her his its my our some their your on".split())  # noqa: SIM905
_OPENERS = frozenset(
    (  # noqa: SIM905
        "always awesome beautiful classic cool enjoy enjoyed enough good great hello hope love "
        "loved may maybe never nice now ok okay please sure take thanks then well what wow yes"
    ).split()
)
_OFFERS = frozenset({"see", "try", "watch", "read", "seen", "consider"})
_PRONOUNS = frozenset(
    "he her him i it me no she that them they this to us we what who yes you".split()  # noqa: SIM905
)
_BEHIND_PRONOUN = frozenset("also and as because but by from last on or too when with yet".split())  # noqa: SIM905
_LOWER_SHARE = 0.25  # of the words: in a text with fewer in lower case, capitals say nothing
_FEW = 3
_DATED = re.compile(
    r"(?:[:,]? | ?[-–] ?)(?:(?:[A-Z0-9][\w'’.]*|of|the|in|and|a|to|for|&)(?:[:,]? |-))+"
    r"[(\[](?:18|19|20)\d\d[)\]]"
)
_IN_BRACKETS = re.compile(r"[.!?\"”*_]* ?\((?:18|19|20)\d\d\)")
_LINKED = re.compile(r" (?:of |of the |in the )?(?=[A-Z0-9])|-(?=[A-Z])")


class Marks:
    """One text, its words, and what its signs and capitals say of them."""

    def __init__(self, text: str, words: Sequence[Word]):
        """`words` are those of the text."""
        self.text, self.words = text, words

    def breaks(self, start: int, end: int) -> bool:
        """Whether a sentence ends between two of these words."""
        begin, last = self.words[start], self.words[end - 1]
        return _SENTENCE_END.search(self.text, begin.end, last.start + 1) is not None

    def is_set_off(self, start: int, end: int) -> bool:
        """Whether words stand between quotation marks, or alone in an entry of a list."""
        first, last = self.words[start].start, self.words[end - 1].end
        if start and self.words[start - 1].key in ("the", "a", "an"):
            first = self.words[start - 1].start
        before = self.text[max(0, first - 1) : first]
        behind = self.text[last : last + 2].lstrip(".,!?")[:1]
        is_quoted = before and behind and before in _OPENING and behind in _CLOSING
        is_entry = _LIST_ENTRY.search(self.text[max(0, first - 12) : first])
        return bool(is_quoted or (is_entry and _ENTRY_END.match(self.text, last)))

    def is_title(self, start: int, end: int) -> bool:
        """Whether ordinary words are written as a title: set off, all there is, or in capitals."""
        span = self.words[start:end]
        if self.is_set_off(start, end) or self._is_all(span):
            return True
        if not self._has_sense or not self._is_capitalised(span):
            return False
        return len(span) > 1 or not self._has_other_reason(start)

    def _is_all(self, span: Sequence[Word]) -> bool:
        """Whether the text is nothing but these words, with a capital."""
        opens = len(span) == 1 and span[0].key in _OPENERS | _PRONOUNS
        return len(span) == len(self.words) and span[0].text[0].isupper() and not opens

    def begins_earlier(self, start: int, end: int) -> bool:
        """Whether a capital before a single word makes it the end of a longer name."""
        if end - start > 1 or not start or not self._has_sense:
            return False
        word, before = self.words[start], self.words[start - 1]
        return (
            word.text[0].isupper()
            and before.text[0].isupper()
            and before.key not in SMALL | _OPENERS | {"i"}
            and self.text[before.end : word.start] in (" ", "-")
            and not self._starts_sentence(before)
        )

    def goes_on_until(self, end: int) -> int:
        """The word at which the name that ends here ends in truth, by capitals and years."""
        at = self.words[end - 1].end
        if dated := _DATED.match(self.text, at):
            return self._word_at(dated.end() - 6)
        linked = _LINKED.match(self.text, at) if self._has_sense else None
        if linked is None or not self.words[end - 1].text[0].isupper():
            return end
        after = self._word_at(linked.end())
        is_direct = len(linked[0]) == 1
        if after == len(self.words) or (is_direct and self._is_remark(self.words[after])):
            return end
        return after + 1

    def dated_names(self, known: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int, str]]:
        """First word, last word and text of names with a year in brackets, outside of `known`."""
        ends = {end for _, end in known}
        taken = {place for start, end in known for place in range(start, end)}
        for year, word in enumerate(self.words):
            if (
                year
                and year not in ends
                and _IN_BRACKETS.match(self.text, self.words[year - 1].end)
            ):
                start = year
                while start and start - 1 not in taken and self._is_of_name(start - 1):
                    start -= 1
                while start < year and self._only_leads(self.words[start]):
                    start += 1
                if start < year:
                    name = self.text[self.words[start].start : self.words[year - 1].end]
                    yield start, year, f"{name} ({word.text})"

    def _only_leads(self, word: Word) -> bool:
        """Whether a name does not begin with a word: "and", or "Try" at the head of a sentence."""
        if word.key in ("the", "a", "an"):
            return False
        return word.key in SMALL | _OPENERS | _OFFERS and not (
            word.text[0].isupper() and not self._starts_sentence(word)
        )

    def _is_of_name(self, place: int) -> bool:
        """Whether a word may be part of a name, together with the word behind it."""
        word, behind = self.words[place], self.words[place + 1]
        gap = self.text[word.end : behind.start]
        is_written_so = not word.text[0].islower() or word.key in SMALL
        return is_written_so and re.fullmatch(r":? |, |-| ?[-–] |[.!?*_\"”]* ?\(", gap) is not None

    def _is_remark(self, word: Word) -> bool:
        """Whether a capital behind a name begins a sentence, though no full stop says so."""
        return word.key in _PRONOUNS | _OPENERS or is_common(word.key)

    def _word_at(self, position: int) -> int:
        """The first word that does not end before a position."""
        return bisect_right(self.words, position, key=lambda word: word.end)

    def _is_capitalised(self, span: Sequence[Word]) -> bool:
        """Whether all words have capitals, and one of them where no sentence begins."""
        needed = [word for word in span if word is span[0] or word.key not in SMALL]
        needed = [word for word in needed if not word.text.isdigit()]
        shouted = any(len(word.text) > 1 and word.text.isupper() for word in needed)
        return (
            not shouted
            and all(word.text[0].isupper() for word in needed)
            and any(len(word.text) > 1 and not self._starts_sentence(word) for word in needed)
        )

    def _has_other_reason(self, place: int) -> bool:
        """Whether a single ordinary word may have its capital for another reason."""
        word, before = self.words[place], self.words[place - 1]
        gap = self.text[before.end : word.start] if place else "."
        if word.key in _OPENERS or before.key in _NO_NOUNS or ")" in gap:
            return True
        opens = before.text[0].islower() or self._starts_sentence(before)
        if not (opens or gap.strip() in (",", "&", "/")):
            return True
        if word.key not in _PRONOUNS or place + 1 == len(self.words):
            return False
        behind = self.words[place + 1]
        goes_on = self.text[word.end : behind.start].isspace()
        return goes_on and behind.key not in _BEHIND_PRONOUN

    def _starts_sentence(self, word: Word) -> bool:
        before = self.text[max(0, word.start - 8) : word.start].rstrip(" \t\"“‘'«([*_-")
        return not before or before[-1] in ".!?:;…\n"

    @cached_property
    def _has_sense(self) -> bool:
        """Whether capitals carry a meaning in this text."""
        letters = (word for word in self.words if not word.text[0].isdigit())
        inner = [word for word in letters if not self._starts_sentence(word)]
        lower = sum(word.text[0].islower() for word in inner)
        return len(inner) < _FEW or lower >= _LOWER_SHARE * len(inner)
