"""The rows that scorers are compared with people on, and the subsets that are reported apart."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from recjury.corpora.response_sets import (
    PAIREVAL_SETS,
    RESPONSE_SETS,
    begins_with,
    read_rated_dialogues,
    read_response_set,
)
from recjury.errors import ConfigError
from recjury.records import Response, Speaker, Turn

DIALOGUES = "fed-dialogue"
SETS = (*RESPONSE_SETS, DIALOGUES)
"""All sets that can be reported: seven of replies, and the whole dialogues of FED."""
ALL_ROWS = "all rows"
MODEL_OUTPUTS = "model outputs"

_GROUND_TRUTH = "Original Ground Truth"
_TRANSFORMERS = ("transformer_generator", "transformer_ranker")


class RatedRow(NamedTuple):
    """What is scored (`responses`), its set, and its mean rating by people.

    A row of a set of replies has one response; a dialogue has one for each of the system's turns,
    whose scores are averaged, and `whole`, in which its last turn answers all others. `source` is
    what wrote it. Rows of one `group` begin alike and are drawn together in a bootstrap. `ratings`
    are those of single annotators, by what was asked.
    """

    id: str
    set: str
    responses: tuple[Response, ...]
    target: float
    source: str
    human: bool
    group: str
    ratings: Mapping[str, tuple[float, ...]] = {}
    whole: Response | None = None


class RowSubset(NamedTuple):
    """A subset of a set's rows that gets its own line: `name` is unique within the set."""

    set: str
    name: str
    holds: Callable[[RatedRow], bool]


def read_rows_of(folder: Path, sets: Sequence[str] = SETS) -> tuple[RatedRow, ...]:
    """The rows of those sets, in their order. Raises ConfigError for an unknown set, DataError."""
    found: list[RatedRow] = []
    for name in sets:
        if name not in SETS:
            raise ConfigError(f"unknown set {name!r}: expected one of {', '.join(SETS)}")
        found += _dialogue_rows(folder) if name == DIALOGUES else _response_rows(folder, name)
    return tuple(found)


def subsets_of(sets: Sequence[str]) -> tuple[RowSubset, ...]:
    """The lines of those sets: all rows, what models wrote, and further ones of some sets."""
    found: list[RowSubset] = []
    for name in sets:
        found.append(RowSubset(name, ALL_ROWS, lambda _: True))
        if name == "convai2-grade":
            found.append(RowSubset(name, "transformer generator, ranker", _is_transformer))
            found.append(
                RowSubset(name, "BERT ranker, DialoGPT", lambda row: not _is_transformer(row))
            )
        if name in ("convai2-usr", "topicalchat-usr"):
            found.append(RowSubset(name, "without ground truth", _is_not_ground_truth))
        if name in ("dailydialog-zhao", "convai2-usr", "topicalchat-usr", "fed-turn", DIALOGUES):
            found.append(RowSubset(name, MODEL_OUTPUTS, lambda row: not row.human))
    return tuple(found)


def averaged_subsets(subsets: Sequence[RowSubset]) -> dict[str, tuple[RowSubset, ...]]:
    """The subsets that are averaged: PairEval's six sets, and the five of them with references.

    Sets without a person's replies count with all rows among the model outputs. Empty if one of
    the six sets is missing.
    """
    by_name = {(subset.set, subset.name): subset for subset in subsets}
    if not all((name, ALL_ROWS) in by_name for name in PAIREVAL_SETS):
        return {}
    everything = tuple(by_name[name, ALL_ROWS] for name in PAIREVAL_SETS)
    outputs = tuple(
        by_name.get((name, MODEL_OUTPUTS), by_name[name, ALL_ROWS]) for name in PAIREVAL_SETS
    )
    return {
        f"six sets, {ALL_ROWS}": everything,
        f"six sets, {MODEL_OUTPUTS}": outputs,
        f"five with references, {ALL_ROWS}": everything[:-1],
        f"five with references, {MODEL_OUTPUTS}": outputs[:-1],
    }


def _response_rows(folder: Path, name: str) -> list[RatedRow]:
    return [
        RatedRow(
            each.response.id,
            name,
            (each.response,),
            each.target,
            # DailyDialog-Zhao names no systems: its replies have a fixed order, at the id's end.
            each.response.system or f"position {each.response.id.rpartition('-')[2]}",
            each.human,
            f"{name}: {each.group}",
            each.ratings,
        )
        for each in read_response_set(folder, name)
    ]


def _dialogue_rows(folder: Path) -> list[RatedRow]:
    return [
        RatedRow(
            each.id,
            DIALOGUES,
            system_responses(each.id, each.turns, each.system),
            each.target,
            each.system or "unknown",
            each.human,
            f"{DIALOGUES}: {begins_with(each.turns)}",
            each.ratings,
            Response(
                id=each.id,
                history=each.turns[:-1],
                text=each.turns[-1].text,
                system=each.system,
            ),
        )
        for each in read_rated_dialogues(folder)
    ]


def system_responses(
    name: str, turns: Sequence[Turn], system: str | None = None
) -> tuple[Response, ...]:
    """Each of the system's turns as a response to what was said before it."""
    return tuple(
        Response(id=f"{name}#{place}", history=tuple(turns[:place]), text=turn.text, system=system)
        for place, turn in enumerate(turns)
        if turn.speaker is Speaker.SYSTEM
    )


def _is_transformer(row: RatedRow) -> bool:
    return row.source in _TRANSFORMERS


def _is_not_ground_truth(row: RatedRow) -> bool:
    return row.source != _GROUND_TRUTH
