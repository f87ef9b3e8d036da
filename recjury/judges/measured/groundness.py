"""Groundness: the number of claims about films that contradict the catalogue."""

import re

from recjury.judges.measured.anchors import (
    Occurrence,
    Outcome,
    counted,
    from_errors,
    from_share,
    join_first,
    not_applicable,
    score_of,
)
from recjury.judges.measured.annotated_log import AnnotatedLog
from recjury.judges.measured.claims import Claim, claims
from recjury.judges.measured.genres import excluded
from recjury.knowledge import Catalogue, TitleMention, fold
from recjury.records import Item

# Catalogues often name at most three directors, writers or stars of a film. Therefore a list of
# three names, and a cast of fewer than four, may be incomplete.
_MAY_GO_ON = 3
_FULL_CAST = 4
_YEARS_APART = 1
_YEAR_IN_NAME = re.compile(r"^(.{1,100}?)\s{0,3}\(((?:18|19|20)\d\d)\)$")


def is_supported(claim: Claim, item: Item) -> bool | None:
    """Whether the catalogue confirms the claim; None if it cannot decide."""
    if claim.kind == "year":
        return None if item.year is None else abs(int(claim.value) - item.year) <= _YEARS_APART
    if claim.kind == "decade":
        first = int(claim.value[:4])
        return None if item.year is None else first - 1 <= item.year <= first + 10
    if claim.kind == "genre":
        return _is_a(claim.value.split(), item)
    people = {
        "director": item.directors,
        "writer": item.writers,
        "actor": item.actors,
    }[claim.kind]
    named = claim.value.split(", ")
    if _among(named, people):
        return True
    if claim.kind == "actor":
        return False if len(set(people)) >= _FULL_CAST else None
    known = {_folded(name) for name in people}
    if not known or len(known) >= _MAY_GO_ON:
        return None
    if claim.kind == "writer" and _among(named, (*item.directors, *item.actors)):
        return None
    return False


def _is_a(genres: list[str], item: Item) -> bool | None:
    return None if not item.genres else not any(excluded(genre, item) for genre in genres)


def _among(named: list[str], people: tuple[str, ...]) -> bool:
    """Whether the surname of one of `named` is among `people`.

    Spellings of first names vary, and a catalogue may have only some of the people.
    """
    surnames = {_folded(name).split()[-1] for name in people}
    return any(_folded(name).split()[-1] in surnames for name in named)


def _folded(name: str) -> str:
    words = re.findall(r"\w+", fold(name))
    return " ".join(word for word in words if word not in {"jr", "sr"}) or "?"


def wrong_year(film: TitleMention, text: str, catalogue: Catalogue) -> str | None:
    """The error if the year after a title is not the catalogue's year; None without an error."""
    name = film.text
    if film.id is not None:
        behind = re.match(r"[\"”']?\s{0,2}\(((?:18|19|20)\d\d)\)", text[film.end : film.end + 12])
        name = f"{name} ({behind[1]})" if behind else name
    match = _YEAR_IN_NAME.match(name)
    if match is None:
        return None
    item = catalogue.item(film.id) if film.id is not None else catalogue.named(match[1])
    if item is None or item.year is None or abs(item.year - int(match[2])) <= _YEARS_APART:
        return None
    return f"{match[1]!r} is from {item.year}, not {match[2]}"


def groundness(annotated: AnnotatedLog) -> Outcome:
    """0 to 3 errors score 4, 3, 2, 1; four or more score 0; a repeated error counts once.

    The share of the right ones among the claims is scored, too, and the lower score counts.

    There is no score without a claim that the catalogue can decide: otherwise a system that says
    nothing would get the rubric's 4 for "no obvious error". A correct year after a title is not
    counted as a claim.
    """
    errors: dict[str, Occurrence] = {}
    right: set[Claim] = set()
    for turn in annotated.spoken:
        for film in turn.said.named:
            what = wrong_year(film, turn.utterance.text, annotated.catalogue)
            if what is not None:
                errors.setdefault(what, Occurrence(turn.number, what))
        for claim in claims(turn):
            item = annotated.catalogue.item(claim.film)
            holds = is_supported(claim, item)
            if holds:
                right.add(claim)
            elif holds is False:
                what = f"{item.name!r} {claim.kind} {claim.value!r}"
                errors.setdefault(what, Occurrence(turn.number, what))
    checked = len(errors) + len(right)
    if not checked:
        return not_applicable("no claim about a film that the catalogue can check")
    summary = f"{counted(len(errors), 'error')} in {counted(checked, 'checked claim')}"
    found = list(errors.values())
    return score_of(
        min(from_errors(len(found)), from_share(len(right), checked)),
        f"{summary}: {join_first(found)}" if found else summary,
    )
