"""Whether stores can be added to another one, which is found out before anything is written."""

import contextlib
from collections.abc import Iterator, Mapping, Sequence

from recjury.errors import StoreError
from recjury.store.campaigns import Campaign
from recjury.store.schema import change_secret, is_incomplete, read_secret
from recjury.store.store import Store
from recjury.store.url import location_of

_Known = Mapping[str, tuple[Store, Campaign]]
"""Campaigns by their ids, each with a store that has it."""


@contextlib.contextmanager
def opened_source(source: str) -> Iterator[Store]:
    """A store to read. Errors, also those of the block, say which store they are about."""
    try:
        with Store.open(source, read_only=True) as store:
            yield store
    except StoreError as error:
        place, said = str(location_of(source)), str(error)
        raise StoreError(said if place in said else f"{place}: {said}") from error


@contextlib.contextmanager
def opened_target(into: str) -> Iterator[tuple[Store, bool]]:
    """As `Store.at`, and whether it is incomplete, which others refuse."""
    with Store(location_of(into)) as target:
        is_begun = target.exists and target.read(is_incomplete)
        if target.exists and not is_begun:
            target.create()  # checks the schema
        yield target, is_begun


def mark(store: Store, secret: bytes, *, is_whole: bool) -> None:
    """Give a new store the secret of another one. It cannot be opened until it is whole."""
    store.write(lambda write: change_secret(write.connection, secret, is_whole=is_whole))


def check_mergeable(sources: Sequence[str], target: Store, *, is_new: bool) -> bytes:
    """Raise StoreError unless all sources can be added; the secret of the first."""
    known: _Known = {} if is_new else _ended_campaigns(target)
    secrets: list[bytes] = []
    for each in sources:
        with opened_source(each) as source:
            if source.location.full_name == target.location.full_name:
                raise StoreError(f"{target.location} cannot be merged into itself: name another")
            known = {**_checked(source, known), **known}
            secrets.append(source.read(read_secret))
    return secrets[0]


def _ended_campaigns(store: Store) -> _Known:
    for each in (campaigns := store.campaigns()):
        if store.running(each.id).is_running:
            raise StoreError(
                f"campaign {each.id} is running in {store.location}: wait until it ends"
            )
    return {each.id: (store, each) for each in campaigns}


def _checked(source: Store, known: _Known) -> _Known:
    """The campaigns of a store. Raises StoreError if it is no shard of those that are known."""
    found = _ended_campaigns(source)
    shared = sorted(found.keys() & known.keys())
    if found and known and not shared:
        (other, _), *_ = known.values()
        raise StoreError(
            f"{source.location} and {other.location} have no campaign in common: another seed, or "
            "other settings of its file, make another campaign"
        )
    for each in shared:
        (other, theirs), (_, own) = known[each], found[each]
        _check_alike(f"campaign {each} of {source.location}", own, str(other.location), theirs)
    return found


def _check_alike(what: str, own: Campaign, other: str, theirs: Campaign) -> None:
    mine, before = own.setup, theirs.setup
    if mine.own_code != before.own_code:
        raise StoreError(
            f"{what} ran with {mine.own_code}, and that of {other} with {before.own_code}: run one "
            "of them again with the code of the other, which keeps what is there"
        )
    for name in ("packs", "data"):
        if getattr(mine, name) != getattr(before, name):
            raise StoreError(f"{what} ran with other {name} than that of {other}")
