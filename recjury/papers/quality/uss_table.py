"""Dialogue quality on USS (Jia et al., 2024): a row of figures for each way of asking."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from recjury.campaign.config import EvaluationConfig
from recjury.campaign.model_work import (
    ModelWork,
    check_aliases,
    models_asked,
)
from recjury.campaign.planned_calls import count_calls, planning_gateway
from recjury.corpora.uss import read_uss
from recjury.errors import ConfigError
from recjury.judges.dialogue_quality.evaluator import QualityEvaluator
from recjury.judges.dialogue_quality.examples import ExamplePools
from recjury.judges.dialogue_quality.subjects import (
    LabelledSubject,
    UssSplit,
    labelled_subjects,
    split_uss,
    uss_folder,
)
from recjury.judges.evaluator import EvaluatorContext
from recjury.llm import MAIN_MODEL, Gateway, ModelSpec
from recjury.papers.quality.training import learned_dialogues
from recjury.papers.quality.uss_figures import (
    QualityFigures,
    RatedSubject,
    figures_of,
    rate_all,
)
from recjury.records import JSON, ExpectedCalls, Level, digest
from recjury.tables import (
    WorkProgress,
)

_PLANNED = 10  # turns or dialogues


class QualityRow(NamedTuple):
    """The figures of one evaluator on turns or on dialogues, and the ratings behind them."""

    evaluator: str
    level: Level
    found: QualityFigures
    rated: Sequence[RatedSubject]


@dataclass(frozen=True)
class QualityTable:
    """What is asked: each evaluator about each turn or dialogue of the tested tenth of a subset.

    Examples come from the other nine tenths, whatever folder and subset an evaluator names.
    """

    config: EvaluationConfig
    entries: tuple[QualityEvaluator, ...]
    subset: str
    split: UssSplit
    seed: int = 0
    limit: int | None = None
    progress: WorkProgress = field(default_factory=WorkProgress)

    @property
    def rows(self) -> Iterator[tuple[QualityEvaluator, Level, tuple[LabelledSubject, ...]]]:
        """Each evaluator and level, with what is rated."""
        for entry in self.entries:
            for level in entry.levels:
                yield entry, level, labelled_subjects(self.split.test[: self.limit], level)

    @property
    def expected(self) -> list[ExpectedCalls]:
        """The calls that it takes; those of a few subjects are planned."""
        gateway = planning_gateway(self.config)
        context = EvaluatorContext(gateway=gateway, models=self.config.all_models)
        expected: list[ExpectedCalls] = []
        for entry, _, labelled in self.rows:
            evaluator = entry.prepared(context, self._examples(entry))
            some = labelled[:: max(1, len(labelled) // _PLANNED)]
            planned = (call for each in some for call in evaluator.plan_subject(each.subject))
            expected += count_calls(
                planned,
                attempts=self.config.attempts,
                logs=len(some),
                conversations=len(labelled),
            )
        return expected

    @property
    def work(self) -> ModelWork[tuple[QualityRow, ...]]:
        """The work, whose identity is made of everything that can change a prompt.

        Raises ConfigError if there are fewer examples than wanted.
        """
        aliases = [entry.model for entry in self.entries]
        examples = [self._examples(entry) for entry in self.entries]
        what: dict[str, JSON] = {
            "subset": self.subset,
            "seed": self.seed,
            "limit": self.limit,
            "models": models_asked(self.config, aliases),
            "evaluators": [
                entry.model_dump(mode="json", exclude={"examples": {"folder"}})
                for entry in self.entries
            ],
        }
        shown = [[turn.text for turn in each.turns] for each in self.split.test]
        given: list[JSON] = [digest(shown), *(each.identity for each in examples if each)]

        async def rate(gateway: Gateway) -> tuple[QualityRow, ...]:
            return await self._rate(gateway, examples)

        return ModelWork(f"dialogue quality {self.subset}", what, rate, given=given)

    async def _rate(
        self, gateway: Gateway, examples: Sequence[ExamplePools | None]
    ) -> tuple[QualityRow, ...]:
        rows = list(self.rows)
        of, done = sum(len(labelled) for _, _, labelled in rows), 0

        def count() -> None:
            nonlocal done
            done += 1
            self.progress.at(done / of, f"rated {done:,}/{of:,}")

        context = EvaluatorContext(gateway=gateway, models=gateway.models)
        evaluators = {
            entry.label: entry.prepared(context, chosen)
            for entry, chosen in zip(self.entries, examples, strict=True)
        }
        found = []
        for entry, level, labelled in rows:
            rated = await rate_all(evaluators[entry.label], labelled, count)
            found.append(QualityRow(entry.label, level, figures_of(rated), rated))
        return tuple(found)

    def _examples(self, entry: QualityEvaluator) -> ExamplePools | None:
        return entry.examples_from(self.split.train) if entry.examples.k else None


def read_quality_table(
    config: EvaluationConfig,
    data: Path,
    subset: str,
    *,
    evaluators: Sequence[str] = (),
    seed: int = 0,
    limit: int | None = None,
    progress: WorkProgress | None = None,
) -> QualityTable:
    """The table of the file's evaluators of the kind `dialogue-quality`, or of the named ones.

    Without any, the file's model is asked for log-probabilities, without examples. `data` is the
    folder of USS, or one that holds it as uss/; of the tested dialogues, the first `limit` are
    rated. Raises ConfigError for an unknown evaluator, and DataError for data that cannot be used.
    """
    entries = tuple(each for each in config.evaluators if isinstance(each, QualityEvaluator))
    known = ", ".join(each.label for each in entries) or "none"
    for name in evaluators:
        if name not in {each.label for each in entries}:
            raise ConfigError(
                f"the file has no evaluator {name!r} of the kind dialogue-quality (it has: {known})"
            )
    if evaluators:
        entries = tuple(each for each in entries if each.label in evaluators)
    entries = entries or (QualityEvaluator(),)
    sessions = read_uss(uss_folder(data), subset)
    alone, split = _with_only(config, entries), split_uss(sessions, seed)
    for alias, spec in alone.all_models.items():
        _refuse_learned(alias, spec, split)
    return QualityTable(alone, entries, subset, split, seed, limit, progress or WorkProgress())


def _refuse_learned(alias: str, spec: ModelSpec, split: UssSplit) -> None:
    """Raise ConfigError for a model whose adapter has learned dialogues that are tested."""
    adapter = getattr(spec, "adapter", None)
    learned = learned_dialogues(Path(adapter).expanduser(), split.test) if adapter else 0
    if learned:
        raise ConfigError(
            f"the adapter of model {alias!r} has learned {learned} of the {len(split.test)} tested "
            "dialogues: give the seed that it was trained with"
        )


def _with_only(config: EvaluationConfig, entries: tuple[QualityEvaluator, ...]) -> EvaluationConfig:
    """The configuration with these evaluators and their models: no other model is tried.

    Raises ConfigError for an unknown model.
    """
    aliases = {entry.model for entry in entries}
    check_aliases(config, sorted(aliases))
    fields: dict[str, object] = {
        name: getattr(config, name) for name in EvaluationConfig.model_fields
    }
    used = {alias: spec for alias, spec in config.all_models.items() if alias in aliases}
    main = used.pop(MAIN_MODEL, None)
    return EvaluationConfig.model_validate(
        {**fields, "evaluators": entries, "model": main, "models": used}
    )
