"""Criteria of one's own, in a file or in the campaign: models rate logs or turns by them."""

from collections.abc import Iterable, Sequence
from itertools import product
from pathlib import Path
from typing import Literal

from pydantic import Field, PrivateAttr, model_validator

from recjury.files import YamlFile
from recjury.judges.criterion import CriteriaEvaluator, Criterion, Judges, question
from recjury.judges.subjects import Subject
from recjury.llm.prompts import pack
from recjury.mistakes import Mistake, made
from recjury.records import FileName, Message, Metric, PackName


class Rubric(CriteriaEvaluator):
    """Each of `judges` rates each criterion of `file`, or of `criteria`, which stand here.

    A rating is the mean of `samples` replies at `temperature`. Reasons are in `language`, by
    default that of the conversation.
    """

    kind: Literal["rubric"] = "rubric"
    file: FileName = ""
    criteria: tuple[Criterion, ...] = ()
    judges: Judges = ("main",)
    prompts: PackName = "judges/rubric"
    samples: int = Field(default=1, ge=1, le=100)
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

    def raters(self) -> Iterable[tuple[Criterion, str]]:
        """Each criterion with each judge."""
        return product(self._read, self.judges)

    def prompt(self, criterion: Criterion, subject: Subject) -> list[Message]:
        """The criterion, with what its inputs name."""
        scenario = subject.log.scenario
        return question(
            pack(self.prompts),
            criterion,
            subject,
            facts=self.catalogue(scenario).facts,
            domain=self.domain(scenario),
            language=self.language,
        )

    @property
    def replies(self) -> int:
        """The samples."""
        return self.samples


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
