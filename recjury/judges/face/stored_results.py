"""FACE's results as the store has them: the outputs of its stages, and how they are read."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from recjury.records import (
    JSON,
    Aspect,
    Decomposition,
    InstructionScore,
    ParticleScore,
    StageResult,
    Status,
)

PARTICLES = "particles"
"""The stage that decomposes turns; the stage named after an aspect scores that aspect."""


class FaceResults(NamedTuple):
    """The particles of a log, and their scores on each aspect that is finished."""

    decomposition: Decomposition | None
    scores: dict[Aspect, tuple[ParticleScore, ...]]


def particles_result(decomposition: Decomposition) -> StageResult:
    """The result of the first stage; a turn that was not decomposed can be asked for again."""
    turns = decomposition.turns
    lost = tuple(turn.status for turn in turns if turn.status is not Status.SCORED)
    return StageResult(output=decomposition.model_dump(mode="json"), lost=lost)


def scores_output(scores: tuple[ParticleScore, ...]) -> dict[str, JSON]:
    """The output of an aspect's stage."""
    rows: list[JSON] = [
        {
            "turn": score.turn,
            "particle": score.particle,
            "by": [_given(each) for each in score.by],
        }
        for score in sorted(scores, key=lambda score: (score.turn, score.particle))
    ]
    return {"scores": rows}


def _given(score: InstructionScore) -> dict[str, JSON]:
    """The fields that say something."""
    return {
        name: value
        for name, value in score._asdict().items()
        if name not in score._field_defaults or value != score._field_defaults[name]
    }


def read_decomposition(results: Mapping[str, StageResult]) -> Decomposition | None:
    """The particles of an evaluation; None if that stage is not finished."""
    stored = results.get(PARTICLES)
    if stored is None or stored.output is None:
        return None
    return Decomposition.model_validate(stored.output)


def read_results(results: Mapping[str, StageResult]) -> FaceResults:
    """All of FACE's results in the stages of an evaluation."""
    scores = {
        aspect: _scores(stored.output)
        for aspect in Aspect
        if (stored := results.get(aspect.value)) is not None and stored.output is not None
    }
    return FaceResults(read_decomposition(results), scores)


def _scores(output: Mapping[str, Any]) -> tuple[ParticleScore, ...]:
    return tuple(
        ParticleScore(row["turn"], row["particle"], tuple(map(_instruction_score, row["by"])))
        for row in output["scores"]
    )


def _instruction_score(given: Mapping[str, Any]) -> InstructionScore:
    status = given.get("status")
    values = {**given, "samples": tuple(given["samples"])}
    return InstructionScore(**values)._replace(status=None if status is None else Status(status))
