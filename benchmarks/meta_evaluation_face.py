"""FACE and FACE* on the USR sets' "Maintains Context" (FACE, table 4), with a model to ask."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from benchmarks.face_coverage import coverage_of
from recjury.agreement.replies import RatedRow
from recjury.agreement.replies.maintains_context import (
    ByInstruction,
    context_rows,
    face_star,
    log_of,
    pooled,
    with_context_target,
)
from recjury.campaign.config import EvaluationConfig
from recjury.campaign.judge_existing import judge_logs
from recjury.judges.face.evaluator import FaceEvaluator
from recjury.llm import EndpointSpec, event_loop
from recjury.papers.face.stored_scores import read_scored, scores_by_instruction
from recjury.records import Aspect
from recjury.store import Store


class FacePlan(NamedTuple):
    """The model, the pool of instructions (default: the package's), and where calls are kept.

    FACE* takes the best `final` of the pool. With `rules`, particles come from rules, not from the
    model; `limit` takes that many replies of each set.
    """

    model: EndpointSpec
    store: str
    instructions: Path | None = None
    final: int = 4
    rules: bool = False
    limit: int | None = None


class FaceOnContext(NamedTuple):
    """Scores [rows] of FACE and FACE*, None elsewhere; what was chosen, and what was asked."""

    scores: Mapping[str, list[float | None]]
    about: dict[str, Any]


def face_on_context(plan: FacePlan, rows: Sequence[RatedRow]) -> FaceOnContext:
    """Score the replies of both USR sets for relevance, and choose instructions for FACE*.

    Calls that the store has are not sent again. Raises UserError.
    """
    places = _limited(rows, plan.limit)
    asked = [with_context_target(rows[place]) for place in places]
    folder = None if plan.instructions is None else str(plan.instructions)
    face = FaceEvaluator(aspects=(Aspect.RELEVANCE,), instructions=folder, rules=plan.rules)
    config = EvaluationConfig(model=plan.model, evaluators=(face,))
    with Store.open(plan.store) as kept:
        with event_loop() as runner:
            result = runner.run(judge_logs([log_of(row) for row in asked], config, kept))
        scored = list(read_scored(kept))
    by_instruction = _by_instruction(scored)
    star, chosen = face_star(asked, by_instruction, plan.final)
    found: dict[str, list[float | None]] = {
        "face": [None] * len(rows),
        "face*": [None] * len(rows),
    }
    plain = pooled(asked, by_instruction)
    for place, one, two in zip(places, plain, star, strict=True):
        found["face"][place], found["face*"][place] = one, two
    coverage = coverage_of(scored).get(Aspect.RELEVANCE)
    about = {
        "model": plan.model.name,
        "replies": len(asked),
        "done": result.done,
        "failed": result.failed,
        "chosen": chosen,
        "coverage": coverage._asdict() if coverage else None,
    }
    return FaceOnContext(found, about)


def _limited(rows: Sequence[RatedRow], limit: int | None) -> list[int]:
    places = context_rows(rows)
    by_set: dict[str, list[int]] = {}
    for place in places:
        by_set.setdefault(rows[place].set, []).append(place)
    return [place for own in by_set.values() for place in own[:limit]]


def _by_instruction(scored: Sequence[Any]) -> ByInstruction:
    """The mean over a reply's particles, by reply and instruction."""
    found: dict[str, dict[str, list[float]]] = {}
    for place, particles in scores_by_instruction(scored).get(Aspect.RELEVANCE, {}).items():
        own = found.setdefault(place.conversation, {})
        for scores in particles.values():
            for name, score in scores.items():
                own.setdefault(name, []).append(score)
    return {
        reply: {name: fmean(scores) for name, scores in own.items()} for reply, own in found.items()
    }
