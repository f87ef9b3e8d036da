"""Move what trials have stored to conversations and evaluations of them."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from recjury.store.migrations.apart import settings
from recjury.store.migrations.apart.outcome import Turns, computed, system_turns
from recjury.store.migrations.apart.rows import (
    BROKEN,
    Database,
    Row,
    is_intact,
    resealed,
    seal,
    stage_seal,
)
from recjury.store.migrations.apart.settings import Evaluator, Json
from recjury.store.migrations.apart.trial import Stages, Trial, evaluators, read_trial


class Moved(NamedTuple):
    """The evaluator of a trial, and when its last stage was finished (0: none was)."""

    evaluators: Sequence[Evaluator]
    finished_at: float


def move_trial(database: Database, row: Row, campaign: Json) -> Moved:
    """Make a trial a conversation with evaluations; `campaign` is the file of one that has the
    trial."""
    trial = read_trial(database, row)
    stages = Stages(database, trial)
    finished = max((float(each["finished_at"]) for each in trial.stages.values()), default=0.0)
    _move_conversation(database, trial, stages)
    found = evaluators(trial, campaign)
    for evaluator in found:
        number, _ = database.keep(evaluator.settings)
        values = {"id": evaluator.id, "kind": evaluator.kind, "settings": number}
        database.add("evaluator", values)
        work = _Work(database, trial, stages, evaluator, finished)
        if evaluator.kind == "outcome":
            work.outcome()
        else:
            work.judged()
    if not found:
        _keep_as_they_are(database, trial)
    return Moved(found, finished)


def _move_conversation(database: Database, trial: Trial, stages: Stages) -> None:
    row, identity = trial.row, trial.identity
    if trial.settings is not None and trial.intact:
        number, text = database.keep(settings.conversation(trial.settings))
        values = [row["id"], identity, row["system"], row["scenario"], row["corpus"]]
        sealed = seal([*values, row["repeat"], row["seed"]], [text])
    else:
        number, sealed = row["settings"], BROKEN
    change = "UPDATE conversation SET identity = ?, settings = ?, seal = ? WHERE id = ?"
    database.do(change, identity, number, sealed, row["id"])
    if "converse" in trial.stages:
        fits = stages.intact("converse") and trial.digest is not None
        kept = stage_seal([trial.digest or b""]) if fits else BROKEN
        _finish(database, trial.id, "converse", trial.stages["converse"]["finished_at"], kept)


def _keep_as_they_are(database: Database, trial: Trial) -> None:
    """Keep the rows of a trial whose settings are lost: its evaluators are unknown, so the rows
    belong to no evaluation."""
    for stage, row in trial.stages.items():
        if stage != "converse":
            _finish(database, trial.id, stage, row["finished_at"], row["seal"])
    for rating in database.rows("SELECT * FROM old_rating WHERE trial = ?", trial.id):
        values = {name: value for name, value in rating.items() if name not in {"id", "trial"}}
        database.add("rating", {"evaluation": trial.id, **values})


def _finish(database: Database, unit: str, stage: str, at: object, sealed: bytes) -> None:
    row = {"unit": unit, "stage": stage, "finished_at": at, "seal": sealed}
    database.add("stage", row)


class _Work:
    """One trial and one of its evaluators."""

    def __init__(
        self,
        database: Database,
        trial: Trial,
        stages: Stages,
        evaluator: Evaluator,
        finished_at: float,
    ):
        self._database, self._trial, self._stages = database, trial, stages
        self._evaluator, self._finished_at = evaluator, finished_at

    def judged(self) -> None:
        """The evaluation that keeps the trial's id: ratings with a debate, or FACE's."""
        trial = self._trial
        own = [stage for stage in trial.stages if stage != "converse"]
        if not (own or self._stages.ratings or self._stages.debates or self._failed()):
            return
        self._add(trial.id)
        for stage in own:
            if not stage.endswith("/scores"):
                self._judged_stage(stage)
        for rating in self._stages.ratings:
            if rating["stage"] not in (*own, "converse"):
                self._rate(trial.id, rating["stage"], rating)

    def _judged_stage(self, stage: str) -> None:
        parts = [stage]
        if stage.startswith("face/") and stage != "face/particles":
            parts.insert(0, f"{stage}/scores")
        name, unit = stage.rpartition("/")[2], self._trial.id
        seals = [row["seal"] for part in parts for row in self._stages.kept(part)]
        seals += [self._rate(unit, name, rating) for rating in self._stages.rated(stage)]
        intact = all(self._stages.intact(part) for part in parts)
        if stage == "debate":
            seals += self._overall()
        sealed = stage_seal(seals) if intact and BROKEN not in seals else BROKEN
        _finish(self._database, unit, name, self._trial.stages[stage]["finished_at"], sealed)

    def _rate(self, evaluation: str, stage: str, rating: Row) -> bytes:
        """Move a rating; returns its seal."""
        values = {name: value for name, value in rating.items() if name not in {"id", "trial"}}
        moved = {"evaluation": evaluation, **values, "stage": stage}
        row = resealed(moved, intact=is_intact(rating))
        self._database.add("rating", row)
        sealed: bytes = row["seal"]
        return sealed

    def _overall(self) -> list[bytes]:
        """The verdict as a separate rating."""
        found = self._stages.overall()
        if found is None:
            return []
        debate, intact = found
        verdict = {name: debate[name] for name in ("score", "status", "reason")}
        rating = {"evaluator": "debate", "factor": "Overall", **verdict, "low": 0.0, "high": 100.0}
        return [self._add_rating(self._trial.id, "debate", 0, rating, debate["protocol"], intact)]

    def outcome(self) -> None:
        """The evaluation that needs no judge: computed from the log, and rated by its user."""
        trial = self._trial
        if trial.digest is None:
            return
        unit = self._evaluator.evaluation(trial.digest.hex())
        if not self._database.rows("SELECT id FROM evaluation WHERE id = ?", unit):
            self._add(unit)
        if trial.log is not None and not self._has(unit, "log"):
            self._computed(unit, trial.log)
        asked = self._stages.rated("converse")
        intact = self._stages.intact("converse") and all(map(is_intact, asked))
        if self._has(unit, "persuasiveness"):
            if not intact:
                broken = "UPDATE stage SET seal = ? WHERE unit = ? AND stage = 'persuasiveness'"
                self._database.do(broken, BROKEN, unit)
        elif asked or ("converse" in trial.stages and self._evaluator.settings["user"] is None):
            seals = [self._rate(unit, "persuasiveness", rating) for rating in asked]
            seals = seals or [self._unasked(unit)]
            sealed = stage_seal(seals) if intact else BROKEN
            _finish(self._database, unit, "persuasiveness", self._finished_at, sealed)

    def _has(self, unit: str, stage: str) -> bool:
        query = "SELECT 1 FROM stage WHERE unit = ? AND stage = ?"
        return bool(self._database.rows(query, unit, stage))

    def _computed(self, unit: str, log: Json) -> None:
        ratings = computed(log, self._turns(log))
        seals = [
            self._add_rating(unit, "log", position, {"evaluator": "computed", **rating})
            for position, rating in enumerate(ratings)
        ]
        _finish(self._database, unit, "log", self._finished_at, stage_seal(seals))

    def _unasked(self, unit: str) -> bytes:
        reason = "nobody can be asked: there is no simulated user"
        said = {"score": None, "status": "not_applicable", "reason": reason}
        rating = {"evaluator": "computed", "factor": "Persuasiveness", **said}
        return self._add_rating(unit, "persuasiveness", 0, {**rating, "low": 0.0, "high": 2.0}, "")

    def _turns(self, log: Json) -> Turns:
        if log["ending"] == "recorded":
            return Turns((), ())
        turns = [self._calls(turn["calls"]) for turn in system_turns(log)]
        return Turns(
            [_sum([call["latency"] for call in calls]) for calls in turns],
            [_sum([call["cost"] for call in calls]) for calls in turns],
        )

    def _calls(self, identities: Sequence[str]) -> list[Mapping[str, Any]]:
        nothing = {"latency": None, "cost": None}
        found: list[Mapping[str, Any]] = []
        for identity in identities:
            query = "SELECT latency, cost FROM call WHERE identity = ?"
            rows = self._database.rows(query, bytes.fromhex(identity))
            found.append(rows[0] if rows else nothing)
        return found

    def _add_rating(
        self,
        evaluation: str,
        stage: str,
        position: int,
        rating: Mapping[str, Any],
        rubric: str = "outcome/1",
        intact: bool = True,
    ) -> bytes:
        row = {
            "evaluation": evaluation,
            "stage": stage,
            "position": position,
            "evaluator": rating["evaluator"],
            "factor": rating["factor"],
            "score": rating["score"],
            "status": rating["status"],
            "reason": rating["reason"],
            "rationale": "",
            "level": "dialogue",
            "turn": None,
            "low": rating["low"],
            "high": rating["high"],
            "rubric": rubric,
            "calls": "[]",
        }
        kept = resealed(row, intact=intact)
        self._database.add("rating", kept)
        sealed: bytes = kept["seal"]
        return sealed

    def _failed(self) -> bool:
        query = "SELECT 1 FROM old_failure WHERE trial = ? AND stage != 'converse'"
        return bool(self._database.rows(query, self._trial.id))

    def _log_digest(self) -> bytes:
        if self._trial.digest is not None:
            return self._trial.digest
        return self._stages.debates[0]["log"] if self._stages.debates else b""

    def _add(self, unit: str) -> None:
        """Add the row of the evaluation; if the trial's row was altered, this one counts as altered
        too."""
        log = self._log_digest()
        number, text = self._database.keep(self._evaluator.data)
        values = {
            "id": unit,
            "identity": self._evaluator.evaluation(log.hex()),
            "log": log,
            "evaluator": self._evaluator.id,
            "judging": 0,
            "fork_of": None,
        }
        sealed = seal(list(values.values()), [text]) if self._trial.intact else BROKEN
        row = {**values, "data": number, "created_at": self._finished_at, "seal": sealed}
        self._database.add("evaluation", {**row, "sample": self._trial.row["repeat"]})


def _sum(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if known and len(known) == len(values) else None


def link_campaign(
    database: Database, campaign: str, config: Json, moved: Mapping[str, Moved], begun: float
) -> None:
    """Give a campaign its identity, and the evaluators of its trials, by their ids in `moved`."""
    identity = settings.campaign_id(config, campaign)
    database.do("UPDATE campaign SET identity = ? WHERE id = ?", identity, campaign)
    query = "SELECT conversation FROM campaign_conversation WHERE campaign = ? ORDER BY ordinal"
    own: dict[str, Evaluator] = {}
    latest: dict[str, float] = {}
    for row in database.rows(query, campaign):
        done = moved.get(row["conversation"], Moved((), 0.0))
        for evaluator in done.evaluators:
            own.setdefault(evaluator.id, evaluator)
            latest[evaluator.id] = max(latest.get(evaluator.id, begun), done.finished_at)
    # `outcome` comes first, as it does where a campaign names no evaluators.
    for ordinal, evaluator in enumerate(sorted(own.values(), key=lambda one: one.kind == "core")):
        values = {
            "campaign": campaign,
            "evaluator": evaluator.id,
            "name": evaluator.kind,
            "ordinal": ordinal,
            "judgings": 1,
            "metrics": database.keep(evaluator.metrics)[0],
            "stages": database.keep(evaluator.stages)[0],
            "started_at": latest[evaluator.id],
        }
        database.add("campaign_evaluator", values)
