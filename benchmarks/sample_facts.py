"""Hold the facts of the sample catalogue against two published item tables.

``python -m benchmarks.sample_facts [--data DIR] [--json]``

``DIR`` (default: the environment variable ``RECJURY_DATA``) holds ``ievalm/redial/id2info.json``
and ``ievalm/opendialkg/id2info.json``, the item metadata published with iEvaLM
(https://github.com/txy77/iEvaLM-CRS). A disagreement is not proof that the sample is wrong;
``docs/sample.md`` explains the ones that remain. Exit code 2 when the data cannot be found.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

FILMS = Path(__file__).resolve().parents[1] / "recjury" / "corpora" / "sample" / "films.jsonl"
STARS = {"redial": "star", "opendialkg": "actor"}
SOURCES = tuple(STARS)
FACTS = ("year", "directors", "actors", "genres")

# opendialkg mixes genres, topics and labels in one list; only these words are genres of ours.
GENRES = {
    "science fiction": "sci-fi",
    "crime fiction": "crime",
    "romance film": "romance",
    "romantic comedy": "romance",
    "action film": "action",
    "adventure film": "adventure",
    "war film": "war",
    "biographical film": "biography",
    "historical period drama": "history",
    "historical fiction": "history",
    "psychological thriller": "thriller",
    "black comedy": "comedy",
    "comedy-drama": "comedy",
    "documentary film": "documentary",
    "animated film": "animation",
    "horror film": "horror",
    "children's/family": "family",
    "family (film genre) #395": "family",
    "backstage musical": "musical",
}
GENRE_WORDS = (
    "action adventure animation biography comedy crime documentary drama family fantasy history "
    "horror music musical mystery romance sci-fi sport thriller war western"
)
PLAIN_GENRES = frozenset(GENRE_WORDS.split())


@dataclass(frozen=True)
class Film:
    """Facts of one film; text is folded, and an empty set or None means the fact is not stated."""

    title: str
    year: int | None
    directors: frozenset[str]
    actors: frozenset[str]
    genres: frozenset[str]


@dataclass(frozen=True)
class Disagreement:
    """One fact which the sample (``ours``) and a source (``theirs``) state differently."""

    source: str
    film: str
    fact: str
    ours: str
    theirs: str

    def __str__(self) -> str:
        return f"{self.source}: {self.film}: {self.fact}: ours {self.ours}, theirs {self.theirs}"


@dataclass
class Tally:
    """What was compared with one source; both dictionaries count films per fact."""

    found: int = 0
    checked: dict[str, int] = field(default_factory=lambda: dict.fromkeys(FACTS, 0))
    agreed: dict[str, int] = field(default_factory=lambda: dict.fromkeys(FACTS, 0))


def fold(text: str) -> str:
    """Text without accents, case, punctuation and doubled spaces, so that spellings meet."""
    plain = text.replace("ł", "l").replace("&", " and ")
    bare = "".join(c for c in unicodedata.normalize("NFKD", plain) if not unicodedata.combining(c))
    return " ".join(re.sub(r"[^\w\s]", " ", bare.casefold()).split())


def person(name: str) -> str:
    """A name as its sorted parts, since sources disagree on which name comes first."""
    return " ".join(sorted(fold(name).split()))


def genres(words: Sequence[str]) -> frozenset[str]:
    """The genre words that mean one of ours; topics and labels are dropped."""
    mapped = (GENRES.get(word.casefold(), word.casefold()) for word in words)
    return frozenset(word for word in mapped if word in PLAIN_GENRES)


@cache
def sample_films() -> tuple[Film, ...]:
    """Every film of the sample catalogue."""
    rows = [json.loads(line) for line in FILMS.read_text(encoding="utf-8").splitlines()]
    return tuple(film(row["title"], row["year"], row, actors="actors", prefix="s") for row in rows)


def film(title: str, year: int | None, row: dict[str, Any], *, actors: str, prefix: str) -> Film:
    """A film from a record whose director and genre keys may carry a plural ``prefix``."""
    return Film(
        title=title,
        year=year,
        directors=frozenset(map(person, row.get("director" + prefix) or ())),
        actors=frozenset(map(person, row.get(actors) or ())),
        genres=genres(row.get("genre" + prefix) or ()),
    )


def source_films(data: Path, source: str) -> dict[str, list[Film]]:
    """Films of one source by folded title; several may share a title."""
    path = data / "ievalm" / source / "id2info.json"
    films: dict[str, list[Film]] = {}
    for row in json.loads(path.read_text(encoding="utf-8")).values():
        title, year = row["name"], row.get("year")
        if named := re.fullmatch(r"(.*?)\s*\((\d{4})\)", title):
            title, year = named.groups()
        known = film(title, int(year) if year else None, row, actors=STARS[source], prefix="")
        films.setdefault(fold(title), []).append(known)
    return films


def unclaimed(ours: Film, candidates: Sequence[Film]) -> list[Film]:
    """The candidates without those that are, by their year, another sample film of this title."""
    namesakes = {
        other.year
        for other in sample_films()
        if fold(other.title) == fold(ours.title) and other.year != ours.year
    }
    return [theirs for theirs in candidates if theirs.year not in namesakes]


def same_film(ours: Film, candidates: Sequence[Film]) -> Film | None:
    """The candidate that is the same work: by director, or by year where no director is given.

    A title alone does not do, since remakes and novels share it. A candidate without any shared
    director still counts when the year is close and an actor is shared, so that a wrong director
    can show.
    """
    for theirs in candidates:
        if ours.directors & theirs.directors and close(ours, theirs, years=12):
            return theirs
    for theirs in candidates:
        if close(ours, theirs, years=2) and (ours.actors & theirs.actors):
            return theirs
    for theirs in candidates:
        if not theirs.directors and not theirs.actors and theirs.year == ours.year:
            return theirs
    return None


def retitled(ours: Film, films: dict[str, list[Film]]) -> Film | None:
    """The one film of this year, director and an actor under a longer or shorter title."""
    title = fold(ours.title)
    for known, candidates in films.items():
        if not (known.startswith(title + " ") or title.startswith(known + " ")):
            continue
        for theirs in candidates:
            shared = ours.directors & theirs.directors and ours.actors & theirs.actors
            if shared and theirs.year == ours.year:
                return theirs
    return None


def close(ours: Film, theirs: Film, *, years: int) -> bool:
    """Whether the two years are at most ``years`` apart; an unknown year is close to any."""
    if ours.year is None or theirs.year is None:
        return True
    return abs(ours.year - theirs.year) <= years


def compare(ours: Film, theirs: Film, source: str, tally: Tally) -> Iterator[Disagreement]:
    """Count each fact that both state, and yield those on which they differ."""
    name = f"{ours.title} ({ours.year})"
    for fact in FACTS:
        mine, other = getattr(ours, fact), getattr(theirs, fact)
        if not mine or not other:
            continue
        tally.checked[fact] += 1
        if agrees(fact, mine, other):
            tally.agreed[fact] += 1
        else:
            yield Disagreement(source, name, fact, shown(mine), shown(other))


def agrees(fact: str, mine: Any, other: Any) -> bool:
    """Years and directors must be equal; one shared actor and one shared genre are enough.

    The actor lists are short extracts on both sides, and genre words are a matter of taste.
    """
    if fact in ("year", "directors"):
        return bool(mine == other)
    return bool(mine & other)


def shown(value: int | frozenset[str]) -> str:
    """A fact as readable text."""
    return str(value) if isinstance(value, int) else ", ".join(sorted(value))


def check(data: Path) -> tuple[dict[str, Tally], list[Disagreement]]:
    """Compare the whole catalogue with each source."""
    tallies = {source: Tally() for source in SOURCES}
    differing: list[Disagreement] = []
    for source, tally in tallies.items():
        theirs = source_films(data, source)
        for ours in sample_films():
            named = unclaimed(ours, theirs.get(fold(ours.title), ()))
            if match := same_film(ours, named) or retitled(ours, theirs):
                tally.found += 1
                differing.extend(compare(ours, match, source, tally))
    return tallies, differing


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the disagreements and the counts; 0 when the check ran, 2 without its data."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sample_facts")
    parser.add_argument("--data", default=os.environ.get("RECJURY_DATA"), help="data folder")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args(arguments)
    missing = missing_data(options.data)
    if missing:
        print(missing, file=sys.stderr)
        return 2
    tallies, differing = check(Path(options.data))
    print(as_json(tallies, differing) if options.json else as_text(tallies, differing))
    return 0


def missing_data(data: str | None) -> str | None:
    """One line that says what is missing and what to do, or None."""
    if not data:
        return "no data folder: give --data DIR or set RECJURY_DATA"
    for source in SOURCES:
        path = Path(data) / "ievalm" / source / "id2info.json"
        if not path.is_file():
            return f"expected {path}, which does not exist: point --data at the data folder"
    return None


def as_json(tallies: dict[str, Tally], differing: Sequence[Disagreement]) -> str:
    """The result as one JSON object with the keys ``films``, ``sources`` and ``disagreements``."""
    return json.dumps(
        {
            "films": len(sample_films()),
            "sources": {source: vars(tally) for source, tally in tallies.items()},
            "disagreements": [vars(item) for item in differing],
        },
        ensure_ascii=False,
        indent=2,
    )


def as_text(tallies: dict[str, Tally], differing: Sequence[Disagreement]) -> str:
    """The disagreements one a line, then one line of counts per source."""
    lines = [str(item) for item in differing]
    for source, tally in tallies.items():
        facts = ", ".join(f"{fact} {tally.agreed[fact]}/{tally.checked[fact]}" for fact in FACTS)
        lines.append(f"{source}: {tally.found} of {len(sample_films())} films found; {facts}")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
