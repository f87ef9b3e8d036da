"""Scores of an evaluator on CRSArena-Eval: per instruction (`face-runs`), and pooled (a run file).

A folder of per-instruction scores has a `{aspect}.jsonl` for each aspect, one conversation a line:
`{conv_id, turns: {turn: {particles: {number: {instruction: score}}}}}`, with numbers as strings,
in any order. Scores may be any numbers, because correlations do not depend on the scale. Scores
outside the aspect's scale are reported.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeGuard

import orjson

from recjury.corpora.data_problems import Fault, Problem
from recjury.errors import DataError
from recjury.input_files import read_lines
from recjury.records import Aspect, ScoreTarget

_ABSURD = 1e9  # above every scale; sums of smaller numbers stay finite

InstructionScores = Mapping[str, float]
"""A particle's score by the name of the instruction ("itr54")."""

ParticleScores = Mapping[int, InstructionScores]
"""A turn's scores by the particle's number, from 0."""


class AspectRun(NamedTuple):
    """One aspect's scores: for each system turn that has particles, the scores of the particles.

    A turn whose particles all lack scores is included, with empty scores.
    """

    aspect: Aspect
    turns: Mapping[ScoreTarget, ParticleScores]
    problems: tuple[Problem, ...]


def read_runs(folder: Path) -> dict[Aspect, AspectRun]:
    """The aspects for which `folder` has files, in the order of `Aspect`.

    Raises DataError if there is no file, if a file is not named after an aspect, or if a file
    cannot be used.
    """
    if not folder.is_dir():
        raise DataError("there is no such folder", path=folder)
    files = {path.stem: path for path in sorted(folder.glob("*.jsonl"))}
    unknown = sorted(files.keys() - set(Aspect))
    if unknown:
        raise DataError(
            f"{unknown[0]!r} is not an aspect: expected {', '.join(Aspect)}", path=files[unknown[0]]
        )
    if not files:
        raise DataError("holds no scores: expected files like relevance.jsonl", path=folder)
    return {aspect: read_run(files[aspect], aspect) for aspect in Aspect if aspect in files}


def read_run(path: Path, aspect: Aspect) -> AspectRun:
    """Read one aspect's file. Raises DataError, with the line, for another form."""
    turns: dict[ScoreTarget, ParticleScores] = {}
    problems: list[Problem] = []
    seen: dict[str, int] = {}
    for number, content in read_lines(path):
        try:
            row = _row(content)
            conversation = row["conv_id"]
            if not isinstance(conversation, str):
                raise TypeError(f"conv_id {conversation!r} is not a string")
            if conversation in seen:
                raise DataError(
                    f"a second {conversation!r}, as in line {seen[conversation]}",
                    path=path,
                    line=number,
                )
            seen[conversation] = number
            for turn, given in row["turns"].items():
                place = ScoreTarget(conversation, _number(turn))
                turns[place] = {
                    _number(particle): dict(_scores(scores, place, particle, aspect, problems))
                    for particle, scores in given["particles"].items()
                }
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            expected = "expected {conv_id, turns: {turn: {particles: {number: {name: score}}}}}"
            raise DataError(
                f"{expected}: {type(error).__name__} {error}", path=path, line=number
            ) from None
    return AspectRun(aspect, turns, (*problems, *_missing(aspect, turns)))


def _row(content: bytes) -> Any:
    """One line. NaN and Infinity are accepted, so that they are reported with their place."""
    try:
        return orjson.loads(content)
    except orjson.JSONDecodeError:
        return json.loads(content)


def _number(key: str) -> int:
    """The number of a turn or particle. Raises ValueError for "01": it would collide with "1"."""
    number = int(key)
    if str(number) != key:
        raise ValueError(f"{key!r} is not a number without leading zeros")
    return number


def _scores(
    given: Mapping[str, object],
    place: ScoreTarget,
    particle: str,
    aspect: Aspect,
    found: list[Problem],
) -> Iterator[tuple[str, float]]:
    for name, score in given.items():
        where = f"particle {particle}, {name}"
        if not is_number(score):
            what = f"{where}: the score {score!r} is not a number"
            found.append(Problem(Fault.NOT_A_NUMBER, place, aspect, what))
            continue
        if not aspect.low <= score <= aspect.high:
            what = f"{where}: the score {score:g} is outside {aspect.low} to {aspect.high}"
            found.append(Problem(Fault.OUT_OF_RANGE, place, aspect, what))
        yield name, float(score)


def is_number(score: object) -> TypeGuard[float]:
    """Whether a score can be averaged: it is finite, and small enough for a finite sum."""
    return isinstance(score, int | float) and not isinstance(score, bool) and abs(score) < _ABSURD


def _missing(aspect: Aspect, turns: Mapping[ScoreTarget, ParticleScores]) -> Iterator[Problem]:
    """Particles with fewer scores than most other particles."""
    counts = Counter(len(scores) for given in turns.values() for scores in given.values())
    usual = max(counts, key=lambda n: (counts[n], n), default=0)
    for place, given in turns.items():
        for number, scores in given.items():
            if len(scores) < usual:
                what = f"particle {number}: {len(scores)} of {usual} scores"
                yield Problem(Fault.MISSING_SCORE, place, aspect, what)


def run_lines(turns: Iterable[tuple[ScoreTarget, ParticleScores]]) -> Iterator[bytes]:
    """One aspect's scores as lines of its file; conversations and turns keep the given order."""
    rows: dict[str, dict[str, object]] = {}
    for place, particles in turns:
        numbered = {str(number): dict(scores) for number, scores in particles.items()}
        rows.setdefault(place.conversation, {})[str(place.turn)] = {"particles": numbered}
    for conversation, own in rows.items():
        yield orjson.dumps({"conv_id": conversation, "turns": own}) + b"\n"
