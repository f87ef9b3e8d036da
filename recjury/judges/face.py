"""FACE: particles of what a system says, scored under optimised instructions (section 2).

A particle is a piece of a system turn with the user's reaction (2.1); a score is a mean over
particles and instructions (2.2). Instructions are in the form in which FACE's are released: a file
is named after its aspect, and is a JSON list of `{text, iteration}`, further keys aside.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, Literal, NamedTuple, get_args

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, field_validator, model_validator

from recjury.errors import UserError
from recjury.files import nearest, read_json
from recjury.judges.aspects import Aspects
from recjury.judges.criterion import Criterion
from recjury.judges.evaluator import not_applicable
from recjury.judges.subjects import Subject, subjects
from recjury.llm import Answer, Ask, Score, gather
from recjury.llm.prompts import Pack, fence
from recjury.records import (
    ConversationLog,
    Evidence,
    FileName,
    Finding,
    Level,
    Message,
    Status,
)

_DIGITS = 9  # decimals: means that are equal stay equal

Act = Literal["greeting", "preference elicitation", "recommendation", "goodbye", "others"]
"""What a particle does in the dialogue."""

_NO_FEEDBACK = frozenset({"", "none", "null", "n/a", "no feedback", "no feedback provided"})


class Particle(BaseModel):
    """A piece of a system turn: its act, its words, and the words of the user that react to it."""

    model_config = ConfigDict(frozen=True)

    act: Act
    mention: str = Field(min_length=1)
    feedback: str | None = None

    @field_validator("act", mode="before")
    @classmethod
    def _spelling(cls, act: Any) -> Any:
        """In small letters, with spaces for `_` and `-`."""
        return re.sub(r"[\s_-]+", " ", act).strip().lower() if isinstance(act, str) else act

    @field_validator("feedback")
    @classmethod
    def _nothing_is_none(cls, feedback: str | None) -> str | None:
        said = (feedback or "").strip()
        return None if said.lower().replace("_", " ") in _NO_FEEDBACK else said

    def span(self, text: str) -> tuple[int, int] | None:
        """Where its words stand in the turn's text; None if a model has changed them."""
        words = r"\s+".join(map(re.escape, self.mention.split()))
        found = re.search(words, text, re.IGNORECASE)
        return found.span() if found and words else None


class _Particles(BaseModel):
    particles: list[Particle]


async def particles_of(
    subject: Subject, ask: Ask, *, model: str, pack: Pack, temperature: float
) -> Answer[tuple[Particle, ...]]:
    """The particles of a system turn; where the user says nothing more, none has feedback."""
    if subject.lacks:
        return not_applicable(subject.lacks)
    asked = pack.render("decompose", acts=[f'"{act}"' for act in get_args(Act)], **subject.blocks)
    said = await ask.object(
        [Message("user", asked)],
        _Particles,
        model=model,
        purpose="judge",
        temperature=temperature,
    )
    no_answer = {} if subject.answer else {"feedback": None}
    return said.mapped(
        lambda found: tuple(each.model_copy(update=no_answer) for each in found.particles)
    )


class Instruction(NamedTuple):
    """An instruction, with its name in files of scores ("itr54")."""

    name: str
    text: str


def read_instructions(path: Path, aspects: Sequence[str]) -> Mapping[str, tuple[Instruction, ...]]:
    """The instructions of each aspect, from `{aspect}.json` in a folder, or from one such file.

    Raises UserError if an aspect has none, or if a file is wrong.
    """
    if not path.exists():
        raise UserError(f"there is no file or folder {path} of instructions; `initial` ships")
    files = sorted(path.glob("*.json")) if path.is_dir() else [path]
    by_aspect = {file.stem: file for file in files}
    for aspect in aspects:
        if aspect not in by_aspect:
            near = nearest(aspect, by_aspect) or f": there are {', '.join(by_aspect) or 'none'}"
            raise UserError(
                f"{path} has no instructions for {aspect}{near}; a file is named after its "
                f"aspect ({aspect}.json), and `aspects` says which are rated"
            )
    return {aspect: tuple(_read(by_aspect[aspect])) for aspect in aspects}


def _read(file: Path) -> list[Instruction]:
    rows = read_json(file)
    if not isinstance(rows, list) or not rows:
        raise UserError(f"{file}: a list of instructions is wanted, each with a `text`")
    found: dict[str, Instruction] = {}
    for number, row in enumerate(rows, 1):
        instruction = _instruction(row, number, file)
        if instruction.name in found:
            raise UserError(f"{file}: two instructions are called {instruction.name}")
        found[instruction.name] = instruction
    return list(found.values())


def _instruction(row: Any, number: int, file: Path) -> Instruction:
    text = row.get("text") if isinstance(row, Mapping) else None
    if not isinstance(text, str) or not text.strip():
        raise UserError(f"{file}: instruction {number} has no `text`")
    return Instruction(f"itr{row.get('iteration', number)}", text)


def face(scores: Iterable[float]) -> float:
    """The score of a turn or a dialogue: the mean over its particles P and all instructions I.

    With a score for each pair of them, it is the paper's 1/|I| sum of 1/|P| sum of E(I, p). Raises
    StatisticsError without scores.
    """
    return round(fmean(scores), _DIGITS)


class _Turn(NamedTuple):
    """A system turn, and its particles or why there are none."""

    subject: Subject
    found: Answer[tuple[Particle, ...]]


class _Piece(NamedTuple):
    """A particle in its turn, with its score under each instruction by name."""

    subject: Subject
    number: int
    particle: Particle
    scores: Mapping[str, Answer[Score]]


class Face(Aspects):
    """Scores each particle under each instruction, `samples` times, and takes the mean.

    `instructions` is a folder of `{aspect}.json`, one such file, or `initial`: the instruction from
    which optimisation starts ("w/o train").
    """

    kind: Literal["face"] = "face"
    instructions: FileName = "initial"
    samples: int = Field(default=5, ge=1, le=100)
    _instructions: dict[str, Sequence[Instruction]] = PrivateAttr(default_factory=dict)

    @model_validator(mode="after")
    def _read_instructions(self) -> "Face":
        names = [criterion.metric.name for criterion in self.criteria]
        if self.instructions != "initial":
            self._instructions.update(read_instructions(Path(self.instructions), names))
            return self
        for name in names:
            text = self.pack.render("initial", aspect=name.replace("_", " "))
            self._instructions[name] = [Instruction("initial", "".join(text))]
        return self

    async def rate(self, log: ConversationLog, ask: Ask) -> Sequence[Finding]:
        """A rating of each aspect, of the log or of each turn, and scored particles as evidence.

        Raises Stop.
        """
        subjects_ = list(subjects(log, Level.TURN))
        found = await gather(
            particles_of(turn, ask, model=self.model, pack=self.pack, temperature=self.temperature)
            for turn in subjects_
        )
        turns = [_Turn(*each) for each in zip(subjects_, found, strict=True)]
        findings = await gather(self._aspect(each, log, turns, ask) for each in self.criteria)
        return [finding for of_aspect in findings for finding in of_aspect]

    async def _aspect(
        self, criterion: Criterion, log: ConversationLog, turns: Sequence[_Turn], ask: Ask
    ) -> list[Finding]:
        pieces = await gather(
            self._piece(criterion, turn.subject, number, particle, ask)
            for turn in turns
            for number, particle in enumerate(turn.found.value or ())
        )
        ratings = [
            subject.rating(
                criterion.metric.name,
                self.model,
                _mean(
                    [turn for turn in turns if _within(turn.subject, subject)],
                    [piece for piece in pieces if _within(piece.subject, subject)],
                ),
            )
            for subject in subjects(log, criterion.level)
        ]
        return [*ratings, *(_evidence(criterion, piece) for piece in pieces)]

    async def _piece(
        self, criterion: Criterion, turn: Subject, number: int, particle: Particle, ask: Ask
    ) -> _Piece:
        instructions = self._instructions[criterion.metric.name]
        answers = await gather(
            self.score(criterion, turn, particle, each.text, ask) for each in instructions
        )
        names = [each.name for each in instructions]
        return _Piece(turn, number, particle, dict(zip(names, answers, strict=True)))

    async def score(
        self, criterion: Criterion, turn: Subject, particle: Particle, instruction: str, ask: Ask
    ) -> Answer[Score]:
        """The score of a particle under an instruction: the mean of the samples. Raises Stop."""
        prompt = self.rendered(
            "score",
            criterion,
            turn,
            act=particle.act,
            words=fence(particle.mention),
            feedback=None if particle.feedback is None else fence(particle.feedback),
            instruction=fence(instruction),
        )
        return await ask.rating(
            prompt,
            criterion.scale,
            model=self.model,
            purpose="judge",
            samples=self.samples,
            temperature=self.temperature,
        )


def _within(turn: Subject, subject: Subject) -> bool:
    return subject.turn is None or turn.turn == subject.turn


def _mean(turns: Sequence[_Turn], pieces: Sequence[_Piece]) -> Answer[Score]:
    """The mean of all scores that could be read.

    It has no value if a call failed, or if a turn has no particles since no reply could be read:
    the next run may have them.
    """
    found: list[Answer[Any]] = [turn.found for turn in turns]
    answers: list[Answer[Any]] = [each for piece in pieces for each in piece.scores.values()]
    scores = [each.value.score for each in answers if each.value]
    calls = tuple(call for each in (*found, *answers) for call in each.calls)
    lost = [each for each in found if each.status not in (Status.OK, Status.NOT_APPLICABLE)]
    lost += [each for each in answers if each.status is Status.CALL_FAILED or not scores]
    if lost:
        return Answer(None, lost[0].status, lost[0].reason, calls)
    if not scores:
        why = next((each.reason for each in found if each.reason), "there is no particle")
        return Answer(None, Status.NOT_APPLICABLE, why, calls)
    said = f"the mean of {len(scores)} of {len(answers)} scores of {len(pieces)} particles"
    return Answer(Score(face(scores), said), Status.OK, "", calls)


def _evidence(criterion: Criterion, piece: _Piece) -> Evidence:
    """A particle with where its words stand, and its score under each instruction that has one."""
    scores = {name: each.value.score for name, each in piece.scores.items() if each.value}
    return Evidence(
        name=f"{criterion.metric.name}.{piece.subject.turn}.{piece.number}",
        value={
            **piece.particle.model_dump(),
            "score": face(scores.values()) if scores else None,
            "turn": piece.subject.turn,
            "span": piece.particle.span(piece.subject.rated[0].text),
            "by": scores,
        },
    )
