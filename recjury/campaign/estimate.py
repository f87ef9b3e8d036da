"""What a campaign will ask of its models, before it is run: calls, tokens, cost, at most.

Calls are counted as if nothing ended early: every conversation takes all its rounds, every
debate its round limit, and every trial is still to do. Beside what is asked then (`once`) stands
what can be asked at most: every reply that is read is useless at first and asked for once more,
and every utterance of the user leaks and is rewritten. An attempt that fails is none of these
calls: how often it is repeated is the model's `retries` and `patience`.

Tokens per call are means over the package's own prompts on recorded logs, at four characters a
token; a long catalogue name or a talkative system makes them more.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from math import ceil
from typing import NamedTuple

from recjury.campaign.config import CampaignConfig, ChatCrsConfig, OpenAiCrsConfig
from recjury.llm import ModelSpec
from recjury.llm.gateway import EMBEDDING_BATCH
from recjury.records import Factor, Role, Scenario
from recjury.simulator.session import user_opens

_LOCAL_EMBEDDINGS = ("tfidf", "minilm")
_ASKED = 2  # how often a reply that is read is asked for, at most


class TokensPerCall(NamedTuple):
    """What one call of a kind sends and gets back, in tokens."""

    prompt: int
    completion: int


TOKENS = {
    "check": TokensPerCall(10, 16),
    "simulator/speak": TokensPerCall(1_100, 60),
    "simulator/rewrite": TokensPerCall(1_000, 60),
    "simulator/persuasiveness": TokensPerCall(1_100, 150),
    "system": TokensPerCall(700, 120),
    "embedding/items": TokensPerCall(2_900, 0),
    "embedding/conversation": TokensPerCall(80, 0),
    "judge": TokensPerCall(2_300, 250),
    "debate": TokensPerCall(3_000, 250),
}


class Drawn(NamedTuple):
    """The scenarios of a corpus: how many, in how many the user opens; and the corpus's items."""

    corpus: str
    scenarios: int
    openings: int
    items: int


class Share(NamedTuple):
    """The calls of one kind to one model: `once`, and at `most` where all goes wrong that can."""

    model: str
    kind: str
    once: int
    most: int


class Estimate(NamedTuple):
    """`calls` is an upper bound, of which `by_model` are those by alias and kind; tokens and
    `cost` (US dollars) are what so many calls take on average. `once` is the same for what is
    asked if nothing has to be asked again."""

    trials: int
    calls: int
    prompt_tokens: int
    completion_tokens: int
    cost: float
    by_model: dict[str, dict[str, int]]
    breakdown: tuple[Share, ...]
    once: "Spending"


class Spending(NamedTuple):
    """Calls, and the tokens and US dollars that they take on average."""

    calls: int
    prompt_tokens: int
    completion_tokens: int
    cost: float


def drawn(corpus: str, scenarios: Sequence[Scenario], items: int) -> Drawn:
    """What of a corpus's scenarios decides how many calls they take."""
    return Drawn(corpus, len(scenarios), sum(map(user_opens, scenarios)), items)


def estimate(config: CampaignConfig, corpora: Iterable[Drawn]) -> Estimate:
    """What these scenarios take under `config`, for all its systems and repeats."""
    once: Counter[tuple[str, str]] = Counter()
    most: Counter[tuple[str, str]] = Counter()
    trials = 0
    for part in corpora:
        trials += part.scenarios * config.repeats * len(config.systems)
        for share in (*_raters(config, part), *_players(config, part)):
            once[share.model, share.kind] += share.once
            most[share.model, share.kind] += share.most
    most.update({(alias, "check"): 1 for alias in config.all_models})
    shares = tuple(Share(alias, kind, once[alias, kind], n) for (alias, kind), n in most.items())
    by_model: dict[str, dict[str, int]] = {}
    for share in shares:
        by_model.setdefault(share.model, {})[share.kind] = share.most
    return Estimate(
        trials=trials,
        **_spending(config, {(s.model, s.kind): s.most for s in shares})._asdict(),
        by_model=by_model,
        breakdown=shares,
        once=_spending(config, {(s.model, s.kind): s.once for s in shares}),
    )


def _players(config: CampaignConfig, part: Drawn) -> Iterator[Share]:
    """The calls of the simulated user, and of systems under test that are models."""
    played, rounds = part.scenarios * config.repeats, config.simulator.max_rounds
    if config.plays_llm:
        model, trials = config.simulator.model, played * len(config.systems)
        said = trials * rounds + part.openings * config.repeats * len(config.systems)
        yield Share(model, "simulator/speak", said, _ASKED * said)
        yield Share(model, "simulator/rewrite", 0, _ASKED * said)
        yield Share(model, "simulator/persuasiveness", trials, _ASKED * trials)
    embedders = set()
    for system in config.systems:
        if isinstance(system, ChatCrsConfig | OpenAiCrsConfig):
            yield Share(system.model, "system", played * rounds, played * rounds)
        if isinstance(system, ChatCrsConfig) and _embeds(system):
            embedders.add(system.embeddings)
            answers = played * rounds
            yield Share(system.embeddings, "embedding/conversation", answers, answers)
    for alias in sorted(embedders):  # the systems of a run share the vectors of the items
        batches = ceil(part.items / EMBEDDING_BATCH) if played else 0
        yield Share(alias, "embedding/items", batches, batches)


def _embeds(system: ChatCrsConfig) -> bool:
    return system.list_source == "independent" and system.embeddings not in _LOCAL_EMBEDDINGS


def _raters(config: CampaignConfig, part: Drawn) -> Iterator[Share]:
    """The calls of judges and debaters."""
    trials = part.scenarios * config.repeats * len(config.systems)
    asked: list[tuple[str, str, int]] = []
    if config.judges_llm:
        asked += [(alias, "judge", times) for alias, times in _judges(config).items()]
    if config.debates_llm:
        models = [config.debate.roles.get(role, config.debate.model) for role in Role]
        asked += [(alias, "debate", config.debate.max_rounds) for alias in models]
    for alias, kind, times in asked:
        yield Share(alias, kind, times * trials, _ASKED * times * trials)


def _judges(config: CampaignConfig) -> Counter[str]:
    judges = config.judges
    if judges.combine == "mean":
        return Counter({alias: len(Factor) for alias in judges.models})
    return Counter(judges.routing.get(factor, judges.models[0]) for factor in Factor)


def _spending(config: CampaignConfig, calls: dict[tuple[str, str], int]) -> Spending:
    return Spending(
        calls=sum(calls.values()),
        prompt_tokens=sum(TOKENS[kind].prompt * n for (_, kind), n in calls.items()),
        completion_tokens=sum(TOKENS[kind].completion * n for (_, kind), n in calls.items()),
        cost=sum(
            n * _cost(config.all_models[alias], TOKENS[kind]) for (alias, kind), n in calls.items()
        ),
    )


def _cost(spec: ModelSpec, tokens: TokensPerCall) -> float:
    replied = 0 if spec.embedding else tokens.completion
    return (spec.price_in * tokens.prompt + spec.price_out * replied) / 1e6
