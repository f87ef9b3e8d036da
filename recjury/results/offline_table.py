"""The offline table as CRS papers print it: every target is an example, and texts are pooled."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from recjury.errors import DataError
from recjury.judges.surface import words
from recjury.records import ConversationLog, Ending, ItemRef, target_ranks
from recjury.results.caveats import about_lost, about_training
from recjury.results.summary import summarise
from recjury.stats.clustered import cluster_means
from recjury.store import Store
from recjury.store.choice import chosen_campaign
from recjury.tables import (
    Analysis,
    AnalysisInput,
    Cell,
    Column,
    Findings,
    Input,
    table_of,
)

_GRAMS = (2, 3, 4)
_MEASURES = {"recall": "Recall", "ndcg": "nDCG", "mrr": "MRR"}


class OfflineTable(Analysis):
    """Recall, nDCG and MRR of replies to recorded histories, and distinct n-grams, as papers print.

    Each target of a record is an example of its own, and intervals resample whole dialogues. "new"
    are the records whose targets the history does not name. Distinct-n is of all replies of a
    system together: different n-grams by all n-grams (Li et al. 2016); JSON and CSV also have them
    by reply. It falls with the number of replies, so it has no interval.
    """

    needs: ClassVar[tuple[Input, ...]] = (Input.CAMPAIGN,)

    cutoffs: tuple[int, ...] = Field((1, 10, 50), min_length=1, description="lengths of lists")
    resamples: int = Field(2_000, ge=100, le=100_000, description="behind the intervals")
    seed: int = Field(0, ge=0, description="of the resampling")

    async def run(self, given: AnalysisInput) -> Findings:
        """A row for each corpus, system, and all or new targets."""
        logs: dict[tuple[str, str], list[ConversationLog]] = defaultdict(list)
        with Store.open(given.store, read_only=True) as store:
            campaign = chosen_campaign(store, given.campaign)
            for each in store.conversations(campaign):
                log = store.log(each.id)
                if log is not None and log.ending is Ending.OFFLINE:
                    logs[log.scenario.corpus, log.system].append(log)
            summary = summarise(store, campaign)
        if not logs:
            raise DataError(
                f"campaign {campaign} has no replies to recorded histories: "
                "run one with `session: offline`"
            )
        shortest = min(log.list_length for log in chain(*logs.values()))
        if max(self.cutoffs) > shortest:
            raise DataError(
                f"only {shortest} items of each list count: give smaller ones with --set cutoffs="
            )
        notes = ["each target is an example; distinct n-grams are of all replies of a row together"]
        lost = about_lost(summary.systems, {each.id: each.metric for each in summary.shown})
        caveats = [*about_training(c for c, _ in logs), *lost]
        notes += (f"{each.heading}. {each.text}" for each in caveats)
        rows = list(chain.from_iterable(self._rows(*key, some) for key, some in logs.items()))
        return Findings(tables=(table_of("offline", self._columns, rows, notes=notes),))

    @property
    def _measures(self) -> list[tuple[str, int]]:
        return [(name, k) for name in _MEASURES for k in self.cutoffs if k > 1 or name == "recall"]

    @property
    def _columns(self) -> tuple[Column, ...]:
        return (
            Column("corpus"),
            Column("system"),
            Column("targets"),
            *(Column(f"{name}@{k}", f"{_MEASURES[name]}@{k}", 3) for name, k in self._measures),
            *(Column(f"distinct_{n}", f"Distinct-{n}", 3) for n in _GRAMS),
            *(Column(f"distinct_{n}_by_reply", detail=True) for n in _GRAMS),
            Column("replies"),
            Column("n"),
        )

    def _rows(
        self, corpus: str, system: str, logs: Sequence[ConversationLog]
    ) -> Iterator[dict[str, Cell]]:
        new = [log for log in logs if not log.scenario.target_seen]
        for targets, chosen in (("all", logs), ("new", new)):
            if chosen:
                cells = {**self._of_lists(chosen), **_of_texts(chosen), "replies": len(chosen)}
                yield {"corpus": corpus, "system": system, "targets": targets, **cells}

    def _of_lists(self, logs: Sequence[ConversationLog]) -> dict[str, Cell]:
        examples = [(log, target) for log in logs for target in log.scenario.targets]
        ranks = np.array([_rank(log, target) for log, target in examples])
        values = np.stack([_values(name, ranks, k) for name, k in self._measures], axis=1)
        records = [log.scenario.record for log, _ in examples]
        dialogues = [record.rpartition("_")[0] or record for record in records]
        found = cluster_means(values, dialogues, resamples=self.resamples, seed=self.seed)
        cells: dict[str, Cell] = {
            f"{name}@{k}": each for (name, k), each in zip(self._measures, found, strict=True)
        }
        return {**cells, "n": len(examples)}


def _rank(log: ConversationLog, target: ItemRef) -> float:
    """The place of the target, from 1; infinite if the list does not have it."""
    return next(iter(target_ranks(log.session_list(), [target])), np.inf)


def _values(name: str, ranks: NDArray[np.float64], k: int) -> NDArray[np.float64]:
    """The measure of each example, 0 to 1: there is one relevant item."""
    gains = {"recall": np.ones_like(ranks), "ndcg": 1 / np.log2(ranks + 1), "mrr": 1 / ranks}
    return np.where(ranks <= k, gains[name], 0.0)


def _of_texts(logs: Sequence[ConversationLog]) -> dict[str, Cell]:
    said = [words(log.system_turns[0].text) for log in logs]
    cells: dict[str, Cell] = {}
    for n in _GRAMS:
        grams = [gram for text in said for gram in zip(*(text[i:] for i in range(n)), strict=False)]
        different = len(set(grams))
        cells[f"distinct_{n}"] = different / len(grams) if grams else None
        cells[f"distinct_{n}_by_reply"] = different / len(said)
    return cells
