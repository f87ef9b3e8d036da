"""Finds the places where a text reveals a title."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from recjury.knowledge.folding import as_digits, fold
from recjury.knowledge.near_names import edit_distance
from recjury.knowledge.ordinary_words import is_ordinary_word
from recjury.knowledge.tokenizer import Token
from recjury.simulator.joined_text import JoinedText, WordSpan
from recjury.simulator.strict_marks import StrictMarks
from recjury.simulator.title_variants import Title, TitleVariant

People = Mapping[str, tuple[tuple[str, ...], ...]]

_INSIDE_A_WORD = 6
_TELLING_PIECE = 4
_LONG_ENOUGH = 10


class Span(NamedTuple):
    """The part of a folded text that gives a title away."""

    start: int
    end: int


class Detector:
    """Finds given titles in texts, in time linear in the text's length."""

    def __init__(self, titles: Sequence[Title], people: People):
        """`people` maps each lower-case word to the names of several words that contain it."""
        self._titles = titles
        self._people = people
        self._misspelt = _by_length(form for title in titles for form in title.forms)
        self._longest = max(self._misspelt, default=0)
        misspelt = [form for forms in self._misspelt.values() for form, _ in forms]
        self._most_words = 1 + max((len(form.words) for form in misspelt), default=0)
        self._initialisms = frozenset[str]().union(*(title.initialisms for title in titles))
        spoken = {form.spoken for title in titles for form in title.forms}
        said = {fold(" ".join(words)) for words in (*spoken, *(title.name for title in titles))}
        self.titles = frozenset(each for each in said if not each.replace(" ", "").isdigit())
        """The words of the titles; numbers are left out."""

    def spans(self, folded: str, asked: str) -> tuple[Span, ...]:
        """Every leak in `folded`, in text order. `asked` is the folded turn before it."""
        marked = StrictMarks(folded, asked=asked)
        plain = JoinedText(folded, in_digits=False)
        numbered = JoinedText(folded) if plain.has_numbers else plain
        found = {
            *self._as_spelled(numbered, plain, marked),
            *self._misspellings(plain, marked),
            *self._shortened(plain, folded),
        }
        return tuple(sorted(found))

    def _as_spelled(
        self, numbered: JoinedText, plain: JoinedText, marked: StrictMarks
    ) -> Iterator[Span]:
        """Titles spelled correctly, with number words and numerals as digits and as written."""
        for title in self._titles:
            for form in title.forms:
                searches = {(numbered, form.key), (plain, form.letters)}
                for reading, letters in searches:
                    for place in reading.places(letters):
                        if self._gives_away(reading, place, form, title.years, marked):
                            yield _span(reading, place)

    def _gives_away(
        self,
        reading: JoinedText,
        place: WordSpan,
        form: TitleVariant,
        years: frozenset[str],
        marked: StrictMarks,
    ) -> bool:
        found = reading.found(place)
        if not place.fills:
            inside = found[0].run == found[-1].run and len(form.letters) >= _INSIDE_A_WORD
            return form.strong and inside and not is_ordinary_word(reading.run(place.first))
        if self._is_person(reading, place):
            return marked.is_quoted(found[0].start, found[-1].end)
        if [as_digits(word.key) for word in found] != [as_digits(word) for word in form.words]:
            return _is_disguise(form, found, marked)
        if form.strong:
            return True
        stands_free = not reading.is_glued(place) or marked.in_hashtag(found[0].start)
        return stands_free and marked.is_title(found, form, years)

    def _misspellings(self, reading: JoinedText, marked: StrictMarks) -> Iterator[Span]:
        """Runs of words that become a form after a few edits.

        One edit adds at most one new letter to the set of letters. The check on these sets rejects
        most runs before the edit distance is computed.
        """
        distance = cache(edit_distance)
        for place, joined, held in self._runs(reading):
            for form, needed in self._misspelt.get(len(joined), ()):
                if (needed & ~held).bit_count() > form.typos:
                    continue
                edits = distance(form.letters, joined, form.typos)
                if 0 < edits <= form.typos and self._is_misspelt(
                    reading, place, form, edits, marked
                ):
                    yield _span(reading, place)

    def _runs(self, reading: JoinedText) -> Iterator[tuple[WordSpan, str, int]]:
        """Runs of words that may be misspelt: their span, joined text and set of letters."""
        keys, signs = reading.keys, [_signs(key) for key in reading.keys]
        for first in range(len(keys)):
            joined, held = "", 0
            for last in range(first, min(first + self._most_words, len(keys))):
                joined += keys[last]
                held |= signs[last]
                if len(joined) > self._longest:
                    break
                yield WordSpan(first, last, True), joined, held

    def _is_misspelt(
        self,
        reading: JoinedText,
        place: WordSpan,
        form: TitleVariant,
        edits: int,
        marked: StrictMarks,
    ) -> bool:
        """Whether words that are this close to a form are a misspelling of it, not other words."""
        found = reading.found(place)
        letters = "".join(word.key for word in found)
        if self._is_person(reading, place) or _digits(form.letters) != _digits(letters):
            return False
        talk = all(is_ordinary_word(word.key) for word in found)
        if not form.strong:
            begins = found if marked.has_space(found) else found[:1]  # "Fr*zen"
            return not talk and edits == 1 and marked.is_capitalised(begins)
        if not talk or len(form.words) == 1:
            return not talk
        long = edits == 1 and len(form.letters) >= _LONG_ENOUGH
        return long or marked.is_capitalised(found)

    def _shortened(self, reading: JoinedText, folded: str) -> Iterator[Span]:
        for word in reading.words if self._initialisms else ():
            if folded[word.start : word.end] in self._initialisms:
                yield Span(word.start, word.end)

    def _is_person(self, reading: JoinedText, place: WordSpan) -> bool:
        """Whether a single word is part of a known person's full name."""
        if place.first != place.last:
            return False
        names = self._people.get(reading.words[place.first].key, ())
        return reading.follows(names, place.first)


def own_spans(title: Title, folded: str) -> tuple[Span, ...]:
    """Where a text contains this title in any of its forms, whether meant as a title or not."""
    reading = JoinedText(folded)
    return tuple(
        _span(reading, place)
        for form in title.forms
        for place in reading.places(form.key)
        if place.fills
    )


def _is_disguise(form: TitleVariant, found: list[Token], marked: StrictMarks) -> bool:
    """Whether other words or letters that together spell `form` do so on purpose."""
    if marked.in_hashtag(found[0].start):
        return True
    if len(found) == 1:
        return form.strong and not is_ordinary_word(found[0].key)
    if found[0].run == found[-1].run and len(form.words) == 1 and form.words[0].isalpha():
        return True  # "fRoZen"
    if all(len(word.key) == 1 for word in found):
        return form.strong or not marked.abbreviates(found)
    if not all(is_ordinary_word(word.key) and len(word.key) > 1 for word in found):
        return form.strong or len(form.letters) >= _TELLING_PIECE
    if form.strong and len(form.words) > 1:
        return True
    if not marked.has_space(found):
        return len(form.letters) >= _TELLING_PIECE
    shortest = min(len(word.key) for word in found)
    return marked.is_capitalised(found) or (form.strong and shortest >= _TELLING_PIECE)


def _span(reading: JoinedText, place: WordSpan) -> Span:
    return Span(reading.words[place.first].start, reading.words[place.last].end)


def _digits(text: str) -> str:
    return "".join(sign for sign in text if sign.isdigit())


def _signs(text: str) -> int:
    """The letters and digits that occur in `text`, as a set of bits."""
    bits = 0
    for sign in set(text):
        bits |= 1 << (ord(sign) & 63)
    return bits


def _by_length(forms: Iterable[TitleVariant]) -> dict[int, list[tuple[TitleVariant, int]]]:
    """Forms that may be misspelt, with their sets of letters, by the length of a misspelling."""
    index: dict[int, list[tuple[TitleVariant, int]]] = {}
    for form in forms:
        for length in range(len(form.letters) - form.typos, len(form.letters) + form.typos + 1):
            if form.typos:
                index.setdefault(length, []).append((form, _signs(form.letters)))
    return index
