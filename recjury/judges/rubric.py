"""Criteria of one's own, in a file or in the campaign: models rate logs or turns by them."""

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, Literal

from pydantic import Field, PrivateAttr, model_validator

from recjury.files import YamlFile
from recjury.judges.criterion import Criterion, Judges, listed
from recjury.judges.evaluator import Evaluator
from recjury.judges.subjects import Subject, subjects
from recjury.llm import Ask, gather
from recjury.llm.prompts import items_block, list_block, numbers_of, pack
from recjury.mistakes import Mistake, made
from recjury.records import (
    ConversationLog,
    FileName,
    Finding,
    Message,
    Metric,
    PackName,
    Rating,
)


class Rubric(Evaluator):
    """Each of `judges` rates each criterion of `file`, or of `criteria`, which stand here.

    A rating is the mean of `samples` replies at `temperature`. Reasons are in `language`, by
    default that of the conversation.
    """

    RENDERING: ClassVar[int] = 1

    kind: Literal["rubric"] = "rubric"
    file: FileName = ""
    criteria: tuple[Criterion, ...] = ()
    judges: Judges = ("main",)
    prompts: PackName = "judges/rubric"
    samples: int = Field(default=1, ge=1, le=100)
    temperature: float = Field(default=0.0, ge=0, le=2)
    language: str = ""
    _read: tuple[Criterion, ...] = PrivateAttr(default=())

    @model_validator(mode="after")
    def _criteria_are_there(self) -> "Rubric":
        if bool(self.file) == bool(self.criteria):
            raise ValueError("either a `file` or `criteria` is wanted")
        names = [each.metric.name for each in self.criteria]
        if twice := next((name for name in names if names.count(name) > 1), ""):
            raise ValueError(f"two criteria are called {twice!r}")
        self._read = read_rubric(Path(self.file)) if self.file else self.criteria
        return self

    @property
    def metrics(self) -> Sequence[Metric]:
        """One for each criterion."""
        return [each.metric for each in self._read]

    async def rate(self, log: ConversationLog, ask: Ask) -> Sequence[Finding]:
        """By criterion, then by turn, then by judge. Raises Stop."""
        return await gather(
            self._rating(criterion, subject, model, ask)
            for criterion in self._read
            for subject in subjects(log, criterion.level)
            for model in self.judges
        )

    async def _rating(self, criterion: Criterion, subject: Subject, model: str, ask: Ask) -> Rating:
        metric = criterion.metric.name
        if missing := criterion.lacks(subject.log, subject.turn):
            return subject.not_applicable(metric, model, missing)
        said = await ask.rating(
            self._prompt(criterion, subject),
            criterion.scale,
            model=model,
            purpose="judge",
            samples=self.samples,
            temperature=self.temperature,
        )
        return subject.rating(metric, model, said)

    def _prompt(self, criterion: Criterion, subject: Subject) -> list[Message]:
        log, shown, templates = subject.log, criterion.inputs, pack(self.prompts)
        facts, domain = self.catalogue(log.scenario).facts, self.domain(log.scenario)
        items = listed(log, subject.turn) if "list" in shown else ()
        targets = log.scenario.targets if "target" in shown else ()
        low, high = criterion.scale
        asked = templates.render(
            "judge",
            **subject.blocks,
            level=str(criterion.level),
            items=list_block(items, facts, linked=log.linked) if items else "",
            targets=items_block("target", targets, facts) if targets else "",
            places=numbers_of(targets, items),
            dimensions=domain.dimensions if domain and "dimensions" in shown else (),
            guide=criterion,
            language=self.language,
            low=low,
            high=high,
        )
        return [Message("system", templates.render("system")), Message("user", asked)]


def read_rubric(path: Path) -> tuple[Criterion, ...]:
    """The criteria of a YAML file, in its order. Raises UserError, with the line of a mistake."""
    file = YamlFile(path)
    if not isinstance(file.values, list) or not file.values:
        raise file.error(
            (), "a list of criteria is wanted, each with `name`, `definition` and `anchors`"
        )
    try:
        return made(Rubric, {"criteria": file.values}).criteria
    except Mistake as mistake:
        raise file.error(mistake.keys[1:], mistake.message) from None
