"""Trials: what is planned, and which stages are done."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

import orjson
from sqlalchemy import Connection, Row, delete, select

from recjury.errors import StoreError
from recjury.records import JSON, Record
from recjury.store.engine import insert_new
from recjury.store.tables import CampaignTrialRow, StageRow, TrialRow, table_of
from recjury.store.texts import Damaged, chunks, hashes_of_ids, refuse, seal, texts_of_ids
from recjury.store.writer import Transaction

Stage = Literal["converse", "rate", "debate"]
STAGES: tuple[Stage, ...] = ("converse", "rate", "debate")


class Trial(Record):
    """One system on one scenario, once. `id` is 32 hex digits over all that can change its result;
    `settings` is that as JSON; `scenario` is the scenario's id; `repeat` counts from 0."""

    id: str
    system: str
    scenario: str
    corpus: str
    repeat: int = 0
    seed: int = 0
    settings: Mapping[str, object] = {}


class Planned(NamedTuple):
    """Trials to add to a campaign, in the plan's order."""

    campaign: str
    trials: Sequence[Trial]


def add_trials(transaction: Transaction, planned: Sequence[Planned]) -> None:
    """Add what is not there yet; a trial that another campaign has done is done here, too."""
    for campaign, trials in planned:
        links = [
            {"campaign": campaign, "trial": trial.id, "ordinal": ordinal}
            for ordinal, trial in enumerate(trials)
        ]
        if links:
            transaction.connection.execute(insert_new(TrialRow), _rows(transaction, trials))
            transaction.connection.execute(insert_new(CampaignTrialRow), links)


def _rows(transaction: Transaction, trials: Sequence[Trial]) -> list[dict[str, JSON]]:
    settings = [
        orjson.dumps(trial.model_dump()["settings"], option=orjson.OPT_SORT_KEYS).decode()
        for trial in trials
    ]
    places = transaction.texts.intern(transaction.connection, settings)
    rows: list[dict[str, JSON]] = []
    for trial, text in zip(trials, settings, strict=True):
        row: dict[str, JSON] = trial.model_dump(exclude={"settings"})
        sealed = seal(list(row.values()), [places[text].hash])
        rows.append({**row, "settings": places[text].id, "seal": sealed})
    return rows


class SetAside(NamedTuple):
    """Trials that leave a campaign; they stay in the store."""

    campaign: str
    trials: Sequence[str]


def superseded_trials(connection: Connection, planned: Planned) -> tuple[str, ...]:
    """The campaign's trials that a planned one with another id has taken the place of."""
    trials, links = table_of(TrialRow), table_of(CampaignTrialRow)
    places = {(t.system, t.scenario, t.repeat) for t in planned.trials}
    ids = {trial.id for trial in planned.trials}
    query = select(trials.c.id, trials.c.system, trials.c.scenario, trials.c.repeat).join(
        links, links.c.trial == trials.c.id
    )
    return tuple(
        row.id
        for row in connection.execute(query.where(links.c.campaign == planned.campaign))
        if row.id not in ids and (row.system, row.scenario, row.repeat) in places
    )


def set_aside(transaction: Transaction, gone: Sequence[SetAside]) -> None:
    """Take trials out of their campaigns."""
    links = table_of(CampaignTrialRow)
    for campaign, trials in gone:
        for trial in trials:
            query = delete(links).where(links.c.campaign == campaign, links.c.trial == trial)
            transaction.connection.execute(query)


def read_trials(connection: Connection, ids: Iterable[str]) -> dict[str, Trial]:
    """Trials by id, in the order given; StoreError for one that is missing or altered."""
    trials = table_of(TrialRow)
    found: dict[str, Trial] = {}
    for some in chunks(ids):
        rows = {
            row.id: row for row in connection.execute(select(trials).where(trials.c.id.in_(some)))
        }
        numbers = [row.settings for row in rows.values()]
        texts, hashes = texts_of_ids(connection, numbers), hashes_of_ids(connection, numbers)
        for trial in some:
            if trial not in rows:
                raise StoreError(f"trial {trial} is not in the store")
            row = rows[trial]
            found[trial] = _trial(row, texts[row.settings], hashes[row.settings])
    return found


def _trial(row: Row[tuple[object, ...]], settings: str, settings_hash: bytes) -> Trial:
    names = ("id", "system", "scenario", "corpus", "repeat", "seed")
    values = {name: row._mapping[name] for name in names}
    try:
        if seal(list(values.values()), [settings_hash]) == row.seal:
            return Trial(**values, settings=orjson.loads(settings))
    except (TypeError, ValueError):  # what a damaged row can be read as
        pass
    raise StoreError(f"trial {row.id} in the store is not as it was written")


def find_trial(connection: Connection, prefix: str) -> Trial:
    """The one trial whose id begins so; StoreError if there is none, or several."""
    trials = table_of(TrialRow)
    query = select(trials.c.id).where(trials.c.id.startswith(prefix, autoescape=True)).limit(2)
    ids = tuple(connection.execute(query).scalars())
    if len(ids) != 1:
        many = "several trials begin" if ids else "no trial begins"
        raise StoreError(f"{many} with {prefix}: give more of the id")
    return read_trials(connection, ids)[ids[0]]


def trial_ids(
    connection: Connection, campaign: str | None = None, system: str | None = None
) -> tuple[str, ...]:
    """Ids of a campaign's trials in the plan's order, or of all, optionally of one system."""
    trials, planned = table_of(TrialRow), table_of(CampaignTrialRow)
    query = select(trials.c.id)
    if campaign is None:
        query = query.order_by(trials.c.corpus, trials.c.scenario, trials.c.system, trials.c.id)
    else:
        query = query.join(planned, planned.c.trial == trials.c.id)
        query = query.where(planned.c.campaign == campaign).order_by(planned.c.ordinal)
    if system is not None:
        query = query.where(trials.c.system == system)
    return tuple(connection.execute(query).scalars())


def finish_stage(transaction: Transaction, trial: str, stage: str, seals: Sequence[str]) -> bool:
    """Mark a stage as finished. False if it was already: what is finished is never overwritten."""
    row = {"trial": trial, "stage": stage, "finished_at": time.time(), "seal": seal(list(seals))}
    return transaction.connection.execute(insert_new(StageRow).values(row)).rowcount == 1


def stages_done(connection: Connection, campaign: str) -> dict[str, set[str]]:
    """The finished stages of each of a campaign's trials that has any."""
    stages, planned = table_of(StageRow), table_of(CampaignTrialRow)
    query = select(stages.c.trial, stages.c.stage)
    query = query.join(planned, planned.c.trial == stages.c.trial)
    done: dict[str, set[str]] = {}
    for trial, stage in connection.execute(query.where(planned.c.campaign == campaign)):
        done.setdefault(trial, set()).add(stage)
    return done


def read_stages(connection: Connection, trials: Iterable[str]) -> dict[str, set[str]]:
    """The finished stages of each of `trials` that has any."""
    stages = table_of(StageRow)
    query = select(stages.c.trial, stages.c.stage).where(stages.c.trial.in_(tuple(trials)))
    done: dict[str, set[str]] = {}
    for trial, stage in connection.execute(query):
        done.setdefault(trial, set()).add(stage)
    return done


def check_stages(
    connection: Connection,
    found: Mapping[str, Mapping[str, Sequence[str]]],
    damaged: Damaged = refuse,
    *,
    concerned: Callable[[str], bool] = lambda _: True,
) -> None:
    """Hold the seals of the rows found, by trial and stage, against those of finished stages.

    `damaged` hears of each stage that has lost or gained rows, where its name is `concerned`.
    """
    stages = table_of(StageRow)
    query = select(stages.c.trial, stages.c.stage, stages.c.seal)
    rows = connection.execute(query.where(stages.c.trial.in_(tuple(found))))
    sealed = {(row.trial, row.stage): row.seal for row in rows}
    resealed = {
        (trial, stage): seal(list(seals))
        for trial, by_stage in found.items()
        for stage, seals in by_stage.items()
    }
    for trial, stage in dict.fromkeys((*resealed, *sealed)):
        # A stage without rows is sealed as such: no ratings were given.
        fits = resealed.get((trial, stage), seal([])) == sealed.get((trial, stage))
        if concerned(stage) and not fits:
            damaged(StoreError(f"stage {stage} of trial {trial} is not as it was written"))
