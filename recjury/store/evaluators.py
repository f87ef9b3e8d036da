"""The versions of evaluators that a campaign uses, and the metrics they declare."""

import time
from collections.abc import Iterable, Mapping, Sequence
from itertools import count
from typing import NamedTuple

import orjson
from pydantic import TypeAdapter
from sqlalchemy import Connection, select
from sqlalchemy.dialects.sqlite import insert

from recjury.errors import StoreError
from recjury.records import JSON, Metric, Record, evaluator_id
from recjury.store.engine import insert_new
from recjury.store.sealed import AnyRow, as_written, canonical_json, check
from recjury.store.tables import CampaignEvaluatorRow, EvaluatorRow, table_of
from recjury.store.texts import texts_of_ids
from recjury.store.writer import Transaction

_SHORTEST = 4  # digits of an older version's id in its label
_METRICS = TypeAdapter(tuple[Metric, ...])
_NAMES = TypeAdapter(tuple[str, ...])


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


def write_evaluators(
    transaction: Transaction, campaign: str, planned: Sequence[PlannedEvaluator]
) -> None:
    """Link evaluators to a campaign; metrics that a version was asked for earlier are kept."""
    connection = transaction.connection
    links = {link.evaluator: link for link in _links(connection, campaign)}
    now, after = time.time(), max((link.ordinal for link in links.values()), default=-1) + 1
    new = count(after)
    for each in planned:
        link = links.get(each.id)
        metrics = () if link is None else link.metrics
        texts = (
            canonical_json(each.model_dump(mode="json")["settings"]),
            canonical_json([m.model_dump(mode="json") for m in _merged(metrics, each.metrics)]),
            canonical_json(list(each.stages)),
        )
        places = transaction.texts.intern(connection, texts)
        settings, rated, done = (places[text].id for text in texts)
        row = {"id": each.id, "kind": each.kind, "settings": settings}
        connection.execute(insert_new(table_of(EvaluatorRow)), [row])
        values = {
            "name": each.name,
            "ordinal": next(new) if link is None else link.ordinal,
            "judgings": each.judgings,
            "metrics": rated,
            "stages": done,
            "started_at": now,
        }
        added = insert(CampaignEvaluatorRow).values(campaign=campaign, evaluator=each.id, **values)
        keys = ["campaign", "evaluator"]
        connection.execute(added.on_conflict_do_update(index_elements=keys, set_=values))


def read_campaign_evaluators(
    connection: Connection, campaign: str | None = None
) -> tuple[CampaignEvaluator, ...]:
    """A campaign's evaluators in order; with None, those of the whole store.

    Those of the whole store are the newest version of each name, then the older ones. Raises
    StoreError if one was altered.
    """
    links = _once_each(_links(connection, campaign))
    rows = _rows(connection, {link.evaluator for link in links})
    texts = texts_of_ids(connection, (row.settings for row in rows.values()))
    newest: dict[str, _Link] = {}
    for link in sorted(links, key=lambda link: (link.started_at, link.ordinal)):
        newest[link.name] = link
    found = []
    for link in sorted(links, key=lambda link: (newest[link.name] != link, link.ordinal)):
        row = rows[link.evaluator]
        label = link.name if newest[link.name] == link else _label(link, links)
        settings = _settings(row, texts[row.settings])
        found.append(
            CampaignEvaluator(
                id=row.id,
                kind=row.kind,
                name=link.name,
                label=label,
                settings=settings,
                judgings=link.judgings,
                metrics=link.metrics,
                stages=link.stages,
                started_at=link.started_at,
            )
        )
    return tuple(found)


class _Link(NamedTuple):
    evaluator: str
    name: str
    ordinal: int
    judgings: int
    metrics: tuple[Metric, ...]
    stages: tuple[str, ...]
    started_at: float


def _links(connection: Connection, campaign: str | None) -> list[_Link]:
    links = table_of(CampaignEvaluatorRow)
    query = select(links).order_by(links.c.started_at, links.c.ordinal)
    if campaign is not None:
        query = query.where(links.c.campaign == campaign)
    rows = connection.execute(query).all()
    texts = texts_of_ids(
        connection, (number for row in rows for number in (row.metrics, row.stages))
    )
    return [
        _Link(
            row.evaluator,
            row.name,
            row.ordinal,
            row.judgings,
            _METRICS.validate_json(texts[row.metrics]),
            _NAMES.validate_json(texts[row.stages]),
            row.started_at,
        )
        for row in rows
    ]


def _once_each(links: Iterable[_Link]) -> list[_Link]:
    """The newest link of each evaluator, with everything that any campaign asked of it."""
    found: dict[str, _Link] = {}
    for link in links:
        earlier = found.get(link.evaluator)
        if earlier is not None:
            link = link._replace(
                judgings=max(earlier.judgings, link.judgings),
                metrics=_merged(earlier.metrics, link.metrics),
                stages=tuple(dict.fromkeys((*earlier.stages, *link.stages))),
            )
        found[link.evaluator] = link
    return list(found.values())


def _merged(earlier: Sequence[Metric], later: Sequence[Metric]) -> tuple[Metric, ...]:
    """All metrics, each with its latest declaration."""
    return tuple({metric.id: metric for metric in (*earlier, *later)}.values())


def _label(link: _Link, links: Sequence[_Link]) -> str:
    others = [each.evaluator for each in links if each.name == link.name and each != link]
    digits = _SHORTEST
    while any(other.startswith(link.evaluator[:digits]) for other in others):
        digits += 1
    return f"{link.name}@{link.evaluator[:digits]}"


def check_evaluators(connection: Connection, evaluators: Iterable[str]) -> None:
    """Raise StoreError if one of the evaluators is missing or was altered."""
    for row in _rows(connection, evaluators).values():
        _settings(row, texts_of_ids(connection, [row.settings])[row.settings])


def _rows(connection: Connection, ids: Iterable[str]) -> dict[str, AnyRow]:
    evaluators, wanted = table_of(EvaluatorRow), tuple(ids)
    query = select(evaluators).where(evaluators.c.id.in_(wanted))
    found = {row.id: row for row in connection.execute(query)}
    for each in wanted:
        if each not in found:
            raise StoreError(f"evaluator {each} is not in the store")
    return found


def _settings(row: AnyRow, text: str) -> dict[str, JSON]:
    with as_written(f"evaluator {row.id} in the store"):
        settings: dict[str, JSON] = orjson.loads(text)
        check(evaluator_id(row.kind, settings), row.id)
        return settings
