"""Labels made of raters' answers: who counts, how far they agree, and what is tied."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Literal, NamedTuple

from pydantic import Field

from recjury.agreement.annotation.answers import GivenScore
from recjury.agreement.annotation.task import TaskKey
from recjury.errors import ConfigError, DataError
from recjury.input_files import read_record
from recjury.records import JSON, ConversationLog, Record
from recjury.stats.agreement import krippendorff_alpha, one_against_the_rest

Combine = Literal["mean", "majority"]
_FEW_LEVELS = 11  # a majority among more levels says nothing: they always count by their mean


class LabelScale(Record):
    """The lowest and the highest score of a question."""

    low: int
    high: int


class Annotation(Record):
    """A score that a person gave a conversation; `log` is the conversation's log id."""

    rater: str
    log: str
    question: str
    score: int


class AnnotatedLabels(Record):
    """Labels with their raters: the file that `recjury align --labels annotations:FILE` reads.

    `combine` says how several scores of one thing become one label.
    """

    format: Literal["recjury annotations 1"] = "recjury annotations 1"
    guideline: str
    combine: Combine = "mean"
    scales: dict[str, LabelScale]
    logs: dict[str, ConversationLog]
    annotations: tuple[Annotation, ...]
    excluded: dict[str, str] = Field(default_factory=dict)

    def scores(self) -> dict[str, dict[str, tuple[int, ...]]]:
        """By question and log: the scores of all raters."""
        found: dict[str, dict[str, tuple[int, ...]]] = {name: {} for name in self.scales}
        for each in self.annotations:
            own = found[each.question]
            own[each.log] = (*own.get(each.log, ()), each.score)
        return found

    def labels(self) -> dict[str, dict[str, float]]:
        """By question and log: the mean, or the most frequent score; none where that is tied."""
        return {
            question: {
                log: label
                for log, scores in own.items()
                if (label := self._label(question, scores)) is not None
            }
            for question, own in self.scores().items()
        }

    def ties(self) -> dict[str, tuple[str, ...]]:
        """By log, the questions whose most frequent score is tied; empty unless by majority."""
        found: dict[str, tuple[str, ...]] = {}
        for question, own in self.scores().items():
            for log, scores in own.items():
                if self._label(question, scores) is None:
                    found[log] = (*found.get(log, ()), question)
        return found

    def _label(self, question: str, scores: Sequence[int]) -> float | None:
        scale = self.scales[question]
        if self.combine == "mean" or scale.high - scale.low >= _FEW_LEVELS:
            return fmean(scores)
        (score, count), *others = Counter(scores).most_common()
        return None if others and others[0][1] == count else float(score)


class Exclusion(NamedTuple):
    """Raters who answer a smaller share than `below` (0 to 1) of the gold questions right.

    An answer is right if it is at most `within` from the gold score.
    """

    below: float = 0.3
    within: int = 0


class RaterSummary(NamedTuple):
    """How much a rater was asked and has answered, and the share of gold answers that are right."""

    asked: int
    answered: int
    gold: float | None
    excluded: bool


class QuestionSummary(NamedTuple):
    """What people said of one question: conversations with a label, with two raters, agreement."""

    labelled: int
    rated_twice: int
    tied: int
    alpha: float | None
    one_against_the_rest: float | None


class CollectedLabels(NamedTuple):
    """The labels, and what is known of raters and questions."""

    labels: AnnotatedLabels
    raters: Mapping[str, RaterSummary]
    questions: Mapping[str, QuestionSummary]

    def as_json(self) -> dict[str, JSON]:
        """By rater and by question."""
        return {
            "raters": {name: each._asdict() for name, each in self.raters.items()},
            "questions": {name: each._asdict() for name, each in self.questions.items()},
            "conversations": len(self.labels.logs),
            "annotations": len(self.labels.annotations),
            "ties": {log: list(each) for log, each in self.labels.ties().items()},
        }


def read_annotated(path: Path) -> AnnotatedLabels:
    """A file of labels with raters; raises DataError for another one."""
    labels = read_record(path, AnnotatedLabels, "a file of `recjury annotate import`")
    seen: set[tuple[str, str, str]] = set()
    for each in labels.annotations:
        scale = labels.scales.get(each.question)
        if scale is None or each.log not in labels.logs:
            raise DataError(f"has a score of an unknown {each.log}, {each.question}", path=path)
        if not scale.low <= each.score <= scale.high:
            raise DataError(f"{each.question}: {each.score} is out of its scale", path=path)
        place = (each.rater, each.log, each.question)
        if place in seen:
            raise DataError(f"a second score by {each.rater} of {each.log}", path=path)
        seen.add(place)
    return labels


def write_annotated(labels: AnnotatedLabels, path: Path) -> None:
    """Write a file of labels. Raises ConfigError if it cannot be written."""
    try:
        path.write_text(labels.model_dump_json(indent=1) + "\n", "utf-8")
    except OSError as error:
        raise ConfigError(f"{path} cannot be written: {error.strerror}") from None


def collect_labels(
    key: TaskKey,
    scores: Iterable[GivenScore],
    *,
    combine: Combine = "mean",
    exclusion: Exclusion = Exclusion(),  # noqa: B008 (frozen)
    earlier: AnnotatedLabels | None = None,
) -> CollectedLabels:
    """Labels of `scores`, without gold conversations and without excluded raters.

    `earlier` labels are added, for instance those that the further raters of `key` decide. Raises
    DataError if they are of another guideline, or hold a score by the same rater of the same thing.
    """
    given = tuple(scores)
    raters = _raters(key, given, exclusion)
    names = {name: log.id for name, log in key.logs.items()}
    found = AnnotatedLabels(
        guideline=key.task.guideline,
        combine=combine,
        scales={each.id: LabelScale(low=each.low, high=each.high) for each in key.task.questions},
        logs={names[name]: log for name, log in key.logs.items() if name not in key.gold},
        annotations=tuple(
            Annotation(
                rater=each.rater,
                log=names[each.conversation],
                question=each.question,
                score=each.score,
            )
            for each in given
            if each.conversation not in key.gold and not raters[each.rater].excluded
        ),
        excluded={
            name: f"{each.gold:.0%} of the gold questions right"
            for name, each in raters.items()
            if each.excluded
        },
    )
    labels = found if earlier is None else _together(earlier, found)
    if not labels.annotations:
        raise DataError("all raters are excluded: nothing is left")
    return CollectedLabels(labels, raters, _questions(labels))


def _raters(
    key: TaskKey, given: Sequence[GivenScore], exclusion: Exclusion
) -> dict[str, RaterSummary]:
    own: dict[str, list[GivenScore]] = defaultdict(list)
    for each in given:
        own[each.rater].append(each)
    found: dict[str, RaterSummary] = {}
    for rater in key.task.raters:
        right = [
            abs(each.score - known[each.question]) <= exclusion.within
            for each in own[rater]
            if each.question in (known := key.gold.get(each.conversation, {}))
        ]
        share = fmean(right) if right else None
        found[rater] = RaterSummary(
            len(key.task.asked(rater)),
            len(own[rater]),
            share,
            share is not None and share < exclusion.below,
        )
    return found


def _together(earlier: AnnotatedLabels, found: AnnotatedLabels) -> AnnotatedLabels:
    if earlier.guideline != found.guideline:
        raise DataError(
            f"the earlier labels are by the guideline {earlier.guideline}, these by "
            f"{found.guideline}: they cannot be added"
        )
    known = {(each.rater, each.log, each.question) for each in earlier.annotations}
    for each in found.annotations:
        if (each.rater, each.log, each.question) in known:
            raise DataError(
                f"the earlier labels have a score by {each.rater} of {each.log} already: further "
                "raters need names of their own (annotate export --raters)"
            )
    return found.model_copy(
        update={
            "scales": {**earlier.scales, **found.scales},
            "logs": {**earlier.logs, **found.logs},
            "annotations": (*earlier.annotations, *found.annotations),
            "excluded": {**earlier.excluded, **found.excluded},
        }
    )


def _questions(labels: AnnotatedLabels) -> dict[str, QuestionSummary]:
    made, ties = (
        labels.labels(),
        Counter(question for questions in labels.ties().values() for question in questions),
    )
    return {
        question: QuestionSummary(
            len(made[question]),
            sum(len(scores) > 1 for scores in own.values()),
            ties[question],
            krippendorff_alpha(list(own.values())),
            one_against_the_rest(list(own.values())),
        )
        for question, own in labels.scores().items()
        if own
    }
