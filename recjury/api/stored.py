"""What a store has, from Python: frames, means, comparisons."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any, Literal, ParamSpec, TypeVar, cast

import pandas as pd

from recjury import results
from recjury.files import nearest
from recjury.results import Findings, RatingFilter, Resampling, Selection, StoredCampaign
from recjury.results.ratings import STANDARD
from recjury.results.selection import ALL
from recjury.store import Store

P = ParamSpec("P")
T = TypeVar("T")

DEFAULT_STORE = "recjury.db"


def run_to_end(work: Coroutine[Any, Any, T]) -> T:
    """What the work returns; where a loop is running (a notebook's), it has a loop of its own."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    task: Future[asyncio.Task[Any]] = Future()

    async def begun() -> T:
        task.set_result(cast("asyncio.Task[Any]", asyncio.current_task()))
        return await work

    with ThreadPoolExecutor(1) as thread:
        done = thread.submit(asyncio.run, begun())
        try:
            return done.result()
        except KeyboardInterrupt:  # it stops the waiting; the work, in its thread, ends by this
            work_done = task.result()
            work_done.get_loop().call_soon_threadsafe(work_done.cancel)
            raise


def waited_for(work: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, T]:
    """The function `name` of a coroutine function `name_async`: it returns the result."""

    @wraps(work)
    def call(*given: P.args, **named: P.kwargs) -> T:
        return run_to_end(work(*given, **named))

    call.__name__ = call.__qualname__ = work.__name__.removesuffix("_async")
    return call


@dataclass(frozen=True)
class Run:
    """A campaign in a store. All is read when it is asked for, so it is never out of date."""

    store: str | Path
    campaign: str

    def _read(self, read: Callable[[StoredCampaign], T]) -> T:
        with Store(self.store, readonly=True) as opened:
            return read(StoredCampaign(opened, self.campaign))

    @property
    def summary(self) -> Findings:
        """Means by system, who is ahead, and what is not to be trusted."""
        return self._read(results.summary_of)

    @property
    def systems(self) -> Mapping[str, Mapping[str, Mapping[str, float]]]:
        """Each system's means by metric id: `run.systems["mine"]["core.overall"]["mean"]`.

        The others are low and high (95 %), n (trials with a score) and coverage (their share).
        """
        return results.means_by_system(self.means())

    def ratings(self, *, all_versions: bool = False) -> pd.DataFrame:
        """A row for each rating, with what its judge wrote, and the ids of its `calls`.

        The columns are those of `recjury.results.ratings_with_reasons`.
        """
        with Store(self.store, readonly=True) as opened:
            return results.ratings_with_reasons(opened, self.campaign, all_versions=all_versions)

    def trials(self) -> pd.DataFrame:
        """A row for each trial; the columns are those of `recjury.results.trials`."""
        return self._read(lambda own: own.trials)

    def scores(self) -> pd.DataFrame:
        """A row for each trial and a column for each metric id; NaN where there is no score."""
        return self._read(lambda own: own.scores)

    def means(self, resampling: Resampling = STANDARD) -> pd.DataFrame:
        """A row for each system and metric: mean, low, high (95 %), n, coverage."""
        return self._read(lambda own: own.means(resampling))

    def turns(self) -> pd.DataFrame:
        """A row for each turn."""
        return self._read(lambda own: own.turns)

    def statements(self) -> pd.DataFrame:
        """A row for each statement of a debate."""
        return self._read(lambda own: results.statements(own.store, own.name))

    def calls(self) -> pd.DataFrame:
        """A row for each call to a model."""
        return self._read(lambda own: results.calls(own.store, own.name))

    def compare(
        self,
        *names: str,
        by: Literal["system", "user", "evaluator", "campaign"] = "system",
        metrics: Sequence[str] = (),
        selection: Selection = ALL,
        missing: Literal["left out", "worst"] = "left out",
        margins: Mapping[str, float] | None = None,
        resampling: Resampling = STANDARD,
    ) -> Findings:
        """Who is ahead of whom, by how much, and whether that is decided; all without names.

        The arguments are those of `recjury.results.comparison`.
        """
        return self._read(
            lambda own: results.comparison(
                own.store,
                names,
                by=by,
                campaign=own.name,
                metrics=metrics,
                selection=selection,
                missing=missing,
                margins=margins,
                resampling=resampling,
            )
        )

    def conversations(self, selection: Selection = ALL) -> Findings:
        """The conversations, by default all, with their ids."""
        return self._read(
            lambda own: results.conversation_list(own.store, own.name, selection=selection)
        )

    def replay(self, conversation: str) -> Findings:
        """A conversation with its ratings and its debate; an id, or how one begins."""
        return self._read(
            lambda own: run_to_end(results.replay(own.store, conversation, campaign=own.name))
        )

    def explain(
        self, conversation: str, metric: str = "", *, role: str = "", turn: int | None = None
    ) -> Findings:
        """One conversation's ratings, or what a role said, down to prompts and replies."""
        wanted = RatingFilter(metric=metric, role=role, turn=turn)
        return self._read(
            lambda own: results.explain(own.store, conversation, wanted, campaign=own.name)
        )

    def __str__(self) -> str:
        return self.summary.answer

    def _repr_html_(self) -> str:
        return self.summary._repr_html_()


class Stored(Mapping[str, Run]):
    """The campaigns of a store by name; the one that was run last is the first."""

    def __init__(self, store: str | Path = DEFAULT_STORE):
        """Raises UserError if there is no such store."""
        self._store = store
        with Store(store, readonly=True) as opened:
            self._names = opened.campaigns()

    def __getitem__(self, campaign: str) -> Run:
        if campaign not in self._names:
            near = nearest(campaign, self._names)
            raise KeyError(f"{campaign}{near or ': there are ' + ', '.join(self._names)}")
        return Run(self._store, campaign)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    @property
    def newest(self) -> Run:
        """The campaign that was run last. Raises UserError if there is none."""
        with Store(self._store, readonly=True) as opened:
            return Run(self._store, opened.campaign())


def open(store: str | Path = DEFAULT_STORE) -> Stored:  # noqa: A001 (`recjury.open` reads well)
    """The campaigns of a store. Raises UserError if there is no such store."""
    return Stored(store)
