"""YAML files that people write: read strictly, with each mistake in one line."""

from collections.abc import Hashable
from pathlib import Path
from typing import Any

import yaml

from recjury.errors import ConfigError, DataError
from recjury.input_files import read_text

_MAX_BYTES = 2**20  # as many take the parser two seconds
_MAX_VALUES = 100_000  # with those that aliases stand for
_LARGEST = 2**63 - 1  # what SQLite and canonical JSON can hold


def read_yaml(path: Path) -> object:
    """The content of a YAML file; None if it is empty.

    Raises ConfigError, which names the file and the line, for a file that cannot be read, is not
    UTF-8 or not YAML, has a key twice, or a value that cannot be stored.
    """
    try:
        content: object = yaml.load(read_text(path, _MAX_BYTES), _StrictLoader)  # noqa: S506 (it is safe)
    except DataError as error:
        raise ConfigError(str(error)) from error
    except (yaml.YAMLError, RecursionError) as error:
        raise ConfigError(f"{path}: is not YAML: {_problem(error)}") from error
    return content


class _StrictLoader(yaml.SafeLoader):
    """YAML's safe loader, which also refuses keys written twice, and aliases of too much."""

    def get_single_node(self) -> yaml.Node | None:
        node: yaml.Node | None = super().get_single_node()
        if node is not None:
            _count_values(node, {})
        return node

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and key.value in seen:
                raise _at(key, f"key {key.value!r} is written twice")
            seen.add(str(key.value))
        return super().construct_mapping(node, deep=deep)

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        """Return the value of a node; an error names the line of a value that cannot be read."""
        try:
            value: object = super().construct_object(node, deep=deep)
            if isinstance(value, str):  # as in JSON, two escapes may form one character
                return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le")
        except UnicodeDecodeError as error:
            surrogate = hex(int.from_bytes(error.object[error.start :][:2], "little"))
            raise _at(node, f"invalid Unicode: lone surrogate {surrogate}") from None
        except (ValueError, OverflowError):  # a day that does not exist, or too many digits
            tag = node.tag.rpartition(":")[2]
            raise _at(node, f"{str(node.value)[:40]!r} cannot be read as {tag}") from None
        if isinstance(value, int) and not -_LARGEST <= value <= _LARGEST:
            raise _at(node, f"{str(node.value)[:40]} is too large a number")
        return value


def _count_values(node: yaml.Node, counts: dict[int, int]) -> int:
    """How many values a node has. Raises YAMLError for too many, and for one inside of itself."""
    if id(node) in counts:
        if not counts[id(node)]:
            raise _at(node, "an alias stands for what it is in")
        return counts[id(node)]
    counts[id(node)] = 0  # until its values are counted
    inner = node.value if isinstance(node, yaml.CollectionNode) else ()
    parts = (part for each in inner for part in (each if isinstance(each, tuple) else (each,)))
    counts[id(node)] = count = 1 + sum(_count_values(part, counts) for part in parts)
    if count > _MAX_VALUES:
        raise _at(node, f"more than {_MAX_VALUES:,} values")
    return count


def _at(node: yaml.Node, problem: str) -> yaml.YAMLError:
    return yaml.constructor.ConstructorError(None, None, problem, node.start_mark)


def _problem(error: Exception) -> str:
    mark = getattr(error, "problem_mark", None)
    line = f" (line {mark.line + 1})" if mark is not None else ""
    problem = getattr(error, "problem", None) or str(error).partition("\n")[0] or "too deep"
    return f"{problem}{line}"
