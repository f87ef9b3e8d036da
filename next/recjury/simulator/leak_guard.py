"""The leak guard: whether a text names a target, or says what only a target has.

CoRE, 6.4: the user describes the target "without directly revealing" it. A title counts with one
letter changed from five letters on and two from ten; a title of ordinary words ("It", "Up") counts
only where it is written or asked for as a title.
"""

import functools
import html
import re
import unicodedata
from collections.abc import Callable, Collection, Iterable
from importlib import resources

from rapidfuzz.distance import OSA

from recjury.records import ItemRef

Values = Callable[[ItemRef], Iterable[str]]
"""The attribute values that only this item has, as `Catalogue.own_values` returns them."""

_NEUTRAL = "Could you suggest something along those lines?"
_YEAR = re.compile(r"\s*\((?P<year>(?:18|19|20)\d\d)\)\s*$")
_ARTICLE = re.compile(r"^(?:the|a|an)\s+", re.IGNORECASE)
_ARTICLE_LAST = re.compile(r"^(.*), (?:the|a|an)$", re.IGNORECASE)
_SEQUEL = re.compile(r"\s+(?:\d|ii|iii|iv|v|vi)$", re.IGNORECASE)
_SUBTITLE = re.compile(r"\s*:\s+|\s+[-–—]\s+")
_SPELLED = re.compile(r"\b\w(?:\W+\w\b)+")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")


class LeakGuard:
    """Watches what a user says about the targets. Without targets, nothing is a leak."""

    def __init__(self, targets: Iterable[ItemRef] = (), values: Values = lambda _: ()):
        """`values` returns what only a target has; it is told by `withheld`."""
        self._titles = {target.id: (target, _Watched(target.name)) for target in targets}
        self._values = {id_: tuple(values(each)) for id_, (each, _) in self._titles.items()}

    def leaks(
        self, text: str, *, may_name: Collection[str] = (), withheld: Iterable[str] = ()
    ) -> list[str]:
        """The names of the targets that a text gives away, and the `withheld` values in it.

        `may_name` are the ids of the targets that may be named.
        """
        titles = [
            target.name
            for id_, (target, title) in self._titles.items()
            if id_ not in may_name and title.in_text(text)
        ]
        return titles + [value for value in withheld if says(text, value)]

    def withheld(self, *, may_name: Collection[str] = (), said: str = "") -> tuple[str, ...]:
        """The values that only targets have which may not be named, without those in `said`."""
        values = {v for id_, each in self._values.items() if id_ not in may_name for v in each}
        return tuple(sorted(value for value in values if not says(said, value)))

    def cut(
        self, text: str, *, may_name: Collection[str] = (), withheld: Iterable[str] = ()
    ) -> str:
        """The sentences without leaks; a neutral one if none is left."""

        def clean(part: str) -> bool:
            return not self.leaks(part, may_name=may_name, withheld=withheld)

        kept = " ".join(filter(clean, _SENTENCE_END.split(text)))
        return kept if kept and clean(kept) else _NEUTRAL


def says(text: str, value: str) -> bool:
    """Whether a text has all words of a value, in a row."""
    return f" {_folded(value)} " in f" {_folded(text)} "


class _Watched:
    """A title, and what it may be shortened to."""

    def __init__(self, name: str):
        year = _YEAR.search(name)
        self._year = year["year"] if year else "-"
        self._has_article = _ARTICLE.match(name) is not None
        self._aliases = _aliases(_YEAR.sub("", name))

    def in_text(self, text: str) -> bool:
        words = _folded(text).split()
        return any(
            self._marked(alias, text) if _is_ordinary(alias) else _resembles(alias, words)
            for alias in self._aliases
        )

    def _marked(self, alias: str, text: str) -> bool:
        """Whether it is written as a title: quoted, dated, capitalised, or all that is said."""
        title = r"\W*".join(map(re.escape, alias.split()))
        marks = (
            rf"[\"'“‘*_#]\s*(?:the )?{title}\b|\b{title}\W*(?:from )?\(?{self._year}"
            rf"|\b{self._year} (?:movie|film) {title}\b"
            rf"|\b(?:called|titled|watch(?:ed)?|seen) (?:the )?{title}\s*(?:$|[.!?,])"
            rf"|(?:^|[.!?])\W*{title}\W*$"
        )
        capital = rf"(?<=[a-z,] )(?:The )?{title.title()}\b"
        is_plain = alias.isdigit() or alias.endswith("day")  # "21", "Friday"
        return bool(
            re.search(marks, text, re.IGNORECASE) or (not is_plain and re.search(capital, text))
        )


def _aliases(name: str) -> frozenset[str]:
    bare = _ARTICLE.sub("", _ARTICLE_LAST.sub(r"\1", name))
    head, *tail = _SUBTITLE.split(bare)
    parts = [_ARTICLE.sub("", part) for part in tail if len(part.split()) > 2]
    return frozenset(filter(None, map(_folded, (bare, head, _SEQUEL.sub("", head), *parts))))


def _resembles(alias: str, words: list[str]) -> bool:
    """Whether some words in a row are the alias, but for a letter or two."""
    count, letters = len(alias.split()), alias.replace(" ", "")
    limit = 0 if len(alias) < 5 else 1 if len(alias) < 10 else 2
    for length in {count - 1, count, count + 1} - {0}:
        for start in range(len(words) - length + 1):
            run = " ".join(words[start : start + length])
            distance = OSA.distance(letters, run.replace(" ", ""), score_cutoff=limit)
            if run == alias or (distance <= limit and not _is_ordinary(run)):
                return True
    return False


def _is_ordinary(words: str) -> bool:
    known = _ordinary_words()
    return len(words) < 3 or all(
        len(word) == 1 or word.isdigit() or word in known for word in words.split()
    )


def _folded(text: str) -> str:
    """Letters and digits in lower case without accents; CamelCase apart, s p e l l e d together."""
    plain = html.unescape(text).replace("'", "").replace("’", "").replace("&", " and ")
    plain = unicodedata.normalize("NFKD", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", plain))
    plain = "".join(sign for sign in plain if unicodedata.category(sign) not in ("Mn", "Cf"))
    plain = _SPELLED.sub(lambda found: re.sub(r"\W", "", found[0]), plain)
    return " ".join(re.findall(r"[^\W_]+", plain.casefold()))


@functools.cache
def _ordinary_words() -> frozenset[str]:
    file = resources.files("recjury.corpora").joinpath("ordinary.txt")
    entries = (line.split() for line in file.read_text("utf-8").splitlines() if line[:1] != "#")
    return frozenset(entry[0] for entry in entries if entry and entry[1:] in ([], ["talk"]))
