"""The twelve judges and the debate as one evaluator."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from recjury.debate import DEBATE, Debater, overall, run_debate
from recjury.errors import UnitFailed
from recjury.records import (
    JSON,
    ConversationLog,
    ConversationRecord,
    Domain,
    Metric,
    Rating,
    Stage,
    StageResult,
    Status,
    digest,
)

RATE = "rate"


class Raters(Protocol):
    """Rates the twelve factors: judges that are models, or measured judges."""

    @property
    def settings(self) -> Mapping[str, JSON]:
        """Everything that can change the ratings, except the corpus."""

    @property
    def data(self) -> Mapping[str, JSON]:
        """The part of the corpus that can change the ratings."""

    async def rate(self, log: ConversationLog) -> tuple[Rating, ...]:
        """All ratings."""

    def debate_ratings(self, ratings: Sequence[Rating]) -> tuple[Rating, ...]:
        """The ratings that the debaters see: one per factor."""


class CoreEvaluator:
    """Rates twelve factors, and runs a debate about an overall score (CoRE, section 4)."""

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
        domain: Domain | None = None,
    ):
        """Without `debaters` there is no debate. `domain` is what the prompts say of the corpus's
        items, if these are neither films nor books.

        `models` has, by alias, the settings of the raters' and debaters' models that can change a
        reply.
        """
        self._raters = raters
        self._debaters = debaters
        self._max_rounds = max_rounds
        self._models = dict(models or {})
        self._domain = domain
        self.name = name
        self.metrics = tuple(metrics)

    @property
    def settings(self) -> Mapping[str, JSON]:
        """The raters and the debaters, with the settings of their models that can change a
        reply."""
        debate: JSON = None
        if self._debaters is not None:
            debate = {**self._debaters.settings, "max_rounds": self._max_rounds}
        return {"raters": dict(self._raters.settings), "debate": debate, "models": self._models}

    @property
    def data(self) -> Mapping[str, JSON]:
        """The part of the corpus that the raters and the prompts use."""
        domain: dict[str, JSON] = {} if self._domain is None else {"domain": digest(self._domain)}
        return {**self._raters.data, **domain}

    @property
    def stages(self) -> tuple[Stage, ...]:
        """The ratings, and then the debate, if there is one."""
        rate = Stage(name=RATE)
        return (rate,) if self._debaters is None else (rate, Stage(name=DEBATE, after=(RATE,)))

    async def evaluate(
        self, stage: str, record: ConversationRecord, done: Mapping[str, StageResult]
    ) -> StageResult:
        """Return the ratings; or the debate over the existing ratings, with its verdict as a
        rating.

        Raises UnitFailed if a call of the debate failed.
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
