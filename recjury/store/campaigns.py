"""Campaigns and their runs, with the versions, seeds, packs and prices they used."""

import platform
import time
from collections import Counter
from collections.abc import Mapping

from sqlalchemy import Column, Connection, ForeignKey, Select, func, select, update

from recjury.errors import StoreError
from recjury.records import JSON, Record
from recjury.safe_text import without_keys
from recjury.store.column_types import PlainText
from recjury.store.engine import insert_new
from recjury.store.sealed import SealedTable, canonical_json, changed
from recjury.store.tables import CampaignConversationRow, CampaignRow, table_of
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
    checkouts. `packs` maps prompt and rubric packs to their digests, and `data` the files of the
    corpora ("redial/id2info.json") to their SHA-256. `prices` has US dollars per million tokens by
    model, None if unknown, and `price_sources` where the known ones are from. `isolation` says of
    each system in Python where its code ran, and what it could reach there.
    """

    config: object
    recjury: str
    python: str = platform.python_version()
    packages: Mapping[str, str] = {}
    commit: str = ""
    seeds: Mapping[str, int] = {}
    packs: Mapping[str, str] = {}
    data: Mapping[str, str] = {}
    prices: Mapping[str, Mapping[str, float | None]] = {}
    price_sources: Mapping[str, str] = {}
    skipped: tuple[Skipped, ...] = ()
    isolation: Mapping[str, str] = {}


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


class CampaignRun(Record):
    """One start of a campaign (`started_at` in Unix seconds), and what it was made with.

    `learned` is what it has learned of its endpoints, by the model's alias.
    """

    campaign: str
    setup: Setup
    started_at: float
    learned: Mapping[str, JSON] | None = None


RUNS = SealedTable(
    "run",
    CampaignRun,
    Column("campaign", PlainText, ForeignKey("campaign.id"), nullable=False, index=True),
    named="run {id} of campaign {campaign}",
    unsealed={"learned"},
)


def begin_campaign(transaction: Transaction, campaign: Campaign) -> None:
    """Add a campaign, or another run of the one with its id."""
    now = time.time()
    row = {"id": campaign.id, "name": without_keys(campaign.name), "created_at": now}
    transaction.connection.execute(insert_new(table_of(CampaignRow)), [row])
    run = CampaignRun(campaign=campaign.id, setup=campaign.setup, started_at=now)
    RUNS.insert(transaction, [(run, {})])


def write_learned(transaction: Transaction, campaign: str, learned: Mapping[str, JSON]) -> None:
    """Keep what the campaign's latest run has learned of its endpoints, by model."""
    text = canonical_json(learned)
    place = transaction.texts.intern(transaction.connection, [text])[text]
    here = RUNS.c.id.in_(_latest_runs().where(RUNS.c.campaign == campaign))
    transaction.connection.execute(update(RUNS.table).where(here).values(learned=place.id))


def _latest_runs() -> Select[int]:
    return select(func.max(RUNS.c.id)).group_by(RUNS.c.campaign)


def read_campaigns(connection: Connection) -> tuple[Campaign, ...]:
    """All campaigns, the oldest first."""
    campaigns, links = table_of(CampaignRow), table_of(CampaignConversationRow)
    rows = connection.execute(RUNS.select().where(RUNS.c.id.in_(_latest_runs()))).all()
    latest = {run.campaign: run for _, run in RUNS.intact(connection, rows)}
    run_counts = _counts(connection, select(RUNS.c.campaign))
    planned = _counts(connection, select(links.c.campaign).where(links.c.set_aside == 0))
    rows = connection.execute(select(campaigns).order_by(campaigns.c.created_at)).all()
    for row in rows:
        if row.id not in latest:
            raise changed(f"campaign {row.id} in the store, or its run,")
    return tuple(
        Campaign(
            id=row.id,
            name=row.name,
            setup=latest[row.id].setup,
            created_at=row.created_at,
            started_at=latest[row.id].started_at,
            runs=run_counts[row.id],
            conversations=planned.get(row.id, 0),
            learned=latest[row.id].learned or {},
        )
        for row in rows
    )


def _counts(connection: Connection, campaigns: Select[str]) -> dict[str, int]:
    """How many of the rows there are for each campaign."""
    return Counter(connection.execute(campaigns).scalars())


def find_campaign(connection: Connection, prefix: str) -> Campaign:
    """The only campaign whose id begins with `prefix`. Raises StoreError for none or several."""
    found = [campaign for campaign in read_campaigns(connection) if campaign.id.startswith(prefix)]
    if len(found) != 1:
        many = "several campaigns begin" if found else "no campaign begins"
        raise StoreError(f"{many} with {prefix}: see `recjury status` for their ids")
    return found[0]
