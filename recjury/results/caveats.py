"""What is not to be trusted in a table, one line each: of logs, scores, and the campaign."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from statistics import fmean
from typing import Any, Self

import pandas as pd

from recjury.records import DEBATE, ConversationLog, ItemRef
from recjury.results.campaign import StoredCampaign
from recjury.results.ratings import LOST, TRIAL, factors_of, scores
from recjury.results.sentences import listed
from recjury.results.served import notes_on
from recjury.results.trials import last_rounds
from recjury.store import Store

_FEW = 10  # scenarios
_ALIKE, _ENOUGH = 0.95, 20  # the share of equal scores, of so many, that says nothing
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
        lists = {name: lengths for name, lengths in self.lengths.items() if lengths}
        if mute := [name for name in lists if not self.spoken[name]]:
            yield f"{listed(mute)} said nothing: all texts of its turns are empty"
        mean = {name: fmean(lengths) for name, lengths in lists.items()}
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


def about_scores(
    frame: pd.DataFrame, *, by: str = "system", table: pd.DataFrame | None = None
) -> tuple[str, ...]:
    """What failed, what rests on little, and who gives one score to everything.

    `table` are the frame's scores, where they are known.
    """
    table = scores(frame) if table is None else table
    return (*_lost(frame, by), *_factors(frame, table), *_one_score(frame))


def about_means(frame: pd.DataFrame) -> Iterator[str]:
    """Whether intervals and means are those of few scenarios, or of several users."""
    scenarios = len(frame[["corpus", "scenario"]].drop_duplicates())
    if 0 < scenarios < _FEW:
        yield f"means rest on few scenarios ({scenarios}): another draw may give other means"
    users = list(frame["user"].drop_duplicates().astype(str))
    if len(users) > 1:
        yield f"means are over the users {listed(users)}: `recjury compare --by user` parts them"


def about_choice(best: str, number: int) -> Iterator[str]:
    """That the best of several was chosen by the scenarios that test it."""
    if best and number > 2:
        yield (
            f"{best} was chosen as best of {number} by the same scenarios that test it: p allows "
            "for that, its lead does not; on new scenarios expect a smaller one"
        )


def _lost(frame: pd.DataFrame, by: str) -> Iterator[str]:
    lost = frame[frame["status"].isin(LOST)]
    for name, rows in lost.groupby(by, observed=True, sort=False):
        trials = len(frame[frame[by] == name][TRIAL].drop_duplicates())
        number = len(rows[TRIAL].drop_duplicates())
        counts = rows.drop_duplicates([*TRIAL, "status"])["status"].value_counts()
        why = ", ".join(f"{status} {count}" for status, count in counts.items() if count)
        yield (
            f"{name}: {number} of {trials} conversations lost scores ({why}); its means are over "
            "the others, which may be the easier ones"
        )


def _factors(frame: pd.DataFrame, table: pd.DataFrame) -> Iterator[str]:
    """On how many factors a mean of factors rests, where that is not all of them."""
    for id_, factors in factors_of(frame).items():
        seen = table[factors].notna().sum(axis=1)[table[id_].notna()]
        rests = seen.groupby(level="system", observed=True, sort=False).mean()
        if (rests < len(factors)).any():
            numbers = [f"{number:.3g}" for number in rests]
            numbers[0] += f" of {len(factors)} factors"
            pairs = zip(numbers, rests.index, strict=True)
            of_each = listed([f"{number} for {system}" for number, system in pairs])
            verdict = f"{id_.rpartition('.')[0]}.overall"
            which = f"{verdict} and {id_} rest on" if verdict in table else f"{id_} rests on"
            yield f"{which} {numbers[0] if rests.nunique() == 1 else of_each}"


def _one_score(frame: pd.DataFrame) -> Iterator[str]:
    rated = frame[frame["score"].notna() & (frame["rater"] != DEBATE)]
    rated = rated[rated["rater"].astype(str) != rated["kind"].astype(str)]  # which is computed
    alike: defaultdict[str, list[str]] = defaultdict(list)
    keys = ["rater", "evaluator", "metric"]
    for (rater, evaluator, metric), rows in rated.groupby(keys, observed=True):
        counts = rows["score"].value_counts()
        if len(rows) >= _ENOUGH and counts.iloc[0] >= _ALIKE * len(rows):
            share = f"{counts.index[0]:g} in {counts.iloc[0]} of {len(rows)}"
            alike[str(rater)].append(f"{evaluator}.{metric} ({share})")
    for rater, metrics in alike.items():
        yield f"{rater} gives nearly one score to everything on {listed(metrics)}"


def about_campaign(campaign: StoredCampaign) -> tuple[str, ...]:
    """How it was set up, who spoke for more than one side, and what endpoints said of answers."""
    store, name, config = campaign.store, campaign.name, campaign.config
    return (
        *_protocol(store, name, config),
        *_same_model(store, name, config),
        *_roles(campaign.statements),
        *_said_of_answers(store, name, config),
    )


def _protocol(store: Store, campaign: str, config: Mapping[str, Any]) -> Iterator[str]:
    if config.get("protocol") == "paper":
        yield "protocol: paper: the settings of CoRE's paper (6.4, 6.5)"
    packs = [part.get("prompts") for part in config.get("evaluators", ())]
    if "core-paper" in packs:
        rows = store.conversations(campaign)
        ids = [next(group).id for _, group in groupby(rows, lambda row: row.corpus)]
        domains = {log.scenario.domain for _, log in store.logs(ids)} - {"film"}
        if domains:
            yield f"core-paper has an expert for films, and scenarios are of {listed([*domains])}"


_PARTS = {"system": "a system", "user": "the user", "judge": "a judge", "debate": "the debate"}


def _same_model(store: Store, campaign: str, config: Mapping[str, Any]) -> Iterator[str]:
    """A model may prefer what it has said itself (judges and debate are one side)."""
    query = "SELECT DISTINCT model, purpose FROM call WHERE campaign = :campaign"
    parts: defaultdict[str, set[str]] = defaultdict(set)
    for alias, purpose in store.rows(query, campaign=campaign):
        name = config.get("models", {}).get(alias, {}).get("name", alias)
        parts[name] |= {"judge" if purpose == "debate" else purpose} & _PARTS.keys()
    for name, purposes in parts.items():
        if len(purposes) > 1:
            sides = [text for purpose, text in _PARTS.items() if purpose in purposes]
            yield f"{name} is {listed(sides)}: a model may prefer its own words"


def _roles(said: pd.DataFrame) -> Iterator[str]:
    """Which roles had no say in verdicts."""
    last = last_rounds(said)
    keys = ["evaluator", "role", "system"]
    counts = last.groupby(keys, observed=True, sort=False)["score"].agg(["count", "size"])
    silent = counts[counts["count"] < counts["size"]]
    for (evaluator, role), rows in silent.groupby(level=keys[:2], observed=True, sort=False):
        shares = [f"{n} of {of} debates about {name}" for (*_, name), n, of in rows.itertuples()]
        yield f"{evaluator}: the {role} had a score in the last round of {listed(shares)}"


def _said_of_answers(store: Store, campaign: str, config: Mapping[str, Any]) -> list[str]:
    """Where what endpoints said of their own answers contradicts the requests."""
    models = config.get("models", {})
    names = {alias: str(model.get("name", alias)) for alias, model in models.items()}
    return notes_on(store.call_sizes(campaign), names)
