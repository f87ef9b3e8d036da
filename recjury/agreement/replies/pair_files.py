"""Pairs of a reply and a worse version, written in the form that `read_robustness_pairs` reads."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import orjson

from recjury.agreement.replies.manipulations import Attack
from recjury.corpora.dialogues import RobustnessPair
from recjury.corpora.writing import write_file
from recjury.errors import ConfigError


def write_pairs(path: Path, pairs: Iterable[RobustnessPair]) -> None:
    """Write a line for each pair; its folder is made. Raises DataError."""
    write_file(path, (orjson.dumps(_row(pair)) + b"\n" for pair in pairs))


def attacks_named(names: Sequence[str] | None) -> tuple[Attack, ...]:
    """The kinds of those names, or all; raises ConfigError for another name."""
    if names is None:
        return tuple(Attack)
    for name in names:
        if name not in set(Attack):
            raise ConfigError(f"unknown kind {name!r}: expected one of {', '.join(Attack)}")
    return tuple(dict.fromkeys(map(Attack, names)))


def _row(pair: RobustnessPair) -> dict[str, object]:
    row: dict[str, object] = {
        "id": pair.id,
        "attack": pair.attack,
        "history": [turn.text for turn in pair.history],
        "original": pair.original,
        "perturbed": pair.worse,
    }
    if pair.worse_history != pair.history:
        row["perturbed_history"] = [turn.text for turn in pair.worse_history]
    return row
