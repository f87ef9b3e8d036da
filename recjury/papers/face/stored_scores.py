"""FACE's results in a store: scores by instruction, pooled scores, and what is missing."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from recjury.corpora.crsarena_particles import not_in_turn
from recjury.corpora.crsarena_run_file import run_file
from recjury.corpora.crsarena_runs import run_lines
from recjury.corpora.data_problems import Fault, Problem
from recjury.errors import DataError
from recjury.judges.face.stored_results import FaceResults, read_results
from recjury.records import (
    Aspect,
    ConversationLog,
    Level,
    ParticleScore,
    Rating,
    ScoreTarget,
    Status,
)
from recjury.store import Store
from recjury.tables import AnalysisInput

Turns = dict[ScoreTarget, dict[int, dict[str, float]]]


class Scored(NamedTuple):
    """One conversation of a store: its log, particles, scores and ratings."""

    log: ConversationLog
    face: FaceResults
    ratings: tuple[Rating, ...]
    evaluator: str = "face"

    @property
    def conversation(self) -> str:
        """Its id in files."""
        return self.log.scenario.record


def read_scores(given: AnalysisInput) -> tuple[Scored, ...]:
    """FACE's results in a campaign, or in the store. Raises DataError if there are none."""
    with Store.open(given.store, read_only=True) as store:
        campaign = store.campaign(given.campaign).id if given.campaign else None
        scored = tuple(read_scored(store, campaign))
    if not scored:
        raise DataError(
            "FACE has scored nothing here: run `recjury judge FILE --evaluator face` first"
        )
    return scored


def read_scored(
    store: Store, campaign: str | None = None, *, kind: str = "face"
) -> Iterator[Scored]:
    """The evaluations of a campaign, or of the store, by one evaluator of that kind.

    It is the one without a name of its own, else the first. If a conversation was evaluated more
    than once, the first judging by the version that ran last is the last one.
    """
    alike = [each for each in store.evaluators(campaign) if each.kind == kind]
    name = min((each.name for each in alike), key=lambda each: each != kind, default=kind)
    began = {each.label: each.started_at or 0 for each in alike if each.name == name}
    found = [
        (began[evaluation.label], -evaluation.judging, held.conversation, evaluation)
        for held in store.results(campaign)
        for evaluation in held.evaluations
        if evaluation.label in began
    ]
    for _, _, conversation, evaluation in sorted(found, key=lambda each: each[:2]):
        log = store.log(conversation)
        assert log is not None  # it was evaluated
        results = store.stage_results(evaluation.evaluation)
        yield Scored(log, read_results(results), evaluation.ratings, evaluation.label)


def score_files(scored: Sequence[Scored]) -> dict[str, bytes]:
    """Scores in CRSArena-Eval's forms: {aspect}.jsonl by instruction, and run.json pooled."""
    by_aspect = scores_by_instruction(scored)
    files = {f"{name}.jsonl": b"".join(run_lines(own.items())) for name, own in by_aspect.items()}
    conversations = dict.fromkeys(each.conversation for each in scored)
    return {**files, "run.json": run_file(pooled_scores(scored), conversations)}


def scores_by_instruction(scored: Iterable[Scored]) -> dict[Aspect, Turns]:
    """The input of `run_lines` and `pool_places`, for each scored aspect."""
    found: dict[Aspect, Turns] = {}
    for each in scored:
        for aspect, scores in each.face.scores.items():
            turns = found.setdefault(aspect, {})
            for score in scores:
                own = turns.setdefault(ScoreTarget(each.conversation, score.turn), {})
                own[score.particle] = _given(score)
    return {aspect: found[aspect] for aspect in Aspect if aspect in found}


def _given(score: ParticleScore) -> dict[str, float]:
    return {by.instruction: by.score for by in score.by if by.score is not None}


def pooled_scores(scored: Iterable[Scored]) -> dict[Aspect, dict[ScoreTarget, float]]:
    """The rated score of each turn or dialogue that has one, by aspect."""
    found: dict[Aspect, dict[ScoreTarget, float]] = {}
    for each in scored:
        for rating in each.ratings:
            if rating.factor in set(Aspect) and rating.score is not None:
                place = ScoreTarget(each.conversation, rating.turn)
                found.setdefault(Aspect(rating.factor), {})[place] = rating.score
    return {aspect: found[aspect] for aspect in Aspect if aspect in found}


def problems_of(scored: Iterable[Scored]) -> Iterator[Problem]:
    """Turns not decomposed, particles not in their turn, samples that could not be read."""
    for each in scored:
        for turn in each.face.decomposition.turns if each.face.decomposition else ():
            place = ScoreTarget(each.conversation, turn.turn)
            if turn.status is not Status.SCORED:
                yield Problem(Fault.NOT_DECOMPOSED, place, "", turn.reason)
            yield from not_in_turn(place, turn, each.log.interaction[turn.turn].text)
        for aspect, scores in each.face.scores.items():
            for score in scores:
                yield from _missing(ScoreTarget(each.conversation, score.turn), aspect, score)
        for rating in each.ratings:
            if rating.score is None and rating.factor in set(Aspect):
                turn_of = rating.turn if rating.level is Level.TURN else None
                place = ScoreTarget(each.conversation, turn_of)
                yield Problem(Fault.UNSCORED, place, rating.factor, rating.reason)


def _missing(place: ScoreTarget, aspect: Aspect, score: ParticleScore) -> Iterator[Problem]:
    for by in score.by:
        gone = by.samples.count(None) if by.samples else int(by.expectation is None)
        if gone:
            asked = max(1, len(by.samples))
            what = f"particle {score.particle}, {by.instruction}: {asked - gone} of {asked} samples"
            yield Problem(Fault.MISSING_SAMPLE, place, aspect, what)
