"""What a campaign's model calls have cost so far."""

from typing import NamedTuple

from sqlalchemy import Connection, func, select

from recjury.store.tables import CallRow, CampaignTrialRow, table_of


class Spent(NamedTuple):
    """Calls that a campaign's trials were the first to make, their tokens, and US dollars."""

    calls: int
    prompt_tokens: int
    completion_tokens: int
    cost: float


def read_spent(connection: Connection, campaign: str) -> Spent:
    """The sums over the recorded calls of a campaign's trials; calls they reused are not theirs."""
    calls, planned = table_of(CallRow), table_of(CampaignTrialRow)
    sums = select(
        func.count(),
        func.coalesce(func.sum(calls.c.prompt_tokens), 0),
        func.coalesce(func.sum(calls.c.completion_tokens), 0),
        func.coalesce(func.sum(calls.c.cost), 0.0),
    )
    query = sums.select_from(calls).where(
        calls.c.trial.in_(select(planned.c.trial).where(planned.c.campaign == campaign))
    )
    return Spent(*connection.execute(query).one())
