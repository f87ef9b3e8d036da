"""What PairEval's analyses share: rated sets, models that compare, and what they could not do."""

from abc import abstractmethod
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import ClassVar, NamedTuple, TypeVar

from pydantic import Field

from recjury.campaign.config import EvaluationConfig
from recjury.campaign.model_work import ModelWork, config_of, do_with_models, models_asked
from recjury.corpora.response_sets import (
    PAIREVAL_SETS,
    RESPONSE_SETS,
    read_response_set,
    sets_folder,
)
from recjury.errors import ConfigError
from recjury.judges.paireval.comparison import Comparer, LlmPairJudge
from recjury.judges.paireval.prompts import PairPrompts
from recjury.llm import MAIN_MODEL, Gateway
from recjury.papers.paireval.correlations import RatedSet, example_pool
from recjury.plugins import Names
from recjury.records import JSON, ExpectedCalls, Response, digest
from recjury.tables import Analysis, AnalysisInput, Findings, Input

T = TypeVar("T")

# Tokens of a prompt and of a reply, on average.
_PAIR_TOKENS = {"turn": (500, 4), "dialogue": (1_500, 4)}
_DIRECT_TOKENS = (300, 4)


class PairCalls(NamedTuple):
    """How many comparisons are made, of two prompts each, and replies that are rated `alone`."""

    comparisons: int
    alone: int = 0


class PairInput(NamedTuple):
    """What an analysis reads: rated sets, and the pool of comparison examples."""

    sets: tuple[RatedSet, ...]
    pool: tuple[Response, ...]

    def identity(self) -> dict[str, JSON]:
        """What of it changes the prompts."""
        sets: dict[str, JSON] = {each.name: digest(each.responses) for each in self.sets}
        return {"sets": sets, "pool": digest(self.pool)}

    @property
    def rows(self) -> int:
        """Rated responses of all sets."""
        return sum(len(each.rows) for each in self.sets)


class ModelsAnalysis(Analysis):
    """An analysis by judges of pairs, one for each of some models of a campaign file."""

    needs: ClassVar[tuple[Input, ...]] = (Input.CONFIG, Input.DATA)
    calls: ClassVar[str] = "two for each comparison"

    models: Names = Field((MAIN_MODEL,), description="the models that compare, by alias")

    def expected(self, config: EvaluationConfig, asked: PairCalls) -> list[ExpectedCalls]:
        """The calls of each model. Raises ConfigError for one that the file lacks."""
        models_asked(config, self.models)
        aliases = dict.fromkeys(self.models)
        return [call for alias in aliases for call in comparing(config, alias, asked)]

    async def by_model(
        self,
        given: AnalysisInput,
        what: Mapping[str, JSON],
        ask: Callable[[LlmPairJudge], Awaitable[T]],
    ) -> tuple[dict[str, T], Findings]:
        """What each model's judge finds, by alias, and findings with what it could not ask.

        Calls that the store has are not made again. Raises UserError.
        """
        config = config_of(given)
        asked: dict[str, JSON] = {
            **what,
            "models": models_asked(config, self.models),
            "prompts": PairPrompts().identity,
        }

        async def do(gateway: Gateway) -> tuple[dict[str, T], Findings]:
            judges = {alias: LlmPairJudge(Comparer(gateway, alias)) for alias in self.models}
            found = {alias: await ask(judge) for alias, judge in judges.items()}
            return found, _could_not(judges)

        work = ModelWork(f"paireval {type(self).__name__}", asked, do)
        return await do_with_models(work, config, given.store)


class SetsAnalysis(ModelsAnalysis):
    """An analysis of rated sets of replies."""

    sets: Names = Field(PAIREVAL_SETS, description="the sets of rated replies")
    limit: int | None = Field(None, ge=2, description="only the first rows of each set")
    seed: int = Field(0, ge=0, description="of the draws")

    @abstractmethod
    def asked(self, pairs: PairInput) -> PairCalls:
        """What is asked about these sets."""

    def plan(self, given: AnalysisInput) -> Iterable[ExpectedCalls]:
        """The calls of each model. Raises UserError."""
        return self.expected(config_of(given), self.asked(self.read(given)))

    def read(self, given: AnalysisInput) -> PairInput:
        """The sets, and DailyDialog's validation dialogues. Raises UserError."""
        folder = sets_folder(given.data)
        unknown = [name for name in self.sets if name not in RESPONSE_SETS]
        if unknown:
            known = ", ".join(RESPONSE_SETS)
            raise ConfigError(f"unknown set {unknown[0]!r}: expected one of {known}")
        rated = tuple(
            RatedSet(name, read_response_set(folder, name)[: self.limit])
            for name in dict.fromkeys(self.sets)
        )
        return PairInput(rated, example_pool(folder))

    def identity(self, pairs: PairInput) -> dict[str, JSON]:
        """What can change a prompt: the sets and the settings."""
        settings: dict[str, JSON] = self.model_dump(mode="json", exclude={"models", "sets"})
        return {**pairs.identity(), **settings}


def comparing(
    config: EvaluationConfig, alias: str, asked: PairCalls, level: str = "turn"
) -> list[ExpectedCalls]:
    """The calls of one model: two for each comparison of turns or dialogues, one for each reply."""
    kinds = {
        level: (2 * asked.comparisons, *_PAIR_TOKENS[level]),
        f"{level} alone": (asked.alone, *_DIRECT_TOKENS),
    }
    return [
        ExpectedCalls(alias, f"paireval/{kind}", n, config.attempts * n, prompt, reply)
        for kind, (n, prompt, reply) in kinds.items()
        if n
    ]


def _could_not(judges: Mapping[str, LlmPairJudge]) -> Findings:
    """Prompts that were cut as notes, and the reasons of comparisons without a result."""
    notes: Sequence[str] = [
        f"{alias}: {judge.cut} prompts were too long, and {judge.left_out} of the oldest turns "
        "were left out of them"
        for alias, judge in judges.items()
        if judge.cut
    ]
    problems = {
        f"{alias}: {reason}": count
        for alias, judge in judges.items()
        for reason, count in judge.unscored.items()
    }
    return Findings(notes=tuple(notes), problems=problems)
