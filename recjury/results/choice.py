"""What a report or a comparison is about where nobody says, and what to say of unknown names."""

import difflib
from collections.abc import Iterable, Iterator

from recjury.errors import StoreError
from recjury.store import Store


def newest_campaign(store: Store) -> str | None:
    """The id of the campaign begun last among those with conversations; None if there is none."""
    return next(newest_first(store), None)


def newest_first(store: Store) -> Iterator[str]:
    """The ids of the campaigns with conversations, the one begun last first."""
    return (each.id for each in reversed(store.campaigns()) if each.conversations)


def unknown(what: str, name: str, known: Iterable[str]) -> StoreError:
    """What to raise where no `what` ("system") is called `name`: it says the nearest."""
    names = sorted(set(known))
    if not names:
        return StoreError(f"no {what} is called {name}: there is none yet")
    near = difflib.get_close_matches(name, names, n=1, cutoff=0.0)
    shown = f", one of {', '.join(names)}" if 1 < len(names) <= _LISTED else ""
    return StoreError(f"no {what} is called {name}: did you mean {near[0]}{shown}?")


_LISTED = 8
