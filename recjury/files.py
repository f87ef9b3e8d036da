"""Files that people write: read with file and line in every mistake, and the nearest name."""

import codecs
import difflib
import functools
import hashlib
import json
import re
from collections.abc import Hashable, Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import yaml

from recjury.errors import UserError

_LONGEST_YAML = 2**20
_LARGEST = 2**63 - 1  # what JSON readers and SQLite can hold


def read_text(path: Path, *, longest: int = 2**30, encoding: str = "utf-8") -> str:
    """The text of a file of at most `longest` bytes, without a byte-order mark.

    A mark of UTF-16 says that the file is in it. Raises UserError.
    """
    try:
        if path.exists() and not path.is_file():
            raise UserError(f"{path}: is no file (folders and pipes are not read)")
        if path.is_file() and path.stat().st_size > longest:
            raise UserError(f"{path}: is longer than {longest:,} bytes")
        with path.open("rb") as file:
            start = file.read(len(codecs.BOM_UTF8))
        if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            encoding = "utf-16"
        return path.read_text("utf-8-sig" if start == codecs.BOM_UTF8 else encoding)
    except FileNotFoundError:
        raise UserError(f"there is no file {path}") from None
    except UnicodeError as error:
        named = "UTF-8" if encoding == "utf-8" else encoding
        place = f" (byte {error.start})" if isinstance(error, UnicodeDecodeError) else ""
        raise UserError(
            f"{path}: is not {named}{place}: save it as UTF-8, or name its encoding; that of Excel "
            "is cp1252 (recordings: --encoding cp1252; items: `encoding: cp1252` in domain.yaml)"
        ) from None
    except LookupError:
        raise UserError(f"there is no encoding {encoding!r}: cp1252 is one") from None
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}") from None


def read_json(path: Path) -> Any:
    """The value of a JSON file. Raises UserError."""
    try:
        return json.loads(read_text(path))
    except (ValueError, RecursionError) as error:
        raise UserError(f"{path}: is not JSON: {error}") from None


def content_digest(name: str) -> str:
    """32 hex digits over a file, or over the files in a folder and their names.

    Where there is neither, it is the name itself. Raises UserError.
    """
    path = Path(name)
    if not name or not path.exists():
        return name
    files = [path] if path.is_file() else sorted(each for each in path.iterdir() if each.is_file())
    content = hashlib.sha256()
    for each in files:
        label = "" if each == path else each.name
        content.update(f"{label}\0{read_text(each)}\0".encode("utf-8", "surrogatepass"))
    return content.hexdigest()[:32]


def nearest(name: str, names: Iterable[str]) -> str:
    """` (did you mean x?)` with the nearest of `names`, or nothing."""
    by_fold = {each.casefold(): each for each in names}
    near = difflib.get_close_matches(name.casefold(), by_fold, 1, cutoff=0.5)
    return f" (did you mean {by_fold[near[0]]}?)" if near else ""


@functools.cache
def shipped(path: Path) -> Any:
    """The values of a YAML file that ships, read once."""
    return YamlFile(path).values


class YamlFile:
    """A YAML file: its values, and the line of each."""

    def __init__(self, path: Path):
        """Raises UserError if the file is not YAML, or has a key twice."""
        self.path = path
        text = read_text(path, longest=_LONGEST_YAML)
        try:
            loader = _Loader(text)
            self._node = loader.get_single_node()
            self.values: Any = None if self._node is None else loader.construct_document(self._node)
            # A value that holds itself is refused here, and aliases that stand for too much.
            pieces = json.JSONEncoder(default=str).iterencode(self.values)
            if next(islice(pieces, _LONGEST_YAML, None), None) is not None:
                raise ValueError("its aliases repeat too much")
        except (yaml.YAMLError, RecursionError, ValueError) as error:
            raise UserError(f"{path}{_problem(error)}") from None

    def error(self, keys: Sequence[str | int], message: str) -> UserError:
        """An error at the value that `keys` lead to: `file.yaml:3: systems.0.kind: message`."""
        where = ".".join(map(str, keys))
        return UserError(f"{self.path}:{self._line(keys)}: {where and where + ': '}{message}")

    def _line(self, keys: Sequence[str | int]) -> int:
        node, line = self._node, 1
        for key in keys:
            found = _child(node, key)
            if found is None:
                break
            line, node = found
        return line


class _Loader(yaml.SafeLoader):
    """YAML 1.2's scalars, since 1.1 takes `1e-3` for text, `NO` for false and `12:30` for 750."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and key.value in seen:
                raise yaml.MarkedYAMLError(
                    problem=f"{key.value!r} is written twice", problem_mark=key.start_mark
                )
            seen.add(str(key.value))
        return super().construct_mapping(node, deep=deep)

    def construct_number(self, node: yaml.ScalarNode) -> int | float:
        number = float(node.value.lower().replace(".inf", "inf").replace(".nan", "nan"))
        whole = number.is_integer() and abs(number) <= _LARGEST and "." not in node.value
        return int(number) if whole else number


_Loader.yaml_implicit_resolvers = {}
for _tag, _pattern, _first in (
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("int", r"[-+]?[0-9]+|0x[0-9a-fA-F]+", "-+0123456789"),
    (
        "float",
        r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)",
        "-+.0123456789",
    ),
    ("merge", r"<<", "<"),
):
    _Loader.add_implicit_resolver(
        f"tag:yaml.org,2002:{_tag}", re.compile(rf"^(?:{_pattern})$"), list(_first)
    )
_Loader.add_constructor("tag:yaml.org,2002:float", _Loader.construct_number)


def _child(node: yaml.Node | None, key: str | int) -> tuple[int, yaml.Node] | None:
    if isinstance(node, yaml.MappingNode):
        return next(
            ((k.start_mark.line + 1, value) for k, value in node.value if k.value == str(key)), None
        )
    if isinstance(node, yaml.SequenceNode) and isinstance(key, int) and key < len(node.value):
        return node.value[key].start_mark.line + 1, node.value[key]
    return None


def _problem(error: Exception) -> str:
    mark = getattr(error, "problem_mark", None)
    line = f":{mark.line + 1}" if mark is not None else ""
    problem = getattr(error, "problem", None) or str(error).partition("\n")[0]
    return f"{line}: is not YAML: {problem}"
