"""Estimate the most calls, tokens and US dollars that a campaign can take, before it is run.

Calls are counted as if nothing ended early and nothing were done yet: every conversation takes all
its rounds, and every debate reaches its round limit. `once` counts these calls. `most` assumes that
every reply that is parsed is asked for as often as `attempts` allows, and that every utterance of
the user contains a leak and is rewritten. Failed calls are not counted: the model's `retries` and
`patience` limit them.

Tokens per call are means over the package's own prompts on recorded logs, at four characters a
token. Long catalogue names or long replies of a system make them more.
"""

from collections.abc import Iterable, Iterator, Sequence
from math import ceil
from typing import NamedTuple

from recjury.agents.llm_config import EMBEDDING_OF_CONVERSATION
from recjury.campaign.config import CampaignConfig, EvaluationConfig
from recjury.llm import ModelSpec
from recjury.llm.endpoint_check import check_requests
from recjury.llm.gateway import EMBEDDING_BATCH
from recjury.records import ExpectedCalls, Scenario
from recjury.simulator.session import user_opens

_ROUNDS = 5  # of recorded conversations, if nothing else is known


class Drawn(NamedTuple):
    """The scenarios of a corpus: how many there are, and in how many the user begins; and its
    items."""

    corpus: str
    scenarios: int
    openings: int
    items: int


class ExpectedUsage(NamedTuple):
    """Calls, and the tokens and US dollars that they take on average.

    `cost` is None if the price of a model is unknown.
    """

    calls: int
    prompt_tokens: int
    completion_tokens: int
    cost: float | None


class Estimate(NamedTuple):
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


def drawn(corpus: str, scenarios: Sequence[Scenario], items: int) -> Drawn:
    """The numbers of a corpus that decide how many calls its scenarios take."""
    return Drawn(corpus, len(scenarios), sum(map(user_opens, scenarios)), items)


def estimate(config: CampaignConfig, corpora: Iterable[Drawn]) -> Estimate:
    """Estimate what these scenarios take under `config`, for all its systems and repeats."""
    conversations = 0
    expected: list[ExpectedCalls] = []
    for part in corpora:
        conversations += part.scenarios * config.repeats * len(config.systems)
        expected += _players(config, part)
    expected += _evaluators(config, conversations, conversations * config.simulator.max_rounds)
    return _estimate(config, conversations, expected)


def estimate_evaluations(config: EvaluationConfig, rounds: Sequence[int]) -> Estimate:
    """Estimate the evaluation of existing conversations, by the number of `rounds` of each."""
    expected = _evaluators(config, len(rounds), sum(rounds))
    return _estimate(config, len(rounds), expected)


def estimate_calls(config: EvaluationConfig, expected: Iterable[ExpectedCalls]) -> Estimate:
    """Estimate what `expected` and the checks of all models take; nothing is evaluated."""
    return _estimate(config, 0, expected)._replace(evaluations={})


def expected_tokens(
    config: EvaluationConfig, system: str, label: str | None
) -> tuple[int, float | None]:
    """The tokens, and the cost (None if unknown), of one conversation with a system, or of one
    evaluation of it by the evaluator called `label`, if nothing is asked twice."""
    rounds, calls = _ROUNDS, list[ExpectedCalls]()
    if isinstance(config, CampaignConfig):
        rounds = config.simulator.max_rounds
    for entry in config.evaluators:
        if entry.label == label:
            calls += entry.expected(1, rounds, models=config.has_models, attempts=1)
    if label is None and isinstance(config, CampaignConfig):
        own = tuple(entry for entry in config.systems if entry.name == system)
        alone = config.model_copy(update={"systems": own, "repeats": 1})
        calls += _players(alone, Drawn("", scenarios=1, openings=1, items=0))
    usage = _usage(config, [(share, share.once) for share in calls])
    return usage.prompt_tokens + usage.completion_tokens, usage.cost


def _estimate(
    config: EvaluationConfig, conversations: int, expected: Iterable[ExpectedCalls]
) -> Estimate:
    checks = [
        ExpectedCalls(alias, "check", sent, sent, 30, 16)
        for alias, spec in config.all_models.items()
        for sent in [len(check_requests(spec, config.call_uses.get(alias, ())))]
    ]
    shares = _merged((*expected, *checks))
    return Estimate(
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


def _evaluators(
    config: EvaluationConfig, conversations: int, turns: int
) -> Iterator[ExpectedCalls]:
    for entry in config.evaluators:
        judged, shown = conversations * entry.judgings, turns * entry.judgings
        yield from entry.expected(judged, shown, models=config.has_models, attempts=config.attempts)


def _players(config: CampaignConfig, part: Drawn) -> Iterator[ExpectedCalls]:
    """The calls of the simulated user, and of the tested systems that are models."""
    played, rounds = part.scenarios * config.repeats, config.simulator.max_rounds
    if config.plays_llm:
        model, conversations = config.simulator.model, played * len(config.systems)
        utterances = conversations * rounds + part.openings * config.repeats * len(config.systems)
        most = config.attempts * utterances
        yield ExpectedCalls(model, "simulator/speak", utterances, most, 1_100, 60)
        yield ExpectedCalls(model, "simulator/rewrite", 0, most, 1_000, 60)
        if any(entry.asks_user for entry in config.evaluators):
            asked = conversations * max(e.judgings for e in config.evaluators if e.asks_user)
            kind = "simulator/persuasiveness"
            yield ExpectedCalls(model, kind, asked, config.attempts * asked, 1_100, 150)
    asked_by_systems = [
        calls for system in config.systems for calls in system.expected(played * rounds)
    ]
    yield from asked_by_systems
    embedders = {c.model for c in asked_by_systems if c.kind == EMBEDDING_OF_CONVERSATION}
    for alias in sorted(embedders):  # the systems of a run share the vectors of the items
        batches = ceil(part.items / EMBEDDING_BATCH) if played else 0
        yield ExpectedCalls(alias, "embedding/items", batches, batches, 2_900, 0)


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
