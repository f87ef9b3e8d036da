"""The versions of evaluators that a campaign uses, and the metrics they declare."""

import time
from collections.abc import Iterable, Mapping, Sequence
from itertools import count

from sqlalchemy import Column, Connection, ForeignKey

from recjury.records import Metric, Record
from recjury.store.column_types import PlainText
from recjury.store.sealed import SealedTable
from recjury.store.writer import Transaction

_SHORTEST = 4  # digits of an older version's id in its label


class PlannedEvaluator(Record):
    """An evaluator that a campaign will use, and what it will be asked for.

    `id` is the version (`records.evaluator_id`); ids of its metrics begin with `name`. `judgings`
    is how often each log is judged; `metrics` and `stages` are those that it will be asked for.
    """

    id: str
    kind: str
    name: str
    settings: Mapping[str, object] = {}
    judgings: int = 1
    metrics: tuple[Metric, ...] = ()
    stages: tuple[str, ...] = ()


class CampaignEvaluator(Record):
    """A version of an evaluator, as a campaign has it.

    `label` is the name if this is the newest version with that name. An older version has the name,
    "@" and as many digits of its id as are needed to distinguish it. `started_at` (Unix seconds) is
    when it was last started.
    """

    id: str
    kind: str
    name: str
    label: str
    settings: Mapping[str, object]
    judgings: int
    metrics: tuple[Metric, ...]
    stages: tuple[str, ...]
    started_at: float


class EvaluatorVersion(Record):
    """What makes a version of an evaluator: its id is a digest of these."""

    kind: str
    settings: Mapping[str, object]


class CampaignUse(Record):
    """How a campaign uses an evaluator.

    `metrics` has all that the campaign has ever asked it for; `stages` has those of the latest
    start, at `started_at` (Unix seconds).
    """

    evaluator: str
    name: str
    ordinal: int
    judgings: int
    metrics: tuple[Metric, ...]
    stages: tuple[str, ...]
    started_at: float


EVALUATORS = SealedTable(
    "evaluator",
    EvaluatorVersion,
    Column("id", PlainText, primary_key=True),
    named="evaluator {id}",
)
CAMPAIGN_EVALUATORS = SealedTable(
    "campaign_evaluator",
    CampaignUse,
    Column("campaign", PlainText, ForeignKey("campaign.id"), primary_key=True),
    Column("evaluator", PlainText, ForeignKey("evaluator.id"), primary_key=True),
    named="evaluator {evaluator} of campaign {campaign}",
)


def write_evaluators(
    transaction: Transaction, campaign: str, planned: Sequence[PlannedEvaluator]
) -> None:
    """Make evaluators those of a campaign's conversations, in this order.

    A version that the campaign had before keeps the metrics it had.
    """
    uses = {use.evaluator: use for use in _uses(transaction.connection, campaign)}
    now, after = time.time(), max((use.ordinal for use in uses.values()), default=-1) + 1
    new = count(after)
    for each in planned:
        earlier = uses.get(each.id)
        version = EvaluatorVersion(kind=each.kind, settings=each.settings)
        EVALUATORS.insert(transaction, [(version, {"id": each.id})])
        use = CampaignUse(
            evaluator=each.id,
            name=each.name,
            ordinal=next(new),
            judgings=each.judgings,
            metrics=each.metrics,
            stages=each.stages,
            started_at=now,
        )
        use = joined_uses(earlier or use, use)
        CAMPAIGN_EVALUATORS.replace(transaction, [(use, {"campaign": campaign})])


def joined_uses(one: CampaignUse, other: CampaignUse) -> CampaignUse:
    """How a campaign uses an evaluator that was started twice: as the later start asked, with the
    metrics of both."""
    earlier, later = sorted((one, other), key=lambda use: use.started_at)
    ordinal, metrics = min(one.ordinal, other.ordinal), _merged(earlier.metrics, later.metrics)
    return later.model_copy(update={"ordinal": ordinal, "metrics": metrics})


def read_campaign_evaluators(
    connection: Connection, campaign: str | None = None
) -> tuple[CampaignEvaluator, ...]:
    """A campaign's evaluators in order; with None, those of the whole store.

    Those of the whole store are the newest version of each name, then the older ones. Raises
    StoreError if one was altered.
    """
    uses = _once_each(_uses(connection, campaign))
    found = EVALUATORS.find(connection, {use.evaluator for use in uses})
    versions = {row.id: version for row, version in found}
    newest: dict[str, CampaignUse] = {}
    for use in sorted(uses, key=lambda use: (use.started_at, use.ordinal)):
        newest[use.name] = use
    return tuple(
        CampaignEvaluator(
            id=use.evaluator,
            kind=versions[use.evaluator].kind,
            name=use.name,
            label=use.name if newest[use.name] == use else _label(use, uses),
            settings=versions[use.evaluator].settings,
            judgings=use.judgings,
            metrics=use.metrics,
            stages=use.stages,
            started_at=use.started_at,
        )
        for use in sorted(uses, key=lambda use: (newest[use.name] != use, use.ordinal))
    )


def _uses(connection: Connection, campaign: str | None) -> list[CampaignUse]:
    table = CAMPAIGN_EVALUATORS
    query = table.select().order_by(table.c.started_at, table.c.ordinal)
    if campaign is not None:
        query = query.where(table.c.campaign == campaign)
    rows = connection.execute(query).all()
    return [use for _, use in table.intact(connection, rows)]


def _once_each(uses: Iterable[CampaignUse]) -> list[CampaignUse]:
    """The newest use of each evaluator, with everything that any campaign asked of it."""
    found: dict[str, CampaignUse] = {}
    for use in uses:
        earlier = found.get(use.evaluator)
        if earlier is not None:
            asked = {
                "judgings": max(earlier.judgings, use.judgings),
                "metrics": _merged(earlier.metrics, use.metrics),
                "stages": tuple(dict.fromkeys((*earlier.stages, *use.stages))),
            }
            use = use.model_copy(update=asked)
        found[use.evaluator] = use
    return list(found.values())


def _merged(earlier: Sequence[Metric], later: Sequence[Metric]) -> tuple[Metric, ...]:
    """All metrics, each with its latest declaration."""
    return tuple({metric.id: metric for metric in (*earlier, *later)}.values())


def _label(use: CampaignUse, uses: Sequence[CampaignUse]) -> str:
    others = [each.evaluator for each in uses if each.name == use.name and each != use]
    digits = _SHORTEST
    while any(other.startswith(use.evaluator[:digits]) for other in others):
        digits += 1
    return f"{use.name}@{use.evaluator[:digits]}"
