"""The twelve judges and the debate as one evaluator."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from recjury.debate import DEBATE, Debater, overall, run_debate
from recjury.errors import UnitFailed
from recjury.records import (
    JSON,
    ConversationLog,
    ConversationRecord,
    Metric,
    Rating,
    Stage,
    StageResult,
    Status,
)

RATE = "rate"


class Raters(Protocol):
    """Who rates the twelve factors: judges that are models, or measured ones."""

    @property
    def settings(self) -> Mapping[str, JSON]:
        """What can change the ratings, whatever the corpus."""

    @property
    def data(self) -> Mapping[str, JSON]:
        """What of the corpus can change the ratings."""

    async def rate(self, log: ConversationLog) -> tuple[Rating, ...]:
        """All ratings."""

    def debate_ratings(self, ratings: Sequence[Rating]) -> tuple[Rating, ...]:
        """The ratings that a debate is held over: one per factor."""


class CoreEvaluator:
    """Rates twelve factors, and debates an overall score over the ratings (CoRE, section 4)."""

    kind = "core"
    open_at_once: int | None = None

    def __init__(
        self,
        raters: Raters,
        debaters: Debater | None,
        *,
        max_rounds: int,
        metrics: Sequence[Metric],
        name: str = "core",
        models: Mapping[str, JSON] | None = None,
    ):
        """Without `debaters` nothing is debated.

        `models` is what of the raters' and debaters' models can change a reply, by alias.
        """
        self._raters = raters
        self._debaters = debaters
        self._max_rounds = max_rounds
        self._models = dict(models or {})
        self.name = name
        self.metrics = tuple(metrics)

    @property
    def settings(self) -> Mapping[str, JSON]:
        """Who rates and who debates, with what of their models can change a reply."""
        debate: JSON = None
        if self._debaters is not None:
            debate = {**self._debaters.settings, "max_rounds": self._max_rounds}
        return {"raters": dict(self._raters.settings), "debate": debate, "models": self._models}

    @property
    def data(self) -> Mapping[str, JSON]:
        """What of the corpus the raters look at."""
        return self._raters.data

    @property
    def stages(self) -> tuple[Stage, ...]:
        """The ratings, and then the debate, where there is one."""
        rate = Stage(name=RATE)
        return (rate,) if self._debaters is None else (rate, Stage(name=DEBATE, after=(RATE,)))

    async def evaluate(
        self, stage: str, record: ConversationRecord, done: Mapping[str, StageResult]
    ) -> StageResult:
        """The ratings; or the debate over those that are there, and its verdict as a rating.

        Raises UnitFailed for a debate in which a call failed.
        """
        if stage == RATE:
            return StageResult(await self._raters.rate(record.log))
        assert self._debaters is not None
        ratings = self._raters.debate_ratings(done[RATE].ratings)
        debate = await run_debate(record.log, ratings, self._debaters, max_rounds=self._max_rounds)
        lost = [s for s in debate.transcript.statements if s.status is Status.CALL_FAILED]
        if lost:
            raise UnitFailed(f"{lost[0].role}, round {lost[0].round}: {lost[0].reason}")
        return StageResult((overall(debate),), debate)
