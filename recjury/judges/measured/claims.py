"""Checkable claims in a text: a film's director, writer, actors, year of release and genre.

A claim refers to the last film named before it in its sentence. If the sentence has only a pronoun
for the film, the claim refers to the last film named before the sentence. Genre claims and
pronouns in sentences about a person are ignored.
"""

import re
from bisect import bisect_right
from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

from recjury.judges.measured.annotated_log import AnnotatedTurn
from recjury.judges.measured.genres import NEIGHBOURS, canonical_genres
from recjury.judges.measured.text import word_set
from recjury.knowledge import TitleMention

_SENTENCE = re.compile(r"[^.!?\n]+|[.!?\n]")
_CUES = re.compile(
    r"\b(?:(?P<director>directed (?:by ){1,4}|director (?:is|was) )"
    r"|(?P<writer>written (?:by ){1,4})"
    r"|(?P<actor>starring |stars (?!in\b|as\b))"
    r"|(?P<year>(?:released|came out)(?: back)? in ))"
)
_NAME = re.compile(
    r"[A-Z][\w.'’-]{0,20}(?: (?:(?:de|del|van|von|da|la) )?[A-Z][\w.'’-]{0,20}){1,3}"
)
_LIST_SEPARATOR = re.compile(r" ?(?:, and|,|and|&) ")
_YEAR = re.compile(r"(?:18|19|20)\d\d(?!\d)")
_MAX_NAMES = 6
_COMPARISON = 30  # characters, more than the longest comparing words
_IS_A = re.compile(r"\b(?:is|was)(?: also| actually| really| definitely)? an? ((?:[a-z]+ ?){1,6})")
_PRONOUN = re.compile(
    r"\b(?:it|this(?: one)?|(?:the|this|that) (?:movie|film|book|one))\b", re.IGNORECASE
)
# "like Heat, it ...": what is said is said of the other film.
_COMPARED = re.compile(
    r"\b(?:like|as well as|similar to|than|besides) (?:the )?[\"“']?$", re.IGNORECASE
)
# Only at the beginning: "It is about a man who ..." is about a film.
_PERSON = re.compile(
    r"^\W*(?:\w+\W+){0,3}(?:he|she|him|her|who|they|actor|actress|author)\b", re.IGNORECASE
)
_PHRASE_ENDS = word_set(
    "about that which who with for of in by from to like as but on based where if you not so and "
    "or starring directed written because set featuring"
)
_WORKS = frozenset({"movie", "film", "flick", "classic", "book", "novel", "one", "series"})
# Words that also describe the topic of a film, not only its genre.
_LOOSE = frozenset({"family", "war", "action", "adventure", "fantasy", "crime", "mystery"})
_ENDS_A_KIND = frozenset(NEIGHBOURS)
_CLAIMED = _ENDS_A_KIND - _LOOSE
# "Ann Lee directed it", "Ann Lee and Bo Ray star in it": the names stand before these words.
_BEHIND = re.compile(
    r" (?:(?P<director>directed)|(?P<writer>wrote)|(?P<actor>is in|are in|stars? in)) it\b"
)
_NAMES_BEFORE = re.compile(rf"{_NAME.pattern}(?:(?:, and|,| and| &) {_NAME.pattern}){{0,5}}$")
_BEFORE_LONGEST = 200
_THIS_CENTURY = 2
_COUNTS_AS = re.compile(r"\bcounts as ((?:[\w-]{1,30}(?:, and |, | and | |\b)){1,8})")
_TENS = {"twenties": 2, "thirties": 3, "forties": 4, "fifties": 5, "sixties": 6, "seventies": 7}
_TENS |= {"eighties": 8, "nineties": 9}
_FROM_THE = re.compile(
    r"(?<!something )(?<!anything )(?<!one )(?<!ones )(?<!ms )(?<!es )(?<!not )\bfrom the "
    rf"(?:(?P<word>{'|'.join(_TENS)})|(?P<century>19|20)?(?P<tens>\d)0['’]?s)\b"
)


class Claim(NamedTuple):
    """`kind` is "director", "writer", "actor", "year" or "genre"; `film` is an item id.

    One phrase is one claim. In `value`, the genres of "romantic comedy" are separated by spaces,
    and the names of "stars A B and C D" by commas.
    """

    film: str
    kind: str
    value: str


def claims(turn: AnnotatedTurn) -> list[Claim]:
    """The claims of one system turn about films of the catalogue, in order."""
    text = turn.utterance.text
    previous = turn.earlier[-1] if turn.earlier else None
    found: list[Claim] = []
    named = deque(turn.said.named)
    for start, end in _sentences(text, turn.said.named):
        here: list[TitleMention] = []
        while named and named[0].start < end:
            here.append(named.popleft())
        outside = _outside(text, start, end, here)
        here = [film for film in here if not _is_compared(text, start, film)]
        about_person = _PERSON.search(outside) is not None
        refers = previous if _PRONOUN.search(outside) and not about_person else None
        for place, kind, value in _said(text, start, end, about_person=about_person):
            before = bisect_right(here, place, key=lambda film: film.end)
            film = here[before - 1].key if before else refers
            if film is not None and not film.startswith("?"):
                found.append(Claim(film, kind, value))
        if here:
            previous = here[-1].key
    return found


def _is_compared(text: str, start: int, film: TitleMention) -> bool:
    """Whether a film of the sentence that begins at `start` is only compared with another."""
    begin = max(start, film.start - _COMPARISON)
    return _COMPARED.search(text[begin : film.start]) is not None


def _sentences(text: str, named: tuple[TitleMention, ...]) -> Iterator[tuple[int, int]]:
    """The start and end of each sentence; punctuation inside a title does not end a sentence."""
    inside = deque((film.start, film.end) for film in named)
    start = position = 0
    for match in _SENTENCE.finditer(text):
        ends = match.group() in ".!?\n"
        while inside and inside[0][1] <= match.start():
            inside.popleft()
        initial = ends and match.start() > 1 and text[match.start() - 2 : match.start() - 1] == " "
        if ends and not initial and not (inside and inside[0][0] <= match.start()):
            yield start, match.end()
            start = match.end()
        position = match.end()
    if start < position:
        yield start, position


def _outside(text: str, start: int, end: int, named: list[TitleMention]) -> str:
    """The sentence without its titles."""
    pieces: list[str] = []
    for film in named:
        pieces.append(text[start : film.start])
        start = film.end
    return " ".join((*pieces, text[start:end]))


def _said(text: str, start: int, end: int, *, about_person: bool) -> Iterator[tuple[int, str, str]]:
    for match in _CUES.finditer(text, start, end):
        kind = match.lastgroup
        if kind == "year":
            year = _YEAR.match(text, match.end(), end)
            if year is not None:
                yield match.start(), "year", year.group()
        elif kind is not None:
            names = ", ".join(_names(text, match.end(), end))
            if names:
                yield match.start(), kind, names
    yield from _said_of_it(text, start, end)
    if not about_person:
        for match in _IS_A.finditer(text, start, end):
            genres = _genres(match[1])
            if genres:
                yield match.start(), "genre", " ".join(genres)


def _said_of_it(text: str, start: int, end: int) -> Iterator[tuple[int, str, str]]:
    """The claims whose value stands before the verb, and those of a decade or of several genres."""
    for match in _BEHIND.finditer(text, start, end):
        begin = max(start, match.start() - _BEFORE_LONGEST)
        names = _NAMES_BEFORE.search(text[begin : match.start()])
        if names is not None and match.lastgroup is not None:
            yield begin + names.start(), match.lastgroup, ", ".join(_names(names.group(), 0, 999))
    for match in _FROM_THE.finditer(text, start, end):
        tens = _TENS[match["word"]] if match["word"] else int(match["tens"])
        if tens == _THIS_CENTURY and not match["century"] and not match["word"]:
            continue  # "the 20s" may be these or those
        century = match["century"] or ("20" if tens < _THIS_CENTURY else "19")
        yield match.start(), "decade", f"{century}{tens}0s"
    for match in _COUNTS_AS.finditer(text, start, end):
        words = match[1].replace(",", " ").lower().split()
        genres = sorted({genre for word in words for genre in canonical_genres(word) & _CLAIMED})
        if genres:
            yield match.start(), "genre", " ".join(genres)


def _names(text: str, position: int, end: int) -> Iterator[str]:
    for _ in range(_MAX_NAMES):
        name = _NAME.match(text, position, end)
        if name is None:
            return
        yield name.group().removesuffix("'s").removesuffix("’s").rstrip(".,'’-")
        separator = _LIST_SEPARATOR.match(text, name.end(), end)
        if separator is None:
            return
        position = separator.end()


def _genres(phrase: str) -> list[str]:
    """The genres in a phrase that ends with a genre or a work: "great romantic comedy movie"."""
    words: list[str] = []
    for word in phrase.split():
        if word in _PHRASE_ENDS:
            break
        words.append(word)
    if not words or not (words[-1] in _WORKS or canonical_genres(words[-1]) & _ENDS_A_KIND):
        return []
    return sorted({genre for word in words for genre in canonical_genres(word) & _CLAIMED})
