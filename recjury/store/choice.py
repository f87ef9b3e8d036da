"""The campaign that is used if none is named, and the errors for unknown names."""

from collections.abc import Collection, Iterable, Iterator

from recjury.errors import StoreError
from recjury.mistakes import did_you_mean
from recjury.store.store import Store


def newest_campaign(store: Store) -> str | None:
    """The id of the campaign started last among those with conversations; None if there is none."""
    return next(candidates(store, None), None)


def chosen_campaign(store: Store, campaign: str | None) -> str:
    """The id of the campaign that begins with `campaign`; for None of the newest one.

    Raises StoreError if there is none.
    """
    return store.campaign(campaign or newest_campaign(store) or "").id


def candidates(store: Store, campaign: str | None) -> Iterator[str]:
    """`campaign` alone; for None all campaigns with conversations, the one started last first."""
    if campaign:
        return iter((campaign,))
    return (each.id for each in reversed(store.campaigns()) if each.conversations)


def require(what: str, names: Iterable[str], known: Collection[str]) -> None:
    """Raise StoreError for the first of `names` that is not the name of a `what` ("system") in
    `known`.

    The message has the most similar known name.
    """
    missing = next((name for name in names if name not in known), None)
    if missing is None:
        return
    if not known:
        raise StoreError(f"no {what} is called {missing}: there is none yet")
    others = sorted(known)
    hint = did_you_mean(missing, others, least=0.0)
    shown = f" ({what}s: {', '.join(others)})" if 1 < len(others) <= _LISTED else ""
    raise StoreError(f"no {what} is called {missing}{hint}{shown}")


_LISTED = 8
