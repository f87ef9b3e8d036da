"""What raters get, and the key to it, which they do not get."""

from pathlib import Path
from typing import Literal, Self, TypeVar

from pydantic import Field, ValidationError, model_validator

from recjury.errors import DataError
from recjury.records import ConversationLog, Record, Speaker, digest

T = TypeVar("T", bound=Record)


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
    """All that raters see: conversations by an opaque name, and each rater's order of them."""

    guideline: str
    questions: tuple[AnnotationQuestion, ...]
    conversations: dict[str, ShownConversation]
    raters: dict[str, tuple[str, ...]]

    @property
    def id(self) -> str:
        """The identity of its content."""
        return digest(self.model_dump(mode="json"))

    def asked(self, rater: str) -> tuple[tuple[str, str], ...]:
        """The conversation and the question of each score that this rater is asked for."""
        return tuple(
            (name, question)
            for name in self.raters[rater]
            for question in self.conversations[name].questions
        )


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
        return self


def read_key(path: Path) -> TaskKey:
    """The key of a task. Raises DataError for a file that is none, or was altered."""
    return read_record(TaskKey, path, "the key of an annotation task")


def read_record(form: type[T], path: Path, what: str) -> T:
    """A record from a JSON file; raises DataError if the file is not `what`."""
    try:
        return form.model_validate_json(path.read_bytes())
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror or error}", path=path) from None
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"][:4]))
        message = first["msg"].removeprefix("Value error, ")
        raise DataError(
            f"is not {what}, or was altered: {f'{place}: ' if place else ''}{message}", path=path
        ) from None
