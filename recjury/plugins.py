"""Parts are looked up in one way: built in, `module:name` of one's own, or by entry point."""

import ast
import hashlib
import importlib
import inspect
import json
import sys
from collections.abc import Iterator, Mapping
from importlib.metadata import entry_points
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar
from uuid import uuid4

from recjury.errors import UserError
from recjury.files import nearest
from recjury.keys import one_line

T = TypeVar("T")


KINDS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "systems": ("recjury.agents:SYSTEMS",),
        "users": ("recjury.simulator:USERS", "recjury.demo:DEMO_USERS"),
        "evaluators": ("recjury.judges:EVALUATORS", "recjury.demo:DEMO_EVALUATORS"),
        "corpora": ("recjury.corpora:CORPORA",),
        "forms": ("recjury.corpora:FORMS",),
        "personas": ("recjury.simulator:personas",),
        "labels": ("recjury.agreement:FORMS",),
        "analyses": ("recjury.agreement:ANALYSES", "recjury.papers.recipes:recipes"),
        "trainers": ("recjury.agents.neural.training:TRAINERS", "recjury.papers:TRAINERS"),
    }
)
"""What there is of each kind that ships: mappings by name, imported when they are asked for."""


class Loaded(NamedTuple):
    """A part, and the digest of its source; what is built in has none."""

    value: Any
    source: str = ""


_of_this_process: dict[str, Loaded] = {}
"""What was given as an object and stands in no module, by the name that it got."""


def known(kind: str) -> Mapping[str, Any]:
    """What ships of a kind of `KINDS`, by name."""
    found: dict[str, Any] = {}
    for target in KINDS[kind]:
        module, _, name = target.partition(":")
        value = getattr(importlib.import_module(module), name)
        found |= value() if callable(value) else value
    return found


def entries(kind: str) -> dict[str, str]:
    """The `module:name` of parts of a kind that other packages bring by entry points, by name."""
    return {
        each.name: f"{each.module}:{each.attr}" for each in entry_points(group=f"recjury.{kind}")
    }


def find(kind: str, name: str) -> Loaded:
    """The part of a kind of `KINDS` with that name. Raises UserError."""
    built_in = known(kind)
    if name in built_in:
        return Loaded(built_in[name])
    if name in _of_this_process:
        return _of_this_process[name]
    if ":" in name:
        return load(name)
    if target := entries(kind).get(name):
        return load(target)
    raise UserError(
        f"there is no {name!r} among the {kind}{nearest(name, built_in)}: "
        f"there are {', '.join(built_in)}, or `module:name` of your own"
    )


def target_of(value: Any) -> str:
    """The `module:name` of a function or a class; for any other object a name that `find` knows.

    An object is the same in another process if its source and its attributes are; one without
    source, and one whose attributes are no plain data, is new in each process.
    """
    module, name = getattr(value, "__module__", ""), getattr(value, "__qualname__", "")
    loaded = sys.modules.get(module)
    if getattr(loaded, "__file__", None) and getattr(loaded, name, None) is value:
        return f"{module}:{name}"
    source = _source_of(value)
    label = f"python:{name.rpartition('.')[2].strip('<>') or type(value).__name__}-{source[:8]}"
    _of_this_process[label] = Loaded(value, source)
    return label


def _source_of(value: Any) -> str:
    """16 hex digits over an object's source and attributes, or random ones."""
    class_or_function = value if hasattr(value, "__qualname__") else type(value)
    try:
        text = inspect.getsource(class_or_function)
        state = "" if class_or_function is value else json.dumps(vars(value), sort_keys=True)
    except Exception:  # the file may have changed since, and be no Python any more
        return uuid4().hex[:16]
    if getattr(value, "__closure__", None):  # what it closes over is not in its source
        return uuid4().hex[:16]
    return hashlib.sha256(f"{text}\0{state}".encode()).hexdigest()[:16]


def look_in(folder: str) -> None:
    """Look for modules in the current folder and in `folder`, before what is installed."""
    for each in (Path(folder).resolve(), Path.cwd()):
        if str(each) not in sys.path:
            sys.path.insert(0, str(each))


def load(target: str) -> Loaded:
    """What `module:name` names. Raises UserError."""
    module_name, _, name = target.partition(":")
    look_in(".")
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        raise UserError(
            f"{target}: {error}: it is looked for in {', '.join(sys.path[:2])}"
        ) from None
    except (Exception, SystemExit) as error:
        raise UserError(f"{target}: importing it raised {one_line(error)}") from error
    if not hasattr(module, name):
        raise UserError(f"{target}: {module_name} has no {name!r}{nearest(name, vars(module))}")
    return Loaded(getattr(module, name), source_digest(getattr(module, "__file__", None)))


def returned(target: str, kind: type[T]) -> T:
    """What the function that `module:name` names returns. Raises UserError, whatever it does."""
    function = load(target).value
    try:
        value = function()
    except UserError:
        raise
    except Exception as error:
        raise UserError(f"{target} raised {one_line(error)}") from error
    if not isinstance(value, kind):
        raise UserError(f"{target}: expected a function that returns {kind.__name__} of recjury")
    return value


def source_digest(file: str | None) -> str:
    """16 hex digits over a module's source and over all modules beside it that it imports."""
    if file is None:
        return ""
    found = hashlib.sha256()
    for path in sorted(_with_imports(Path(file))):
        found.update(f"{path.name}\0".encode() + path.read_bytes() + b"\0")
    return found.hexdigest()[:16]


def _with_imports(file: Path) -> set[Path]:
    """The file and the files beside it that it imports, directly or not."""
    seen, left = set[Path](), [file]
    while left:
        path = left.pop()
        if path not in seen:
            seen.add(path)
            left += (each for name in _imports(path) for each in _beside(path.parent, name))
    return seen


def _imports(path: Path) -> Iterator[str]:
    """The top-level names of what a file imports; relative imports count as beside it."""
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            names = [node.module] if node.module else [alias.name for alias in node.names]
            yield from (name.partition(".")[0] for name in names)


def _beside(folder: Path, name: str) -> Iterator[Path]:
    module, package = folder / f"{name}.py", folder / name
    if module.is_file():
        yield module
    elif (package / "__init__.py").is_file():
        yield from package.rglob("*.py")
