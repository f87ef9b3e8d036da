"""The trials of a campaign as one frame, from which lists and counts are taken."""

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from recjury.results.effort import costs
from recjury.results.ratings import FAILURES, TRIAL
from recjury.store import Store
from recjury.view.debates import endings
from recjury.view.queries import rows

if TYPE_CHECKING:
    import pandas as pd

FILTERS = ("system", "user", "corpus", "scenario", "ending", "status", "agreed")
"""The columns by which lists are filtered."""

# The version of each system that the last run with it had.
_NEWEST = """
    SELECT DISTINCT system, version FROM plan WHERE campaign = :campaign AND (system, run) IN (
        SELECT system, MAX(run) FROM plan WHERE campaign = :campaign GROUP BY system
    )
"""
_PLAYED = ["id", "version", *TRIAL, "state", "ending", "rounds", "reason", "seconds"]


def read_trials(
    store: Store, campaign: str, ratings: "pd.DataFrame", scores: "pd.DataFrame"
) -> "pd.DataFrame":
    """A row for each trial of the newest versions, played or not, in the plan's order.

    Columns: id, version, system, user, corpus, scenario, repeat, state, ending, rounds, reason,
    seconds (of all turns), dollars, status (done, unscored, failed, planned), agreed ("yes" or
    "no", "" without a debate), spread (points between the roles at its end), and a score for each
    metric id. A number that is not known is NaN.
    """
    import pandas as pd

    newest = ratings.drop_duplicates("conversation").astype({"conversation": str})
    newest = newest.set_index("conversation")
    is_new, versions = set(newest.index), set(rows(store, _NEWEST, campaign=campaign))
    played = [
        [*(getattr(row, name) for name in _PLAYED[:-1]), sum(row.seconds)]
        for row in store.conversations(campaign)
        if row.id in is_new or (row.state == "planned" and (row.system, row.version) in versions)
    ]
    trials = pd.DataFrame(played, columns=_PLAYED).drop_duplicates("id", keep="last")
    ends, ids = endings(store, campaign), trials["id"]
    lost = set(ratings["conversation"][ratings["status"].isin(FAILURES)].astype(str))
    trials = trials.assign(
        dollars=ids.map(costs(store, campaign)).astype(float),
        status=trials["state"].mask(ids.isin(lost) & (trials["state"] == "done"), "unscored"),
        agreed=[ends.get(id_, ("", math.nan))[0] for id_ in ids],
        spread=[ends.get(id_, ("", math.nan))[1] for id_ in ids],
    )
    trials = trials.astype(dict.fromkeys(("version", "state", *FILTERS), "category"))
    return trials.join(_scores(scores, newest), on="id")


def chosen(trials: "pd.DataFrame", query: Mapping[str, str]) -> "pd.DataFrame":
    """The trials that fit a query by names of columns, sorted by the one that `sort` names.

    A `-` before its name sorts downwards; `over` and `under` bound its values.
    """
    fits = trials["repeat"] >= 0
    for name in FILTERS:
        if query.get(name):
            fits &= trials[name] == query[name]
    sort = query.get("sort", "")
    key = sort.removeprefix("-")
    if key not in trials:
        return trials[fits]
    if (over := _number(query.get("over"))) is not None:
        fits &= trials[key] > over
    if (under := _number(query.get("under"))) is not None:
        fits &= trials[key] < under
    return trials[fits].sort_values(key, ascending=not sort.startswith("-"), kind="stable")


def _number(text: str | None) -> float | None:
    try:
        return float(text or "")
    except ValueError:
        return None


def _scores(scores: "pd.DataFrame", newest: "pd.DataFrame") -> "pd.DataFrame":
    """The scores by conversation; a repeat with the same log has those of the first."""
    import pandas as pd

    same = newest.astype({"log": str}).groupby([*TRIAL[:-1], "log"], observed=True)
    keys = newest[TRIAL].assign(repeat=same["repeat"].transform("first"))
    found = scores.reindex(pd.MultiIndex.from_frame(keys))
    return found.set_axis(newest.index)
