"""A campaign as pages see it: what they read of it is kept while the store stays as it is."""

import math
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Hashable, Mapping
from pathlib import Path
from threading import RLock
from typing import Any, TypeVar
from urllib.parse import quote, urlencode

import pandas as pd

from recjury.results import StoredCampaign
from recjury.store import Store

T = TypeVar("T")

FILTERS = ("system", "user", "corpus", "scenario", "ending", "status", "agreed")
"""The columns of trials by which lists are filtered."""

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


class Campaign(StoredCampaign):
    """A campaign, and its addresses. Raises UserError if there is none of this name."""

    def link(self, page: str = "", **query: str) -> str:
        """The address of the campaign's page, or of one below it; "" in a query is left out."""
        where = f"/c/{quote(self.name, safe='')}{'/' if page else ''}{page}"
        wanted = {name: value for name, value in query.items() if value}
        return f"{where}?{urlencode(wanted)}" if wanted else where

    def once(self, kind: str, read: Callable[[], T], *about: Hashable, most: int = MOST) -> T:
        """What `read` returns, until the store changes, or `most` others of its kind were read."""
        return kept(self.store, kind, (self.name, *about), read, most)

    @property
    def scored(self) -> list[str]:
        """The ids of the metrics of which there is a score."""
        table = self.scores
        return [id_ for id_ in self.metrics if id_ in table and table[id_].notna().any()]

    @property
    def lead(self) -> str:
        """The metric that answers first, "" without scores."""
        return next(iter(self.scored), "")

    @property
    def verdict(self) -> str:
        """The metric that lists show first: a verdict, else the leading one."""
        return next((id_ for id_ in self.scored if id_.endswith(".overall")), self.lead)


def chosen(trials: pd.DataFrame, query: Mapping[str, str]) -> pd.DataFrame:
    """The trials that fit a query by names of columns, sorted by the one that `sort` names.

    A `-` before its name sorts downwards; `over` and `under` bound its values.
    """
    for name in FILTERS:
        if query.get(name):
            trials = trials[trials[name] == query[name]]
    sort = query.get("sort", "")
    key = sort.removeprefix("-")
    if key not in trials:
        return trials
    if not math.isnan(over := _number(query.get("over"))):
        trials = trials[trials[key] > over]
    if not math.isnan(under := _number(query.get("under"))):
        trials = trials[trials[key] < under]
    return trials.sort_values(key, ascending=not sort.startswith("-"), kind="stable")


def _number(text: str | None) -> float:
    try:
        return float(text or "nan")
    except ValueError:
        return math.nan
