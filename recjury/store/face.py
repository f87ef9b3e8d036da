"""Stored results of FACE: the particles of turns, and all samples of their scores."""

from collections.abc import Iterable
from typing import NamedTuple

import orjson
from sqlalchemy import Connection

from recjury.records import (
    JSON,
    Aspect,
    AspectScores,
    Decomposition,
    DialogueAct,
    InstructionScore,
    Particle,
    ParticleScore,
    Status,
    TurnParticles,
)
from recjury.store.evaluation_tables import FaceScoreRow, FaceTurnRow
from recjury.store.sealed import AnyRow, Damaged, SealedTable, refuse
from recjury.store.texts import read_string_list, string_list, text_reader
from recjury.store.writer import Transaction

PARTICLES = "particles"
"""The stage that decomposes turns; the stage named after an aspect scores that aspect."""

_TURNS = SealedTable(
    FaceTurnRow,
    "the decomposition of turn {turn} of evaluation {evaluation}",
    order=("evaluation", "turn"),
    added_later={"repaired": None},
)
_SCORES = SealedTable(
    FaceScoreRow,
    "the {aspect} score of particle {particle} of turn {turn} of evaluation {evaluation}",
    order=("evaluation", "aspect", "turn", "particle"),
    text="instructions",
)
_NO_CALL = "0" * 32
_GONE = "-"


def turn_rows(evaluation: str, decomposition: Decomposition) -> list[dict[str, JSON]]:
    """Rows of `face_turn`, sealed."""
    return [_turn_row(evaluation, decomposition.decomposer, turn) for turn in decomposition.turns]


def score_rows(
    transaction: Transaction, evaluation: str, scores: AspectScores
) -> list[dict[str, JSON]]:
    """Rows of `face_score`, sealed; the names of their instructions are put into the store."""
    ordered = sorted(scores.scores, key=_place)
    return [_score_row(transaction, evaluation, scores.aspect, score) for score in ordered]


def _place(score: ParticleScore) -> tuple[int, int]:
    return (score.turn, score.particle)


def _turn_row(evaluation: str, decomposer: str, turn: TurnParticles) -> dict[str, JSON]:
    particles = [[p.act.value, p.mention, p.feedback] for p in turn.particles]
    row: dict[str, JSON] = {
        "evaluation": evaluation,
        "turn": turn.turn,
        "decomposer": decomposer,
        "particles": orjson.dumps(particles).decode(),
        "status": turn.status.value,
        "reason": turn.reason,
        "calls": string_list(turn.calls),
        "repaired": turn.repaired or None,
    }
    return _TURNS.sealed(row)


def _score_row(
    transaction: Transaction, evaluation: str, aspect: Aspect, scored: ParticleScore
) -> dict[str, JSON]:
    names = string_list(each.instruction for each in scored.by)
    kept = transaction.texts.intern(transaction.connection, [names])[names]
    row: dict[str, JSON] = {
        "evaluation": evaluation,
        "aspect": aspect.value,
        "turn": scored.turn,
        "particle": scored.particle,
        "score": scored.score,
        "samples": " ".join(map(_group, scored.by)),
        "calls": "".join(each.call or _NO_CALL for each in scored.by),
    }
    return _SCORES.sealed(row, kept)


def _group(score: InstructionScore) -> str:
    if score.expectation is not None:
        return f"={score.expectation!r}"
    return "".join(_GONE if n is None else str(n) for n in score.samples) or f"={_GONE}"


class StoredFace(NamedTuple):
    """FACE's results in an evaluation, and the seals of their rows by stage."""

    decomposition: Decomposition | None
    scores: dict[Aspect, tuple[ParticleScore, ...]]
    seals: dict[str, list[str]]

    def calls(self) -> tuple[str, ...]:
        """The identities of the calls that gave these results, if they were stored."""
        turns = () if self.decomposition is None else self.decomposition.turns
        asked = (call for turn in turns for call in turn.calls)
        scored = (
            each.call
            for scores in self.scores.values()
            for score in scores
            for each in score.by
            if each.call is not None
        )
        return tuple(dict.fromkeys((*asked, *scored)))


def read_face(
    connection: Connection, evaluations: Iterable[str], damaged: Damaged = refuse
) -> dict[str, StoredFace]:
    """Particles and scores by evaluation; `damaged` is called for each altered row."""
    wanted, text = tuple(evaluations), text_reader(connection)
    found: dict[str, StoredFace] = {}
    for row, turn in _TURNS.read(connection, "evaluation", wanted, _turn, damaged):
        stored = found.setdefault(row.evaluation, StoredFace(None, {}, {}))
        stored.seals.setdefault(PARTICLES, []).append(row.seal)
        before = () if stored.decomposition is None else stored.decomposition.turns
        done = Decomposition(decomposer=row.decomposer, turns=(*before, turn))
        found[row.evaluation] = stored._replace(decomposition=done)

    def build(row: AnyRow) -> ParticleScore:
        Aspect(row.aspect)  # refuses an unknown one
        return _score(row, text(row.instructions))

    for row, score in _SCORES.read(connection, "evaluation", wanted, build, damaged):
        aspect = Aspect(row.aspect)
        stored = found.setdefault(row.evaluation, StoredFace(None, {}, {}))
        stored.scores[aspect] = (*stored.scores.get(aspect, ()), score)
        stored.seals.setdefault(aspect.value, []).append(row.seal)
    return found


def _turn(row: AnyRow) -> TurnParticles:
    return TurnParticles(
        turn=row.turn,
        particles=tuple(
            Particle(act=DialogueAct(act), mention=mention, feedback=feedback)
            for act, mention, feedback in orjson.loads(row.particles)
        ),
        status=Status(row.status),
        reason=row.reason,
        calls=read_string_list(row.calls),
        repaired=row.repaired or "",
    )


def _score(row: AnyRow, names: str) -> ParticleScore:
    groups = zip(read_string_list(names), row.samples.split(" "), strict=True)
    return ParticleScore(
        row.turn,
        row.particle,
        tuple(
            _instruction_score(name, group, row.calls[32 * n : 32 * n + 32])
            for n, (name, group) in enumerate(groups)
        ),
    )


def _instruction_score(name: str, group: str, call: str) -> InstructionScore:
    made = None if call == _NO_CALL else call
    if group.startswith("="):
        return InstructionScore(name, (), None if group[1:] == _GONE else float(group[1:]), made)
    samples = tuple(None if sign == _GONE else int(sign) for sign in group)
    return InstructionScore(name, samples, None, made)
