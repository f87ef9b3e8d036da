"""Compute the ratings of `outcome`'s stage "log" from a log's JSON."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from recjury.store.migrations.apart.metrics import Declared, outcome

Log = Mapping[str, Any]

_RECORDED = "the conversation was recorded elsewhere"


class Turns(NamedTuple):
    """Seconds and US dollars by system turn, None if unknown; empty for recorded logs."""

    seconds: Sequence[float | None]
    costs: Sequence[float | None]


class _Found(NamedTuple):
    value: float | None
    reason: str = ""


def computed(log: Log, turns: Turns) -> list[dict[str, Any]]:
    """Ratings with the columns of `rating`: factor, score, status, reason, low, high."""
    found = dict(_values(log, turns))
    return [_rating(metric, found[metric["id"]]) for metric in outcome() if metric["id"] in found]


def _rating(metric: Declared, found: _Found) -> dict[str, Any]:
    high = metric.get("high")
    return {
        "factor": metric["id"],
        "score": None if found.value is None else float(found.value),
        "status": "not_applicable" if found.value is None else "scored",
        "reason": found.reason,
        "low": float(metric.get("low", 0)),
        "high": None if high is None else float(high),
    }


def system_turns(log: Log) -> list[Mapping[str, Any]]:
    """The system's turns of the interaction."""
    return [turn for turn in log["interaction"] if turn["speaker"] == "system"]


def _values(log: Log, turns: Turns) -> Iterator[tuple[str, _Found]]:
    own, length = system_turns(log), log["list_length"]
    lists = [turn["items"][:length] for turn in own]
    session = _distinct(item for some in lists for item in some)
    last = lists[-1] if lists else []
    seen = log["scenario"]["target_seen"]
    new = _Found(None, "a target is named in the history already")
    for k in (1, 5, 10):
        recall = _of_items(log, session, float(_hits(log, session[:k])))
        yield f"recall@{k}", recall
        yield f"new_recall@{k}", new if seen else recall
        yield f"last_turn_recall@{k}", _of_items(log, session, float(_hits(log, last[:k])))
    rounds = (number for number, some in enumerate(lists, start=1) if _hits(log, some))
    yield "hit_round", _of_items(log, session, next(rounds, None), "no target was recommended")
    yield "rounds", _Found(len(own))
    recorded = log["ending"] == "recorded"
    for name in ("leaks_caught", "leaks_through"):
        yield name, _Found(None, _RECORDED) if recorded else _Found(log[name])
    yield "seconds_per_turn", _mean(turns.seconds, "how long the system took is not known")
    yield "cost_per_turn", _mean(turns.costs, "what the system's turns cost is not known")


def _of_items(log: Log, session: Sequence[object], value: float | None, none: str = "") -> _Found:
    if not log["scenario"]["targets"]:
        return _Found(None, "the log has no target item")
    if log["ending"] == "recorded" and not session:
        return _Found(None, "the log has no recommendation list")
    return _Found(value, "" if value is not None else none)


def _hits(log: Log, items: Sequence[Mapping[str, Any]]) -> bool:
    targets = {target["id"] for target in log["scenario"]["targets"]} - {None}
    return any(item["id"] in targets for item in items)


def _distinct(items: Iterator[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    seen: dict[str, Mapping[str, Any]] = {}
    for item in items:
        seen.setdefault(
            item["id"] if item["id"] is not None else f"?{item['name'].casefold()}", item
        )
    return list(seen.values())


def _mean(values: Sequence[float | None], unknown: str) -> _Found:
    known = [value for value in values if value is not None]
    if not known or len(known) < len(values):
        return _Found(None, unknown)
    return _Found(round(sum(known) / len(known), 9))
