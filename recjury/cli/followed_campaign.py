"""`recjury status --follow`: a campaign that another process runs, until it has ended."""

import time
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING

from recjury.cli import output
from recjury.cli.progress_line import progress_line
from recjury.errors import StoreError

if TYPE_CHECKING:
    from recjury.records import JSON
    from recjury.store import Store


def follow_campaign(store: "Store", named: str | None, every: float, *, as_json: bool) -> None:
    """Show the running campaign, or the one whose id begins with `named`, every few seconds.

    With `as_json`, each look is a JSON object. Raises StoreError unless one is running or named.
    """
    campaign = _running(store, named)
    running = store.running(campaign)
    look = _look(store, campaign)
    if as_json:
        output.emit_json(look)
        while running.is_running:
            time.sleep(every)
            output.emit_json(_look(store, campaign))
        return
    with progress_line(lambda: describe(look), lambda: _share(look), every=every):
        while running.is_running:
            time.sleep(every)
            look = _look(store, campaign)
    output.say(describe(look))
    output.say(f"campaign {campaign} is no longer running")


def _running(store: "Store", named: str | None) -> str:
    if named is not None:
        campaign = store.campaign(named).id
        if not store.running(campaign).is_running:
            raise StoreError(f"campaign {campaign} is not running: leave out --follow")
        return campaign
    every = [each.id for each in store.campaigns() if store.running(each.id).is_running]
    if not every:
        raise StoreError("no campaign of this store is running: leave out --follow")
    if len(every) > 1:
        raise StoreError(
            f"{len(every)} campaigns are running ({', '.join(every)}): name one of "
            "them with --campaign"
        )
    return every[0]


def _look(store: "Store", campaign: str) -> dict[str, "JSON"]:
    counts, spent = store.counts(campaign), store.spent(campaign)
    return {
        "campaign": campaign,
        "conversations": counts.conversations.as_json(),
        "evaluations": {label: each.as_json() for label, each in counts.evaluations.items()},
        "calls": spent.calls,
        "tokens": spent.prompt_tokens + spent.completion_tokens,
        "cost": spent.cost,
        "running": store.running(campaign).state,
    }


def describe(look: Mapping[str, "JSON"]) -> str:
    """One look in one line."""
    parts = [f"{_counted(look['conversations'])} conversations"]
    evaluations = look["evaluations"]
    assert isinstance(evaluations, dict)
    parts += [f"{label} {_counted(counts)}" for label, counts in evaluations.items()]
    parts.append(f"{look['calls']} calls, {look['tokens']:,} tokens")
    cost = look["cost"]
    if isinstance(cost, float):
        parts.append(f"${cost:,.4f}")
    state = look["running"]
    if isinstance(state, dict):
        parts += _of_state(state)
    return " · ".join(parts)


def _of_state(state: Mapping[str, "JSON"]) -> list[str]:
    """What is open, of all calls and by model, and what does not answer."""
    models, limits, down = state["models"], state["limits"], state["down"]
    assert isinstance(models, dict)
    assert isinstance(limits, dict)
    assert isinstance(down, list)
    parts = [f"{state['in_flight']} of {state['concurrency']} open"]
    parts += [f"{part} at most {most}" for part, most in limits.items()]
    for alias, each in models.items():
        assert isinstance(each, dict)
        refused = f", {each['refused']} refused" if each["refused"] else ""
        waiting = f", {each['waiting']} wait" if each["waiting"] else ""
        parts.append(f"{alias} {each['open']} of {each['limit']}{waiting}{refused}")
    return [*parts, *(f"{address} does not answer" for address in down)]


def _counted(counts: "JSON") -> str:
    assert isinstance(counts, dict)
    failed = f" ({counts['failed']} failed)" if counts["failed"] else ""
    return f"{counts['done']}/{counts['planned']}{failed}"


def _share(look: Mapping[str, "JSON"]) -> float:
    """The share of conversations and evaluations that is done or failed, 0 to 1."""
    evaluations = look["evaluations"]
    assert isinstance(evaluations, dict)
    sums: Counter[str] = Counter()
    for counts in (look["conversations"], *evaluations.values()):
        assert isinstance(counts, dict)
        sums.update({name: n for name, n in counts.items() if isinstance(n, int)})
    return min(1.0, (sums["done"] + sums["failed"]) / max(1, sums["planned"]))
