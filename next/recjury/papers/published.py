"""The papers' own figures, which stand beside what is computed."""

import json
from collections.abc import Iterator, Mapping
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from pydantic import Field

from recjury.records import Record

if TYPE_CHECKING:
    import pandas as pd


class Published(Record):
    """Where figures stand in a paper's file: a `key`.

    A table there has columns and rows. Else keys lead to figures: `columns` names the keys, and
    `values` the figures of a list.
    """

    key: str
    columns: tuple[str, ...] = ()
    values: tuple[str, ...] = Field(default=())


def published(paper: str, where: Published) -> "pd.DataFrame":
    """A table of a paper ("core", "face", "paireval", "quality") as it is published."""
    import pandas as pd

    text = files("recjury.papers").joinpath("published", f"{paper}.json").read_text("utf-8")
    found = json.loads(text)[where.key]
    if "rows" in found:
        return pd.DataFrame(found["rows"], columns=found["columns"])
    return pd.DataFrame(
        {**dict(zip(where.columns, keys, strict=True)), **_figures(leaf, where.values)}
        for keys, leaf in _leaves(found, len(where.columns))
    )


def _leaves(tree: Mapping[str, Any], depth: int) -> Iterator[tuple[tuple[str, ...], Any]]:
    for key, below in tree.items():
        if depth == 1:
            yield (key,), below
        else:
            yield from (((key, *keys), leaf) for keys, leaf in _leaves(below, depth - 1))


def _figures(leaf: Any, names: tuple[str, ...]) -> dict[str, Any]:
    return leaf if isinstance(leaf, dict) else dict(zip(names, leaf, strict=True))
