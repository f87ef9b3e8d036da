"""How one trial walks: converse, rate, debate, done.

Each stage is written when it ends, and what the store has is not done again. What fails is
recorded with its reason; the campaign goes on, and the next run tries that stage again: the store
answers all calls but the one that failed.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import structlog

from recjury.campaign.cast import Cast
from recjury.campaign.config import SimulatorConfig
from recjury.campaign.plan import Trial
from recjury.campaign.progress import Progress
from recjury.debate import Debater, hold
from recjury.errors import UnitFailed
from recjury.llm import on_behalf_of
from recjury.records import (
    ConversationLog,
    Ending,
    Rating,
    Status,
)
from recjury.simulator import LeakGuard, converse
from recjury.store import Stage, Store

logger = structlog.get_logger()


class Unit(NamedTuple):
    """A trial, and the stages of it that the store has."""

    trial: Trial
    done: Collection[str]


class StageFailed(UnitFailed):
    """A stage did not come to its end; it stays to do."""

    def __init__(self, stage: Stage, reason: str, said: ConversationLog | None = None):
        """Say which stage, and why; `said` is what there is of a conversation that failed."""
        super().__init__(reason)
        self.stage, self.said = stage, said


class Pipeline:
    """Advances trials. One pipeline serves all trials of a run, many at once."""

    def __init__(
        self,
        store: Store,
        casts: Mapping[str, Cast],
        debaters: Debater | None,
        *,
        rounds: SimulatorConfig,
        debate_rounds: int,
        progress: Progress,
    ):
        """`casts` are by corpus: the part of a scenario's corpus before the slash."""
        self._store = store
        self._casts = casts
        self._debaters = debaters
        self._rounds = rounds
        self._debate_rounds = debate_rounds
        self._progress = progress
        self._guards = {name: LeakGuard(cast.catalogue) for name, cast in casts.items()}

    @property
    def last_stage(self) -> Stage:
        """The stage after which a trial is done."""
        return "rate" if self._debaters is None else "debate"

    async def advance(self, unit: Unit) -> None:
        """Walk a trial from where the store has it to its end, or to its failure."""
        trial = unit.trial
        with on_behalf_of(trial.id, trial.repeat):
            try:
                await self._walk(unit)
            except StageFailed as failure:
                logger.info("trial failed", trial=trial.id, stage=failure.stage, why=str(failure))
                reason = str(failure)
                await self._store.save_failure(trial.id, failure.stage, reason, failure.said)
                self._progress.finish_one(failed=True)
            else:
                self._progress.finish_one(failed=False)

    async def _walk(self, unit: Unit) -> None:
        trial, done = unit
        cast = self._casts[corpus_name(trial.scenario.corpus)]
        log = self._store.log(trial.id) if "converse" in done else None
        if log is None:
            log = await self._converse(trial, cast)
        if "rate" in done:
            ratings: Sequence[Rating] = self._store.ratings(trial.id)
        else:
            ratings = await self._rate(trial, cast, log)
        if self._debaters is not None:
            await self._debate(trial, self._debaters, log, cast.feeding(ratings))

    async def _converse(self, trial: Trial, cast: Cast) -> ConversationLog:
        assert cast.user is not None
        said: list[ConversationLog] = []
        try:
            log = await converse(
                cast.user,
                cast.recommenders[trial.system],
                trial.scenario,
                self._guards[corpus_name(trial.scenario.corpus)],
                cast.catalogue,
                min_rounds=self._rounds.min_rounds,
                max_rounds=self._rounds.max_rounds,
                list_length=self._rounds.list_length,
                broken_off=said.append,
            )
        except UnitFailed as failure:
            raise StageFailed("converse", f"simulated user: {failure}", *said) from failure
        if log.ending is Ending.SYSTEM_FAILED:
            turns = log.system_turns
            raise StageFailed("converse", f"turn {len(turns)}: {turns[-1].failure}", log)
        persuasive = await cast.user.persuasiveness(log)
        _refuse_lost("converse", [persuasive], log)
        await self._store.save_log(trial.id, log, [persuasive])
        return log

    async def _rate(self, trial: Trial, cast: Cast, log: ConversationLog) -> Sequence[Rating]:
        ratings = await cast.raters.rate(log)
        _refuse_lost("rate", ratings)
        await self._store.save_ratings(trial.id, ratings)
        return ratings

    async def _debate(
        self, trial: Trial, debaters: Debater, log: ConversationLog, ratings: Sequence[Rating]
    ) -> None:
        transcript, verdict = await hold(log, ratings, debaters, max_rounds=self._debate_rounds)
        lost = [s for s in transcript.statements if s.status is Status.CALL_FAILED]
        if lost:
            raise StageFailed("debate", f"{lost[0].role}, round {lost[0].round}: {lost[0].reason}")
        await self._store.save_debate(trial.id, transcript, verdict)


def corpus_name(place: str) -> str:
    """The corpus in "opendialkg/test": what stands before the last slash, or all of it."""
    return place.rpartition("/")[0] or place


def _refuse_lost(
    stage: Stage, ratings: Sequence[Rating], said: ConversationLog | None = None
) -> None:
    """A call that failed for good may succeed tomorrow: the stage is not finished without it."""
    for rating in ratings:
        if rating.status is Status.CALL_FAILED:
            raise StageFailed(stage, f"{rating.factor}: {rating.reason}", said)
