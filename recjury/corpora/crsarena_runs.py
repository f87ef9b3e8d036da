"""Scores of an evaluator on CRSArena-Eval: per instruction (`face-runs`), and pooled (a run file).

A folder of per-instruction scores has a `{aspect}.jsonl` for each aspect, a conversation a line:
`{conv_id, turns: {turn: {particles: {number: {instruction: score}}}}}`, numbers as strings, in
any order. Scores may be any numbers: correlations do not know scales. Those outside the aspect's
are reported.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeGuard

import orjson

from recjury.corpora.data_problems import Fault, Problem
from recjury.corpora.lines import read_lines
from recjury.corpora.writing import write_file
from recjury.errors import DataError
from recjury.records import Aspect, ScoreTarget

_ABSURD = 1e9  # no scale reaches so far, and sums of such numbers stay finite

InstructionScores = Mapping[str, float]
"""A particle's score by the name of the instruction ("itr54")."""

ParticleScores = Mapping[int, InstructionScores]
"""A turn's scores by the particle's number, from 0."""


class AspectRun(NamedTuple):
    """One aspect's scores: for each system turn that has particles, those of its particles.

    A turn whose particles all lack scores is there, with empty ones.
    """

    aspect: Aspect
    turns: Mapping[ScoreTarget, ParticleScores]
    problems: tuple[Problem, ...]


def read_runs(folder: Path) -> dict[Aspect, AspectRun]:
    """The aspects that `folder` has files for, in the order of `Aspect`.

    Raises DataError where it has none, has one that is no aspect's, or a file cannot be used.
    """
    if not folder.is_dir():
        raise DataError("there is no such folder", path=folder)
    files = {path.stem: path for path in sorted(folder.glob("*.jsonl"))}
    unknown = sorted(files.keys() - set(Aspect))
    if unknown:
        raise DataError(
            f"{unknown[0]!r} is no aspect: expected {', '.join(Aspect)}", path=files[unknown[0]]
        )
    if not files:
        raise DataError("holds no scores: expected files like relevance.jsonl", path=folder)
    return {aspect: read_run(files[aspect], aspect) for aspect in Aspect if aspect in files}


def read_run(path: Path, aspect: Aspect) -> AspectRun:
    """One aspect's file. Raises DataError, with the line, for what is not of the form."""
    turns: dict[ScoreTarget, ParticleScores] = {}
    problems: list[Problem] = []
    seen: dict[str, int] = {}
    for number, content in read_lines(path):
        try:
            row = _row(content)
            conversation = row["conv_id"]
            if not isinstance(conversation, str):
                raise TypeError(f"conv_id {conversation!r} is no text")
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
    """One line. NaN and Infinity are read, so that they can be told with their place."""
    try:
        return orjson.loads(content)
    except orjson.JSONDecodeError:
        return json.loads(content)


def _number(key: str) -> int:
    """A turn's or particle's number; "01" beside "1" would silently be the same one twice."""
    number = int(key)
    if str(number) != key:
        raise ValueError(f"{key!r} is no number as it is written elsewhere")
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
            what = f"{where}: the score {score!r} is no number"
            found.append(Problem(Fault.NOT_A_NUMBER, place, aspect, what))
            continue
        if not aspect.low <= score <= aspect.high:
            what = f"{where}: the score {score:g} is outside {aspect.low} to {aspect.high}"
            found.append(Problem(Fault.OUT_OF_RANGE, place, aspect, what))
        yield name, float(score)


def is_number(score: object) -> TypeGuard[float]:
    """Whether a score can be averaged: finite, and not so large that a sum is not."""
    return isinstance(score, int | float) and not isinstance(score, bool) and abs(score) < _ABSURD


def _missing(aspect: Aspect, turns: Mapping[ScoreTarget, ParticleScores]) -> Iterator[Problem]:
    """Particles with fewer scores than most have."""
    counts = Counter(len(scores) for given in turns.values() for scores in given.values())
    usual = max(counts, key=lambda n: (counts[n], n), default=0)
    for place, given in turns.items():
        for number, scores in given.items():
            if len(scores) < usual:
                what = f"particle {number}: {len(scores)} of {usual} scores"
                yield Problem(Fault.MISSING_SCORE, place, aspect, what)


def write_run(path: Path, turns: Iterable[tuple[ScoreTarget, ParticleScores]]) -> None:
    """Write one aspect's scores in the same form, conversations and turns in the order given.

    Raises DataError where the file cannot be written.
    """
    rows: dict[str, dict[str, object]] = {}
    for place, particles in turns:
        numbered = {str(number): dict(scores) for number, scores in particles.items()}
        rows.setdefault(place.conversation, {})[str(place.turn)] = {"particles": numbered}
    lines = ({"conv_id": conversation, "turns": own} for conversation, own in rows.items())
    write_file(path, (orjson.dumps(line) + b"\n" for line in lines))
