"""Fork a stored debate: run it again from one of its rounds on, and store the result beside it.

The debaters are those of the original, with models as a campaign file describes them. Until the
fork has ended, only its calls are written.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import NamedTuple

from recjury.campaign.campaign_store import joined, spent_before
from recjury.campaign.config import EvaluationConfig
from recjury.campaign.tuning import follow_settings
from recjury.debate import (
    EDITED,
    RULE,
    DebatePrompts,
    Debater,
    Edit,
    Fork,
    RuleDebaters,
    fork_id,
    overall,
    run_fork,
)
from recjury.debate.forking import check_fork
from recjury.debate.shown_facts import shown_expert, shown_facts
from recjury.debate.stored_debate import ReplayedDebate, load_debate
from recjury.errors import ConfigError, UnitFailed
from recjury.llm import NOTHING_SPENT, Gateway, ModelSpec, SpentBefore, call_context
from recjury.records import JSON, Debate, Recorder, Role, StageResult, Status
from recjury.store import ForkedEvaluation, Store, StoredEvaluation


@dataclass(frozen=True)
class Changes:
    """What the fork changes from round `round` (1-based) on.

    Without `max_rounds`, the original's limit applies. `models` gives roles the alias of another
    model.
    """

    round: int
    max_rounds: int | None = None
    edits: Mapping[Role, Edit] = field(default_factory=dict)
    models: Mapping[Role, str] = field(default_factory=dict)


class Forked(NamedTuple):
    """A fork as it is in the store, and its calls: `calls` were sent, `reused` were not.

    `existed` is True if the store already had the same fork.
    """

    evaluation: str
    original: str
    calls: int = 0
    reused: int = 0
    existed: bool = False


async def fork_debate(
    evaluation: str, changes: Changes, place: Store | str, config: EvaluationConfig | None
) -> Forked:
    """Fork the debate of `evaluation` (the whole id), with the models of `config` if models held
    it.

    Models are asked as in a run of the campaign that has the debate: within the `limits` of
    `config`, and what is left of its `budget`. Raises UserError for a fork that is not possible,
    and UnitFailed if a call failed: the replies received until then are stored, and are not asked
    for again.
    """
    async with AsyncExitStack() as stack:
        store = place
        if isinstance(store, str):
            store = stack.enter_context(Store.open(store, create=False))
        recorder = await stack.enter_async_context(store.recorder())
        work = _PreparedFork(store, evaluation, changes, config, recorder)
        check_fork(work.fork, work.original.transcript)
        identity = fork_id(work.row.id, work.fork)
        if (there := store.find_evaluations([identity]).get(identity)) is not None:
            return Forked(there, work.row.id, existed=True)
        if work.gateway is not None:
            await stack.enter_async_context(work.gateway)
            if work.campaign is not None:
                await stack.enter_async_context(_run_of(store, work.campaign, work.gateway))
        with call_context(identity, work.sample):
            debate = await work.hold()
        await store.save_fork(
            ForkedEvaluation(
                identity=identity, original=work.row.id, spec=work.fork.model_dump(mode="json")
            ),
            StageResult((overall(debate),), debate=debate),
        )
        usage = work.gateway.usage if work.gateway else None
        spent = (usage.calls, usage.reused) if usage else (0, 0)
        return Forked(store.find_evaluations([identity])[identity], work.row.id, *spent)


@asynccontextmanager
async def _run_of(store: Store, campaign: str, gateway: Gateway) -> AsyncIterator[None]:
    """As long as the block lasts, `gateway` is that of a process that runs the campaign."""
    with joined(store, campaign, gateway) as worker:
        following = asyncio.ensure_future(follow_settings(worker, gateway))
        try:
            yield
        finally:
            following.cancel()
            await asyncio.gather(following, return_exceptions=True)


class _PreparedFork:
    """The original debate, what the fork changes, and its debaters."""

    def __init__(
        self,
        store: Store,
        evaluation: str,
        changes: Changes,
        config: EvaluationConfig | None,
        recorder: Recorder,
    ):
        self.row: StoredEvaluation = store.evaluation(evaluation)
        self.original: ReplayedDebate = load_debate(store, evaluation)
        # Of several campaigns that have the conversation, one pays.
        self.campaign = next(iter(store.campaigns_of(self.row.conversations)), None)
        # The same sample number as the original, so that unchanged prompts reuse stored calls.
        self.sample = self.row.sample
        held = _settings(store, self.row, self.original)
        self.gateway: Gateway | None = None
        self.debaters: Debater
        if held.models:
            transcript = self.original.transcript
            facts = shown_facts(store, transcript, self.original.log)
            expert = shown_expert(store, transcript)
            prompts = DebatePrompts.installed(transcript.protocol, facts, expert)
            spent = NOTHING_SPENT if self.campaign is None else spent_before(store, self.campaign)
            self.gateway, self.debaters, replies = _by_models(
                held, changes.models, prompts, config, recorder, spent
            )
        elif changes.models:
            raise ConfigError(
                "this debate was held by rule, so no model can play a role in it: "
                "fork one that was held by models"
            )
        else:
            self.debaters, replies = RuleDebaters(), {}
        limit = self.original.transcript.max_rounds
        self.fork = Fork(
            round=changes.round,
            max_rounds=limit if changes.max_rounds is None else changes.max_rounds,
            edits=dict(changes.edits),
            models={r: m for r, m in changes.models.items() if held.models[r] != m},
            debaters={**self.debaters.settings, "replies": replies},
        )

    async def hold(self) -> Debate:
        """Run the fork and return its debate. Raises UnitFailed if a call for a statement
        failed."""
        original = self.original
        debate = await run_fork(self.fork, original.transcript, original.rated, self.debaters)
        for statement in debate.transcript.statements:
            if statement.status is Status.CALL_FAILED:
                raise UnitFailed(f"{statement.role}, round {statement.round}: {statement.reason}")
        return debate


class _Held(NamedTuple):
    """How the original was held: the model alias of each role (none if held by rule), the
    temperature, and by alias the known settings of its model that can change a reply."""

    models: dict[Role, str]
    temperature: float
    replies: dict[str, JSON]


def _settings(store: Store, row: StoredEvaluation, original: ReplayedDebate) -> _Held:
    if original.forked is not None:
        debate = _mapping(original.forked.fork.debaters)
        replies = debate.get("replies")
    else:
        versions = {each.id: _mapping(each.settings) for each in store.evaluators(None)}
        settings = versions.get(row.evaluator, {})
        debate, replies = _mapping(settings.get("debate")), settings.get("models")
    statements = original.transcript.statements
    models = {each.role: each.speaker for each in statements if each.speaker not in (RULE, EDITED)}
    models |= {Role(role): str(alias) for role, alias in _mapping(debate.get("models")).items()}
    temperature = debate.get("temperature", 0.0)
    assert isinstance(temperature, int | float)
    return _Held(models, float(temperature), _mapping(replies))


def _by_models(
    held: _Held,
    changed: Mapping[Role, str],
    prompts: DebatePrompts,
    config: EvaluationConfig | None,
    recorder: Recorder,
    spent: SpentBefore,
) -> tuple[Gateway, Debater, dict[str, JSON]]:
    from recjury.debate.llm_debaters import LlmDebaters

    if config is None:
        raise ConfigError(
            "this debate was held by models: give the file that has them with --config FILE"
        )
    models = {**held.models, **changed}
    specs = {alias: _spec(alias, config, held.replies) for alias in sorted(set(models.values()))}
    gateway = Gateway(
        specs,
        recorder,
        concurrency=config.concurrency,
        limits=config.limits.given,
        budget=config.budget,
        spent=spent,
        attempts=config.attempts,
    )
    replies: dict[str, JSON] = {alias: spec.reply_settings() for alias, spec in specs.items()}
    return gateway, LlmDebaters(gateway, models, prompts, temperature=held.temperature), replies


def _spec(alias: str, config: EvaluationConfig, before: Mapping[str, JSON]) -> ModelSpec:
    """The model with that alias; raises ConfigError if it differs from the original's model."""
    spec = config.all_models.get(alias)
    if spec is None:
        known = ", ".join(sorted(config.all_models)) or "none"
        raise ConfigError(f"the file has no model {alias!r} (it has: {known})")
    now = spec.reply_settings()
    for name, value in _mapping(before.get(alias)).items():
        if name in now and now[name] != value:
            raise ConfigError(
                f"the model {alias!r} is another than held this debate: its {name} was {value!r}, "
                f"and is {now[name]!r}; give it an alias of its own, and name that with --model"
            )
    return spec


def _mapping(value: object) -> dict[str, JSON]:
    return dict(value) if isinstance(value, Mapping) else {}
