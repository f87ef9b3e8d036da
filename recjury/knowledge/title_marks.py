"""Decides when a title of ordinary words ("It", "Up", "Her", "About Time") is meant as a title.

A title of one word is ordinary if the word is in `ordinary.txt`. A title of two or three words is
ordinary if all of them are in `common.txt`. Numbers and single letters count as ordinary words. An
ordinary title is a mention only if it is
1. followed by its year in brackets, or
2. in quotation marks, or between * or _ as in Markdown, or
3. alone in an entry of a numbered or bulleted list, or
4. the whole text ("Up!"), or
5. capitalised although the sentence does not require it: each of its words, except numbers and
   small words (of, the, and, ...), begins with a capital and is not written in capitals for
   emphasis; at least one of them has two letters or more and does not start a sentence; and the
   text as a whole is neither in capitals nor in title case (at least a quarter of its words
   begin in lower case). People who omit full stops also begin sentences with capitals. Therefore
   a title of one word must follow a word in lower case (or a comma), must not follow an article
   or a similar word, must not have a capitalised neighbour that makes it part of a longer name,
   and must not be a word that opens a remark ("Hope", "Take", "Loved"). A title that is a pronoun
   must not be followed by a verb.
"""

import re
from functools import cached_property

from recjury.knowledge.ordinary_words import word_list
from recjury.knowledge.tokenizer import Token

LOWER_CASE_SHARE = 0.25

_OPENING = "\"“‘'«„*_`"
_CLOSING = "\"”’'»“*_`"
_ENDS = " .,!?"
_SENTENCE_START = re.compile(r"[.!?:;…\n][\s\"“‘'«(\[*_-]*$")
_LIST_ENTRY = re.compile(r"(?:^|\n)\s*(?:\d{1,3}\s*[.):]|[-•*–])\s*$")
_ENTRY_END = re.compile(r"\s*[.,;!?]?\s*(?:\n|$)")
_SMALL = frozenset("a an and as at but by for from in into of on or the to with".split())  # noqa: SIM905


# Words that open a remark, often with a capital and without a full stop before them.
_OPENERS = frozenset(
    (  # noqa: SIM905
        "always awesome beautiful classic cool enjoy enjoyed enough good great hello hope love "
        "loved may maybe never nice now ok okay please sure take thanks then well what wow yes"
    ).split()
)
# Words before a noun that is not a title: "a taxi driver", "my best friend".
_DETERMINERS = frozenset("a an any every her his its my our some their your".split())  # noqa: SIM905
_BEFORE_THINGS = _DETERMINERS | {"on"}
_NO_NAMES = _SMALL | {"i"}
_JOINTS = (" ", "-", ".")
_LISTING = (",", "&", "/")
_PRONOUNS = frozenset(
    "he her him i it me no she that them they this to us we what who yes you".split()  # noqa: SIM905
)
# Words that may follow a title that is a pronoun; an ordinary pronoun precedes a verb.
_BEHIND_TITLES = frozenset("also and as because but by from last on or too when with yet".split())  # noqa: SIM905


def is_pronoun(key: str) -> bool:
    """Whether the word is a pronoun: the "'s" of "It's" is not a possessive ending."""
    return key in _PRONOUNS


class TitleMarks:
    """The quotation marks and capitals of one text, as evidence for titles."""

    def __init__(self, text: str, found: list[Token]):
        """`found` are the words of `text`."""
        self._text = text
        self._words = found

    def is_title(self, first: int, length: int, spelling: str) -> bool:
        """Whether the `length` words from word `first` on are marked as the title `spelling`."""
        span = self._words[first : first + length]
        return (
            self.is_marked(first, length)
            or (
                self._tells
                and self._is_capitalised(span, spelling)
                and not (length == 1 and self._is_no_title(first))
            )
            or self._is_all(span, spelling)
        )

    def is_thing(self, first: int, length: int) -> bool:
        """Whether lower-case words have an article or a similar word, and so do not name a film."""
        span = self._words[max(0, first - 1) : first + length]
        has_article = any(word.key in _DETERMINERS for word in span[: 1 + (first > 0)])
        return has_article and not any(word.text[0].isupper() for word in span[-length:])

    def _is_all(self, span: list[Token], spelling: str) -> bool:
        """Whether the whole text is that title, including its capitals."""
        said = self._bare
        opens = len(span) == 1 and (span[0].key in _OPENERS or is_pronoun(span[0].key))
        return said == spelling.strip(_ENDS) and not opens and said[:1].isupper()

    def _is_no_title(self, place: int) -> bool:
        """Whether a single capitalised word is capitalised for another reason."""
        return (
            self._words[place].key in _OPENERS
            or (place > 0 and self._words[place - 1].key in _BEFORE_THINGS)
            or self._begins_clause(place)
            or bool(self.neighbours(place))
        )

    def is_marked(self, first: int, length: int) -> bool:
        """Whether the words are in quotation marks or alone in an entry of a list."""
        start, end = self._words[first].start, self._words[first + length - 1].end
        return self._is_quoted(start, end) or self._is_list_entry(start, end)

    def neighbours(self, place: int) -> tuple[int, ...]:
        """The indices of the capitalised neighbours that form a longer name with a word."""
        word = self._words[place]
        if not (self._tells and word.text[0].isupper()):
            return ()
        found = []
        before = self._words[place - 1] if place else None
        behind = self._words[place + 1] if place + 1 < len(self._words) else None
        if (
            before is not None
            and before.text[0].isupper()
            and before.key not in _NO_NAMES
            and self._text[before.end : word.start] in _JOINTS
            and not self._starts_sentence(before.start)
        ):
            found.append(place - 1)
        if (
            behind is not None
            and behind.text[0].isupper()
            and self._text[word.end : behind.start] in _JOINTS
            and behind.key not in word_list("name")
        ):
            found.append(place + 1)
        return tuple(found)

    def _is_quoted(self, start: int, end: int) -> bool:
        before = self._text[start - 1 : start]
        behind = self._text[end : end + 2].lstrip(".,!?")[:1]
        return bool(before and behind) and before in _OPENING and behind in _CLOSING

    def _is_list_entry(self, start: int, end: int) -> bool:
        before = self._text[max(0, start - 12) : start]
        if start > len(before):
            before = before[before.find("\n") :] if "\n" in before else "x" + before
        return bool(_LIST_ENTRY.search(before) and _ENTRY_END.match(self._text, end))

    def _is_capitalised(self, span: list[Token], spelling: str) -> bool:
        decisive = False
        for word in span:
            if word.text.isdigit() or (word.key in _SMALL and word is not span[0]):
                continue
            shouted = len(word.text) > 1 and word.text.isupper() and word.text not in spelling
            if shouted or not word.text[0].isupper():
                return False
            decisive |= len(word.text) > 1 and not self._starts_sentence(word.start)
        return decisive

    def _begins_clause(self, place: int) -> bool:
        """Whether a capitalised word may begin a clause, with or without a full stop before it."""
        word = self._words[place]
        before = self._words[place - 1] if place else None
        behind = self._words[place + 1] if place + 1 < len(self._words) else None
        if before is None:
            return True
        gap = self._text[before.end : word.start]
        listed = gap.strip() in _LISTING and not is_pronoun(word.key)
        if ")" in gap or not (before.text[0].islower() or listed):
            return True
        if not is_pronoun(word.key) or behind is None:
            return False
        goes_on = self._text[word.end : behind.start].isspace()
        return goes_on and behind.key not in _BEHIND_TITLES

    def _starts_sentence(self, start: int) -> bool:
        before = self._text[max(0, start - 8) : start]
        return start == self._words[0].start or _SENTENCE_START.search(before) is not None

    @cached_property
    def _bare(self) -> str:
        """The text without what may begin or end a sentence; stripped once, since it is a copy."""
        return self._text.strip(_ENDS)

    @cached_property
    def _tells(self) -> bool:
        """Whether capitals carry a meaning in this text."""
        lower = sum(word.text[0].islower() for word in self._words)
        return lower >= LOWER_CASE_SHARE * len(self._words)
