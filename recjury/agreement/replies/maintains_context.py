"""The one rating of the USR sets that FACE is compared with: "Maintains Context" (FACE, table 4).

FACE* chooses instructions anew for another corpus: for each of the two sets, those that agree best
with people on the other set.
"""

from collections.abc import Mapping, Sequence
from statistics import fmean

from recjury.agreement.replies.agreement import (
    SYSTEM_MEAN,
    SYSTEM_MEAN_OF_OTHERS,
    AgreementTable,
    agreement_table,
)
from recjury.agreement.replies.rows import RatedRow, subsets_of
from recjury.records import ConversationLog, Ending, Scenario, Speaker, Turn
from recjury.stats.correlation import spearman

ASPECT = "Maintains Context"
USR_SETS = ("convai2-usr", "topicalchat-usr")

ByInstruction = Mapping[str, Mapping[str, float]]
"""The mean score of a reply's particles by the reply's id and the instruction's name."""


def context_rows(rows: Sequence[RatedRow]) -> tuple[int, ...]:
    """The places of the rows that have this rating."""
    return tuple(
        place for place, row in enumerate(rows) if row.set in USR_SETS and row.ratings.get(ASPECT)
    )


def with_context_target(row: RatedRow) -> RatedRow:
    """The row with the mean of this rating as its target."""
    return row._replace(target=fmean(row.ratings[ASPECT]))


def log_of(row: RatedRow) -> ConversationLog:
    """The reply as the one system turn of a conversation that begins with its history."""
    [response] = row.responses
    return ConversationLog(
        system=row.source,
        scenario=Scenario(corpus=row.set, record=row.id, history=response.history),
        interaction=(Turn(speaker=Speaker.SYSTEM, text=response.text),),
        ending=Ending.RECORDED,
    )


def pooled(
    rows: Sequence[RatedRow], scores: ByInstruction, instructions: Sequence[str] | None = None
) -> list[float | None]:
    """Each row's mean over `instructions` (default: all); None without any score."""
    found: list[float | None] = []
    for row in rows:
        own = scores.get(row.id, {})
        chosen = [
            own[name] for name in (own if instructions is None else instructions) if name in own
        ]
        found.append(fmean(chosen) if chosen else None)
    return found


def best_instructions(
    rows: Sequence[RatedRow], scores: ByInstruction, final: int
) -> tuple[str, ...]:
    """The `final` instructions with the highest Spearman correlation with the rows' targets.

    An instruction whose scores do not vary comes last.
    """
    names = sorted({name for own in scores.values() for name in own})
    ranked = sorted(names, key=lambda name: (-_agreement(rows, scores, name), name))
    return tuple(ranked[:final])


def face_star(
    rows: Sequence[RatedRow], scores: ByInstruction, final: int
) -> tuple[list[float | None], dict[str, tuple[str, ...]]]:
    """Each row's score by the instructions that were chosen on the other set, and the choices."""
    chosen = {
        name: best_instructions([row for row in rows if row.set != name], scores, final)
        for name in dict.fromkeys(row.set for row in rows)
    }
    return [pooled([row], scores, chosen[row.set])[0] for row in rows], chosen


def _agreement(rows: Sequence[RatedRow], scores: ByInstruction, name: str) -> float:
    known = [(scores[row.id][name], row.target) for row in rows if name in scores.get(row.id, {})]
    found = spearman([score for score, _ in known], [target for _, target in known])
    return -2.0 if found is None else found


def maintained_context(
    rows: Sequence[RatedRow],
    scores: Mapping[str, Sequence[float | None]],
    *,
    resamples: int,
    seed: int,
) -> AgreementTable | None:
    """The scores [rows] against the rating "Maintains Context"; None if no row has it.

    Predictors that know the systems' ratings are left out: theirs are other ratings.
    """
    places = context_rows(rows)
    if not places:
        return None
    kept = [with_context_target(rows[place]) for place in places]
    own = {
        name: [given[place] for place in places]
        for name, given in scores.items()
        if name not in (SYSTEM_MEAN, SYSTEM_MEAN_OF_OTHERS)
    }
    sets = tuple(dict.fromkeys(row.set for row in kept))
    return agreement_table(kept, own, subsets_of(sets), resamples=resamples, seed=seed)
