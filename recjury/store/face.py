"""Stored results of FACE: the particles of turns, and all samples of their scores."""

import hashlib
from collections.abc import Iterable
from typing import NamedTuple

import orjson
from sqlalchemy import Connection, Row, select

from recjury.errors import StoreError
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
from recjury.store.tables import table_of
from recjury.store.texts import (
    Damaged,
    read_string_list,
    refuse,
    seal,
    sealed_repair,
    string_list,
    texts_of_ids,
)
from recjury.store.writer import Transaction

PARTICLES = "particles"
"""The stage that decomposes turns; the stage named after an aspect scores that aspect."""

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
    }
    return {**row, **sealed_repair(list(row.values()), turn.repaired or None)}


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
    sealed = seal(list(row.values()), [kept.hash])
    return {**row, "instructions": kept.id, "seal": sealed}


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
    wanted = tuple(evaluations)
    turns, scores = table_of(FaceTurnRow), table_of(FaceScoreRow)
    found: dict[str, StoredFace] = {}
    query = (
        select(turns)
        .where(turns.c.evaluation.in_(wanted))
        .order_by(turns.c.evaluation, turns.c.turn)
    )
    gathered: dict[str, list[TurnParticles]] = {}
    for row in connection.execute(query):
        try:
            gathered.setdefault(row.evaluation, []).append(_turn(row))
        except StoreError as error:
            damaged(error)
            continue
        done = Decomposition(decomposer=row.decomposer, turns=tuple(gathered[row.evaluation]))
        kept = found.get(row.evaluation) or StoredFace(None, {}, {})
        kept.seals.setdefault(PARTICLES, []).append(row.seal)
        found[row.evaluation] = kept._replace(decomposition=done)
    query = select(scores).where(scores.c.evaluation.in_(wanted))
    order = (scores.c.evaluation, scores.c.aspect, scores.c.turn, scores.c.particle)
    rows = connection.execute(query.order_by(*order)).all()
    try:
        numbers = (row.instructions for row in rows if isinstance(row.instructions, int))
        names = texts_of_ids(connection, numbers)
    except StoreError as error:
        damaged(error)
        return found
    for row in rows:
        try:
            scored, aspect = _score(row, names.get(row.instructions, "")), Aspect(row.aspect)
        except StoreError as error:
            damaged(error)
            continue
        kept = found.setdefault(row.evaluation, StoredFace(None, {}, {}))
        kept.scores[aspect] = (*kept.scores.get(aspect, ()), scored)
        kept.seals.setdefault(aspect.value, []).append(row.seal)
    return found


def _turn(row: Row[tuple[object, ...]]) -> TurnParticles:
    values = row._mapping
    try:
        own = [values[name] for name in values if name not in {"seal", "repaired"}]
        if sealed_repair(own, row.repaired)["seal"] == row.seal:
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
    except (TypeError, ValueError):  # a damaged row may hold any value
        pass
    raise StoreError(f"the particles of turn {row.turn} of evaluation {row.evaluation} {_ALTERED}")


_ALTERED = "in the store were changed after they were written"


def _score(row: Row[tuple[object, ...]], names: str) -> ParticleScore:
    values = row._mapping
    sealed = [values[name] for name in values if name not in {"instructions", "seal"}]
    try:
        if seal(sealed, [hashlib.sha256(names.encode()).digest()]) == row.seal:
            groups = zip(read_string_list(names), row.samples.split(" "), strict=True)
            return ParticleScore(
                row.turn,
                row.particle,
                tuple(
                    _instruction_score(name, group, row.calls[32 * n : 32 * n + 32])
                    for n, (name, group) in enumerate(groups)
                ),
            )
    except (TypeError, ValueError, AttributeError):  # a damaged row may hold any value
        pass
    raise StoreError(
        f"the {row.aspect} scores of turn {row.turn} of evaluation {row.evaluation} {_ALTERED}"
    )


def _instruction_score(name: str, group: str, call: str) -> InstructionScore:
    made = None if call == _NO_CALL else call
    if group.startswith("="):
        return InstructionScore(name, (), None if group[1:] == _GONE else float(group[1:]), made)
    samples = tuple(None if sign == _GONE else int(sign) for sign in group)
    return InstructionScore(name, samples, None, made)
