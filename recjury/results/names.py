"""How many of the names in logs are of no item of the catalogue."""

from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

import pandas as pd

from recjury.records import ConversationLog, ItemRef
from recjury.results.sentences import listed
from recjury.store import Store

_LOOKED_AT = 200  # logs of a system
_SOME = 3  # names in a sentence


class Names(NamedTuple):
    """How many names were looked up, and how often each of those that were not found."""

    read: int
    missing: Counter[str]
    are_all: bool = True

    def sentences(self) -> Iterator[str]:
        """One line if names are missing."""
        if number := self.missing.total():
            some = [name for name, _ in self.missing.most_common()]
            of_each = f" in the first {_LOOKED_AT} conversations of each system"
            part = "" if self.are_all else of_each
            yield (
                f"{number:,} of {self.read:,} names{part} are not in the catalogue: "
                f"{listed(some, _SOME)}"
            )

    @property
    def data(self) -> dict[str, Any]:
        """The keys of `--json`: `read`, `not_found`, and some of these."""
        some = [name for name, _ in self.missing.most_common(_SOME)]
        return {"read": self.read, "not_found": self.missing.total(), "some": some}


def names_in(store: Store, campaign: str, frame: pd.DataFrame) -> Names:
    """The names in the first logs of each system, where there is a catalogue.

    They are those of targets and of lists, recorded or found in texts.
    """
    without = {name for name, of in store.config(campaign).get("recordings", {}).items() if not of}
    rows = frame[~frame["corpus"].isin(without)].drop_duplicates("conversation")
    first = rows.groupby("system", observed=True, sort=False).head(_LOOKED_AT)
    read, missing = 0, Counter[str]()
    for _, log in store.logs(first["conversation"].astype(str)):
        refs = list(_refs(log))
        read += len(refs)
        missing.update(ref.name for ref in refs if not ref.is_known)
    return Names(read, missing, are_all=len(first) == len(rows))


def _refs(log: ConversationLog) -> Iterator[ItemRef]:
    yield from log.scenario.targets
    for turn in (*log.scenario.history, *log.interaction):
        yield from turn.items
