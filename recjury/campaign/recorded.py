"""Rate conversations that were recorded elsewhere: they enter after the session."""

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from typing import Literal

from recjury.campaign.cast import Cast, debaters_for, raters_for
from recjury.campaign.config import RatingConfig, SimulatorConfig
from recjury.campaign.executors.local import run_local
from recjury.campaign.identity import recorded_campaign_id, trial_settings
from recjury.campaign.pipeline import Pipeline, corpus_name
from recjury.campaign.plan import Trial, recorded_trial
from recjury.campaign.preparation import open_gateway, open_store
from recjury.campaign.progress import Progress
from recjury.campaign.running import RunResult, plan_in, setup, walk
from recjury.corpora import Corpus, data_folder, open_corpus
from recjury.corpora.concept import read_concept
from recjury.corpora.ievalm import DATASETS
from recjury.corpora.logs import read_logs
from recjury.corpora.opening import DATA_VARIABLE
from recjury.errors import DataError
from recjury.knowledge import Catalogue
from recjury.llm import Gateway
from recjury.records import ConversationLog
from recjury.store import Campaign, Store

Format = Literal["concept", "jsonl"]


async def judge_recorded(
    paths: Sequence[Path],
    form: Format,
    config: RatingConfig,
    store: Store | str,
    *,
    limit: int | None = None,
    progress: Progress | None = None,
) -> RunResult:
    """Rate and debate at most `limit` conversations of each file.

    Every file is read to its end before anything is written, and again to be rated, so that no
    more than one conversation is in memory. Raises Fixable.
    """
    progress = progress or Progress()
    for path in paths:
        if not path.is_file():
            raise DataError("there is no such file", path=path)
    data = Path(config.data) if config.data else _data_beside(paths)
    read = partial(_read, paths, form, data, limit)
    async with AsyncExitStack() as stack:
        gateway = open_gateway(config)
        if gateway is not None:
            await stack.enter_async_context(gateway)
            await gateway.check()
            progress.usage = gateway.usage
        debaters = debaters_for(config, gateway)
        casts = _casts(config, gateway, {log.scenario.corpus for log in read()}, data)
        settings = {name: trial_settings(config, cast, debaters) for name, cast in casts.items()}
        trials = [recorded_trial(log, settings[corpus_name(log.scenario.corpus)]) for log in read()]
        campaign = recorded_campaign_id(paths, form, config)
        kept = await open_store(store, campaign, gateway, stack)
        stack.enter_context(kept.claim(campaign))
        kept.begin(Campaign(id=campaign, name=config.name, setup=setup(config)))
        set_aside = plan_in(kept, campaign, trials, config.seed)
        await _enter(kept, campaign, trials, read())
        pipeline = Pipeline(
            kept,
            casts,
            debaters,
            rounds=SimulatorConfig(),
            debate_rounds=config.debate.max_rounds,
            progress=progress,
        )
        await walk(pipeline, kept, campaign, trials, progress, config.concurrency)
    return RunResult(
        campaign=campaign,
        planned=progress.planned,
        done=progress.done,
        failed=progress.failed,
        set_aside=set_aside,
        trials=frozenset(trial.id for trial in trials),
    )


def _read(
    paths: Iterable[Path], form: Format, data: Path | None, limit: int | None
) -> Iterator[ConversationLog]:
    for path in paths:
        if form == "concept":
            yield from read_concept(path, data_folder(data), limit)
        else:
            yield from read_logs(path, limit, data=data)


def _data_beside(paths: Sequence[Path]) -> Path | None:
    """The data folder that the recordings lie in, unless the environment names another."""
    folders = (path.resolve().parent.parent for path in paths)
    found = next((folder for folder in folders if (folder / "ievalm").is_dir()), None)
    return None if os.environ.get(DATA_VARIABLE) else found


def _casts(
    config: RatingConfig, gateway: Gateway | None, corpora: Iterable[str], data: Path | None
) -> dict[str, Cast]:
    """Raters for each corpus: with its items where it is one we know, else without any."""
    casts: dict[str, Cast] = {}
    for name in {corpus_name(corpus) for corpus in corpora}:
        corpus = _known(name, data)
        casts[name] = Cast(
            catalogue=corpus.catalogue if corpus else Catalogue(name, ()),
            recommenders={},
            user=None,
            raters=raters_for(config, corpus, gateway),
        )
    return casts


def _known(name: str, data: Path | None) -> Corpus | None:
    if name in DATASETS or name == "sample" or Path(name).is_dir():
        return open_corpus(name, data)
    return None


async def _enter(
    store: Store, campaign: str, trials: Sequence[Trial], logs: Iterable[ConversationLog]
) -> None:
    """Keep the logs of trials that are new to the store: their conversation is done."""
    entered = store.stages_done(campaign)
    pairs = zip(trials, logs, strict=True)

    async def enter(pair: tuple[Trial, ConversationLog]) -> None:
        trial, log = pair
        await store.save_log(trial.id, log)

    new = (pair for pair in pairs if pair[0].id not in entered)
    await run_local(new, enter, open_at_once=64)
