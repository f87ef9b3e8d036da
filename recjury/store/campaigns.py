"""Campaigns and their runs, with the versions, seeds, packs and prices they used."""

import platform
import time
from collections import Counter
from collections.abc import Iterator, Mapping

from sqlalchemy import Column, Connection, ForeignKey, func, select, tuple_

from recjury.errors import StoreError
from recjury.records import JSON, Record
from recjury.store.column_types import PlainText
from recjury.store.kept_counts import count_planned
from recjury.store.sealed import AnyRow, SealedTable, changed
from recjury.store.writer import Transaction


class Skipped(Record):
    """A record of a corpus that gave no scenario or lost some of its targets, and the reason."""

    corpus: str
    record: str
    reason: str


class Setup(Record):
    """What a campaign ran with.

    `config` is the resolved campaign file. `recjury` is its version, and `code` the digest of its
    Python files. `packages` are all that were installed; `commit` is that of the working folder (a
    trailing "+" if files differed from it), empty outside of git checkouts: it says nothing about
    recjury. `packs` maps prompt and rubric packs to their digests, and `data` the files of the
    corpora ("redial/id2info.json") to their SHA-256. `prices` has US dollars per million tokens by
    model, None if unknown, and `price_sources` where the known ones are from. `isolation` says of
    each system and evaluator in Python where its code ran, and what it could reach there. `shard`
    is the part of the campaign that was run ("2/8"), empty for all of it.
    """

    config: object
    recjury: str
    code: str = ""
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
    shard: str = ""

    @property
    def own_code(self) -> str:
        """The version of recjury and its code, as messages name them."""
        return f"recjury {self.recjury} (code {self.code[:12] or 'unknown'})"


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


class NamedCampaign(Record):
    """A campaign's name, and when it was first started (Unix seconds)."""

    name: str
    created_at: float


class CampaignRun(Record):
    """One start of a campaign (`started_at` in Unix seconds), and what it was made with.

    `learned` is what it has learned of its endpoints, by the model's alias.
    """

    campaign: str
    setup: Setup
    started_at: float
    learned: Mapping[str, JSON] | None = None


CAMPAIGNS = SealedTable(
    "campaign",
    NamedCampaign,
    Column("id", PlainText, primary_key=True),
    named="row {id} of table campaign",
)
RUNS = SealedTable(
    "run",
    CampaignRun,
    Column("campaign", PlainText, ForeignKey("campaign.id"), nullable=False, index=True),
    named="run {id} of campaign {campaign}",
)


def begin_campaign(transaction: Transaction, campaign: Campaign) -> None:
    """Add a campaign, or another run of the one with its id."""
    now = time.time()
    named = NamedCampaign(name=campaign.name, created_at=now)
    CAMPAIGNS.insert(transaction, [(named, {"id": campaign.id})])
    run = CampaignRun(campaign=campaign.id, setup=campaign.setup, started_at=now)
    RUNS.insert(transaction, [(run, {})])


def write_learned(transaction: Transaction, campaign: str, learned: Mapping[str, JSON]) -> None:
    """Keep what the campaign's latest run has learned of its endpoints, by model."""
    for row, run in _latest_runs(transaction.connection):
        if run.campaign == campaign:
            learned_too = run.model_copy(update={"learned": learned})
            RUNS.replace(transaction, [(learned_too, {"id": row.id})])


def _latest_runs(connection: Connection) -> Iterator[tuple[AnyRow, CampaignRun]]:
    """The latest run of each campaign."""
    runs = RUNS.c
    latest = select(runs.campaign, func.max(runs.started_at)).group_by(runs.campaign)
    query = RUNS.select().where(tuple_(runs.campaign, runs.started_at).in_(latest))
    return RUNS.intact(connection, connection.execute(query).all())


def read_campaigns(connection: Connection) -> tuple[Campaign, ...]:
    """All campaigns, the oldest first. Raises StoreError for altered rows."""
    latest = {run.campaign: run for _, run in _latest_runs(connection)}
    run_counts = Counter(connection.execute(select(RUNS.c.campaign)).scalars())
    rows = connection.execute(CAMPAIGNS.select().order_by(CAMPAIGNS.c.created_at)).all()
    campaigns = [(row.id, found) for row, found in CAMPAIGNS.intact(connection, rows)]
    for each, _ in campaigns:
        if each not in latest:
            raise changed(f"campaign {each} in the store, or its run,")
    return tuple(
        Campaign(
            id=each,
            name=found.name,
            setup=latest[each].setup,
            created_at=found.created_at,
            started_at=latest[each].started_at,
            runs=run_counts[each],
            conversations=count_planned(connection, each),
            learned=latest[each].learned or {},
        )
        for each, found in campaigns
    )


def find_campaign(connection: Connection, prefix: str) -> Campaign:
    """The only campaign whose id begins with `prefix`. Raises StoreError for none or several."""
    found = [campaign for campaign in read_campaigns(connection) if campaign.id.startswith(prefix)]
    if len(found) != 1 and not prefix:
        raise StoreError("the store has no conversations: run a campaign first, or name another")
    if len(found) != 1:
        many = "several campaigns begin" if found else "no campaign begins"
        raise StoreError(f"{many} with {prefix}: see `recjury status` for their ids")
    return found[0]
