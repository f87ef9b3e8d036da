"""The panel of measured judges: twelve ratings without a model."""

import functools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain

from recjury.judges.measured.anchors import Outcome
from recjury.judges.measured.annotated_log import AnnotatedLog, AnnotatedText, annotate
from recjury.judges.measured.appropriateness import appropriateness
from recjury.judges.measured.coherence import coherence
from recjury.judges.measured.diversity import diversity
from recjury.judges.measured.effectiveness import effectiveness
from recjury.judges.measured.explainability import explainability
from recjury.judges.measured.grammar import grammatical_correctness
from recjury.judges.measured.groundness import groundness
from recjury.judges.measured.naturalness import naturalness
from recjury.judges.measured.novelty import novelty
from recjury.judges.measured.proactiveness import proactiveness
from recjury.judges.measured.recoverability import recoverability
from recjury.judges.measured.relevance import semantic_relevance
from recjury.judges.measured.similarity import graph_digest
from recjury.judges.measured.wishes import Wishes
from recjury.knowledge import Catalogue, KnowledgeGraph
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
RUBRIC = "measured-4"
_OCCURRENCE = re.compile(r"([^,:;()]{0,200}) \(turn (\d+)\)")  # as `Occurrence` is written
_REMEMBERED_TEXTS = 4096
_REMEMBERED_LENGTH = 2000


class MeasuredPanel:
    """Rates a log on twelve factors by counting what each rubric counts.

    A log is annotated once for all judges. The annotations of texts that recur are cached.
    """

    def __init__(self, catalogue: Catalogue, graph: KnowledgeGraph | None = None):
        """`graph` is used for items without attributes in the catalogue."""
        self._catalogue = catalogue
        self._graph = graph
        self._read = functools.partial(annotate, catalogue=catalogue)
        self._remembered = functools.lru_cache(_REMEMBERED_TEXTS)(self._read)
        wishes = Wishes(catalogue)
        self._judges: Mapping[Factor, Callable[[AnnotatedLog], Outcome]] = {
            Factor.COHERENCE: functools.partial(coherence, wishes=wishes),
            Factor.RECOVERABILITY: functools.partial(recoverability, wishes=wishes),
            Factor.PROACTIVENESS: proactiveness,
            Factor.GRAMMATICAL_CORRECTNESS: grammatical_correctness,
            Factor.NATURALNESS: naturalness,
            Factor.APPROPRIATENESS: appropriateness,
            Factor.EFFECTIVENESS: functools.partial(effectiveness, graph=graph),
            Factor.NOVELTY: novelty,
            Factor.DIVERSITY: diversity,
            Factor.SEMANTIC_RELEVANCE: semantic_relevance,
            Factor.EXPLAINABILITY: explainability,
            Factor.GROUNDNESS: groundness,
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
        """Twelve ratings in the order of `Factor`, computed in a few milliseconds, and the turns
        that their rationales name."""
        ratings = self.measure(log)
        return StageResult(ratings, evidence=tuple(chain.from_iterable(map(_evidence, ratings))))

    def debate_ratings(self, ratings: Sequence[Rating]) -> tuple[Rating, ...]:
        """The ratings that a debate is held over: all of them."""
        factors = set(Factor)
        return tuple(rating for rating in ratings if rating.factor in factors)

    def measure(self, log: ConversationLog) -> tuple[Rating, ...]:
        """The ratings, for synchronous callers."""
        annotated = AnnotatedLog(log, self._catalogue, self._link)
        return tuple(_rating(factor, judge(annotated)) for factor, judge in self._judges.items())

    def _link(self, text: str) -> AnnotatedText:
        return (self._remembered if len(text) <= _REMEMBERED_LENGTH else self._read)(text)


def _rating(factor: Factor, outcome: Outcome) -> Rating:
    subject = RatingSubject(evaluator=MEASURED, factor=factor, rubric=RUBRIC)
    if outcome.score is None:
        return subject.unscored(outcome.status, outcome.text)
    return subject.scored(outcome.score, outcome.text)


def _evidence(rating: Rating) -> Iterator[Evidence]:
    """The findings that a rationale names, each with its turn."""
    for what, turn in _OCCURRENCE.findall(rating.rationale):
        yield Evidence(factor=rating.factor, label="finding", note=what.strip(), turn=int(turn) - 1)
