"""Which campaigns a report or a comparison is about where nobody says.

Campaigns of one store may have other raters: a mean over both would be a mean of nothing. So one
is chosen, the newest that has what is asked for.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from recjury.errors import StoreError
from recjury.records import digest
from recjury.store import Campaign, Store, Trial

_RATING = ("raters", "debate")  # of a trial's settings: what can change ratings and verdicts


class Sides(NamedTuple):
    """The campaigns that the two systems of a comparison are read from, mostly the same one."""

    a: str
    b: str


def newest_campaign(store: Store) -> str | None:
    """The id of the campaign begun last among those with trials; None if there is none."""
    return next((each.id for each in _newest_first(store) if each.trials), None)


def campaigns_to_compare(store: Store, a: str, b: str) -> Sides:
    """The newest campaign with trials of both systems, or else the newest of each.

    Raises StoreError for a system that the store does not have, and for systems that only meet
    across campaigns with different raters or debaters.
    """
    of_a, of_b = _campaigns_with(store, a), _campaigns_with(store, b)
    both = next((each for each in of_a if each in of_b), None)
    if both is not None:
        return Sides(both, both)
    sides = Sides(next(iter(of_a)), next(iter(of_b)))
    if _raters(of_a[sides.a]) != _raters(of_b[sides.b]):
        raise StoreError(
            f"{a} (campaign {sides.a}) and {b} (campaign {sides.b}) were not rated alike, and no "
            "campaign has both: run or judge both with the same raters and debaters"
        )
    return sides


def _newest_first(store: Store) -> Iterable[Campaign]:
    return reversed(store.campaigns())


def _campaigns_with(store: Store, system: str) -> dict[str, tuple[Trial, ...]]:
    """The system's trials by campaign, the newest campaign first."""
    found = {each.id: store.trials(each.id, system) for each in _newest_first(store)}
    found = {campaign: trials for campaign, trials in found.items() if trials}
    if not found:
        raise StoreError(unknown_system(store, None, system))
    return found


def unknown_system(store: Store, campaign: str | None, system: str) -> str:
    """What to say where no trial is of `system`."""
    known = sorted({trial.system for trial in store.trials(campaign)})
    expected = "one of " + ", ".join(known) if known else "a store with trials in it"
    return f"no system is called {system}: expected {expected}"


def _raters(trials: Iterable[Trial]) -> set[str]:
    """Digests of everything about the trials that can change how they were rated."""
    return {digest(_rating_settings(trial.settings)) for trial in trials}


def _rating_settings(settings: Mapping[str, object]) -> dict[str, object]:
    rating = {name: settings.get(name) for name in _RATING}
    models = settings.get("models")
    named = set(_texts(rating))
    specs = dict(models) if isinstance(models, Mapping) else {}
    # An alias says little: the same one may stand for another model in the other campaign.
    return {**rating, "models": {alias: spec for alias, spec in specs.items() if alias in named}}


def _texts(value: object) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _texts(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _texts(each)
