"""Prompt packs: a folder with a manifest and templates, rendered strictly.

A pack is a folder `recjury/prompts/packs/<id>/` with a `manifest.yaml` (at least `id` and
`version`; other keys are for the pack's users) and one `<name>.j2` per prompt. Undefined variables
are errors. `{{ cut }}` cuts a template into parts where a recurring text begins or ends, so that
the store can keep each part once. `{{ code }}` marks where the answer's code stands (see
`answer_code`).
"""

import copy
import functools
import hashlib
from importlib import resources
from typing import Any, Literal, Self, TypeAlias

import yaml
from jinja2 import Environment, StrictUndefined, Template

Lists: TypeAlias = Literal["all", "named"]
"""Which prompts show the recommendation list: all, or those whose guideline names it."""

_CUT = "\x1e"  # ASCII record separator
_UNIT = "\x1f"  # ASCII unit separator
CODE = f"{_UNIT}code{_UNIT}"
"""What stands in a prompt where its answer's code is sent."""
_MARKS = str.maketrans(_CUT + _UNIT, "  ")


class _Mark(str):
    """A mark of a template; in all other values the same characters become spaces."""


class Pack:
    """A prompt pack. `digest` is 16 hex digits over all its files: it changes with any byte."""

    def __init__(self, files: dict[str, str]):
        """Build a pack from file names and contents; `manifest.yaml` must be among them."""
        self.manifest: dict[str, Any] = yaml.safe_load(files["manifest.yaml"])
        self.id: str = self.manifest["id"]
        self.version: str = str(self.manifest["version"])
        self.lists: Lists = self.manifest.get("lists", "named")
        content = "".join(f"{name}\0{files[name]}\0" for name in sorted(files))
        self.digest = hashlib.sha256(content.encode()).hexdigest()[:16]
        environment = Environment(
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            autoescape=False,  # noqa: S701 (plain text for a model, not HTML)
            finalize=lambda value: value if isinstance(value, _Mark) else without_marks(str(value)),
        )
        environment.globals["cut"] = _Mark(_CUT)
        environment.globals["code"] = _Mark(CODE)
        self._templates: dict[str, Template] = {
            name.removesuffix(".j2"): environment.from_string(text)
            for name, text in files.items()
            if name.endswith(".j2")
        }

    def with_lists(self, lists: Lists | None) -> Self:
        """The pack with another choice of the prompts that show the list; None keeps its own."""
        changed = copy.copy(self)
        changed.lists = lists or self.lists
        return changed

    def identity(self, language: str = "") -> str:
        """Name, version and hash, and if they are set `lists` and the language to write in."""
        lists = self.lists if self.lists != self.manifest.get("lists", "named") else ""
        plain = f"{self.id}/{self.version}+{self.digest}{lists and f' lists {lists}'}"
        return f"{plain} in {language}" if language else plain

    def render(self, template: str, **variables: object) -> tuple[str, ...]:
        """The parts of a rendered template. Raises jinja2's UndefinedError for a missing name.

        The caller must fence text of others among `variables`.
        """
        text = self._templates[template].render(variables).strip()
        return tuple(part for part in text.split(_CUT) if part)


def without_marks(text: str) -> str:
    """`text` as a prompt shows it: with spaces for the two characters that mark cuts and codes."""
    return text.translate(_MARKS)


def pack_names() -> tuple[str, ...]:
    """The names of the package's prompt packs."""
    folder = resources.files("recjury.prompts") / "packs"
    return tuple(sorted(entry.name for entry in folder.iterdir() if entry.is_dir()))


@functools.cache
def load_pack(name: str) -> Pack:
    """The package's prompt pack with that name."""
    folder = resources.files("recjury.prompts") / "packs" / name
    return Pack({file.name: file.read_text("utf-8") for file in folder.iterdir() if file.is_file()})
