"""The leak guard: whether a user gives a target away (CoRE, 6.4: "without directly revealing")."""

import functools
import re
from collections.abc import Collection, Iterable, Sequence

from rapidfuzz.distance import OSA

from recjury.corpora import Catalogue, Title, fold
from recjury.corpora.marks import SMALL
from recjury.corpora.words import ordinary_words, plain
from recjury.records import ItemRef

_NEUTRAL = "Could you suggest something along those lines?"
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
_SPELLED = re.compile(r"\b\w(?:\W+\w\b)+")


class LeakGuard:
    """Watches what a user says about targets; without any, nothing is a leak."""

    def __init__(self, targets: Sequence[ItemRef] = (), catalogue: Catalogue | None = None):
        """The `catalogue` knows the other items, and the values that only a target has."""
        self._targets, self._catalogue = tuple(targets), catalogue or Catalogue()
        self._values = {each.id: tuple(self._catalogue.own_values(each)) for each in targets}

    def withheld(self, *, may_name: Collection[str] = (), said: str = "") -> tuple[str, ...]:
        """The values that give a target away, without those that stand in `said`."""
        values = {v for id_, each in self._values.items() if id_ not in may_name for v in each}
        known = _folded(said)
        return tuple(sorted(value for value in values if not _has(known, value)))

    def leaks(
        self, text: str, *, may_name: Collection[str] = (), withheld: Iterable[str] = ()
    ) -> list[str]:
        """The targets that a text names, but those with an id in `may_name`, and values in it."""
        hidden = [target for target in self._targets if target.id not in may_name]
        titles = [each.name for each in hidden if self._names(text, each)]
        return titles + [value for value in withheld if _has(_folded(text), value)]

    def cut(
        self, text: str, *, may_name: Collection[str] = (), withheld: Iterable[str] = ()
    ) -> str:
        """The sentences without leaks; a neutral one if none is left."""
        leaks = functools.partial(self.leaks, may_name=may_name, withheld=withheld)
        kept = " ".join(part for part in _SENTENCE_END.split(text) if not leaks(part))
        return kept if kept and not leaks(kept) else _NEUTRAL

    def _names(self, text: str, target: ItemRef) -> bool:
        """Whether a text names a target, and not an item with a name like it."""
        if not names_title(text, target.name):
            return False
        return names_title(self._catalogue.without_others(text, target), target.name)


def names_title(text: str, name: str) -> bool:
    """Whether a text names an item, also in part (before a colon, without a sequel's number).

    One letter may differ from five letters on, two from ten; a title with another number is another
    one, and so is one that goes on. A name of ordinary words ("It", "Up") counts only where it is
    written as a title.
    """
    title, text = _title(name), plain(text)
    for other in title.other_names(text):
        text = text.replace(other, " ")
    words = _folded(text).split()
    return any(
        _is_marked(alias, str(title.year or "(?!)"), text)
        if _is_ordinary(alias)
        else _is_near(alias, words)
        for alias in filter(None, map(_folded, title.short_names))
    )


_title = functools.lru_cache(1024)(Title)


def _is_marked(alias: str, year: str, text: str) -> bool:
    """Whether an alias is quoted, dated, asked for, capitalised, or all that is said."""
    words, gap = alias.split(), r"\W*"
    title = gap.join(map(re.escape, words))
    marks = (
        rf"(?<!\w)[\"'“‘*_#]\s*(?:the )?{title}\b|\b{title}\W*(?:from )?\(?{year}"
        rf"|\b{year} (?:movie|film) {title}\b"
        rf"|\b(?:called|titled|watch(?:ed)?|seen) (?:the )?{title}\s*(?:$|[.!?,])"
        rf"|(?:^|[.!?])\W*{title}\W*$"
    )
    written = (f"(?i:{w})" if w in SMALL and n else w.capitalize() for n, w in enumerate(words))
    capital = rf"(?<=[a-z,] )(?:The )?{gap.join(written)}\b"
    has_none = alias.isdigit() or alias.endswith("day")  # "21"; "Friday" has one in any sentence
    return bool(
        re.search(marks, text, re.IGNORECASE) or (not has_none and re.search(capital, text))
    )


def _is_near(alias: str, words: list[str]) -> bool:
    """Whether some words in a row are the alias, but for a letter or two."""
    count, letters = len(alias.split()), alias.replace(" ", "")
    limit = 0 if len(alias) < 5 else 1 if len(alias) < 10 else 2
    for length in {count - 1, count, count + 1} - {0}:
        for start in range(len(words) - length + 1):
            run = " ".join(words[start : start + length])
            distance = OSA.distance(letters, run.replace(" ", ""), score_cutoff=limit)
            is_near = distance <= limit and not _is_other_model(run, alias)
            if run == alias or (is_near and not _is_ordinary(run)):
                return True
    return False


def _is_other_model(name: str, alias: str) -> bool:
    """Whether only the numbers of two names differ ("Pixel 7" and "Pixel 8")."""
    words, others = (re.sub(r"[\d ]", "", each) for each in (name, alias))
    numbers, known = (re.findall(r"\d+", each) for each in (name, alias))
    return words == others and bool(known) and numbers != known


def _is_ordinary(words: str) -> bool:
    known = ordinary_words("talk")
    return len(words) < 3 or all(
        len(word) == 1 or word.isdigit() or word in known for word in words.split()
    )


def _has(folded: str, value: str) -> bool:
    return f" {_folded(value)} " in f" {folded} "


@functools.lru_cache(1024)  # the names and values of a target are folded at every turn
def _folded(text: str) -> str:
    """The text as names are compared; CamelCase apart, s p e l l e d together."""
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", plain(text))
    return fold(_SPELLED.sub(lambda found: re.sub(r"\W", "", found[0]), apart))
