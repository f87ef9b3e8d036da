"""The ratings of a conversation as rows, and what they rest on as marks in the texts of turns."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, pairwise
from statistics import fmean
from typing import Any, NamedTuple

from recjury.records import (
    DEBATE,
    ConversationLog,
    Debate,
    Evidence,
    Finding,
    Metric,
    Rating,
    Status,
    Turn,
)
from recjury.results.metrics import Metrics

_QUOTE = re.compile(r'["“„«]([^"“”„«»]{12,400})["”“»]')
_CUT = re.compile(r"\.{3}|…|\[\.\.\.\]")
_EDGES = " \t\n.,;:!?"
_FEWEST = 12  # characters of a quote: shorter ones are titles, or chance
_MOST = 20  # quotes of one reason


class Mark(NamedTuple):
    """A part of a turn's text that a rating rests on. `turn` counts from 0, `end` is excluded."""

    turn: int
    start: int
    end: int
    rating: str
    note: str = ""


class Segment(NamedTuple):
    """A part of a text, and the ratings that rest on it."""

    text: str
    ratings: tuple[str, ...]


def quoted(rating: str, reason: str, turns: Sequence[Turn]) -> Iterator[Mark]:
    """The quotes in a reason that stand in a turn, each where it stands first."""
    for quote in islice(dict.fromkeys(_parts(reason)), _MOST):
        words = re.compile(r"\s+".join(map(re.escape, quote.split())), re.IGNORECASE)
        for number, turn in enumerate(turns):
            if found := words.search(turn.text):
                yield Mark(number, *found.span(), rating)
                break


def given(rating: str, evidence: Evidence, turns: Sequence[Turn]) -> Mark | None:
    """The mark of evidence that names its place, or None.

    A place is `turn`, counted from 0, with `span` (start and end in the text) or `quote`; all else
    that is a text or a number is the mark's note.
    """
    value = evidence.value if isinstance(evidence.value, Mapping) else {}
    turn = value.get("turn")
    if not isinstance(turn, int) or not 0 <= turn < len(turns):
        return None
    span = _span(value, turns[turn].text)
    note = ", ".join(f"{name} {part}" for name, part in value.items() if _tells(name, part))
    return Mark(turn, *span, rating, note) if span else None


def segments(text: str, marks: Iterable[Mark]) -> list[Segment]:
    """The text in parts, each with the ratings that rest on it; marks may overlap."""
    own = list(marks)
    edges = sorted({0, len(text), *(edge for mark in own for edge in (mark.start, mark.end))})
    parts = []
    for start, end in pairwise(edges):
        over = [mark.rating for mark in own if mark.start <= start and end <= mark.end]
        parts.append(Segment(text[start:end], tuple(dict.fromkeys(over))))
    return parts


def _parts(reason: str) -> Iterator[str]:
    """The quotes in a reason; one with an omission is two."""
    for quote in _QUOTE.findall(reason):
        parts = (part.strip(_EDGES) for part in _CUT.split(quote))
        yield from (part for part in parts if len(part) >= _FEWEST)


def _tells(name: str, part: object) -> bool:
    return (
        name not in ("turn", "quote", "mention")
        and isinstance(part, str | int | float)
        and part != ""
    )


def _span(value: Mapping[Any, Any], text: str) -> tuple[int, int] | None:
    match value.get("span"), value.get("quote"):
        case [int(start), int(end)], _ if 0 <= start < end <= len(text):
            return start, end
        case _, str(quote) if quote and quote in text:
            start = text.index(quote)
            return start, start + len(quote)
    return None


_LONG = 300  # characters of evidence without a place
_NOT_RATED = Rating(metric="", rater="", status=Status.NOT_APPLICABLE)


class Row(NamedTuple):
    """A metric: a score for each rater, and all ratings by their raters.

    `key` names it in addresses and marks. `marks` point into the talk, `evidence` does not.
    """

    key: str
    title: str
    metric: Metric
    scores: list[Rating]
    ratings: list[tuple[str, Rating]]
    marks: list[Mark]
    evidence: list[str]


class Rated(NamedTuple):
    """What one evaluator found. `reasons` is whether a rating has any, or calls behind it."""

    name: str
    raters: list[str]
    rows: list[Row]
    reasons: bool
    debates: list[Debate]


def rated(
    name: str,
    judgings: Sequence[Sequence[Finding]],
    metrics: Metrics,
    log: ConversationLog,
) -> Rated:
    """The findings of one evaluator, of all its judgings. `metrics` are the campaign's, by id."""
    by_metric: dict[str, list[tuple[str, Rating]]] = {}
    evidence: list[Evidence] = []
    debates: list[Debate] = []
    for number, findings in enumerate(judgings, 1):
        again = f" {number}" if len(judgings) > 1 else ""
        for each in findings:
            if isinstance(each, Rating) and each.rater != DEBATE:
                by_metric.setdefault(each.metric, []).append((f"{each.rater}{again}", each))
        evidence += [each for each in findings if isinstance(each, Evidence)]
        debates += [each for each in findings if isinstance(each, Debate)]
    raters = list(dict.fromkeys(rater for each in by_metric.values() for rater, _ in each))
    rows = [
        _row(f"{name}.{metric}", ratings, raters, metrics, _about(metric, evidence), log)
        for metric, ratings in by_metric.items()
    ]
    ratings = [rating for each in by_metric.values() for _, rating in each]
    reasons = any(rating.rationale or rating.calls for rating in ratings)
    return Rated(name, raters, rows, reasons, debates)


def anchor_of(id_: str) -> str:
    """A metric's id as a word that addresses and selectors can hold."""
    return re.sub(r"[^\w.@-]", "_", id_)


def _about(metric: str, evidence: Iterable[Evidence]) -> list[Evidence]:
    """The evidence whose name is the metric's, or begins with it and a dot."""
    return [each for each in evidence if f"{each.name}.".startswith(f"{metric}.")]


def _row(
    id_: str,
    ratings: list[tuple[str, Rating]],
    raters: Sequence[str],
    metrics: Metrics,
    evidence: Sequence[Evidence],
    log: ConversationLog,
) -> Row:
    key, turns = anchor_of(id_), log.interaction
    quotes = {mark: None for _, rating in ratings for mark in quoted(key, rating.rationale, turns)}
    places = [given(key, each, turns) for each in evidence]
    return Row(
        key=key,
        title=metrics.title(id_),
        metric=metrics[id_],
        scores=[_of_rater([each for name, each in ratings if name == rater]) for rater in raters],
        ratings=ratings,
        marks=[*(mark for mark in places if mark), *quotes],
        evidence=[_text(each) for each, mark in zip(evidence, places, strict=True) if not mark],
    )


def _of_rater(ratings: Sequence[Rating]) -> Rating:
    """The mean over the turns that have a score, as in the frame of ratings."""
    scores = [each.score for each in ratings if each.score is not None]
    if scores:
        return ratings[0].model_copy(update={"score": fmean(scores), "status": Status.OK})
    return ratings[0] if ratings else _NOT_RATED


def _text(evidence: Evidence) -> str:
    value = evidence.value
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return f"{evidence.name}: {text}"[:_LONG]
