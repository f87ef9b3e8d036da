"""A dry run is the run with a typical model, in memory, over some trials, scaled up."""

import math
import random
from collections import Counter
from collections.abc import Awaitable, Callable
from functools import partial
from statistics import fmean, stdev
from typing import NamedTuple

from recjury.agents import OUTSIDE, load_system
from recjury.campaign.config import Config
from recjury.campaign.judging import Recorded, to_rate
from recjury.campaign.prepare import Prepared, prepared
from recjury.campaign.run import Choose, Work, plan_work, to_play
from recjury.llm import Model, TypicalModel
from recjury.store import Store, Todo

_TRIALS = 40  # of each system, drawn by seed


class Estimate(NamedTuple):
    """What is left to do: trials, calls by purpose, tokens, and US dollars.

    `to_play` of the trials are not played yet; the others are only rated. `error` is two standard
    errors of `calls`. `dollars` is None if a price is unknown.
    """

    trials: int
    to_play: int
    calls: float
    error: float
    purposes: dict[str, float]
    tokens_in: float
    tokens_out: float
    dollars: float | None


async def dry_run(
    config: Config,
    store: Store | None = None,
    *,
    limit: int | None = None,
    conversations: Recorded | None = None,
    choose: Choose | None = None,
) -> Estimate:
    """An estimate of what a run would do, without a call. Nothing is written to `store`.

    With `conversations`, it is one of `judge`; with `choose`, one of what it chooses. Raises
    UserError for whatever would keep the run from beginning, except missing keys.
    """
    counter = _Counter()
    with Store(below=store) as memory:
        async with prepared(
            config,
            memory,
            open_provider=counter.open,
            limit=limit,
            fresh=store.fresh(config.name) if store else None,
            load=partial(load_system, stand_ins=OUTSIDE),
            only_rates=conversations is not None,
        ) as ready:
            catalogues = [corpus.catalogue for corpus in ready.corpora.values()]
            counter.names += [item.ref.name for each in catalogues for item in each]
            if conversations is None:
                work = to_play(ready, memory)
            else:
                work = to_rate(conversations, ready, memory)
            todo = await _left(work.only(choose), ready, memory, store)
            return await _scaled(todo, work.step, config.name, memory, counter)


class _Counter:
    """The typical models of a dry run, and what they were asked."""

    def __init__(self) -> None:
        self.names: list[str] = []  # the models that are open have this very list
        self._models: list[TypicalModel] = []

    def open(self, model: Model) -> TypicalModel:
        self._models.append(TypicalModel(model, self.names))
        return self._models[-1]

    @property
    def calls(self) -> Counter[str]:
        """By purpose, without the vectors of catalogues: those are few, cheap, and made once."""
        found = sum((model.calls for model in self._models), Counter[str]())
        del found["catalogue"]
        return found


async def _left(work: Work, ready: Prepared, memory: Store, store: Store | None) -> list[Todo]:
    """What the run would find to do: the plan of the memory store without what `store` has."""
    number = memory.start(ready.config.name, {}, {})
    await plan_work(number, work, ready, memory)
    todo = work.left(number, memory)
    return store.without_done(todo) if store else list(todo)


async def _scaled(
    todo: list[Todo],
    step: Callable[[Todo], Awaitable[None]],
    campaign: str,
    memory: Store,
    counter: _Counter,
) -> Estimate:
    """Play a sample of the scenarios: all their trials, so that twins share calls as in a run."""
    by_scenario: dict[tuple[str, str], list[Todo]] = {}
    for left in todo:
        by_scenario.setdefault((left.corpus, left.scenario), []).append(left)
    groups = list(by_scenario.values())
    drawn = random.Random(0).sample(groups, min(_TRIALS, len(groups)))
    counts: list[int] = []
    for group in drawn:
        before = counter.calls.total()
        for left in group:
            await step(left)
        counts.append(counter.calls.total() - before)
    scale = len(groups) / len(drawn) if drawn else 0.0
    spent = memory.spent(campaign)
    missed = (1 - len(drawn) / len(groups)) if groups else 0.0
    spread = stdev(counts) * math.sqrt(missed / len(counts)) if len(counts) > 1 else 0.0
    return Estimate(
        trials=len(todo),
        to_play=sum(left.is_to_play for left in todo),
        calls=fmean(counts) * len(groups) if counts else 0.0,
        error=2 * len(groups) * spread,
        purposes={purpose: scale * number for purpose, number in counter.calls.items()},
        tokens_in=scale * spent.tokens_in,
        tokens_out=scale * spent.tokens_out,
        dollars=None if spent.unpriced else scale * spent.dollars,
    )
