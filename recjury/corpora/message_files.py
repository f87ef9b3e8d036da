"""Conversations as JSON lines of `messages`, the format of chat-model APIs.

Messages that the user of the system does not see are left out: instructions, tool calls and their
results. If a message has text, its other parts (images, audio) are left out.
"""

from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Literal, NamedTuple

from pydantic import Field, field_validator

from recjury.corpora.json_rows import JsonRow
from recjury.corpora.log_files import ItemEntry, LogEntry, TurnEntry, logs_of
from recjury.errors import DataError
from recjury.input_files import read_rows, readable_stem
from recjury.records import ConversationLog

_TEXT_PARTS = frozenset(("text", "input_text", "output_text"))
_Speaker = Literal["user", "system"]
_SPEAKERS: dict[str, _Speaker] = {"user": "user", "assistant": "system"}


# Unknown fields are ignored: most tools that write such files add their own.
class _Part(JsonRow):
    type: str
    text: str | None = None


class _Message(JsonRow):
    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | list[_Part] | None = None
    refusal: str | None = None
    tool_calls: object = None
    function_call: object = None


class _Row(JsonRow):
    messages: list[_Message] = Field(min_length=1)
    id: str | None = Field(default=None, min_length=1)
    system: str | None = Field(default=None, min_length=1)
    targets: list[str | ItemEntry] = Field(default_factory=list)
    corpus: str | None = Field(default=None, pattern="^[^/]+$")
    catalogue: str | None = Field(default=None, min_length=1)

    @field_validator("id", mode="before")
    @classmethod
    def _numbers_are_ids(cls, value: object) -> object:
        return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


class _Text(NamedTuple):
    speaker: _Speaker
    text: str


def read_messages(
    path: Path, limit: int | None = None, *, data: Path | None = None
) -> Iterator[ConversationLog]:
    """The conversations of a file, in file order, at most `limit`.

    The whole conversation is the interaction. If a line has no `id`, its line number is used; if it
    has no `system`, the file's name is used. Names of targets are looked up as in
    `log_files.read_log_file`. Raises DataError, with file and line, for another form.
    """
    return logs_of(_conversations(path), path, limit, data=data)


def _conversations(path: Path) -> Iterator[tuple[int, LogEntry]]:
    for number, row in read_rows(path, _Row):
        try:
            interaction = _joined(_texts(row.messages))
        except DataError as error:
            raise DataError(str(error), path=path, line=number) from None
        yield (
            number,
            LogEntry(
                id=row.id or f"line {number}",
                system=row.system or readable_stem(path),
                interaction=interaction,
                targets=row.targets,
                corpus=row.corpus,
                catalogue=row.catalogue,
            ),
        )


def _texts(messages: Iterable[_Message]) -> Iterator[_Text]:
    """The text and speaker of each message. Raises DataError for a message without a text part."""
    for place, message in enumerate(messages):
        speaker = _SPEAKERS.get(message.role)
        if speaker is None:
            continue
        text = _text(message)
        calls = message.tool_calls or message.function_call
        if speaker == "system" and calls and not text.strip():
            continue
        if isinstance(message.content, list) and message.content and not text:
            raise DataError(f"messages.{place}.content: no part has text")
        yield _Text(speaker, text)


def _text(message: _Message) -> str:
    content = message.content
    if isinstance(content, list):
        parts = (part.text for part in content if part.type in _TEXT_PARTS)
        content = "\n".join(text for text in parts if text)
    return content or message.refusal or ""


def _joined(texts: Iterable[_Text]) -> list[TurnEntry]:
    """Consecutive texts of one speaker as one turn. Raises DataError without a system turn."""
    turns = [
        TurnEntry(speaker=speaker, text="\n".join(one.text for one in said if one.text))
        for speaker, said in groupby(texts, lambda text: text.speaker)
    ]
    if all(turn.speaker == "user" for turn in turns):
        raise DataError("messages: no answer by the assistant")
    return turns
