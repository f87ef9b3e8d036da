"""Trials of the old schema: what is left of each, and which of its rows are unchanged."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from recjury.store.migrations.apart import settings
from recjury.store.migrations.apart.rows import (
    Database,
    Row,
    canonical,
    is_intact,
    seal,
    stage_seal,
)
from recjury.store.migrations.apart.settings import Evaluator, Json

_SEALED = ("id", "system", "scenario", "corpus", "repeat", "seed")


@dataclass(frozen=True)
class Trial:
    """A trial. `settings` and `log` are None if they are missing or damaged.

    `scenario` is what is known of the scenario, and `digest` is the one in the log's row.
    """

    row: Row
    intact: bool
    settings: Json | None
    digest: bytes | None
    log: Json | None
    scenario: Json | None
    stages: Mapping[str, Row]

    @property
    def id(self) -> str:
        """The trial's id."""
        return str(self.row["id"])

    @property
    def identity(self) -> str | None:
        """The conversation's identity, or None if it is unknown."""
        if self.settings is None:
            return None
        if not settings.is_simulated(self.settings):
            return None if self.log is None or self.digest is None else self.digest.hex()
        if self.scenario is None:
            return None
        row = self.row
        return settings.conversation_id(self.settings, row["system"], row["repeat"], self.scenario)


def read_trial(database: Database, row: Row) -> Trial:
    """A trial with its log and stages."""
    _hold_what_was_said(database, row["id"])
    text = database.text(row["settings"])
    logs = database.rows("SELECT * FROM log WHERE conversation = ?", row["id"])
    body = _log(logs[0]) if logs else None
    said = None if body is not None else _said(database, row["id"])
    stages = database.rows("SELECT * FROM old_stage WHERE trial = ?", row["id"])
    return Trial(
        row=row,
        intact=text is not None and _fits(row, text.hash),
        settings=_object(database.json(row["settings"])),
        digest=logs[0]["digest"] if logs else None,
        log=body,
        scenario=(body or said or {}).get("scenario"),
        stages={stage["stage"]: stage for stage in stages},
    )


def _said(database: Database, trial: str) -> Json | None:
    """What was said before a conversation's latest failure."""
    query = "SELECT log FROM old_failure WHERE trial = ? AND log IS NOT NULL ORDER BY id DESC"
    found = (_object(database.json(row["log"])) for row in database.rows(query, trial))
    return next((said for said in found if said is not None), None)


def _hold_what_was_said(database: Database, trial: str) -> None:
    """Treat a complete conversation as held, although its trial failed.

    It failed because the rating of its user was lost, which can be asked for separately.
    """
    held = "SELECT trial FROM old_stage WHERE trial = ? AND stage = 'converse' "
    held += "UNION SELECT conversation FROM log WHERE conversation = ?"
    if database.rows(held, trial, trial):
        return
    said = _said(database, trial)
    if said is None or said.get("ending") not in ("hit", "round_limit"):
        return
    body = canonical(said)
    digest = hashlib.sha256(body.encode()).digest()[:16]
    database.add("log", {"conversation": trial, "digest": digest, "body": body})
    query = "SELECT max(failed_at) AS at FROM old_failure WHERE trial = ?"
    (last,) = database.rows(query, trial)
    sealed = {"finished_at": last["at"], "seal": stage_seal([digest])}
    database.add("old_stage", {"trial": trial, "stage": "converse", **sealed})


def _fits(row: Row, text: bytes) -> bool:
    try:
        return bool(seal([row[name] for name in _SEALED], [text]) == row["seal"])
    except TypeError:  # an edited row may hold anything
        return False


def _object(value: Any) -> Json | None:
    return value if isinstance(value, dict) else None


def _log(row: Row) -> Json | None:
    try:
        if hashlib.sha256(row["body"].encode()).digest()[:16] == row["digest"]:
            return _object(orjson.loads(row["body"]))
    except (orjson.JSONDecodeError, AttributeError):  # an edited row may hold anything
        pass
    return None


class Stages:
    """The finished stages of a trial, and whether all their rows are unchanged."""

    def __init__(self, database: Database, trial: Trial):
        """Reads the rows of the trial."""
        self._trial = trial
        by = trial.id
        self.ratings = database.rows(
            "SELECT * FROM old_rating WHERE trial = ? ORDER BY stage, position", by
        )
        self.debates = database.rows("SELECT * FROM old_debate WHERE trial = ?", by)
        self.statements = database.rows(
            "SELECT * FROM old_statement WHERE trial = ? ORDER BY position", by
        )
        self.turns = database.rows("SELECT * FROM old_face_turn WHERE trial = ? ORDER BY turn", by)
        self.scores = database.rows(
            "SELECT * FROM old_face_score WHERE trial = ? ORDER BY aspect, turn, particle", by
        )

    def rated(self, stage: str) -> list[Row]:
        """The ratings of a stage."""
        return [row for row in self.ratings if row["stage"] == stage]

    def kept(self, stage: str) -> list[Row]:
        """What a stage left besides ratings."""
        if stage == "debate":
            return [*self.debates, *self.statements]
        if stage == "face/particles":
            return self.turns
        if stage.startswith("face/") and stage.endswith("/scores"):
            return [row for row in self.scores if row["aspect"] == stage.split("/")[1]]
        return []

    def intact(self, stage: str) -> bool:
        """Whether a stage is finished, and has the rows that its seal covers."""
        row = self._trial.stages.get(stage)
        seals = [each["seal"] for each in (*self.kept(stage), *self.rated(stage))]
        if stage == "converse" and self._trial.digest is not None:
            seals.insert(0, self._trial.digest)
        return row is not None and row["seal"] == _sealed(seals)

    def overall(self) -> tuple[Row, bool] | None:
        """The debate's row, and whether it is unchanged."""
        return (self.debates[0], is_intact(self.debates[0])) if self.debates else None


def _sealed(seals: Sequence[object]) -> bytes | None:
    if not all(isinstance(each, bytes) for each in seals):  # an edited row may hold anything
        return None
    return stage_seal([each for each in seals if isinstance(each, bytes)])


def evaluators(trial: Trial, campaign: Json) -> list[Evaluator]:
    """The evaluators of a trial; `campaign` is the file of a campaign that has it."""
    if trial.settings is None:
        return []
    if settings.is_face(trial.settings):
        stages = [stage for stage in campaign.get("stages", trial.stages) if stage != "converse"]
        return [settings.face(trial.settings, stages)]
    return [settings.outcome(trial.settings), settings.core(trial.settings, campaign)]
