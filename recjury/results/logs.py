"""What the logs of a campaign tell: lists that differ, names of no item, targets named before."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any, Self

import pandas as pd

from recjury.records import ConversationLog, ItemRef
from recjury.results.sentences import listed
from recjury.store import Store

_LOOKED_AT = 200  # logs of a system
_SOME = 3  # names in a sentence
_UNEQUAL = 1.5  # how many times as long lists are not compared
_OF_TARGETS = ("success", "recall@1", "recall@5", "recall@10", "last_recall@10")


@dataclass
class Logs:
    """What was read in the first logs of each system: of all of them if `are_all`.

    By system, how many turns have a text, the lengths of its turns' lists, and whether these were
    found in texts. `names` is how many names were looked up in a catalogue, `missing` how often
    each that was not found.
    `named` are the scenarios in whose history a target is named, of all that have a score of
    finding targets (in CoRE's data 12 and 36 %).
    """

    are_all: bool = True
    spoken: Counter[str] = field(default_factory=Counter)
    lengths: defaultdict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    linked: dict[str, bool] = field(default_factory=dict)
    names: int = 0
    missing: Counter[str] = field(default_factory=Counter)
    named: set[str] = field(default_factory=set)

    @classmethod
    def read(cls, store: Store, frame: pd.DataFrame) -> Self:
        """Those of a frame of ratings."""
        rows = frame.drop_duplicates("conversation")
        first = rows.groupby("system", observed=True, sort=False).head(_LOOKED_AT)
        targets = of_targets(frame).drop_duplicates(["corpus", "scenario"])
        columns = ["conversation", "system"]
        systems = dict(first[columns].astype(str).to_numpy())
        scenarios = dict.fromkeys(targets["conversation"].astype(str))
        without = {name: _without_catalogue(store, name) for name in frame["campaign"].unique()}
        no_catalogue = set[str]().union(*without.values())
        logs = cls(are_all=len(first) == len(rows))
        for id_, log in store.logs(systems | scenarios):
            if id_ in systems:
                logs._add(log, systems[id_], has_catalogue=log.scenario.corpus not in no_catalogue)
            if id_ in scenarios and log.scenario.named_in_history:
                logs.named.add(f"{log.scenario.corpus}/{log.scenario.id}")
        return logs

    def _add(self, log: ConversationLog, system: str, *, has_catalogue: bool) -> None:
        turns = [turn for turn in log.interaction if turn.speaker == "system" and not turn.failure]
        self.spoken[system] += sum(bool(turn.text.strip()) for turn in turns)
        self.lengths[system].extend(len(turn.items) for turn in turns)
        is_linked = log.linked or any(turn.linked for turn in turns)
        self.linked[system] = self.linked.get(system, False) or is_linked
        refs = list(_refs(log)) if has_catalogue else []
        self.names += len(refs)
        self.missing.update(ref.name for ref in refs if not ref.is_known)

    @property
    def data(self) -> dict[str, Any]:
        """The keys of `--json` about names: `read`, `not_found`, and some of these."""
        some = [name for name, _ in self.missing.most_common(_SOME)]
        return {"read": self.names, "not_found": self.missing.total(), "some": some}

    def about_names(self) -> Iterator[str]:
        """One line if names are missing in the catalogue."""
        if number := self.missing.total():
            some = [name for name, _ in self.missing.most_common()]
            of_each = f" in the first {_LOOKED_AT} conversations of each system"
            part = "" if self.are_all else of_each
            yield (
                f"{number:,} of {self.names:,} names{part} are not in the catalogue: "
                f"{listed(some, _SOME)}"
            )

    def about_lists(self) -> Iterator[str]:
        """Whether the systems spoke, and whether their lists can be compared."""
        if mute := [
            name for name, lengths in self.lengths.items() if lengths and not self.spoken[name]
        ]:
            yield f"{listed(mute)} said nothing: all texts of its turns are empty"
        mean = {name: fmean(lengths) for name, lengths in self.lengths.items() if lengths}
        if silent := [name for name, length in mean.items() if not length]:
            yield (
                f"{listed(silent)} listed no item: a conversation that was played found nothing "
                "then, and what else needs a list has no score"
            )
        mean = {name: length for name, length in mean.items() if length}
        if mean and max(mean.values()) > _UNEQUAL * min(mean.values()):
            lengths = listed([f"{name} {length:.1f}" for name, length in mean.items()])
            yield (
                f"lists differ in length ({lengths} items a turn): a longer one finds more, so do "
                "not compare what counts items, such as success, recall and novelty"
            )
        if linked := [name for name, is_linked in self.linked.items() if is_linked]:
            yield (
                f"the lists of {listed(linked)} were found in texts, by names of items: they are "
                "as long as what the texts name"
            )


def of_targets(frame: pd.DataFrame) -> pd.DataFrame:
    """The ratings of finding targets."""
    return frame[(frame["kind"] == "outcome") & frame["metric"].isin(_OF_TARGETS)]


def _without_catalogue(store: Store, campaign: str) -> list[str]:
    recordings = store.config(campaign).get("recordings", {})
    return [name for name, catalogue in recordings.items() if not catalogue]


def _refs(log: ConversationLog) -> Iterator[ItemRef]:
    yield from log.scenario.targets
    for turn in (*log.scenario.history, *log.interaction):
        yield from turn.items
