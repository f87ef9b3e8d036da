"""Evaluate existing conversations: from files, from a program, or of a campaign in the store."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path

from recjury.campaign.build import (
    BuiltCampaign,
    Components,
    build_evaluators,
    build_user,
)
from recjury.campaign.campaign_store import campaign_setup, opened_campaign
from recjury.campaign.config import EvaluationConfig
from recjury.campaign.identity import files_id, logs_id
from recjury.campaign.plan import ALL, Unit, pages
from recjury.campaign.progress import Progress, RunResult
from recjury.campaign.retry import Retry
from recjury.campaign.runner import Runner
from recjury.campaign.simulator_config import SimulatorConfig
from recjury.corpora import (
    Corpus,
    Recording,
    corpus_name,
    data_beside,
    known_corpus,
    linked_recordings,
    read_recordings,
)
from recjury.errors import ConfigError, DataError
from recjury.knowledge import Catalogue
from recjury.llm import MAIN_MODEL, Gateway, gather, read_model
from recjury.records import ConversationLog
from recjury.store import NothingFailedError, PlannedConversation, Selection, Setup, Store

Read = Callable[[], Iterator[Recording]]


async def judge_files(
    paths: Sequence[Path],
    config: EvaluationConfig,
    place: Store | str,
    *,
    form: str | None = None,
    limit: int | None = None,
    link_items: bool = False,
    retry: Retry = Retry.UNSCORED,
    progress: Progress | None = None,
    selection: Selection = ALL,
) -> RunResult:
    """Evaluate at most `limit` conversations of each file, as a campaign of their own.

    `form` is the files' format; with None it is detected. With `link_items`, conversations without
    lists get lists of the items that their texts name, and the campaign is another one. Of these,
    the `selection` is evaluated. Every file
    is read to its end before anything is written, and is then read again to be stored: so at most
    one conversation is in memory. Raises UserError.
    """
    data = Path(config.data) if config.data else data_beside(paths)
    read = partial(read_recordings, paths, form, data=data, limit=limit, link_items=link_items)
    read()  # refuses missing files and unknown formats
    identity = files_id(paths, form, link_items=link_items)
    return await _judge(identity, read, config, place, data, retry, progress, selection)


async def judge_logs(
    logs: Sequence[ConversationLog],
    config: EvaluationConfig,
    place: Store | str,
    *,
    link_items: bool = False,
    retry: Retry = Retry.UNSCORED,
    progress: Progress | None = None,
) -> RunResult:
    """Evaluate conversations that a program passes, as a campaign of their own.

    `link_items` is as in `judge_files`. Raises UserError.
    """
    data = Path(config.data) if config.data else None

    def read() -> Iterator[Recording]:
        found = (Recording(log, log.id) for log in logs)
        return linked_recordings(found, data) if link_items else found

    identity = logs_id(logs, link_items=link_items)
    return await _judge(identity, read, config, place, data, retry, progress)


async def judge_campaign(
    campaign: str,
    config: EvaluationConfig,
    place: Store | str,
    *,
    retry: Retry = Retry.UNSCORED,
    progress: Progress | None = None,
    selection: Selection = ALL,
) -> RunResult:
    """Evaluate the selected conversations of a stored campaign; no conversation is played.

    The evaluations are added to those that the campaign has. Raises UserError.
    """
    with Store.open(place, create=False) if isinstance(place, str) else nullcontext(place) as store:
        about = store.campaign(campaign)
        played = _Played(about.setup.config, config)
        async with opened_campaign(played.config, store, about.id) as opened:
            try:
                ids = store.selected(about.id, selection)
            except NothingFailedError:
                return RunResult(about.id, planned=0, done=0)
            data = Path(played.data) if played.data else None
            corpora = _known(map(corpus_name, store.corpora(about.id)), data)
            built = _built(played, corpora, opened.gateway)
            worker = opened.begin(about.name, played.setup(about.setup, corpora.values()))
            runner = Runner(store, built, played.config, progress, retry=retry)
            return await runner.run(worker, lambda: map(_unit, store.planned(about.id, ids)))


async def _judge(
    identity: str,
    read: Read,
    config: EvaluationConfig,
    place: Store | str,
    data: Path | None,
    retry: Retry,
    progress: Progress | None,
    selection: Selection = ALL,
) -> RunResult:
    taken = partial(selected_recordings, read, selection)
    logs: dict[str, str] = {}
    names: set[str] = set()
    for each in _told_apart(taken(), {}):
        logs[each.identity] = each.log.id
        names.add(corpus_name(each.log.scenario.corpus))
    async with opened_campaign(config, place, identity) as opened:
        store, campaign = opened.store, opened.id
        corpora = _known(names, data)
        built = _built(_Played({}, config), corpora, opened.gateway)
        setup = campaign_setup(config, corpora.values(), shard=selection.shard)
        worker = opened.begin(config.name, setup)
        there = {each: log for each, log in store.log_ids_of(logs).items() if logs[each] != log}
        ids: dict[str, None] = {}
        set_aside = store.plan(campaign, map(_planned, _once(_told_apart(taken(), there), ids)))
        await _store_new(store, frozenset(logs.values()), _told_apart(taken(), there))
        runner = Runner(store, built, config, progress, retry=retry)
        result = await runner.run(worker, lambda: map(_unit, store.planned(campaign, ids)))
    return result._replace(set_aside=set_aside)


def selected_recordings(read: Read, selection: Selection) -> Iterator[Recording]:
    """Those of the recordings that are selected, in their order. Raises StoreError."""
    if selection.is_all:
        return read()
    return selection.taken(read(), _planned, selection.shard.dealt())


def _once(recordings: Iterable[Recording], ids: dict[str, None]) -> Iterator[Recording]:
    """Each identity once; all are added to `ids`."""
    for each in recordings:
        if each.identity not in ids:
            ids[each.identity] = None
            yield each


def _told_apart(recordings: Iterable[Recording], logs: Mapping[str, str]) -> Iterator[Recording]:
    """Give a recording an identity of its own if its identity already belongs to another log.

    `logs` has the log's id by identity. Such a recording is treated as if it had been made
    elsewhere.
    """
    known = dict(logs)
    for each in recordings:
        log = each.log.id
        same = known.setdefault(each.identity, log) == log
        yield each if same else Recording(each.log, log)


def _unit(planned: PlannedConversation) -> Unit:
    """The unit of a conversation that is not played."""
    return Unit(planned.id, corpus_name(planned.corpus), planned.system, planned.repeat)


def _planned(recording: Recording) -> PlannedConversation:
    log = recording.log
    return PlannedConversation(
        id=recording.identity,
        system=log.system,
        scenario=log.scenario.id,
        corpus=log.scenario.corpus,
        repeat=recording.repeat,
        seed=recording.seed,
        settings=recording.settings,
    )


async def _store_new(store: Store, logs: Collection[str], recordings: Iterable[Recording]) -> None:
    """Store the logs that the store does not have.

    Raises DataError for one that is not among `logs`: its file has changed since it was first read.
    """

    async def save(recording: Recording) -> None:
        await store.save_log(recording.identity, recording.log, recording.seconds, recording.costs)

    def new() -> Iterator[Recording]:
        for page in pages(recordings):
            stored = store.log_ids_of(each.identity for each in page)
            for each in page:
                if each.log.id not in logs:
                    raise DataError(
                        "a file of conversations changed while it was read: start again when no "
                        "program writes to it"
                    )
                if each.identity not in stored:
                    yield each

    await gather(map(save, new()), at_once=64, keep=False)


class _Played:
    """The settings that a campaign was played with, with which its simulated user is asked
    again."""

    def __init__(self, stored: object, config: EvaluationConfig):
        """`stored` is the campaign's resolved file; `config` says who evaluates now."""
        self._stored = dict(stored) if isinstance(stored, Mapping) else {}
        offline = self._stored.get("session") == "offline"
        given = None if offline else self._stored.get("simulator")
        self.simulator = None if given is None else SimulatorConfig.model_validate(given)
        self.data = config.data or self._stored.get("data")
        seed = self._stored.get("seed", config.seed)
        self.config = self._with_the_users_model(config.model_copy(update={"seed": seed}))

    def setup(self, before: Setup, corpora: Iterable[Corpus | None]) -> Setup:
        """The settings the campaign was played with, and beside them the evaluators of this run."""
        now = campaign_setup(self.config, corpora)
        judging = self.config.model_dump(mode="json", include={"evaluators", "model", "models"})
        changed: dict[str, object] = {
            "config": {**self._stored, "judging": judging},
            "prices": {**before.prices, **now.prices},
            "price_sources": {**before.price_sources, **now.price_sources},
            "seeds": before.seeds,
            "skipped": before.skipped,
            "shard": before.shard,
        }
        return now.model_copy(update=changed)

    @property
    def user_is_a_model(self) -> bool:
        """Whether the simulated user was a model."""
        if self.simulator is None:
            return False
        if self.simulator.kind is not None:
            return self.simulator.kind == "llm"
        return bool(self._models())

    def _models(self) -> dict[str, object]:
        several = self._stored.get("models")
        models = dict(several) if isinstance(several, Mapping) else {}
        main = self._stored.get("model")
        return models if main is None else {MAIN_MODEL: main, **models}

    def _with_the_users_model(self, config: EvaluationConfig) -> EvaluationConfig:
        """`config` with the simulated user's model, if an evaluator asks the user."""
        if not self.user_is_a_model or not _asks_user(config):
            return config
        assert self.simulator is not None
        alias = self.simulator.model
        spec = read_model(self._models().get(alias))
        known = config.all_models.get(alias)
        if known is None:
            return config.model_copy(update={"models": {**config.models, alias: spec}})
        if known.reply_settings() != spec.reply_settings():
            raise ConfigError(
                f"the model {alias!r} differs from the campaign's model of this name, which plays "
                "the simulated user: give this one another name"
            )
        return config


def _known(names: Iterable[str], data: Path | None) -> dict[str, Corpus | None]:
    """The corpora by name; None for one that is not available here."""
    return {name: known_corpus(name, data) for name in sorted(set(names))}


def _built(
    played: _Played, corpora: Mapping[str, Corpus | None], gateway: Gateway | None
) -> BuiltCampaign:
    """The components for each corpus. If the corpus is known, the evaluators know its items."""
    found: dict[str, Components] = {}
    for name, corpus in corpora.items():
        catalogue = corpus.catalogue if corpus else Catalogue(name, ())
        user = None
        if played.simulator is not None and _asks_user(played.config):
            kind = played.simulator.kind or ("llm" if played.user_is_a_model else "rule")
            simulator = played.simulator.model_copy(update={"kind": kind})
            user = build_user(simulator, catalogue, gateway, played.config)
        evaluators = build_evaluators(played.config, corpus, gateway, user)
        found[name] = Components(catalogue, {}, user, evaluators)
    return BuiltCampaign(found, gateway)


def _asks_user(config: EvaluationConfig) -> bool:
    return any(entry.asks_user for entry in config.evaluators)
