"""Trial outcomes: a flat record per trial, for tables, comparisons and export."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from sqlalchemy import Engine

from recjury.records import (
    PERSUASIVENESS,
    ConversationLog,
    Ending,
    Level,
    Rating,
    Record,
    Status,
    Verdict,
)
from recjury.store.contents import Content, read_contents
from recjury.store.debates import Debate
from recjury.store.failures import read_failures
from recjury.store.trials import Trial, read_stages, read_trials, trial_ids

RECALL_AT = (1, 5, 10)
_CHUNK = 100  # trials read at once, so that memory stays flat


class TrialOutcome(Record):
    """What came of one trial so far.

    `stages` are the finished ones; `failures` maps each stage that failed and is not finished
    to its latest reason. `log` is the log's id, and `pair` what its scenario is paired by when
    systems are compared. `recall` and `last_turn_recall` are by k, and None without targets.
    `leaks_*`, `rounds` (system turns) and `hit_round` are 0 or None without a log. `debaters` names
    who played the roles: "rule", or models by alias.
    """

    trial: str
    system: str
    scenario: str
    corpus: str
    repeat: int
    stages: frozenset[str]
    failures: dict[str, str]
    log: str | None = None
    pair: str | None = None
    target_seen: bool = False
    ending: Ending | None = None
    rounds: int = 0
    hit_round: int | None = None
    leaks_caught: int = 0
    leaks_through: int = 0
    recall: Mapping[int, float | None] = {}
    last_turn_recall: Mapping[int, float | None] = {}
    ratings: tuple[Rating, ...] = ()
    verdict: Verdict | None = None
    debaters: frozenset[str] = frozenset()

    @property
    def persuasiveness(self) -> float | None:
        """The Persuasiveness score, 0-2, or None."""
        return self.score(PERSUASIVENESS)

    @property
    def overall(self) -> float | None:
        """The verdict's score, 0-100, or None."""
        return None if self.verdict is None else self.verdict.score

    def rated(self, factor: str) -> tuple[Rating, ...]:
        """The dialogue-level ratings of a factor, one per evaluator, unscored ones included."""
        return tuple(
            rating
            for rating in self.ratings
            if rating.factor == factor and rating.level is Level.DIALOGUE
        )

    def score(self, factor: str) -> float | None:
        """The mean of a factor's scores over the evaluators that scored it; None if none did."""
        scores = [rating.score for rating in self.rated(factor) if rating.score is not None]
        return sum(scores) / len(scores) if scores else None

    def status(self, factor: str) -> Status | None:
        """SCORED if an evaluator scored it, else the first one's status; None if unrated."""
        statuses = [rating.status for rating in self.rated(factor)]
        if Status.SCORED in statuses:
            return Status.SCORED
        return statuses[0] if statuses else None


def read_outcomes(
    engine: Engine, campaign: str | None = None, system: str | None = None
) -> Iterator[TrialOutcome]:
    """Outcomes of a campaign's trials in the plan's order, or of all; StoreError for altered rows.

    No transaction is open between two outcomes of different batches.
    """
    with engine.connect() as connection:
        ids = iter(trial_ids(connection, campaign, system))
    while some := tuple(islice(ids, _CHUNK)):
        yield from _outcomes(engine, some)


def _outcomes(engine: Engine, ids: Sequence[str]) -> list[TrialOutcome]:
    with engine.connect() as connection:
        trials = read_trials(connection, ids)
        contents = read_contents(connection, ids)
        stages = read_stages(connection, ids)
        failures = read_failures(connection, ids)
    return [
        _outcome(
            trials[trial],
            contents[trial],
            frozenset(stages.get(trial, ())),
            {
                failure.stage: failure.reason
                for failure in failures.get(trial, ())
                if failure.stage not in stages.get(trial, ())
            },
        )
        for trial in ids
    ]


def _outcome(
    trial: Trial, content: Content, stages: frozenset[str], failures: dict[str, str]
) -> TrialOutcome:
    outcome = TrialOutcome(
        trial=trial.id,
        system=trial.system,
        scenario=trial.scenario,
        corpus=trial.corpus,
        repeat=trial.repeat,
        stages=stages,
        failures=failures,
        ratings=content.ratings,
        verdict=None if content.debate is None else content.debate.verdict,
        debaters=_speakers(content.debate),
    )
    return outcome if content.log is None else _with_log(outcome, content.log)


def _speakers(debate: Debate | None) -> frozenset[str]:
    statements = () if debate is None else debate.transcript.statements
    return frozenset(statement.speaker for statement in statements)


def _with_log(outcome: TrialOutcome, log: ConversationLog) -> TrialOutcome:
    return outcome.model_copy(
        update={
            "log": log.id,
            "pair": log.scenario.pair_id,
            "target_seen": log.scenario.target_seen,
            "ending": log.ending,
            "rounds": len(log.system_turns),
            "hit_round": log.hit_round,
            "leaks_caught": log.leaks_caught,
            "leaks_through": log.leaks_through,
            "recall": {k: log.recall_at(k) for k in RECALL_AT},
            "last_turn_recall": {k: log.last_turn_recall_at(k) for k in RECALL_AT},
        }
    )
