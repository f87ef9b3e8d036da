"""Evaluators: all that rates logs."""

from collections.abc import Mapping

from recjury.judges.aspects import Direct, GEval
from recjury.judges.core import Core
from recjury.judges.criterion import CriteriaEvaluator, Criterion, criteria_of, question
from recjury.judges.dialogue_quality import DialogueQuality, quality
from recjury.judges.evaluator import Evaluator, check_metrics, checked, rating_of
from recjury.judges.face import Face, face
from recjury.judges.offline import Offline
from recjury.judges.outcome import Outcome
from recjury.judges.paireval import PairEval, paireval
from recjury.judges.persuasiveness import Persuasiveness
from recjury.judges.rubric import Rubric

EVALUATORS: Mapping[str, type[Evaluator]] = {
    "outcome": Outcome,
    "offline": Offline,
    "persuasiveness": Persuasiveness,
    "core": Core,
    "face": Face,
    "direct": Direct,
    "g-eval": GEval,
    "paireval": PairEval,
    "dialogue-quality": DialogueQuality,
    "rubric": Rubric,
}
"""The evaluators that ship, by kind."""

__all__ = [
    "EVALUATORS",
    "Core",
    "CriteriaEvaluator",
    "Criterion",
    "DialogueQuality",
    "Direct",
    "Evaluator",
    "Face",
    "GEval",
    "Offline",
    "Outcome",
    "PairEval",
    "Persuasiveness",
    "Rubric",
    "check_metrics",
    "checked",
    "criteria_of",
    "face",
    "paireval",
    "quality",
    "question",
    "rating_of",
]
