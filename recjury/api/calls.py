"""recjury from Python: evaluate systems, judge existing conversations, open a store.

`evaluate` and `judge` work in a script, and in a notebook whose event loop is running;
`evaluate_async` and `judge_async` are for programs with an event loop of their own. The command
line calls the same functions.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

from recjury.api.running import run_now
from recjury.api.stored import Run, Stored
from recjury.campaign import (
    CampaignConfig,
    EvaluationConfig,
    Progress,
    Retry,
    judge_campaign,
    judge_files,
    judge_logs,
    read_config,
    run_campaign,
)
from recjury.campaign.config_file import explain
from recjury.errors import ConfigError
from recjury.judges import Evaluator
from recjury.mistakes import did_you_mean
from recjury.records import ConversationLog, Recommender

DEFAULT_STORE = "sqlite:///recjury.db"

Systems = Sequence["str | Mapping[str, object] | Recommender | object"]
Evaluators = str | Sequence["str | Mapping[str, object] | Evaluator | object"]
Logs = Sequence[ConversationLog] | Sequence["str | Path"] | str | Path


def evaluate(
    campaign: str | Path | Mapping[str, object] | CampaignConfig | None = None,
    *,
    systems: Systems | None = None,
    scenarios: str | Sequence[str | Mapping[str, object]] | None = None,
    evaluators: Evaluators | None = None,
    limit: int | None = None,
    store: str = DEFAULT_STORE,
    retry: Retry | str = Retry.UNSCORED,
    progress: Progress | None = None,
    **settings: object,
) -> Run:
    """Run a campaign, or continue it: scenarios x systems, evaluated by every evaluator.

    `campaign` is a campaign file, or its content as a mapping; the other arguments are its keys,
    and replace the file's values. A system or an evaluator is a kind ("retrieval", "core"), an
    entry of a campaign file as a mapping, or an object. An object is a `Recommender`, or an
    evaluator with `metrics` and `rate`; it is identified by its settings and source (without
    source, no other process reuses its results), and its plain `def` methods run in threads.
    `limit` draws that many scenarios from each source. `retry` says what earlier runs left without
    a score and is asked for again: "unscored", "failed" or "none". `settings` are further keys:
    model, models, simulator, repeats, seed, budget, concurrency, attempts.

    Raises `recjury.errors.UserError`, in one line, for an error that the caller can correct.
    """
    config = _campaign(campaign, systems, scenarios, evaluators, settings)
    return run_now(lambda: _evaluated(config, store, limit, retry, progress))


async def evaluate_async(
    campaign: str | Path | Mapping[str, object] | CampaignConfig | None = None,
    *,
    systems: Systems | None = None,
    scenarios: str | Sequence[str | Mapping[str, object]] | None = None,
    evaluators: Evaluators | None = None,
    limit: int | None = None,
    store: str = DEFAULT_STORE,
    retry: Retry | str = Retry.UNSCORED,
    progress: Progress | None = None,
    **settings: object,
) -> Run:
    """Like `evaluate`, on the running event loop."""
    config = _campaign(campaign, systems, scenarios, evaluators, settings)
    return await _evaluated(config, store, limit, retry, progress)


def judge(
    conversations: Logs | None = None,
    *,
    campaign: str | None = None,
    evaluators: Evaluators | None = None,
    limit: int | None = None,
    link_items: bool = False,
    store: str = DEFAULT_STORE,
    retry: Retry | str = Retry.UNSCORED,
    progress: Progress | None = None,
    **settings: object,
) -> Run:
    """Evaluate existing conversations: logs, files in a known format, or a campaign of the store.

    `conversations` are `ConversationLog`s, or paths of files. With `campaign` (an id, or its first
    digits), they are the campaign's conversations in the store, and the evaluations are added to
    it. `evaluators` and `retry` are as in `evaluate`; `limit` takes that many conversations of each
    file. With `link_items`, conversations without lists get lists of the items that their texts
    name. `settings` are further keys of a campaign file: model, models, budget, data.

    Raises `recjury.errors.UserError`, in one line, for an error that the caller can correct.
    """
    config = _evaluation(evaluators, settings)
    source = _Source(conversations, campaign, limit, link_items)
    return run_now(lambda: _judged(source, config, store, retry, progress))


async def judge_async(
    conversations: Logs | None = None,
    *,
    campaign: str | None = None,
    evaluators: Evaluators | None = None,
    limit: int | None = None,
    link_items: bool = False,
    store: str = DEFAULT_STORE,
    retry: Retry | str = Retry.UNSCORED,
    progress: Progress | None = None,
    **settings: object,
) -> Run:
    """Like `judge`, on the running event loop."""
    config = _evaluation(evaluators, settings)
    source = _Source(conversations, campaign, limit, link_items)
    return await _judged(source, config, store, retry, progress)


def open(store: str = DEFAULT_STORE) -> Stored:  # noqa: A001 (recjury.open reads well)
    """The results of a store. Raises StoreError if it does not exist."""
    return Stored(store)


def _campaign(
    campaign: str | Path | Mapping[str, object] | CampaignConfig | None,
    systems: Systems | None,
    scenarios: str | Sequence[str | Mapping[str, object]] | None,
    evaluators: Evaluators | None,
    settings: Mapping[str, object],
) -> CampaignConfig:
    if isinstance(campaign, str | Path):
        campaign = read_config(Path(campaign))
    if isinstance(campaign, CampaignConfig):
        given = {name: getattr(campaign, name) for name in campaign.model_fields_set}
    else:
        given = dict(campaign or {"scenarios": ["sample"]})
    if systems is not None:
        given["systems"] = _several(systems)
    if scenarios is not None:
        given["scenarios"] = _several(scenarios)
    if evaluators is not None:
        given["evaluators"] = _several(evaluators)
    return _valid(CampaignConfig, {**given, **settings})


def _evaluation(evaluators: Evaluators | None, settings: Mapping[str, object]) -> EvaluationConfig:
    named = {} if evaluators is None else {"evaluators": _several(evaluators)}
    return _valid(EvaluationConfig, {**named, **settings})


def _several(given: str | Sequence[object]) -> list[object]:
    return [given] if isinstance(given, str) else list(given)


C = TypeVar("C", bound=EvaluationConfig)


_OWN_ARGUMENTS = ("limit", "link_items", "store", "retry", "progress")


def _valid(kind: type[C], given: Mapping[str, object]) -> C:
    from pydantic import ValidationError

    for name in given:
        hint = did_you_mean(name, _OWN_ARGUMENTS)
        if name not in kind.model_fields and hint:
            raise ConfigError(f"unknown argument {name!r}{hint}")
    try:
        return kind.model_validate(dict(given))
    except ValidationError as error:
        raise ConfigError(explain(error)) from error


async def _evaluated(
    config: CampaignConfig,
    store: str,
    limit: int | None,
    retry: Retry | str,
    progress: Progress | None,
) -> Run:
    _check_limit(limit)
    again = _retry(retry)
    result = await run_campaign(config, store, limit=limit, retry=again, progress=progress)
    return Run(store, result)


class _Source(NamedTuple):
    """The arguments of `judge` that say which conversations are evaluated."""

    conversations: Logs | None
    campaign: str | None
    limit: int | None
    link_items: bool


async def _judged(
    source: _Source,
    config: EvaluationConfig,
    store: str,
    retry: Retry | str,
    progress: Progress | None,
) -> Run:
    given, campaign, limit, link_items = source
    _check_limit(limit)
    again = _retry(retry)
    if (given is None) == (campaign is None):
        raise ConfigError("judge takes conversations, or the id of a campaign of the store")
    if campaign is not None:
        if link_items:
            raise ConfigError("link_items is about logs and files: leave it out with a campaign")
        result = await judge_campaign(campaign, config, store, retry=again, progress=progress)
        return Run(store, result)
    assert given is not None
    conversations = [given] if isinstance(given, str | Path) else given
    logs = [each for each in conversations if isinstance(each, ConversationLog)]
    paths = [Path(each) for each in conversations if isinstance(each, str | Path)]
    if not (logs or paths) or (logs and paths):
        raise ConfigError("judge takes conversation logs, or paths of files, and at least one")
    if logs:
        result = await judge_logs(
            logs[:limit], config, store, link_items=link_items, retry=again, progress=progress
        )
    else:
        result = await judge_files(
            paths,
            config,
            store,
            limit=limit,
            link_items=link_items,
            retry=again,
            progress=progress,
        )
    return Run(store, result)


def _retry(given: Retry | str) -> Retry:
    try:
        return Retry(given)
    except ValueError:
        raise ConfigError(f"retry must be one of {', '.join(Retry)}; got {given!r}") from None


def _check_limit(limit: int | None) -> None:
    if limit is not None and limit < 1:
        raise ConfigError(f"limit must be at least 1, got {limit}: leave it out for all")
