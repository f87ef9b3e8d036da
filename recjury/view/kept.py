"""What was read of a store, kept while the store stays as it is."""

from collections import OrderedDict, defaultdict
from collections.abc import Callable, Hashable
from pathlib import Path
from threading import RLock
from typing import Any, TypeVar

from recjury.store import Store

T = TypeVar("T")

MOST = 8
"""So many values of a kind are kept, the last ones that were asked for."""

_turn = RLock()  # who wants what is being read waits for it
_kept: defaultdict[str, OrderedDict[Hashable, tuple[object, Any]]] = defaultdict(OrderedDict)


def kept(store: Store, kind: str, about: Hashable, read: Callable[[], T], most: int = MOST) -> T:
    """What `read` returns, read again only after a change of the store; nobody may change it.

    Of a database that is no file nobody can tell when it changed: it is read each time.
    """
    stamp = _stamp(store)
    if stamp is None:
        return read()
    name = (store.database.name, about)
    with _turn:
        known = _kept[kind]
        found = known.get(name)
        if found is None or found[0] != stamp:
            found = (stamp, read())  # the stamp is older than what was read, never newer
            known[name] = found
        known.move_to_end(name)
        while len(known) > most:
            known.popitem(last=False)
        value: T = found[1]
        return value


def _stamp(store: Store) -> object:
    """Changes with every commit: the times and sizes of the file and of its log of writes.

    An empty log says nothing: whoever reads may make one.
    """
    if not store.database.is_file:
        return None
    files = [Path(f"{store.database.name}{end}") for end in ("", "-wal")]
    stats = [file.stat() for file in files if file.exists()]
    return [(each.st_ino, each.st_mtime_ns, each.st_size) for each in stats if each.st_size] or None
