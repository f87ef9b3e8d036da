"""The panel of measured judges: twelve ratings without a model."""

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from recjury.judges.measured.annotated_log import AnnotatedLog, Readers
from recjury.judges.measured.claims import Claims
from recjury.judges.measured.coherence import coherence
from recjury.judges.measured.diversity import diversity
from recjury.judges.measured.effectiveness import effectiveness
from recjury.judges.measured.explainability import explainability
from recjury.judges.measured.grammar import grammatical_correctness
from recjury.judges.measured.groundness import groundness
from recjury.judges.measured.naturalness import naturalness
from recjury.judges.measured.needs import Need, lacking
from recjury.judges.measured.novelty import novelty
from recjury.judges.measured.outcome import Finding, Outcome, unscored
from recjury.judges.measured.proactiveness import proactiveness
from recjury.judges.measured.recoverability import recoverability
from recjury.judges.measured.relevance import semantic_relevance
from recjury.judges.measured.said import Said, annotate
from recjury.judges.measured.similarity import graph_digest
from recjury.knowledge import Catalogue, KnowledgeGraph
from recjury.language import Reading, read, read_reply
from recjury.records import (
    JSON,
    ConversationLog,
    Evidence,
    Factor,
    Rating,
    RatingSubject,
    StageResult,
    Turn,
)

MEASURED = "measured"
RUBRIC = "measured-5"
_REMEMBERED_TEXTS = 4096
_REMEMBERED_LENGTH = 2000
_TEXT = (Need.TEXT, Need.ENGLISH)
_NAMES = (Need.TURN, Need.CATALOGUE, Need.ENGLISH)
_LIST = (Need.TURN, Need.LIST, Need.CATALOGUE)


class _Judge(NamedTuple):
    """What a factor is rated by, and what must be seen for it."""

    needs: tuple[Need, ...]
    rate: Callable[[AnnotatedLog], Outcome]


class MeasuredPanel:
    """Rates a log on twelve factors by counting what each rubric counts.

    A log is annotated once for all judges. The annotations of texts that recur are cached.
    """

    def __init__(self, catalogue: Catalogue, graph: KnowledgeGraph | None = None):
        """`graph` is used for items without attributes in the catalogue."""
        self._catalogue = catalogue
        self._graph = graph
        self._annotate = functools.partial(annotate, catalogue=catalogue)
        self._remembered = functools.lru_cache(_REMEMBERED_TEXTS)(self._annotate)
        self._readers = Readers(self._link, self._read, read_reply)
        near = functools.partial(effectiveness, graph=graph)
        grounded = functools.partial(groundness, claims=Claims(catalogue))
        self._judges: Mapping[Factor, _Judge] = {
            Factor.COHERENCE: _Judge((Need.TURN, Need.ENGLISH), coherence),
            Factor.RECOVERABILITY: _Judge(_TEXT, recoverability),
            Factor.PROACTIVENESS: _Judge(_NAMES, proactiveness),
            Factor.GRAMMATICAL_CORRECTNESS: _Judge(_TEXT, grammatical_correctness),
            Factor.NATURALNESS: _Judge(_TEXT, naturalness),
            Factor.APPROPRIATENESS: _Judge((Need.TEXT,), _appropriateness),
            Factor.EFFECTIVENESS: _Judge((Need.TARGETS, *_LIST), near),
            Factor.NOVELTY: _Judge(_LIST, novelty),
            Factor.DIVERSITY: _Judge(_LIST, diversity),
            Factor.SEMANTIC_RELEVANCE: _Judge((*_LIST, Need.ENGLISH), semantic_relevance),
            Factor.EXPLAINABILITY: _Judge((*_NAMES, Need.ITEM), explainability),
            Factor.GROUNDNESS: _Judge(_NAMES, grounded),
        }

    @property
    def settings(self) -> Mapping[str, JSON]:
        """The rubric's version."""
        return {"rubric": RUBRIC}

    def questions(self, log: ConversationLog) -> tuple[Rating, ...]:  # noqa: ARG002
        """None: no model is asked."""
        return ()

    @functools.cached_property  # it reads the whole graph
    def data(self) -> Mapping[str, JSON]:
        """The catalogue, and the part of the graph that is used."""
        return {
            "catalogue": self._catalogue.digest,
            "graph": None if self._graph is None else graph_digest(self._catalogue, self._graph),
        }

    async def rate(self, log: ConversationLog) -> StageResult:
        """Twelve ratings in the order of `Factor`, and what each rests on."""
        return self.measure(log)

    def debate_ratings(self, ratings: Sequence[Rating]) -> tuple[Rating, ...]:
        """The ratings that a debate is held over: all of them."""
        factors = set(Factor)
        return tuple(rating for rating in ratings if rating.factor in factors)

    def measure(self, log: ConversationLog) -> StageResult:
        """As `rate`, for synchronous callers."""
        annotated = AnnotatedLog(log, self._catalogue, self._readers)
        ratings: list[Rating] = []
        evidence: list[Evidence] = []
        for factor, judge in self._judges.items():
            outcome = lacking(annotated, judge.needs) or judge.rate(annotated)
            ratings.append(_rating(factor, outcome))
            evidence += [_evidence(factor, each, log) for each in outcome.findings]
        return StageResult(tuple(ratings), evidence=tuple(evidence))

    def _link(self, text: str) -> Said:
        return (self._remembered if len(text) <= _REMEMBERED_LENGTH else self._annotate)(text)

    def _read(self, turn: Turn, before: Sequence[Turn]) -> Reading:
        return read(turn, before, self._catalogue)


def _appropriateness(log: AnnotatedLog) -> Outcome:  # noqa: ARG001
    """Always without a score.

    In 5,344 recorded logs a list of offensive words matched only parts of titles and mentions of
    a single word; a score would be 4 for nearly every log (docs/measured-judges.md).
    """
    return unscored("words alone do not tell what is appropriate")


def _rating(factor: Factor, outcome: Outcome) -> Rating:
    subject = RatingSubject(evaluator=MEASURED, factor=factor, rubric=RUBRIC)
    if outcome.score is None:
        return subject.unscored(outcome.status, outcome.text)
    return subject.scored(outcome.score, outcome.text)


def _evidence(factor: Factor, finding: Finding, log: ConversationLog) -> Evidence:
    """A finding as evidence; its span is where the turn has the quoted words."""
    start = log.interaction[finding.turn].text.find(finding.quote) if finding.quote else -1
    span = (start, start + len(finding.quote)) if start >= 0 else (None, None)
    return Evidence(
        factor=factor,
        label=finding.label,
        note=finding.note,
        turn=finding.turn,
        span_start=span[0],
        span_end=span[1],
    )
