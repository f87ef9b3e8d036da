"""How long a system's turns take, and what its conversations cost."""

from statistics import fmean
from typing import TYPE_CHECKING

from recjury.store import Store

if TYPE_CHECKING:
    import pandas as pd

_SECONDS = """
    SELECT c.id, c.seconds FROM plan p JOIN conversation c ON c.id = p.conversation
    WHERE p.campaign = :campaign
"""
_COSTS = """
    SELECT conversation, SUM(cost) AS dollars, COUNT(*) - COUNT(cost) AS unpriced
    FROM call WHERE campaign = :campaign GROUP BY conversation
"""


def effort(store: Store, campaign: str, frame: "pd.DataFrame") -> "pd.DataFrame":
    """A row for each system in a frame of ratings: system, seconds, dollars.

    `seconds` is the mean of its turns, None of recordings. `dollars` is the mean cost of all calls
    for a conversation and its ratings; None where there are none, or one has no known price.
    """
    import pandas as pd

    seconds, dollars = _seconds(store, campaign), costs(store, campaign)
    rows = []
    for system, own in frame.groupby("system", observed=True, sort=False):
        ids = list(own["conversation"].drop_duplicates().astype(str))
        took = [each for id_ in ids for each in seconds.get(id_, ())]
        spent = [dollars.get(id_, 0.0) for id_ in ids]
        known = [each for each in spent if each is not None]
        priced = any(id_ in dollars for id_ in ids) and len(known) == len(spent)
        rows.append((system, fmean(took) if took else None, fmean(known) if priced else None))
    return pd.DataFrame(rows, columns=["system", "seconds", "dollars"], dtype=object)


def _seconds(store: Store, campaign: str) -> dict[str, list[float]]:
    """How long each system turn of a conversation took."""
    from sqlalchemy import JSON, String, text

    query = text(_SECONDS).columns(id=String(), seconds=JSON())
    with store.connection() as connection:
        rows = connection.execute(query, {"campaign": campaign})
        return {row.id: row.seconds for row in rows}


def costs(store: Store, campaign: str) -> dict[str, float | None]:
    """What the calls cost that were first asked for a conversation; None if that is not known."""
    from sqlalchemy import text

    with store.connection() as connection:
        rows = connection.execute(text(_COSTS), {"campaign": campaign})
        return {id_: None if unpriced else dollars for id_, dollars, unpriced in rows}
