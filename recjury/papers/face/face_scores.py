"""FACE's pooled scores beside people's labels of the same conversations."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import ClassVar, NamedTuple

from pydantic import Field

from recjury.agreement.metric_pairs import pair_metrics
from recjury.agreement.scored_run import run_of_store
from recjury.corpora.crsarena import CrsArena, read_crsarena
from recjury.corpora.crsarena_run_file import read_run_file, run_file
from recjury.corpora.crsarena_runs import AspectRun, ParticleScores, read_runs
from recjury.corpora.data_problems import Fault, Problem
from recjury.errors import ConfigError, DataError
from recjury.judges.aspects import DIGITS, pool_places
from recjury.papers.face.stored_scores import pooled_scores, problems_of, read_scored, score_files
from recjury.records import Aspect, ScoreTarget, Speaker
from recjury.store import Store
from recjury.tables import Analysis, AnalysisInput, Input

Scores = Mapping[Aspect, Mapping[ScoreTarget, float]]
"""By aspect: the score of each place that has one."""

_FORM = "crsarena-eval"
_NOTHING = (
    "nothing here has scores of FACE's aspects: run `recjury judge FILE --evaluator face` first"
)


class FaceScores(NamedTuple):
    """FACE's pooled scores, the labels of CRSArena-Eval, and all errors in the input.

    `files` are the scores of a store in CRSArena-Eval's forms, by name. `others` has what the other
    evaluators of the store gave, by name.
    """

    scores: Scores
    people: CrsArena
    problems: tuple[Problem, ...]
    files: Mapping[str, bytes]
    others: Mapping[str, Scores] = MappingProxyType({})


class SystemsAnalysis(Analysis):
    """An analysis of the systems' mean scores, with intervals over conversations."""

    needs: ClassVar[tuple[Input, ...]] = (Input.LABELS,)
    takes: ClassVar[tuple[Input, ...]] = (Input.CAMPAIGN,)

    runs: Path | None = Field(
        None, description="scores in place of a campaign: a folder of {aspect}.jsonl, or a run file"
    )
    resamples: int = Field(1_000, ge=2, description="behind the intervals")
    seed: int = Field(0, ge=0, description="of the resampling")


def label_file(given: AnalysisInput) -> Path:
    """The label file of CRSArena-Eval that --labels names. Raises ConfigError for another form."""
    form, _, path = (given.labels or "").partition(":")
    if form != _FORM or not path:
        raise ConfigError(f"FACE's analyses need --labels {_FORM}:FILE, got {given.labels}")
    return Path(path)


def face_scores(
    given: AnalysisInput, runs: Path | None, *, strict: bool = False, pairs: Sequence[str] = ()
) -> FaceScores:
    """The scores at `runs`, or of a campaign, with the labels. Raises UserError.

    `pairs` ("core.overall=dialogue_overall") name aspects of metrics that have other names.
    """
    if runs is not None:
        return scores_of_files(runs, label_file(given), strict=strict)
    people = read_crsarena(label_file(given))
    with Store.open(given.store, read_only=True) as store:
        campaign = store.campaign(given.campaign).id if given.campaign else None
        scored = tuple(read_scored(store, campaign))
        others = _others(store, campaign, {own.evaluator for own in scored}, pairs)
    if not (scored or others):
        raise DataError(_NOTHING)
    problems = [*people.problems, *problems_of(scored)]
    pooled = pooled_scores(scored)
    files = score_files(scored) if scored else {}
    files |= {f"{name}.json": run_file(own, people.logs) for name, own in others.items()}
    for each in (pooled, *others.values()):
        for aspect, places in each.items():
            problems += _unknown(aspect, places, people)
    return FaceScores(pooled, people, tuple(problems), files, others)


def _others(
    store: Store, campaign: str | None, known: Collection[str], pairs: Sequence[str]
) -> dict[str, Scores]:
    """What evaluators that are not `known` gave for aspects, as named by metrics or by `pairs`."""
    if all(each.label in known for each in store.evaluators(campaign)):
        return {}
    run = run_of_store(store, campaign, by_log=False, details=True)
    metrics = [name for name in run.scores if name.rpartition(".")[0] not in known]
    if not (pairs or any(name.rpartition(".")[2] in set(Aspect) for name in metrics)):
        return {}
    found: dict[str, dict[Aspect, Mapping[ScoreTarget, float]]] = {}
    for metric, aspect in pair_metrics(metrics, Aspect, pairs).items():
        found.setdefault(metric.rpartition(".")[0], {})[Aspect(aspect)] = run.oriented(metric)
    return {**found}


def scores_of_files(runs: Path, labels: Path, *, strict: bool = False) -> FaceScores:
    """The pooled scores of the folder `runs`, and the labels of the file `labels`.

    `runs` may also be a run file, which has pooled scores. Scores outside the scale of their
    aspect are reported; with `strict` they are also left out.
    Raises DataError for files that cannot be used.
    """
    people = read_crsarena(labels)
    if runs.is_file():
        return _of_run_file(runs, people, strict=strict)
    given = read_runs(runs)
    pooled = {
        aspect: pool_places(_of_turns(_inside(run) if strict else run.turns, people), aspect.level)
        for aspect, run in given.items()
    }
    problems = [*people.problems]
    for run in given.values():
        problems += run.problems
        problems += _unknown(run.aspect, run.turns, people)
    return FaceScores(pooled, people, tuple(problems), {})


def _of_run_file(path: Path, people: CrsArena, *, strict: bool) -> FaceScores:
    scores, problems = read_run_file(path)
    for aspect, own in scores.items():
        problems += tuple(_unknown(aspect, own, people))
        scores[aspect] = {
            place: round(score, DIGITS)
            for place, score in own.items()
            if not strict or aspect.low <= score <= aspect.high
        }
    return FaceScores(scores, people, (*people.problems, *problems), {})


def _inside(run: AspectRun) -> dict[ScoreTarget, dict[int, dict[str, float]]]:
    low, high = run.aspect.low, run.aspect.high
    return {
        place: {
            number: {name: score for name, score in scores.items() if low <= score <= high}
            for number, scores in particles.items()
        }
        for place, particles in run.turns.items()
    }


def _of_turns(
    turns: Mapping[ScoreTarget, ParticleScores], people: CrsArena
) -> dict[ScoreTarget, ParticleScores]:
    """The scores of turns that exist; others are reported and are not part of any dialogue."""
    return {place: scores for place, scores in turns.items() if not _what_is_unknown(place, people)}


def _unknown(aspect: Aspect, places: Iterable[ScoreTarget], people: CrsArena) -> Iterator[Problem]:
    for place in places:
        what = _what_is_unknown(place, people)
        if what:
            yield Problem(Fault.UNKNOWN_PLACE, place, aspect, what)


def _what_is_unknown(place: ScoreTarget, people: CrsArena) -> str:
    log = people.logs.get(place.conversation)
    if log is None:
        return "the label file lacks this conversation"
    if place.turn is None:
        return ""
    is_there = 0 <= place.turn < len(log.interaction)
    if is_there and log.interaction[place.turn].speaker is Speaker.SYSTEM:
        return ""
    return "is not a turn of the system"
