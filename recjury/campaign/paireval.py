"""PairEval's analyses with the models of a campaign file: what is read, asked, and noted."""

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

from recjury.campaign.config import EvaluationConfig
from recjury.campaign.model_work import ModelWork, check_aliases, do_with_models, models_asked
from recjury.corpora.response_sets import RESPONSE_SETS, read_response_set
from recjury.errors import ConfigError
from recjury.judges.paireval.analyses import RatedSet, example_pool
from recjury.judges.paireval.comparison import Comparer, LlmPairJudge
from recjury.judges.paireval.prompts import PairPrompts
from recjury.llm import Gateway
from recjury.records import JSON, Response, digest
from recjury.store import Store

T = TypeVar("T")

SETS_FOLDER = "dialogue-eval"


class PairInput(NamedTuple):
    """What an analysis reads: rated sets, the pool of comparison examples, draws and seed."""

    sets: tuple[RatedSet, ...]
    pool: tuple[Response, ...]
    draws: int
    seed: int

    def identity(self) -> dict[str, JSON]:
        """What of it changes the prompts."""
        return {
            "sets": {each.name: digest(each.responses) for each in self.sets},
            "pool": digest(self.pool),
            "draws": self.draws,
            "seed": self.seed,
        }

    @property
    def rows(self) -> int:
        """Rated responses of all sets."""
        return sum(len(each.rows) for each in self.sets)

    def comparisons(self, *, kinds: int = 1, number: int = 1) -> int:
        """Comparisons of all sets with `number` examples of each of `kinds`, in all draws."""
        return self.rows * kinds * number * self.draws

    def exhaustive(self) -> int:
        """Comparisons of each response with all others of its set."""
        return sum(len(each.rows) * (len(each.rows) - 1) // 2 for each in self.sets)


def read_pair_input(
    data: Path | None, sets: Sequence[str], *, limit: int | None, draws: int, seed: int
) -> PairInput:
    """Read the sets (at most `limit` rows of each) and DailyDialog's validation dialogues.

    `data` is the folder that holds dialogue-eval/, or that folder. Raises UserError.
    """
    folder = sets_folder(data)
    unknown = [name for name in sets if name not in RESPONSE_SETS]
    if unknown:
        known = ", ".join(RESPONSE_SETS)
        raise ConfigError(f"unknown set {unknown[0]!r}: expected one of {known}")
    rated = tuple(RatedSet(name, read_response_set(folder, name)[:limit]) for name in sets)
    return PairInput(rated, example_pool(folder), draws, seed)


def sets_folder(data: Path | None) -> Path:
    """The folder of the sets. Raises ConfigError without `data`."""
    if data is None:
        raise ConfigError("where is the data? Give --data or set RECJURY_DATA")
    return data / SETS_FOLDER if (data / SETS_FOLDER).is_dir() else data


class JudgeNotes(NamedTuple):
    """What a judge could not ask as it is: comparisons that were cut, turns left out, and the
    reasons for comparisons without a result."""

    cut: int
    left_out: int
    unscored: Mapping[str, int]


class Analysed(NamedTuple):
    """The results of an analysis by alias, and what each judge noted."""

    results: Mapping[str, object]
    notes: Mapping[str, JudgeNotes]


async def analyse(
    name: str,
    config: EvaluationConfig,
    place: Store | str,
    aliases: Sequence[str],
    what: Mapping[str, JSON],
    analysis: Callable[[LlmPairJudge], Awaitable[object]],
) -> Analysed:
    """Do `analysis` with a judge of each alias, one after the other.

    The calls are those of a campaign "paireval NAME" in the store: the same analysis continues
    where it stopped. Raises UserError.
    """
    asked = {**what, "models": models_asked(config, aliases), "prompts": PairPrompts().identity}

    async def do(gateway: Gateway) -> Analysed:
        judges = {alias: LlmPairJudge(Comparer(gateway, alias)) for alias in _each_once(aliases)}
        found = {alias: await analysis(judge) for alias, judge in judges.items()}
        notes = {
            alias: JudgeNotes(judge.cut, judge.left_out, dict(judge.unscored))
            for alias, judge in judges.items()
        }
        return Analysed(found, notes)

    return await do_with_models(ModelWork(f"paireval {name}", asked, do), config, place)


async def with_model(
    name: str,
    config: EvaluationConfig,
    place: Store | str,
    alias: str,
    what: Mapping[str, JSON],
    do: Callable[[Gateway], Awaitable[T]],
) -> T:
    """Other work with one model, as a campaign "paireval NAME" in the store. Raises UserError."""
    check_aliases(config, [alias])
    asked = {**what, "models": models_asked(config, [alias])}
    return await do_with_models(ModelWork(f"paireval {name}", asked, do), config, place)


def _each_once(aliases: Sequence[str]) -> Iterator[str]:
    return iter(dict.fromkeys(aliases))
