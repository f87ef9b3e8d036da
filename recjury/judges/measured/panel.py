"""The panel of measured judges: twelve ratings without a model."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from recjury.judges.guideline import no_list
from recjury.judges.measured.annotated_log import AnnotatedLog
from recjury.judges.measured.coherence import coherence, recoverability
from recjury.judges.measured.effectiveness import effectiveness
from recjury.judges.measured.explainability import explainability
from recjury.judges.measured.fluency import grammatical_correctness, naturalness
from recjury.judges.measured.groundness import groundness
from recjury.judges.measured.linked_text import link
from recjury.judges.measured.lists import diversity, novelty, semantic_relevance
from recjury.judges.measured.outcome import Finding, Outcome, Requirement, not_applicable, unscored
from recjury.judges.measured.proactiveness import proactiveness
from recjury.knowledge import Catalogue
from recjury.knowledge.text_cache import cached_by_text
from recjury.records import (
    JSON,
    ConversationLog,
    Evidence,
    Factor,
    Rating,
    RatingSubject,
    StageResult,
)

MEASURED = "measured"
RUBRIC = "measured-6"
_REMEMBERED = 1024
_TEXT = (Requirement.TEXT, Requirement.ENGLISH)
_NAMES = (Requirement.TURN, Requirement.CATALOGUE, Requirement.ENGLISH)
_LIST = (Requirement.TURN, Requirement.LIST, Requirement.CATALOGUE)
_Judge = tuple[tuple[Requirement, ...], Callable[[AnnotatedLog], Outcome]]


class MeasuredPanel:
    """Rates a log on twelve factors by counting what each rubric counts.

    A log is annotated once for all judges. The annotations of texts that recur are cached.
    """

    def __init__(self, catalogue: Catalogue):
        self._catalogue = catalogue
        self._link = cached_by_text(_REMEMBERED)(partial(link, catalogue=catalogue))
        self._judges: Mapping[Factor, _Judge] = {
            Factor.COHERENCE: ((Requirement.TURN, Requirement.ENGLISH), coherence),
            Factor.RECOVERABILITY: (_TEXT, recoverability),
            Factor.PROACTIVENESS: (_NAMES, proactiveness),
            Factor.GRAMMATICAL_CORRECTNESS: (_TEXT, grammatical_correctness),
            Factor.NATURALNESS: (_TEXT, naturalness),
            Factor.APPROPRIATENESS: ((Requirement.TEXT,), _appropriateness),
            Factor.EFFECTIVENESS: ((Requirement.TARGETS, *_LIST), effectiveness),
            Factor.NOVELTY: (_LIST, novelty),
            Factor.DIVERSITY: (_LIST, diversity),
            Factor.SEMANTIC_RELEVANCE: ((*_LIST, Requirement.ENGLISH), semantic_relevance),
            Factor.EXPLAINABILITY: (_NAMES, explainability),
            Factor.GROUNDNESS: (_NAMES, groundness),
        }

    @property
    def settings(self) -> Mapping[str, JSON]:
        """The rubric's version."""
        return {"rubric": RUBRIC}

    def questions(self, log: ConversationLog) -> tuple[Rating, ...]:  # noqa: ARG002
        """None: no model is asked."""
        return ()

    @property
    def data(self) -> Mapping[str, JSON]:
        """The catalogue."""
        return {"catalogue": self._catalogue.digest}

    async def rate(self, log: ConversationLog) -> StageResult:
        """Twelve ratings in the order of `Factor`, and what each rests on."""
        return self._result(log)

    def measure(self, log: ConversationLog) -> tuple[Rating, ...]:
        """The ratings, for synchronous callers."""
        return self._result(log).ratings

    def debate_ratings(self, ratings: Sequence[Rating]) -> tuple[Rating, ...]:
        """The ratings that a debate is held over: all of them."""
        return tuple(ratings)

    def _result(self, log: ConversationLog) -> StageResult:
        annotated = AnnotatedLog(log, self._catalogue, self._link)
        ratings: list[Rating] = []
        evidence: list[Evidence] = []
        for factor, (needs, judge) in self._judges.items():
            outcome = _lacking(annotated, needs) or judge(annotated)
            subject = RatingSubject(evaluator=MEASURED, factor=factor, rubric=RUBRIC)
            ratings.append(
                subject.unscored(outcome.status, outcome.text)
                if outcome.score is None
                else subject.scored(outcome.score, outcome.text)
            )
            evidence += [_evidence(factor, each, log) for each in outcome.findings]
        return StageResult(tuple(ratings), evidence=tuple(evidence))


def _lacking(log: AnnotatedLog, needs: Sequence[Requirement]) -> Outcome | None:
    """No score, with the first reason for it; None if the log has all that is needed.

    A log is in English if at least half of the system's turns may be.
    """
    others = [turn for turn in log.spoken if turn.check and not turn.check.english]
    seen = {
        Requirement.TURN: log.system,
        Requirement.TEXT: log.spoken,
        Requirement.LIST: log.session,
        Requirement.TARGETS: log.log.scenario.targets,
        Requirement.CATALOGUE: log.catalogue,
        Requirement.ENGLISH: 2 * len(others) <= len(log.spoken),
    }
    need = next((need for need in needs if not seen[need]), None)
    if need is None:
        return None
    status = unscored if need in (Requirement.CATALOGUE, Requirement.ENGLISH) else not_applicable
    return status(no_list(log.log) if need is Requirement.LIST else need)


def _appropriateness(log: AnnotatedLog) -> Outcome:  # noqa: ARG001
    """Always without a score: with a list of offensive words it was 4 for nearly every log."""
    return unscored("words alone do not tell what is appropriate")


def _evidence(factor: Factor, finding: Finding, log: ConversationLog) -> Evidence:
    """A finding as evidence; its span is where the turn has the quoted words."""
    start = log.interaction[finding.turn].text.find(finding.quote) if finding.quote else -1
    span = {"span_start": start, "span_end": start + len(finding.quote)} if start >= 0 else {}
    place = {"turn": finding.turn, **span}
    return Evidence(factor=factor, label=finding.label, note=finding.note, **place)
