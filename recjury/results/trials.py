"""The trials of a campaign as one frame: how each ended, what it cost, and all of its scores."""

import json
import math
from collections.abc import Mapping

import pandas as pd

from recjury.records import Status
from recjury.results.ratings import FAILURES, TRIAL, planned_trials, ratings_of, scores
from recjury.results.tables import statement_scores
from recjury.store import Store

DEBATE_KEYS = ["conversation", "evaluator", "judging"]
_HEARD = (Status.OK, Status.NOT_APPLICABLE)
_COSTS = """
    SELECT conversation, SUM(cost) AS dollars, COUNT(*) - COUNT(cost) AS unpriced
    FROM call WHERE campaign = :campaign GROUP BY conversation
"""
_COLUMNS = [
    *("id", "version", *TRIAL, "state", "ending", "rounds", "reason", "seconds", "dollars"),
    *("status", "agreed", "spread"),
]


def trials(store: Store, campaign: str, *, all_versions: bool = False) -> pd.DataFrame:
    """A row for each trial of the newest versions, played or not, in the plan's order.

    Columns: id (of its conversation), version, system, user, corpus, scenario, repeat, state,
    ending, rounds, reason (of what failed), seconds (of all turns), dollars, status (done,
    unscored, failed, planned), agreed ("yes" or "no", "" without a debate), spread (points between
    the roles at its end), and a score for each metric id. A number that is not known is NaN. With
    `all_versions`, older versions of systems are there, too, and are called `name@version`.
    """
    planned = planned_trials(store, campaign, all_versions=all_versions)
    played = planned[planned["state"] != "planned"]
    rated, said = ratings_of(store, campaign, played), statement_scores(store, campaign, played)
    return trials_of(planned, rated, scores(rated), said, costs(store, campaign))


def trials_of(
    planned: pd.DataFrame,
    rated: pd.DataFrame,
    scored: pd.DataFrame,
    said: pd.DataFrame,
    dollars: Mapping[str, float],
) -> pd.DataFrame:
    """The frame of trials, from those of what was planned, of ratings, scores and statements."""
    own = planned.rename(columns={"conversation": "id", "failure": "reason"}).reset_index(drop=True)
    ids = own["id"].astype(str)
    lost = rated["conversation"][rated["status"].isin(FAILURES)].astype(str)
    is_unscored = ids.isin(lost) & (own["state"] == "done")
    ends = _endings(said)
    own = own.assign(
        id=ids,
        reason=own["reason"].astype(str),
        seconds=own["seconds"].map(_sum).astype(float),
        dollars=ids.map(dollars).astype(float),
        status=own["state"].astype(str).mask(is_unscored, "unscored").astype("category"),
        agreed=ids.map(ends["agreed"]).astype(object).fillna("").astype("category"),
        spread=ids.map(ends["spread"]).astype(float),
    )
    return pd.concat([own[_COLUMNS], _scores(own, scored)], axis=1)


def costs(store: Store, campaign: str) -> dict[str, float]:
    """What the calls cost that were first asked for a conversation; NaN if that is not known."""
    return {
        id_: math.nan if unpriced else dollars
        for id_, dollars, unpriced in store.rows(_COSTS, campaign=campaign)
    }


def effort(trials: pd.DataFrame, dollars: dict[str, float]) -> pd.DataFrame:
    """A row for each system that was played: system, seconds, dollars.

    `seconds` is the mean of its turns, None of recordings. `dollars` is the mean cost of all calls
    for a conversation and its ratings; None where there are none, or one has no known price.
    """
    own = trials[trials["state"] != "planned"]
    asked = own["id"].isin(dollars)
    own = own.assign(asked=asked, dollars=own["dollars"].where(asked, 0.0))
    own["turns"] = own["rounds"].where(own["seconds"].notna())
    by_system = own.groupby("system", observed=True, sort=False)
    seconds = by_system["seconds"].sum() / by_system["turns"].sum()
    means = by_system["dollars"].agg(lambda own: own.sum(skipna=False)) / by_system.size()
    table = pd.DataFrame({"seconds": seconds, "dollars": means.where(by_system["asked"].any())})
    return table.astype(object).where(table.notna(), None).reset_index()


def _sum(seconds: str) -> float:
    """The sum of a list of numbers as JSON; NaN of none."""
    return sum(json.loads(seconds)) or math.nan


def last_rounds(said: pd.DataFrame) -> pd.DataFrame:
    """The statements of the last round of each debate."""
    rounds = said.groupby(DEBATE_KEYS, observed=True)["round"].transform("max")
    return said[said["round"] == rounds]


def _endings(said: pd.DataFrame) -> pd.DataFrame:
    """By conversation, whether its debates agreed (see `records.agree`), and the widest spread."""
    last = last_rounds(said)
    debates = last.assign(heard=last["status"].isin(_HEARD)).groupby(DEBATE_KEYS, observed=True)
    spread = debates["score"].max() - debates["score"].min()
    agreed = ((spread == 0) & debates["heard"].all()).groupby(level=0).all()
    return pd.DataFrame(
        {
            "agreed": agreed.map({True: "yes", False: "no"}),
            "spread": spread.fillna(0.0).groupby(level=0).max(),
        }
    )


def _scores(own: pd.DataFrame, scored: pd.DataFrame) -> pd.DataFrame:
    """The scores of each row; a repeat with the same log has those of the first."""
    played = own[own["state"] != "planned"]
    same = played.groupby([*TRIAL[:-1], "log"], observed=True)
    keys = played[TRIAL].assign(repeat=same["repeat"].transform("first"))
    found = scored.reindex(pd.MultiIndex.from_frame(keys)).set_axis(played.index)
    return found.reindex(own.index)
