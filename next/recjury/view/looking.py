"""Where to look in a campaign: links to the trials that tell most."""

from collections.abc import Iterator
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

from recjury.records import Metric
from recjury.results.metrics import metrics_of
from recjury.results.ratings import FAILURES
from recjury.results.sentences import shown
from recjury.store import Store
from recjury.view.kept import frame_of, scores_of


class Look(NamedTuple):
    """A link: where it leads, a figure, and what is there."""

    address: str
    figure: str
    text: str


def looks(store: Store, campaign: str, lead: str) -> Iterator[Look]:
    """The lowest and the highest trial, the widest gap, failures, and what has no score."""
    base = f"/c/{quote(campaign, safe='')}"
    frame, table = frame_of(store, campaign), scores_of(store, campaign)
    if lead in table and table[lead].notna().any():
        metric = metrics_of(store, campaign).get(lead) or Metric(name=lead)
        column: Any = table[lead].dropna()
        for which, place in (("lowest", column.idxmin()), ("highest", column.idxmax())):
            sort = f"{'' if which == 'lowest' else '-'}{lead}"
            text = f"the {which} {metric.title or lead}: {place[0]} in {place[3]}"
            figure = shown(column.loc[place], metric)
            yield Look(f"{base}/trials?{urlencode({'sort': sort})}", figure, text)
        yield from _gap(column, metric, base)
    failed = frame[frame["status"] == "system failed"]["conversation"].nunique()
    if failed:
        yield Look(
            f"{base}/trials?status=failed", str(failed), "conversations that a system failed"
        )
    lost = frame[frame["status"].isin(FAILURES)]["conversation"].nunique()
    if lost:
        yield Look(f"{base}/trials?status=unscored", str(lost), "conversations without all scores")
    apart = _not_agreed(store, campaign)
    if apart:
        yield Look(f"{base}/trials?agreed=no", str(apart), "debates that ended without agreement")


def _gap(column: Any, metric: Metric, base: str) -> Iterator[Look]:
    """The scenario in which two systems lie farthest apart."""
    wide = column.groupby(level=["scenario", "system"], observed=True).mean().unstack("system")
    if wide.shape[1] < 2:
        return
    spread = (wide.max(axis=1) - wide.min(axis=1)).dropna()
    if not len(spread) or not spread.max():
        return
    scenario = spread.idxmax()
    a, b = str(wide.loc[scenario].idxmax()), str(wide.loc[scenario].idxmin())
    address = f"{base}/compare?{urlencode({'a': a, 'b': b})}#gaps"
    yield Look(address, shown(spread.max(), metric), f"the widest gap: {a} over {b} in {scenario}")


def _not_agreed(store: Store, campaign: str) -> int:
    return len(not_agreed(store, campaign))


_LAST = """
    SELECT e.conversation, COUNT(DISTINCT s.score) AS scores
    FROM plan p JOIN evaluation e ON e.conversation = p.conversation
    JOIN statement s ON s.evaluation = e.id
    WHERE p.campaign = :campaign AND s.score IS NOT NULL
        AND s.round = (SELECT MAX(round) FROM statement t WHERE t.evaluation = e.id)
    GROUP BY e.conversation, e.id
"""


def not_agreed(store: Store, campaign: str) -> set[str]:
    """The conversations of which a debate ended with different scores."""
    return {id_ for id_, scores in _ends(store, campaign) if scores > 1}


def agreed(store: Store, campaign: str) -> set[str]:
    """The conversations whose debates all ended with equal scores."""
    return {id_ for id_, _ in _ends(store, campaign)} - not_agreed(store, campaign)


def _ends(store: Store, campaign: str) -> list[tuple[str, int]]:
    """How many different scores the last round of each debate has."""
    from sqlalchemy import text

    from recjury.view.kept import kept

    def read() -> list[tuple[str, int]]:
        with store.connection() as connection:
            rows = connection.execute(text(_LAST), {"campaign": campaign})
            return [(str(row.conversation), int(row.scores)) for row in rows]

    return kept(store, ("ends", campaign), read)
