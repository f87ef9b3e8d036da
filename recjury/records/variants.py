"""Variants: one part of a campaign file, with `vary`, is a grid of parts, named by what differs."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from typing import Any

_MARK = "/"
"""Stands before each `key=value` in a variant's name."""


def variants(settings: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The settings without `vary`, once for each combination of its values.

    A variant of `chat` is called `chat/temperature=0.7`. Raises ValueError if `vary` is no mapping
    of keys to lists of two values or more.
    """
    common = {key: value for key, value in settings.items() if key != "vary"}
    grid = settings.get("vary") or {}
    if not isinstance(grid, Mapping) or not all(_is_axis(values) for values in grid.values()):
        raise ValueError("`vary` has a list of at least two different values for each key")
    if twice := sorted(grid.keys() & common.keys()):
        raise ValueError(f"`{twice[0]}` stands in `vary` and beside it: leave one of them out")
    for values in product(*grid.values()):
        chosen = dict(zip(grid, values, strict=True))
        yield common | chosen | {"name": _named(common, chosen)} if chosen else common


def factors(names: Iterable[str]) -> dict[str, dict[str, str]]:
    """What differs between variants, by name and key; only of names that variants have."""
    found = {}
    for name in names:
        _, *pairs = name.split(_MARK)
        if pairs and all("=" in pair for pair in pairs):
            found[name] = dict(pair.split("=", 1) for pair in pairs)
    return found


def _is_axis(values: object) -> bool:
    return isinstance(values, list | tuple) and len({_text(value) for value in values}) > 1


def part_name(part: Mapping[str, Any]) -> str:
    """The name of a system, a user or an evaluator in a campaign: its own, or its kind's."""
    return str(part.get("name") or str(part["kind"]).rpartition(":")[2].lower())


def _named(common: Mapping[str, Any], chosen: Mapping[str, Any]) -> str:
    return _MARK.join(
        (part_name(common), *(f"{key}={_text(value)}" for key, value in chosen.items()))
    )


def _text(value: object) -> str:
    return str(value).replace(_MARK, "_")
