"""The offline evaluation: a system's first reply to recorded history, held against the record.

Its list has recall, nDCG and MRR. Its words have BLEU and ROUGE-L by libraries, and Distinct-n.
"""

import functools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from math import log2
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import Field, field_validator

from recjury.judges.evaluator import Evaluator, computed, not_applicable, rating_of
from recjury.llm import Ask
from recjury.records import ConversationLog, Finding, ItemRef, Metric, Rating, Turn

Cutoff = Annotated[int, Field(ge=1, le=1000)]


def recall(ranks: Sequence[int], targets: int, k: int) -> float:
    """The share of `targets` that are among the first k. `ranks` are those in the list, from 1."""
    return sum(rank <= k for rank in ranks) / targets


def ndcg(ranks: Sequence[int], targets: int, k: int) -> float:
    """The discounted gain of the first k by the best one that is possible (Jarvelin 2002)."""
    best = _gain(range(1, min(targets, k) + 1))
    return _gain(rank for rank in ranks if rank <= k) / best


def mrr(ranks: Sequence[int], targets: int, k: int) -> float:  # noqa: ARG001
    """One by the rank of the first target, 0 if none is among the first k."""
    return max((1 / rank for rank in ranks if rank <= k), default=0.0)


def _gain(ranks: "Iterator[int] | range") -> float:
    return sum(1 / log2(rank + 1) for rank in ranks)


_MEASURES: Mapping[str, tuple[str, Callable[[Sequence[int], int, int], float]]] = {
    "recall": ("Recall", recall),
    "ndcg": ("nDCG", ndcg),
    "mrr": ("MRR", mrr),
}


TextName = Literal["bleu", "rouge_l", "distinct"]

LIBRARIES: Mapping[TextName, str] = {"bleu": "sacrebleu", "rouge_l": "rouge_score"}
"""The modules that must be installed (the extra `baselines`)."""

_GRAMS = (2, 3, 4)
_WORD = re.compile(r"\w+")


class ReplyText(NamedTuple):
    """Metrics, and the score of each for a reply and what people replied; None if it is too short.

    Without `needs_reference`, the reply alone counts.
    """

    metrics: Sequence[Metric]
    scores: Callable[[str, str], Sequence[float | None]]
    needs_reference: bool = True


def bleu(reply: str, reference: str) -> Sequence[float]:
    """BLEU-4 of one sentence, 0 to 100, as sacrebleu computes it by default."""
    import sacrebleu

    return [min(100.0, sacrebleu.sentence_bleu(reply, [reference]).score)]


def rouge_l(reply: str, reference: str) -> Sequence[float]:
    """ROUGE-L's F1 over words, 0 to 1."""
    return [float(_rouge().score(reference, reply)["rougeL"].fmeasure)]


def distinct(reply: str, reference: str) -> Sequence[float | None]:  # noqa: ARG001
    """The share of different n-grams of words among all, for n from 2 to 4 (Li et al. 2016)."""
    words = _words(reply)
    grams = [list(zip(*(words[i:] for i in range(n)), strict=False)) for n in _GRAMS]
    return [len(set(each)) / len(each) if each else None for each in grams]


TEXTS: Mapping[TextName, ReplyText] = {
    "bleu": ReplyText([Metric(name="bleu", title="BLEU-4", high=100)], bleu),
    "rouge_l": ReplyText([Metric(name="rouge_l", title="ROUGE-L", high=1)], rouge_l),
    "distinct": ReplyText(
        [Metric(name=f"distinct_{n}", title=f"Distinct-{n} of a reply", high=1) for n in _GRAMS],
        distinct,
        needs_reference=False,
    ),
}
"""What the key `text` of `offline` may name."""


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


@functools.cache
def _rouge() -> Any:
    from rouge_score.rouge_scorer import RougeScorer

    return RougeScorer(["rougeL"], tokenizer=_Words())


class _Words:
    """Words of any language; the tokenizer of rouge-score knows only the letters a to z."""

    def tokenize(self, text: str) -> list[str]:
        return _words(text)


class Offline(Evaluator):
    """Recall, nDCG and MRR of the list in the system's first turn, cut `at` several lengths.

    `new_*` leaves out the targets that the history names. `text` rates the first turn's words:
    `bleu` and `rouge_l` against what people replied, and `distinct`, the share of different
    n-grams.
    """

    kind: Literal["offline"] = "offline"
    at: tuple[Cutoff, ...] = Field(default=(1, 10, 50), min_length=1)
    text: tuple[TextName, ...] = ()

    @field_validator("at", "text")
    @classmethod
    def _each_once(cls, values: tuple[object, ...]) -> tuple[object, ...]:
        return tuple(dict.fromkeys(values))

    @field_validator("text")
    @classmethod
    def _libraries_are_there(cls, names: tuple[TextName, ...]) -> tuple[TextName, ...]:
        for name in names:
            if name in LIBRARIES and find_spec(LIBRARIES[name]) is None:
                raise ValueError(
                    f"`{name}` needs {LIBRARIES[name]}: pip install 'recjury[baselines]'"
                )
        return names

    @property
    def metrics(self) -> Sequence[Metric]:
        """Those of all targets, of new ones, and of texts."""
        return [
            *(self._metric(name, k, "") for name in _MEASURES for k in self.at),
            *(self._metric(name, k, "new_") for name in _MEASURES for k in self.at),
            *(metric for name in self.text for metric in TEXTS[name].metrics),
        ]

    async def rate(self, log: ConversationLog, ask: Ask) -> Sequence[Finding]:  # noqa: ARG002
        """Computed from the first system turn, the targets and the reference."""
        first = next((turn for turn in log.interaction if turn.speaker == "system"), None)
        items = tuple(dict.fromkeys(item.id for item in first.items)) if first else ()
        named = set(log.scenario.named_in_history)
        new = [target for target in log.scenario.targets if target not in named]
        return [
            *self._of_list("", items, log.scenario.targets, "there is no target"),
            *self._of_list("new_", items, new, "there is no target that the history does not name"),
            *(rating for name in self.text for rating in self._of_text(name, first, log)),
        ]

    def _metric(self, name: str, k: int, prefix: str) -> Metric:
        title = f"{_MEASURES[name][0]}@{k}{' of new targets' if prefix else ''}"
        return Metric(name=f"{prefix}{name}@{k}", title=title, high=1)

    def _of_list(
        self, prefix: str, items: Sequence[str], targets: Sequence[ItemRef], without: str
    ) -> Iterator[Rating]:
        wanted = {target.id for target in targets}
        reason = "there is no list" if not items else "" if wanted else without
        ranks = [rank for rank, item in enumerate(items, 1) if item in wanted]
        for name, (_, measure) in _MEASURES.items():
            for k in self.at:
                found = None if reason else measure(ranks, len(wanted), k)
                yield self._rating(f"{prefix}{name}@{k}", found, reason)

    def _of_text(
        self, name: TextName, first: Turn | None, log: ConversationLog
    ) -> Iterator[Rating]:
        text, reference = TEXTS[name], log.scenario.reference
        said = first.text if first else ""
        reason = "" if said.strip() else "the system said nothing"
        if text.needs_reference and not reason:
            answers = log.interaction[0].speaker == "system"
            reason = "" if reference and answers else "what people replied is not known"
        none = [None] * len(text.metrics)
        scores = none if reason else text.scores(said, reference)
        for metric, score in zip(text.metrics, scores, strict=True):
            yield self._rating(metric.name, score, reason or "the reply is shorter than that")

    def _rating(self, metric: str, score: float | None, lacking: str) -> Rating:
        answer = not_applicable(lacking) if score is None else computed(score)
        return rating_of(metric, self.kind, answer)
