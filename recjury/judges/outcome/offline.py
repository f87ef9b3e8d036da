"""The standard offline evaluation: one list and reply to people's history, held against theirs."""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from typing import Annotated, ClassVar, Literal, NamedTuple

from pydantic import Field, PrivateAttr, field_validator

from recjury.judges import overlap
from recjury.judges.evaluator import Evaluator
from recjury.judges.guideline import NO_TARGETS
from recjury.judges.outcome.evaluator import rating_of
from recjury.judges.outcome.metrics import TARGET_SEEN, ComputedMetric, MetricValue
from recjury.records import (
    JSON,
    ConversationRecord,
    Metric,
    Need,
    Response,
    ResponseScorer,
    StageResult,
    digest,
    target_ranks,
)
from recjury.stats.ranked_list import ndcg, recall, reciprocal_rank

VERSION = 1
Cutoff = Annotated[int, Field(ge=1, le=1000, strict=True)]
TextName = Literal["bleu-2", "bleu-4", "rouge-l"]

_MEASURES: Mapping[str, tuple[str, Callable[[Sequence[int], int, int], float]]] = {
    "recall": ("Recall", recall),
    "ndcg": ("nDCG", ndcg),
    "mrr": ("MRR", reciprocal_rank),
}
_DIGITS = 9


class _Text(NamedTuple):
    """A metric of a reply's text, its scorer, and the upper end of the scorer's scale."""

    title: str
    scorer: Callable[[], ResponseScorer]
    high: float = 1


_TEXTS: Mapping[str, _Text] = {
    **{f"bleu-{n}": _Text(f"BLEU-{n}", partial(overlap.bleu, n), 100) for n in (2, 4)},
    "rouge-l": _Text("ROUGE-L", overlap.rouge_l),
}


class OfflineEvaluator(Evaluator):
    """Recall, nDCG and MRR of one list for people's history; BLEU and ROUGE of the reply's text.

    `cutoffs` are the values of k. `texts` compare the reply with what the person said, and need the
    extra `baselines`.
    """

    rates_only: ClassVar = "replies"

    kind: Literal["offline"] = "offline"
    cutoffs: tuple[Cutoff, ...] = Field(default=(1, 10, 50), min_length=1)
    texts: tuple[TextName, ...] = ()

    _scorers: Mapping[str, ResponseScorer] = PrivateAttr(default_factory=dict)

    @field_validator("cutoffs")
    @classmethod
    def _in_order(cls, cutoffs: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(sorted(set(cutoffs)))

    @field_validator("texts")
    @classmethod
    def _without_repetitions(cls, texts: tuple[TextName, ...]) -> tuple[TextName, ...]:
        return tuple(dict.fromkeys(texts))

    @property
    def list_length(self) -> int:
        """The longest list that a metric reads."""
        return max(self.cutoffs)

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """Those of lists, for all records and for those with new targets; then those of texts."""
        return (*(each.metric for each in self._of_lists), *self._of_texts.values())

    @property
    def sources(self) -> Mapping[str, JSON]:
        """The version of the computations."""
        return {"version": VERSION}

    @property
    def data(self) -> Mapping[str, JSON]:
        """What people replied, if a metric may read it."""
        return {"replies": digest(self._replies)} if self.texts else {}

    def _prepare(self) -> None:
        """Raise ConfigError if a library of a metric is missing."""
        self._scorers = {name: _TEXTS[name].scorer() for name in self.texts}

    async def evaluate(
        self,
        stage: str,  # noqa: ARG002 (there is one)
        record: ConversationRecord,
        done: Mapping[str, StageResult],  # noqa: ARG002
    ) -> StageResult:
        """Return all ratings, computed."""
        found = [(each.metric, each.compute(record)) for each in self._of_lists]
        for name, metric in self._of_texts.items():
            found.append((metric, await self._text_value(name, record)))
        return StageResult(tuple(rating_of(*each, f"offline/{VERSION}") for each in found))

    async def _text_value(self, name: str, record: ConversationRecord) -> MetricValue:
        if not _is_one_reply(record):
            return _NOT_ONE_REPLY
        scenario = record.log.scenario.id
        said = record.log.system_turns[0].text
        response = Response(id=scenario, text=said, reference=self._replies.get(scenario))
        value = (await self._scorers[name].scores([response]))[0]
        if value is None:
            return MetricValue(None, "what the person replied is not known")
        return MetricValue(round(value / _TEXTS[name].high, _DIGITS))

    @property
    def _of_lists(self) -> tuple[ComputedMetric, ...]:
        measures = [(name, k) for name in _MEASURES for k in self.cutoffs]
        return (
            *(_of_list(*each, new=False) for each in measures),
            *(_of_list(*each, new=True) for each in measures),
            _TARGETS,
        )

    @property
    def _of_texts(self) -> Mapping[str, Metric]:
        return {
            name: Metric(
                id=name.replace("-", "_"), title=_TEXTS[name].title, group="Text", high=1, digits=3
            )
            for name in self.texts
        }

    @cached_property
    def _replies(self) -> Mapping[str, str]:
        """What people replied, by the ids of scenarios."""
        corpus = self._context.corpus
        if corpus is None:
            return {}
        return {
            f"{corpus.name}/{split}#{example.record}": example.response
            for split in corpus.splits
            for example in corpus.examples(split)
        }


_NOT_ONE_REPLY = MetricValue(None, "it is no single reply to a recorded history")


def _is_one_reply(record: ConversationRecord) -> bool:
    return len(record.log.interaction) == len(record.log.system_turns) == 1


def _of_list(name: str, k: int, *, new: bool) -> ComputedMetric:
    """Recall, nDCG or MRR; with `new` only of records whose targets the history does not name."""
    title, measure = _MEASURES[name]

    def compute(record: ConversationRecord) -> MetricValue:
        log = record.log
        targets = log.scenario.targets
        if not _is_one_reply(record):
            return _NOT_ONE_REPLY
        if not targets:
            return MetricValue(None, NO_TARGETS)
        if new and log.scenario.target_seen:
            return MetricValue(None, TARGET_SEEN)
        if k > log.list_length:
            return MetricValue(None, f"only {log.list_length} items of the list count")
        ranks = target_ranks(log.session_list(), targets)
        return MetricValue(round(measure(ranks, len(targets), k), _DIGITS))

    metric = Metric(
        id=f"{'new_' if new else ''}{name}@{k}",
        title=f"{title}@{k}{' of new targets' if new else ''}",
        group="Recommendation",
        high=1,
        needs=(Need.LIST, Need.TARGETS),
        digits=3,
        detail=name != "recall" and (new or k == 1),
        of_some=new,
    )
    return ComputedMetric(metric, compute)


_TARGETS = ComputedMetric(
    Metric(id="targets", title="Targets", group="Recommendation", detail=True),
    lambda record: MetricValue(len(record.log.scenario.targets)),
)
