"""Campaigns and their runs, with the versions, seeds, packs and prices they used."""

import platform
import time
from collections.abc import Mapping

import orjson
from sqlalchemy import Connection, func, select, update

from recjury.errors import StoreError
from recjury.records import JSON, Record
from recjury.store.engine import insert_new
from recjury.store.sealed import canonical_json
from recjury.store.tables import CampaignConversationRow, CampaignRow, RunRow, table_of
from recjury.store.texts import texts_of_ids
from recjury.store.writer import Transaction


class Skipped(Record):
    """A record of a corpus that gave no scenario or lost some of its targets, and the reason."""

    corpus: str
    record: str
    reason: str


class Setup(Record):
    """What a campaign ran with.

    `config` is the resolved campaign file. `packages` are all that were installed; `commit` is that
    of the working folder (a trailing "+" if files differed from it), empty outside of git
    checkouts. `packs` maps prompt and rubric packs to their digests.
    `prices` has US dollars per million tokens by model, None if unknown, and `price_sources` where
    the known ones are from.
    """

    config: object
    recjury: str
    python: str = platform.python_version()
    packages: Mapping[str, str] = {}
    commit: str = ""
    seeds: Mapping[str, int] = {}
    packs: Mapping[str, str] = {}
    prices: Mapping[str, Mapping[str, float | None]] = {}
    price_sources: Mapping[str, str] = {}
    skipped: tuple[Skipped, ...] = ()


class Campaign(Record):
    """A campaign to start, or one in the store; `setup` is that of its latest run.

    `id` is the digest of what makes it this campaign. Times are Unix seconds, and None before the
    first run. `conversations` counts the planned conversations. `learned` is what the latest run
    learned of its endpoints, by the model's alias.
    """

    id: str
    name: str
    setup: Setup
    created_at: float | None = None
    started_at: float | None = None
    runs: int = 0
    conversations: int = 0
    learned: Mapping[str, JSON] = {}


def begin_campaign(transaction: Transaction, campaign: Campaign) -> None:
    """Add a run, and the campaign if the store does not have it."""
    connection, now = transaction.connection, time.time()
    setup = canonical_json(campaign.setup.model_dump())
    place = transaction.texts.intern(connection, [setup])[setup]
    row = {"id": campaign.id, "name": campaign.name, "created_at": now}
    connection.execute(insert_new(table_of(CampaignRow)), [row])
    run = {"campaign": campaign.id, "setup": place.id, "started_at": now}
    connection.execute(insert_new(table_of(RunRow)), [run])


def write_learned(transaction: Transaction, campaign: str, learned: Mapping[str, JSON]) -> None:
    """Replace what the campaign's latest run has learned of its endpoints."""
    connection, runs = transaction.connection, table_of(RunRow)
    text = canonical_json(learned)
    place = transaction.texts.intern(connection, [text])[text]
    latest = select(func.max(runs.c.id)).where(runs.c.campaign == campaign)
    here = runs.c.id == latest.scalar_subquery()
    connection.execute(update(runs).where(here).values(learned=place.id))


def read_campaigns(connection: Connection) -> tuple[Campaign, ...]:
    """All campaigns, the oldest first."""
    campaigns, runs = table_of(CampaignRow), table_of(RunRow)
    links = table_of(CampaignConversationRow)
    latest = {row.campaign: row for row in connection.execute(select(runs).order_by(runs.c.id))}
    numbers = [row.setup for row in latest.values()]
    numbers += [row.learned for row in latest.values() if row.learned is not None]
    texts = texts_of_ids(connection, numbers)
    query = select(runs.c.campaign, func.count()).group_by(runs.c.campaign)
    run_counts = {row[0]: row[1] for row in connection.execute(query)}
    query = select(links.c.campaign, func.count()).where(links.c.set_aside == 0)
    planned = {row[0]: row[1] for row in connection.execute(query.group_by(links.c.campaign))}
    return tuple(
        Campaign(
            id=row.id,
            name=row.name,
            setup=Setup.model_validate_json(texts[latest[row.id].setup]),
            created_at=row.created_at,
            started_at=latest[row.id].started_at,
            runs=run_counts[row.id],
            conversations=planned.get(row.id, 0),
            learned=orjson.loads(texts.get(latest[row.id].learned, "{}")),
        )
        for row in connection.execute(select(campaigns).order_by(campaigns.c.created_at))
    )


def find_campaign(connection: Connection, prefix: str) -> Campaign:
    """The only campaign whose id begins with `prefix`. Raises StoreError for none or several."""
    found = [campaign for campaign in read_campaigns(connection) if campaign.id.startswith(prefix)]
    if len(found) != 1:
        many = "several campaigns begin" if found else "no campaign begins"
        raise StoreError(f"{many} with {prefix}: see `recjury status` for their ids")
    return found[0]
