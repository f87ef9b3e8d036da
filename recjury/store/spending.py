"""What a campaign's model calls have cost so far."""

from typing import NamedTuple

from sqlalchemy import Connection, func, select

from recjury.store.calls import made_for
from recjury.store.tables import CallRow, table_of


class Spent(NamedTuple):
    """The calls that were made first for a campaign itself, its conversations and their
    evaluations, whichever campaign of the store asked, and their tokens; forks not among them.

    `cost` is in US dollars, and None where the price of one is not known.
    """

    calls: int
    prompt_tokens: int
    completion_tokens: int
    cost: float | None


def read_spent(connection: Connection, campaign: str) -> Spent:
    """The sums over those calls; one that was reused counts where it was made first."""
    calls = table_of(CallRow)
    sums = select(
        func.count(),
        func.coalesce(func.sum(calls.c.prompt_tokens), 0),
        func.coalesce(func.sum(calls.c.completion_tokens), 0),
        func.coalesce(func.sum(calls.c.cost), 0.0),
        func.count(calls.c.cost),
    )
    found = connection.execute(sums.select_from(calls).where(made_for(campaign))).one()
    made, asked, said, cost, priced = found
    return Spent(made, asked, said, cost if priced == made else None)
