"""What a user has said so far, as far as the catalogue has words for it."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from recjury.corpora import Catalogue, Domain, Title, fold
from recjury.corpora.titles import without_names
from recjury.corpora.words import phrases_in
from recjury.records import ItemRef, Turn

_CLAUSE = re.compile(r"[.!?;,:\n]+|\b(?:but|though|although)\b", re.IGNORECASE)
_REFUSES = frozenset(
    (  # noqa: SIM905
        "no not without dont doesnt didnt isnt arent wasnt cant wont hate hated dislike disliked "
        "nothing none avoid"
    ).split()
)
_SEEN = frozenset("already seen read heard tried had watched own".split())  # noqa: SIM905
_ASKS = re.compile(
    r"\bwhat(?: is|['’]?s) (?:it|this|that)\b|\b(?:more )?about (?:it|this|that)\b|\btell me\b"
    r"|\bwho\b|\bwhat (?:genre|year)\b|\bwhen\b|\bdo you know\b|\bhave you (?:seen|read|heard)\b"
    r"|\bsounds?\b|\bcurious\b|\bspecial\b",
    re.IGNORECASE,
)
_LIKENS = re.compile(r"\b(?:like|similar|as good as)\b", re.IGNORECASE)
_YEARS = re.compile(r"\b(?P<year>(?:18|19|20)\d\d)(?P<many>s?)\b|\b(?P<tens>[1-9]0)s\b")
_BEFORE = 5  # words before a value, in which it may be refused
_FADES = 0.7  # what was said a turn before counts so much less


@dataclass
class Wishes:
    """What a user wants. Weights are 1 for the last turn, and less for earlier ones.

    `wanted` and `unwanted` are folded values, `liked` ids of items that the user named, `known`
    ids of all that was named or listed, `rejected` of what the user has seen or does not want.
    `asked_about` is an item of the last turns, `words` what is left of the texts.
    """

    wanted: dict[str, float] = field(default_factory=dict)
    unwanted: set[str] = field(default_factory=set)
    liked: dict[str, float] = field(default_factory=dict)
    years: dict[range, float] = field(default_factory=dict)
    known: set[str] = field(default_factory=set)
    rejected: set[str] = field(default_factory=set)
    words: list[str] = field(default_factory=list)
    asked_about: str = ""
    refuses: bool = False

    @property
    def is_vague(self) -> bool:
        """Whether the user has told nothing that the catalogue has a word for."""
        return not (self.wanted or self.liked or self.years)


class Ears:
    """Hears values and items of a catalogue."""

    def __init__(self, catalogue: Catalogue, domain: Domain):
        """Values are heard also in the plural, but words for all items ("film") are none."""
        self._catalogue = catalogue
        self._values = {value: value for value in catalogue.values}
        for value in sorted(catalogue.values):
            for form in _forms(value):
                self._values.setdefault(form, value)
        for word in (*fold(f"{domain.item} {domain.items}").split(), "movie", "movies", ""):
            self._values.pop(word, None)

    def hear(self, turns: Sequence[Turn]) -> Wishes:
        """What the user's turns say, the last ones first in weight."""
        heard, offered = Wishes(), tuple[ItemRef, ...]()
        left = sum(turn.speaker == "user" for turn in turns)
        for turn in turns:
            named = self._catalogue.link(turn.text)
            if turn.speaker == "user":
                left -= 1
                self._take(heard, turn.text, named, offered, _FADES**left)
            else:
                offered = tuple({ref.id: ref for ref in (*named, *turn.items)}.values())
                heard.known.update(ref.id for ref in offered)
            heard.known.update(ref.id for ref in named)
        return heard

    def _take(
        self,
        heard: Wishes,
        text: str,
        named: Sequence[ItemRef],
        offered: Sequence[ItemRef],
        weight: float,
    ) -> None:
        """Add what one turn says, after the items that were offered right before it."""
        heard.asked_about, heard.refuses = "", False
        for clause in filter(str.strip, _CLAUSE.split(_without(text, named))):
            self._take_clause(heard, clause, weight)
        self._take_years(heard, text, weight)
        turned_down = self._turned_down(text, named)
        for ref in named:
            heard.liked.pop(ref.id, None)
            if ref.id not in turned_down:
                heard.liked[ref.id] = weight
        about, bare = named[-1:] or offered[:1], _without(text, named)
        if about and not turned_down and _ASKS.search(bare) and not _LIKENS.search(bare):
            heard.asked_about = about[0].id
            return
        heard.refuses = bool(turned_down) or (bool(offered) and _is_refusal(fold(bare).split()))
        is_about_all = heard.refuses and not named
        heard.rejected |= {ref.id for ref in offered} if is_about_all else turned_down

    def _take_clause(self, heard: Wishes, clause: str, weight: float) -> None:
        words = fold(clause).split()
        for start, end, form in phrases_in(clause, self._values):
            value = self._values[form]
            if _is_refusal(words[max(0, start - _BEFORE) : start]):
                heard.unwanted.add(value)
                heard.wanted.pop(value, None)
            else:
                heard.unwanted.discard(value)
                heard.wanted[value] = weight
            words[start:end] = [""] * (end - start)
        if not _is_refusal(words):
            heard.words += filter(None, words)

    def _take_years(self, heard: Wishes, text: str, weight: float) -> None:
        for found in _YEARS.finditer(re.sub(r"\((?:18|19|20)\d\d\)", "", text)):
            if found["tens"]:
                first = int(found["tens"]) + (1900 if found["tens"] > "20" else 2000)
                heard.years[range(first, first + 10)] = weight
            else:
                first = int(found["year"])
                heard.years[range(first, first + (10 if found["many"] else 1))] = weight

    def _turned_down(self, text: str, named: Sequence[ItemRef]) -> set[str]:
        """The items in clauses that refuse, or say that they are known."""
        clauses = [
            (clause, set(fold(_without(clause, named)).split()))
            for clause in _CLAUSE.split(text)
            if not _ASKS.search(clause)
        ]
        return {
            ref.id
            for ref in named
            for clause, words in clauses
            if words & (_REFUSES | _SEEN) and Title(ref.name).in_text(clause) is not None
        }


def _is_refusal(words: Iterable[str]) -> bool:
    return not _REFUSES.isdisjoint(words)


def _without(text: str, named: Iterable[ItemRef]) -> str:
    """The text without the names of items, which are no wishes."""
    return without_names(text, (ref.name for ref in named))


def _forms(value: str) -> Iterator[str]:
    """How people may say a value: "comedies" for "comedy", "scifi" for "sci fi"."""
    short = re.sub(r" (?:film|movie|fiction)$", "", value)
    for form in (value, short):
        yield form
        yield form.replace(" ", "")
        yield f"{form}s"
        if form.endswith("y"):
            yield f"{form[:-1]}ies"
