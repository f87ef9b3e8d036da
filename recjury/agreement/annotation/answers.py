"""Raters' answers from the page's files or the table; what does not belong is refused."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from recjury.agreement.annotation.files import checksum, conversation_text, guideline_text
from recjury.agreement.annotation.task import AnnotationQuestion, TaskKey
from recjury.corpora.csv_rows import CsvRow, read_csv_rows
from recjury.errors import DataError
from recjury.input_files import read_record
from recjury.records import Record

_NEEDED = ("task", "rater", "conversation", "question", "score", "guideline", "text")


class AnswersFile(Record):
    """What the page saves: conversation, question and score of each answer."""

    format: Literal["recjury answers 1"]
    task: str
    page: str
    rater: str
    answers: tuple[tuple[str, str, int], ...]
    checksum: str


class GivenScore(NamedTuple):
    """A score by a rater, with the names of the task."""

    rater: str
    conversation: str
    question: str
    score: int


def read_answers(paths: Sequence[Path], key: TaskKey) -> tuple[GivenScore, ...]:
    """The scores in all files, JSON of the page or CSV.

    Raises DataError for a file of another task, one that was altered, a score that was not asked
    for or is out of its scale, and a second score of one rater for the same thing.
    """
    found: dict[tuple[str, str, str], Path] = {}
    scores: list[GivenScore] = []
    for path in paths:
        reader = _table if path.suffix.lower() == ".csv" else _saved
        for each in reader(path, key):
            place = each[:3]
            if place in found:
                raise DataError(
                    f"a second score by {each.rater} of {each.conversation} for {each.question}: "
                    f"the first is in {found[place]}",
                    path=path,
                )
            found[place] = path
            scores.append(each)
    if not scores:
        raise DataError("no question was answered in these files", path=paths[0])
    return tuple(scores)


def _saved(path: Path, key: TaskKey) -> Iterator[GivenScore]:
    saved = read_record(path, AnswersFile, "a file that the annotation page saved")
    if saved.task != key.id:
        raise DataError("belongs to another task than this key", path=path)
    if saved.page != key.page:
        raise DataError("was made with a page that was altered", path=path)
    parts = [saved.task, saved.page, saved.rater, saved.answers]
    if saved.checksum != checksum(json.dumps(parts, separators=(",", ":"))):
        raise DataError("was altered after it was saved: its checksum differs", path=path)
    asked = _Asked(key, path)
    for conversation, question, score in saved.answers:
        yield asked.given(GivenScore(saved.rater, conversation, question, score), None)


def _table(path: Path, key: TaskKey) -> Iterator[GivenScore]:
    asked = _Asked(key, path)
    for row in read_csv_rows(path, _NEEDED):
        if row["task"] != key.id:
            raise row.error("belongs to another task than this key")
        asked.check_texts(row)
        if not row["score"].strip():
            continue
        value = row.number("score")
        if value != int(value):
            raise row.error(f"score: expected a whole number, got {row['score'][:40]!r}")
        given = GivenScore(row["rater"], row["conversation"], row["question"], int(value))
        yield asked.given(given, row.line)


class _Asked:
    """What the task asks each rater for."""

    def __init__(self, key: TaskKey, path: Path):
        self._task, self._path = key.task, path
        self._questions = {each.id: each for each in key.task.questions}
        self._asked = {rater: set(key.task.asked(rater)) for rater in key.task.raters}

    def given(self, each: GivenScore, line: int | None) -> GivenScore:
        """`each`; raises DataError if it was not asked for, or is out of its scale."""
        question = self._question(each.rater, each.conversation, each.question, line)
        if not question.low <= each.score <= question.high:
            raise DataError(
                f"{each.conversation}, {each.question}: expected {question.low} to "
                f"{question.high}, got {each.score}",
                path=self._path,
                line=line,
            )
        return each

    def check_texts(self, row: CsvRow) -> None:
        """Raise DataError if a cell that the rater read is not the task's."""
        question = self._question(row["rater"], row["conversation"], row["question"], row.line)
        shown = self._task.conversations[row["conversation"]]
        if row["guideline"].split() != guideline_text(question).split():
            raise row.error("guideline: was altered")
        expected = conversation_text(shown) if shown.questions[0] == question.id else ""
        if row["text"].split() != expected.split():
            raise row.error("text: the conversation was altered")

    def _question(
        self, rater: str, conversation: str, question: str, line: int | None
    ) -> AnnotationQuestion:
        if rater not in self._asked:
            raise DataError(f"the task has no rater {rater[:40]!r}", path=self._path, line=line)
        if (conversation, question) not in self._asked[rater]:
            raise DataError(
                f"{rater} was not asked about {conversation[:40]!r}, {question[:40]!r}",
                path=self._path,
                line=line,
            )
        return self._questions[question]
