"""Scenarios that two sides have both met, by the gap between them: as rows, and as a drawing."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import pandas as pd

from recjury.records import ConversationLog, Metric
from recjury.results.sentences import shown
from recjury.store import Store
from recjury.view.axes import scale_of
from recjury.view.differences import signed

MOST = 100
"""So many scenarios are listed; of more, half of them from each end."""

_MOST_BARS = 400
_WORDS = 120  # characters of what was said

Key = tuple[str, ...]
"""What tells one scenario from another, as `results.compare.by_scenario` has it."""


class Gap(NamedTuple):
    """A scenario: the values of both sides, and their conversations (an id, "" where none)."""

    key: str
    scenario: str
    words: str
    values: tuple[str, str]
    gap: str
    x: tuple[float, float] | None
    conversations: tuple[str, str]


def scenarios(
    store: Store,
    gaps: pd.DataFrame,
    metric: Metric,
    conversations: Mapping[tuple[str, Key], str],
    names: tuple[str, str],
) -> Iterator[Gap]:
    """The scenarios, the largest gap first. `conversations` are ids by name and scenario."""
    if len(gaps) > MOST:
        gaps = pd.concat([gaps.head(MOST // 2), gaps.tail(MOST // 2)])
    keys = _keys(gaps)
    pairs = [tuple(conversations.get((name, key), "") for name in names) for key in keys]
    logs = dict(store.logs(first for first, _ in pairs if first))
    values, scale = gaps[["a", "b", "gap"]].to_numpy().tolist(), scale_of(metric)
    for key, (first, second), (a, b, gap) in zip(keys, pairs, values, strict=True):
        yield Gap(
            key=_joined(key),
            scenario=key[-1],
            words=first_words(logs[first]) if first in logs else "",
            values=(shown(a, metric), shown(b, metric)),
            gap=signed(gap, metric),
            x=(scale.place(a), scale.place(b)) if scale else None,
            conversations=(first, second),
        )


def bars(gaps: pd.DataFrame, metric: Metric) -> list[tuple[str, float, str]]:
    """The scenarios for a drawing, each with its gap and what it says; of very many, every k-th."""
    every = -(-len(gaps) // _MOST_BARS) or 1
    found = list(zip(map(_joined, _keys(gaps)), gaps["gap"], strict=True))[::every]
    return [(key, gap, f"{key}, {signed(gap, metric)}") for key, gap in found]


def _keys(gaps: pd.DataFrame) -> list[Key]:
    return [tuple(map(str, key)) for key in gaps.index]


def _joined(parts: Sequence[str]) -> str:
    return "/".join(parts)


def first_words(log: ConversationLog) -> str:
    """The user's last words before the interaction, or the first ones in it."""
    said = [*reversed(log.scenario.history), *log.interaction]
    return next((turn.text[:_WORDS] for turn in said if turn.speaker == "user"), "")
