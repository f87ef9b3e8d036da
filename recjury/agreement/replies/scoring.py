"""Run scorers over rows and over pairs, with progress and durations."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import fmean
from typing import NamedTuple, Protocol, runtime_checkable

from recjury.agreement.replies.registry import ScorerContext, ScorerEntry
from recjury.agreement.replies.rows import RatedRow
from recjury.corpora.dialogues import RobustnessPair
from recjury.records import Response, ResponseScorer


class ScoringStep(NamedTuple):
    """What is scored now, as (part) `done` of `of`."""

    scorer: str
    what: str
    done: int
    of: int


Watch = Callable[[ScoringStep], None]


class Took(NamedTuple):
    """Seconds by the clock, and of processor time, of this process."""

    wall: float
    cpu: float


class ScoredRows(NamedTuple):
    """Scores [rows] by scorer, and what each scorer took; the first one to need a model loads
    it."""

    scores: Mapping[str, tuple[float | None, ...]]
    took: Mapping[str, Took]


@runtime_checkable
class SupportsPreferences(Protocol):
    """A scorer that can read two replies together."""

    async def preferences(self, pairs: Sequence[tuple[Response, Response]]) -> list[float | None]:
        """The probability that the first of each pair is better; None if it cannot be told."""


async def score_rows(
    entries: Sequence[ScorerEntry],
    context: ScorerContext,
    rows: Sequence[RatedRow],
    watch: Watch = lambda _: None,
) -> ScoredRows:
    """Score all rows with each scorer, set by set.

    A row of several responses has the mean of their scores, without those that have none.
    """
    sets = list(dict.fromkeys(row.set for row in rows))
    scores: dict[str, tuple[float | None, ...]] = {}
    took: dict[str, Took] = {}
    for number, entry in enumerate(entries):
        began, cpu = time.perf_counter(), time.process_time()
        found: dict[int, float | None] = {}
        for place, name in enumerate(sets):
            watch(
                ScoringStep(entry.name, name, number * len(sets) + place, len(entries) * len(sets))
            )
            own = {each: row for each, row in enumerate(rows) if row.set == name}
            found |= zip(own, await _of_set(entry, context, list(own.values())), strict=True)
        scores[entry.name] = tuple(found[place] for place in range(len(rows)))
        took[entry.name] = Took(time.perf_counter() - began, time.process_time() - cpu)
    return ScoredRows(scores, took)


async def _of_set(
    entry: ScorerEntry, context: ScorerContext, rows: Sequence[RatedRow]
) -> list[float | None]:
    if entry.make_for_dialogues is not None and all(row.whole for row in rows):
        scorer = entry.make_for_dialogues(context)
        return await scorer.scores([row.whole for row in rows if row.whole])
    responses = [response for row in rows for response in row.responses]
    scores = iter(await entry.make(context).scores(responses))
    return [_mean([next(scores) for _ in row.responses]) for row in rows]


def _mean(scores: Iterable[float | None]) -> float | None:
    known = [score for score in scores if score is not None]
    return fmean(known) if known else None


async def margins(scorer: ResponseScorer, pairs: Sequence[RobustnessPair]) -> list[float | None]:
    """By how much each original is better than its worse version; None if it cannot be told.

    A scorer that reads two replies together is asked for its preference, from which .5 is taken;
    any other scores them one by one.
    """
    originals = [
        Response(id=f"{each.id}#original", history=each.history, text=each.original)
        for each in pairs
    ]
    worse = [
        Response(id=f"{each.id}#worse", history=each.worse_history, text=each.worse)
        for each in pairs
    ]
    if isinstance(scorer, SupportsPreferences):
        preferred = await scorer.preferences(list(zip(originals, worse, strict=True)))
        return [None if each is None else each - 0.5 for each in preferred]
    scores = await scorer.scores([*originals, *worse])
    return [
        None if one is None or two is None else one - two
        for one, two in zip(scores[: len(pairs)], scores[len(pairs) :], strict=True)
    ]
