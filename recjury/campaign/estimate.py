"""Estimate the most calls, tokens and US dollars that a campaign can take, before it is run.

The calls that a conversation takes are planned, not sent: the prompts are made, of a few of the
scenarios, or of the conversations that are to be judged. Calls are counted as if nothing ended
early and nothing were done yet: every conversation takes all its rounds, and every debate reaches
its round limit. `once` counts these calls. `most` assumes that every reply that is parsed is asked
for as often as `attempts` allows, and that every utterance of the user contains a leak and is
rewritten. Failed calls are not counted: the model's `retries` and `patience` limit them.

Tokens are estimated at four characters a token. What is said in a conversation that is still to be
played, and by a model, is assumed to have a typical length.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import ceil
from typing import NamedTuple, TypeVar

from recjury.agents.chatcrs import EMBEDDING_OF_CONVERSATION
from recjury.campaign.budget_scheduler import PartKind
from recjury.campaign.build import Components, campaign_user
from recjury.campaign.config import CampaignConfig, EvaluationConfig
from recjury.campaign.planned_calls import assumed_log, assumed_turns, count_calls, planning_gateway
from recjury.corpora import Corpus, corpus_name
from recjury.judges import EvaluatorContext
from recjury.knowledge import Catalogue
from recjury.llm import ModelSpec
from recjury.llm.endpoint_check import check_requests
from recjury.llm.gateway import EMBEDDING_BATCH
from recjury.records import ConversationLog, ExpectedCalls, ItemRef, Scenario, UserSimulator
from recjury.simulator import LlmUser
from recjury.simulator.session import user_opens

# The most conversations of a corpus whose calls are planned; the others take as many. Those that
# are still to be played are alike; recorded ones differ in their turns.
_PLAYED = 10
_RECORDED = 40

_ROUNDS = 5  # of recorded conversations, if nothing else is known
_SCENARIO = Scenario(
    corpus="assumed/test",
    record="0",
    history=assumed_turns(4),
    targets=(ItemRef(id=None, name="A target of a typical length"),),
)

T = TypeVar("T")


class ExpectedUsage(NamedTuple):
    """Calls, and the tokens and US dollars that they take on average.

    `cost` is None if the price of a model is unknown.
    """

    calls: int
    prompt_tokens: int
    completion_tokens: int
    cost: float | None


class CostEstimate(NamedTuple):
    """The calls at `most`, and the calls if nothing is asked twice (`once`).

    `breakdown` is by model and kind of call.
    """

    conversations: int
    evaluations: dict[str, int]
    breakdown: tuple[ExpectedCalls, ...]
    once: ExpectedUsage
    most: ExpectedUsage

    def as_json(self) -> dict[str, object]:
        """The estimate as JSON with stable keys; those of `most` are at the top level."""
        by_model: dict[str, dict[str, int]] = {}
        for share in self.breakdown:
            by_model.setdefault(share.model, {})[share.kind] = share.most
        return {
            "conversations": self.conversations,
            "evaluations": self.evaluations,
            **self.most._asdict(),
            "by_model": by_model,
            "breakdown": [share._asdict() for share in self.breakdown],
            "once": self.once._asdict(),
        }


def estimate(
    config: CampaignConfig,
    corpora: Mapping[str, Corpus],
    scenarios: Mapping[str, Sequence[Scenario]],
) -> CostEstimate:
    """Estimate what these scenarios take under `config`, for all its systems and repeats.

    Both mappings are by the name of the corpus. Raises UserError if an evaluator cannot be made.
    """
    conversations = 0
    expected: list[ExpectedCalls] = []
    gateway = planning_gateway(config)
    for name, drawn in scenarios.items():
        corpus, played = corpora[name], len(drawn) * config.repeats * len(config.systems)
        conversations += played
        logs = [
            assumed_log(scenario, corpus.catalogue, config.rounds)
            for scenario in _sample(drawn, _PLAYED, lambda scenario: len(scenario.history))
        ]
        user = campaign_user(config, corpus.catalogue, gateway)
        expected += _players(config, corpus.catalogue, user, drawn, logs)
        context = EvaluatorContext(corpus, gateway, config.all_models, user)
        expected += _evaluations(config, context, logs, played)
    return _estimate(config, conversations, expected)


def estimate_evaluations(
    config: EvaluationConfig, logs: Sequence[ConversationLog], corpora: Mapping[str, Corpus]
) -> CostEstimate:
    """Estimate the evaluation of existing conversations; `corpora` are those that are known.

    Raises UserError if an evaluator cannot be made.
    """
    by_corpus: dict[str, list[ConversationLog]] = {}
    for log in logs:
        by_corpus.setdefault(corpus_name(log.scenario.corpus), []).append(log)
    expected: list[ExpectedCalls] = []
    gateway = planning_gateway(config)
    for name, several in by_corpus.items():
        context = EvaluatorContext(corpora.get(name), gateway, config.all_models)
        sample = _sample(several, _RECORDED, lambda log: len(log.system_turns))
        expected += _evaluations(config, context, sample, len(several))
    return _estimate(config, len(logs), expected)


def estimate_calls(config: EvaluationConfig, expected: Iterable[ExpectedCalls]) -> CostEstimate:
    """Estimate what `expected` and the checks of all models take; nothing is evaluated."""
    return _estimate(config, 0, expected)._replace(evaluations={})


def expected_part(
    config: EvaluationConfig, components: Mapping[str, Components], kind: PartKind
) -> float:
    """What a part takes, in the unit of the budget; by the evaluators of any of the corpora."""
    of_corpus = next(iter(components.values()))
    tokens, cost = _expected_tokens(config, of_corpus, kind.system, kind.label)
    in_dollars = config.budget is not None and config.budget.dollars is not None
    return (cost or 0.0) if in_dollars else tokens


def _expected_tokens(
    config: EvaluationConfig, components: Components, system: str, label: str | None
) -> tuple[int, float | None]:
    """The tokens, and the cost (None if unknown), of one conversation with a system, or of one
    evaluation of it by the evaluator called `label`, if nothing is asked twice."""
    rounds = _ROUNDS
    if isinstance(config, CampaignConfig):
        rounds = config.rounds
    log = assumed_log(_SCENARIO, components.catalogue, rounds)
    calls: list[ExpectedCalls] = []
    if label is not None:
        calls += count_calls(components.evaluators[label].plan(log), attempts=1)
    elif isinstance(config, CampaignConfig):
        own = tuple(entry for entry in config.systems if entry.name == system)
        alone = config.model_copy(update={"systems": own, "repeats": 1})
        calls += _players(alone, components.catalogue, components.user, [_SCENARIO], [log])
    usage = _usage(config, [(share, share.once) for share in calls])
    return usage.prompt_tokens + usage.completion_tokens, usage.cost


def _estimate(
    config: EvaluationConfig, conversations: int, expected: Iterable[ExpectedCalls]
) -> CostEstimate:
    checks = [
        ExpectedCalls(alias, "check", sent, sent, 30, 16)
        for alias, spec in config.all_models.items()
        for sent in [len(check_requests(spec, config.call_uses.get(alias, ())))]
    ]
    shares = _merged((*expected, *checks))
    return CostEstimate(
        conversations=conversations,
        evaluations={e.label: conversations * e.judgings for e in config.evaluators},
        breakdown=shares,
        once=_usage(config, [(share, share.once) for share in shares]),
        most=_usage(config, [(share, share.most) for share in shares]),
    )


def _merged(expected: Iterable[ExpectedCalls]) -> tuple[ExpectedCalls, ...]:
    """Add up the calls of one kind to one model."""
    shares: dict[tuple[str, str], ExpectedCalls] = {}
    for each in expected:
        place = (each.model, each.kind)
        other = shares.get(place)
        shares[place] = (
            each
            if other is None
            else each._replace(once=each.once + other.once, most=each.most + other.most)
        )
    return tuple(shares.values())


def _evaluations(
    config: EvaluationConfig,
    context: EvaluatorContext,
    logs: Sequence[ConversationLog],
    conversations: int,
) -> Iterator[ExpectedCalls]:
    for entry in config.evaluators:
        evaluator = entry.prepared(context)
        yield from count_calls(
            (call for log in logs for call in evaluator.plan(log)),
            attempts=config.attempts,
            logs=len(logs),
            conversations=conversations * entry.judgings,
        )


def _players(
    config: CampaignConfig,
    catalogue: Catalogue,
    user: UserSimulator | None,
    scenarios: Sequence[Scenario],
    logs: Sequence[ConversationLog],
) -> Iterator[ExpectedCalls]:
    """The calls of the simulated user, and of the tested systems that are models."""
    played, rounds = len(scenarios) * config.repeats, config.rounds
    if isinstance(user, LlmUser):
        yield from _user_calls(config, user, scenarios, logs)
    asked_by_systems = [
        calls for system in config.systems for calls in system.expected(played * rounds)
    ]
    yield from asked_by_systems
    embedders = {c.model for c in asked_by_systems if c.kind == EMBEDDING_OF_CONVERSATION}
    for alias in sorted(embedders):  # the systems of a run share the vectors of the items
        batches = ceil(len(catalogue) / EMBEDDING_BATCH) if played else 0
        yield ExpectedCalls(alias, "embedding/items", batches, batches, 2_900, 0)


def _user_calls(
    config: CampaignConfig,
    user: LlmUser,
    scenarios: Sequence[Scenario],
    logs: Sequence[ConversationLog],
) -> Iterator[ExpectedCalls]:
    conversations = config.repeats * len(config.systems)
    openings = sum(map(user_opens, scenarios)) * conversations
    utterances = len(scenarios) * conversations * config.simulator.max_rounds + openings
    most = config.attempts * utterances
    planned = (call for log in logs for call in user.plan(log))
    for calls in count_calls(planned, attempts=config.attempts):
        yield calls._replace(once=utterances, most=most)
        yield calls._replace(kind="simulator/rewrite", once=0, most=most)


def _sample(items: Sequence[T], most: int, length: Callable[[T], int]) -> list[T]:
    """At most so many of them: by their length, the middle of each of `most` equal parts."""
    ordered = sorted(items, key=length)
    parts = min(most, len(ordered))
    return [ordered[(2 * n + 1) * len(ordered) // (2 * parts)] for n in range(parts)]


def _usage(config: EvaluationConfig, calls: Sequence[tuple[ExpectedCalls, int]]) -> ExpectedUsage:
    costs = [_cost(config.all_models[share.model], share, n) for share, n in calls]
    known = [cost for cost in costs if cost is not None]
    return ExpectedUsage(
        calls=sum(n for _, n in calls),
        prompt_tokens=sum(share.prompt_tokens * n for share, n in calls),
        completion_tokens=sum(share.completion_tokens * n for share, n in calls),
        cost=sum(known) if len(known) == len(costs) else None,
    )


def _cost(spec: ModelSpec, share: ExpectedCalls, calls: int) -> float | None:
    if not calls:
        return 0.0
    cost = spec.cost(share.prompt_tokens, share.completion_tokens)
    return None if cost is None else calls * cost
