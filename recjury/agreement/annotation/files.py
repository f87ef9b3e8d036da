"""The files of a task: a page for the browser, a table, and the key."""

import base64
import csv
import hashlib
import io
import os
import zlib
from collections.abc import Iterator, Sequence
from importlib.resources import files
from pathlib import Path

import orjson
from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from recjury.agreement.annotation.design import DrawnTask
from recjury.agreement.annotation.task import (
    AnnotationQuestion,
    AnnotationTask,
    ShownConversation,
    TaskKey,
)
from recjury.errors import ConfigError
from recjury.safe_text import printable

PAGE, TABLE, KEY = "task.html", "task.csv", "key.json"
COLUMNS = (
    "task",
    "rater",
    "place",
    "conversation",
    "question",
    "low",
    "high",
    "score",
    "guideline",
    "text",
)


def write_task(drawn: DrawnTask, folder: Path) -> tuple[Path, ...]:
    """Write the page, the table and the key into `folder`, which is made if it is missing.

    Raises ConfigError if there is a task already, or if the folder cannot be written.
    """
    text = page_text(drawn.task)
    key = TaskKey(
        id=drawn.task.id,
        page=checksum(text),
        task=drawn.task,
        logs=dict(drawn.logs),
        gold={name: dict(scores) for name, scores in drawn.gold.items()},
    )
    contents = {
        PAGE: page(drawn.task),
        TABLE: table(drawn.task),
        KEY: key.model_dump_json(indent=1) + "\n",
    }
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in contents.items():
            with (folder / name).open("x", encoding="utf-8", newline="") as file:
                file.write(content)
    except FileExistsError as error:
        raise ConfigError(f"{error.filename}: exists already: choose another folder") from None
    except OSError as error:
        raise ConfigError(f"{folder} cannot be written: {os.strerror(error.errno or 0)}") from None
    return tuple(folder / name for name in contents)


def checksum(text: str) -> str:
    """Eight hex digits (CRC-32), which the page computes too: it tells accidents, not forgery."""
    return f"{zlib.crc32(text.encode()):08x}"


def page_text(task: AnnotationTask) -> str:
    """The task as JSON in ASCII that no HTML parser reads as a tag."""
    shown = {
        "id": task.id,
        **task.model_dump(mode="json"),
        "conversations": {
            name: _printable(each).model_dump(mode="json")
            for name, each in task.conversations.items()
        },
        # JSON objects of numbers lose their order in a browser.
        "anchors": {
            each.id: [[score, text] for score, text in each.anchors.items()]
            for each in task.questions
        },
    }
    text = orjson.dumps(shown, option=orjson.OPT_NON_STR_KEYS).decode()
    return "".join(_escaped(sign) if sign in "<>&" or not sign.isascii() else sign for sign in text)


def _escaped(sign: str) -> str:
    units = sign.encode("utf-16-be").hex()
    return "".join(f"\\u{units[place : place + 4]}" for place in range(0, len(units), 4))


def page(task: AnnotationTask) -> str:
    """The HTML page: it loads nothing, sends nothing, and runs no script but its own."""
    folder = files("recjury.agreement.annotation") / "templates"
    script = (folder / "task.js").read_text("utf-8")
    allowed = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    text = page_text(task)
    template = Environment(autoescape=True, undefined=StrictUndefined).from_string(
        (folder / "task.html.j2").read_text("utf-8")
    )
    return template.render(
        # Both are ours, or escaped above.
        script=Markup(script),  # noqa: S704
        task=Markup(text),  # noqa: S704
        style=Markup((folder / "task.css").read_text("utf-8")),  # noqa: S704
        allowed=allowed,
        checksum=checksum(text),
    )


def table(task: AnnotationTask) -> str:
    """A row for each score of each rater, with an empty cell for it."""
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    writer.writerow(COLUMNS)
    writer.writerows(_rows(task))
    return buffer.getvalue()


def _rows(task: AnnotationTask) -> Iterator[list[str]]:
    questions = {each.id: each for each in task.questions}
    for rater, names in task.raters.items():
        for place, name in enumerate(names, 1):
            shown = task.conversations[name]
            for number, question in enumerate(shown.questions):
                asked = questions[question]
                yield [
                    *(task.id, rater, str(place), name, question),
                    *(str(asked.low), str(asked.high), ""),
                    guideline_text(asked),
                    conversation_text(shown) if number == 0 else "",
                ]


def guideline_text(question: AnnotationQuestion) -> str:
    """A question with its guideline, as lines."""
    return "\n".join(
        [
            f"{question.title} ({question.low} to {question.high})",
            *([question.definition] if question.definition else ()),
            *(f"{score}: {meaning}" for score, meaning in question.anchors.items()),
            *(f"({number}) {step}" for number, step in enumerate(question.steps, 1)),
        ]
    )


def conversation_text(shown: ShownConversation) -> str:
    """A conversation as lines. Each begins with our word, so that no cell is read as a formula."""
    safe = _printable(shown)
    return "\n".join(
        [
            *(
                f"{'Before: ' if turn.history else ''}{turn.speaker.value.title()}: "
                f"{_one_line(turn.text)}"
                for turn in safe.turns
            ),
            *_listed("Recommended", safe.items),
            *_listed("Wanted", safe.targets),
        ]
    )


def _listed(what: str, names: Sequence[str]) -> list[str]:
    return [f"{what}: {'; '.join(map(_one_line, names))}"] if names else []


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _printable(shown: ShownConversation) -> ShownConversation:
    """Without control characters, which a text under test may hold."""
    return shown.model_copy(
        update={
            "turns": tuple(
                turn.model_copy(update={"text": printable(turn.text)}) for turn in shown.turns
            ),
            "items": tuple(map(printable, shown.items)),
            "targets": tuple(map(printable, shown.targets)),
        }
    )
