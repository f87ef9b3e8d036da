"""Prompt packs: a folder with a manifest and strict templates; texts of others are fenced.

`judges/core` is the folder `judges/prompts/core` of recjury; any other name is a folder of the
user's. In a template, `{{ cut }}` divides a prompt into parts, and `{{ code }}` marks where the
answer's code stands. Undefined variables are errors.
"""

import functools
import hashlib
import html
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import yaml
from jinja2 import Environment, StrictUndefined

from recjury.llm.identity import CODE, CUT
from recjury.records import ItemRef, Turn

_ROOMS = Path(__file__).parent.parent
_MARKS = str.maketrans({CODE: " ", CUT: " "})

Facts = Callable[[ItemRef], str]
"""What the catalogue knows of an item, on one line; empty if nothing is known."""


class _Mark(str):
    """A mark of a template; in all other values the same characters become spaces."""

    __slots__ = ()


class Pack:
    """A prompt pack. `digest` is 16 hex digits over all its files."""

    def __init__(self, folder: Path):
        """Read the folder; it has a `manifest.yaml` and templates `NAME.j2`."""
        files = {
            file.name: file.read_text("utf-8")
            for file in sorted(folder.iterdir())
            if file.is_file()
        }
        self.manifest: dict[str, Any] = yaml.safe_load(files["manifest.yaml"])
        self.digest = hashlib.sha256(repr(files).encode()).hexdigest()[:16]
        strict = Environment(
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            autoescape=False,  # noqa: S701 (plain text for a model, not HTML)
            finalize=lambda value: value if isinstance(value, _Mark) else _unmarked(value),
        )
        strict.globals.update(cut=_Mark(CUT), code=_Mark(CODE))
        self._templates = {
            name.removesuffix(".j2"): strict.from_string(text)
            for name, text in files.items()
            if name.endswith(".j2")
        }

    def render(self, template: str, **values: object) -> tuple[str, ...]:
        """The parts of a rendered template. The caller fences texts of others."""
        text = self._templates[template].render(values).strip()
        return tuple(part for part in text.split(CUT) if part)


@functools.cache
def pack(name: str) -> Pack:
    """The pack with that name."""
    room, _, folder = name.partition("/")
    return Pack(_ROOMS / room / "prompts" / folder)


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
    return f"<{turn.speaker}>{fence(turn.text)}</{turn.speaker}>"
