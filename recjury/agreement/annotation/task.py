"""What raters get, and the key to it, which they do not get."""

from collections.abc import Mapping
from pathlib import Path
from typing import Literal, Self

from pydantic import Field, model_validator

from recjury.input_files import read_record
from recjury.records import JSON, ConversationLog, Record, Speaker, digest


class AnnotationQuestion(Record):
    """One thing to score, in whole numbers from `low` to `high`.

    `anchors` say what a score means, best first; `steps` are those of the judges. `shows` is what
    a rater sees for it besides the conversation. Without a definition there is no guideline.
    """

    id: str = Field(pattern="^[a-z0-9][a-z0-9_]*$")
    title: str
    low: int
    high: int
    definition: str = ""
    anchors: dict[int, str] = Field(default_factory=dict)
    between: bool = True
    steps: tuple[str, ...] = ()
    shows: tuple[Literal["list", "target"], ...] = ()


class TaskTurn(Record):
    """A turn as a rater sees it; the turns of the history are not rated."""

    speaker: Speaker
    text: str
    history: bool = False


class ShownConversation(Record):
    """A conversation as a rater sees it: without the name of its system.

    `items` is the session's list, `targets` what the user wanted; both are names. `questions` are
    the ids of those that are asked about it.
    """

    turns: tuple[TaskTurn, ...]
    items: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    questions: tuple[str, ...]


class AnnotationTask(Record):
    """All that raters see: conversations by an opaque name, and each rater's order of them.

    `unseen` is the digest of what stands in the key alone (`unseen_digest`), so that answers, which
    name the task's id, belong to one key; tasks of earlier versions have none.
    """

    guideline: str
    questions: tuple[AnnotationQuestion, ...]
    conversations: dict[str, ShownConversation]
    raters: dict[str, tuple[str, ...]]
    unseen: str = ""

    @property
    def id(self) -> str:
        """The identity of its content."""
        return digest(self.model_dump(mode="json", exclude=set() if self.unseen else {"unseen"}))

    def asked(self, rater: str) -> tuple[tuple[str, str], ...]:
        """The conversation and the question of each score that this rater is asked for."""
        return tuple(
            (name, question)
            for name in self.raters[rater]
            for question in self.conversations[name].questions
        )


def unseen_digest(
    logs: Mapping[str, ConversationLog], gold: Mapping[str, Mapping[str, int]]
) -> str:
    """The digest of the logs behind the names, and of the gold scores."""
    own: JSON = {name: log.id for name, log in logs.items()}
    return digest([own, {name: dict(scores) for name, scores in gold.items()}])


class TaskKey(Record):
    """Which conversation stands behind each name, and the answers to gold questions.

    `page` is the checksum of the task's text in its HTML page.
    """

    format: Literal["recjury annotation key 1"] = "recjury annotation key 1"
    id: str
    page: str
    task: AnnotationTask
    logs: dict[str, ConversationLog]
    gold: dict[str, dict[str, int]] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _is_as_it_was_written(self) -> Self:
        if self.id != self.task.id:
            raise ValueError("the task in it is not the one that was exported")
        if set(self.logs) != set(self.task.conversations) or not set(self.gold) <= set(self.logs):
            raise ValueError("it lacks a conversation")
        if self.task.unseen and self.task.unseen != unseen_digest(self.logs, self.gold):
            raise ValueError("its conversations or gold scores are not those of the task")
        return self


def read_key(path: Path) -> TaskKey:
    """The key of a task. Raises DataError for a file that is none, or was altered."""
    return read_record(path, TaskKey, "the key of an annotation task")
