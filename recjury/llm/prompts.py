"""Prompt packs: a folder with a manifest and strict templates; texts of others are fenced.

`judges/core` is the folder `judges/prompts/core` of recjury; any other name is a folder of the
user's. In a template, `{{ cut }}` divides a prompt into parts, and `{{ code }}` marks where the
answer's code stands. Undefined variables are errors.
"""

import functools
import html
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from jinja2 import DictLoader, StrictUndefined, TemplateNotFound, TemplateSyntaxError
from jinja2.sandbox import SandboxedEnvironment

from recjury.errors import UserError
from recjury.files import YamlFile, nearest, read_text
from recjury.keys import one_line
from recjury.records import CODE, CUT, Event, ItemRef, Turn, digest

_ROOMS = Path(__file__).parent.parent
_MARKS = str.maketrans({CODE: " ", CUT: " "})

Facts = Callable[[ItemRef], str]
"""What the catalogue knows of an item, on one line; empty if nothing is known."""


_LINKED = (
    "The system gave no lists: these items were found by their names in what it said, in the order "
    "of the text. A name may have been missed, or taken for another item, and an item may have "
    "been named without being recommended."
)


class _Mark(str):
    """A mark of a template; in all other values the same characters become spaces."""

    __slots__ = ()


class Pack:
    """A prompt pack. `digest` is 16 hex digits over its files, wherever they lie."""

    def __init__(self, folder: Path):
        """Read the folder: a `manifest.yaml`, and templates `NAME.j2`. Raises UserError."""
        self._folder = folder
        if not folder.is_dir():
            raise UserError(f"{folder}: there is no such pack of prompts: name a folder")
        manifest = YamlFile(folder / "manifest.yaml")
        if not isinstance(manifest.values, dict):
            raise manifest.error((), "a mapping is wanted")
        self._file = manifest
        self.manifest: dict[str, Any] = manifest.values
        self._texts = {file.name: read_text(file) for file in sorted(folder.glob("*.j2"))}
        self.digest = digest(read_text(manifest.path), self._texts)[:16]
        self._environment = SandboxedEnvironment(
            loader=DictLoader(self._texts),
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            autoescape=False,  # plain text for a model
            finalize=lambda value: value if isinstance(value, _Mark) else _unmarked(value),
        )
        self._environment.globals.update(cut=_Mark(CUT), code=_Mark(CODE))

    def error(self, keys: Sequence[str | int], message: str) -> UserError:
        """An error at a key of the manifest, with file and line."""
        return self._file.error(keys, message)

    def render(self, template: str, **values: object) -> tuple[str, ...]:
        """The parts of a rendered template. The caller fences texts of others.

        Raises UserError if there is no such template, if it has a mistake, or if it names a
        variable that is not among `values`.
        """
        file = f"{template}.j2"
        try:
            text = self._environment.get_template(file).render(values).strip()
        except TemplateNotFound as error:
            near = nearest(str(error.name), self._texts)
            raise UserError(f"{self._folder}: has no template {error.name}{near}") from None
        except TemplateSyntaxError as error:
            where = f"{self._folder / (error.name or file)}:{error.lineno}"
            raise UserError(f"{where}: {error.message}") from None
        except Exception as error:  # a template may divide by zero, or call what is no function
            raise UserError(f"{self._folder / file}: {one_line(error)}") from None
        return tuple(part for part in text.split(CUT) if part)


@functools.cache
def pack(name: str) -> Pack:
    """The pack with that name. Raises UserError."""
    room, _, folder = name.partition("/")
    shipped = _ROOMS / room / "prompts" / folder
    return Pack(shipped if folder and shipped.is_dir() else Path(name))


def fence(text: str) -> str:
    """`text` that can neither close a tag nor open one."""
    return html.escape(text, quote=False)


def fence_line(text: str) -> str:
    """`text` fenced and on one line, for a row of a list."""
    return fence(" ".join(text.split()))


def block(tag: str, lines: Iterable[str]) -> str:
    """Lines between tags."""
    return "\n".join((f"<{tag}>", *lines, f"</{tag}>"))


def turns_block(tag: str, turns: Sequence[Turn]) -> str:
    """Turns as one block, one line for each; a failed system turn is marked."""
    return block(tag, (_turn(turn) for turn in turns))


def items_block(tag: str, items: Sequence[ItemRef], facts: Facts | None = None) -> str:
    """Items as one block, numbered from 1, each with what `facts` knows of it."""
    return block(tag, (_row(number, item, facts) for number, item in enumerate(items, 1)))


def list_block(items: Sequence[ItemRef], facts: Facts | None = None, *, linked: bool) -> str:
    """The list of a session as a block, with a note if it was `linked` in the system's texts."""
    rows = items_block("recommendation_list", items, facts)
    return f"{rows}\n{_LINKED}" if linked else rows


def wishes_block(wishes: Sequence[str]) -> str:
    """What a user wishes, one wish a line."""
    return block("wishes", map(fence_line, wishes))


def numbers_of(targets: Sequence[ItemRef], items: Sequence[ItemRef]) -> str:
    """The numbers of the `items` that are targets, as `items_block` counts ("3, 7")."""
    wanted = {target.id for target in targets}
    return ", ".join(str(number) for number, item in enumerate(items, 1) if item.id in wanted)


def _unmarked(value: object) -> str:
    return str(value).translate(_MARKS)


def _row(number: int, item: ItemRef, facts: Facts | None) -> str:
    known = facts(item) if facts else ""
    row = f"{number}. {fence_line(item.name)}"
    return f"{row} <facts>{fence_line(known)}</facts>" if known else row


def _turn(turn: Turn) -> str:
    if turn.failure:
        return f'<{turn.speaker} failed="true"></{turn.speaker}>'
    shown = turn.events if turn.speaker == "system" else ()  # those of a user are about the guard
    text = "".join((fence(turn.text), *map(_event, shown)))
    return f"<{turn.speaker}>{text}</{turn.speaker}>"


def _event(event: Event) -> str:
    """What was shown beside the text; of a tool's call, that it was made."""
    value = event.value
    if event.kind.startswith("tool"):
        value = value.get("name", "") if isinstance(value, Mapping) else ""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    kind = html.escape(" ".join(event.kind.split()))
    return f'<shown kind="{kind}">{fence_line(text)}</shown>'
