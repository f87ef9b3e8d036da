"""`--dry-run` of `recjury run` and `recjury judge`: what would be done, and what it may cost."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from recjury.cli import output
from recjury.errors import ConfigError

if TYPE_CHECKING:
    from recjury.campaign.config import CampaignConfig, EvaluationConfig
    from recjury.campaign.estimate import CostEstimate
    from recjury.llm import ModelSpec
    from recjury.records import ConversationLog, ExpectedCalls, Scenario
    from recjury.store import Selection


def show_estimate(
    config: "CampaignConfig", limit: int | None, selection: "Selection", *, as_json: bool
) -> None:
    """Print conversations, evaluations, calls, tokens and cost; nothing is sent or written.

    Raises ConfigError for filters that only a plan or a store can answer.
    """
    from recjury.campaign.batch_models import check_players
    from recjury.campaign.estimate import estimate
    from recjury.campaign.plan import draw_scenarios

    check_players(config)
    corpora, drawn, skipped = draw_scenarios(config, limit)
    config, scenarios = _part(config, drawn, selection)
    bound = estimate(config, corpora, scenarios)
    counts = {name: len(found) for name, found in scenarios.items()}
    _show(
        config,
        bound,
        {"scenarios": counts, "skipped": len(skipped)},
        [
            *((f"scenarios of {name}", str(n)) for name, n in counts.items()),
            ("records skipped", str(len(skipped))),
            ("systems", ", ".join(system.name for system in config.systems)),
        ],
        as_json=as_json,
    )


def _part(
    config: "CampaignConfig", drawn: "Mapping[str, Sequence[Scenario]]", selection: "Selection"
) -> "tuple[CampaignConfig, Mapping[str, Sequence[Scenario]]]":
    """The selected systems and scenarios, before any system is made."""
    from recjury.store import PlannedConversation

    if selection.where or selection.failed:
        raise ConfigError("--dry-run makes no plan: leave out --where and --failed")
    every = (
        PlannedConversation(id="", system=system.name, scenario=each.id, corpus=each.corpus)
        for several in drawn.values()
        for each in several
        for system in config.systems
    )
    taken = list(selection.taken(every, lambda each: each, selection.shard.dealt()))
    names, ids = ({each.system for each in taken}, {(each.corpus, each.scenario) for each in taken})
    systems = [each for each in config.systems if each.name in names]
    scenarios = {
        name: [each for each in several if (each.corpus, each.id) in ids]
        for name, several in drawn.items()
    }
    some = {name: several for name, several in scenarios.items() if several}
    return config.model_copy(update={"systems": systems}), some


def show_evaluations(
    config: "EvaluationConfig",
    logs: "Sequence[ConversationLog]",
    data: Path | None,
    *,
    as_json: bool,
) -> None:
    """As `show_estimate`, for existing conversations; their corpora are read from `data`."""
    from recjury.campaign.estimate import estimate_evaluations
    from recjury.corpora import corpus_name, known_corpus

    names = {corpus_name(log.scenario.corpus) for log in logs}
    known = {name: known_corpus(name, data) for name in names}
    corpora = {name: corpus for name, corpus in known.items() if corpus is not None}
    bound = estimate_evaluations(config, logs, corpora)
    _show(config, bound, {}, [], as_json=as_json)


def show_calls(
    config: "EvaluationConfig",
    expected: "Sequence[ExpectedCalls]",
    *,
    more: "Mapping[str, object] | None" = None,
    as_json: bool,
) -> None:
    """As `show_estimate`, for work that makes the calls `expected` and plays nothing.

    `more` is added to the JSON.
    """
    from recjury.campaign.estimate import estimate_calls

    if config.budget is not None:
        config.budget.check(config.all_models)
    bound = estimate_calls(config, expected)
    if as_json:
        output.emit_json({**(more or {}), **bound.as_json(), "prices": _prices(config)})
        return
    _show_calls(bound)
    show_prices(config)


def _show(
    config: "EvaluationConfig",
    bound: "CostEstimate",
    counts: dict[str, object],
    rows: Sequence[tuple[str, str]],
    *,
    as_json: bool,
) -> None:
    from recjury.campaign.batch_models import slow_models

    if config.budget is not None:
        config.budget.check(config.all_models)
    metrics = {each.label: each.metrics for each in config.evaluators}
    if as_json:
        ids = {label: [each.id for each in rated] for label, rated in metrics.items()}
        prices = {"prices": _prices(config)}
        output.emit_json({**counts, "metrics": ids, **bound.as_json(), **prices})
        return
    evaluations = (
        (f"evaluations by {label}", f"{n:,}, of {len(metrics[label])} metrics each")
        for label, n in bound.evaluations.items()
    )
    conversations = ("conversations", f"{bound.conversations:,}")
    output.show_table(["", ""], [*rows, conversations, *evaluations])
    _show_calls(bound)
    show_prices(config)
    for alias, window in slow_models(config).items():
        output.say(
            f"{alias} answers in batches: each step (the ratings, a round of a debate, another "
            f"attempt) may take up to {window}"
        )


def show_prices(config: "EvaluationConfig") -> None:
    """Print the price of each model, and where it is from."""
    lines = [f"price of {alias}: {price_text(spec)}" for alias, spec in config.all_models.items()]
    for line in lines:
        output.say(line)


def price_text(spec: "ModelSpec") -> str:
    """A model's price in words, and where it is from."""
    prices = spec.prices()
    if not spec.is_priced:
        return "unknown (add `price_in` and `price_out`)"
    amounts = {
        "prompts": prices.per_prompt,
        "replies": None if spec.embedding else prices.per_completion,
        "cached prompts": prices.per_cached,
    }
    shown = ", ".join(f"{what} {each:g}" for what, each in amounts.items() if each is not None)
    return f"{shown} US dollars per million tokens ({spec.price_source})"


def _prices(config: "EvaluationConfig") -> dict[str, dict[str, object]]:
    found: dict[str, dict[str, object]] = {}
    for alias, spec in config.all_models.items():
        prices = spec.prices()
        found[alias] = {
            "in": prices.per_prompt,
            "out": prices.per_completion,
            "cached": prices.per_cached,
            "source": spec.price_source or None,
        }
    return found


def _show_calls(bound: "CostEstimate") -> None:
    if not bound.breakdown:
        output.say("no model is called")
        return
    once, most = bound.once, bound.most
    output.show_table(
        ["model calls", "if nothing is asked twice", "at most"],
        [
            *(
                (f"{share.model}: {share.kind}", f"{share.once:,}", f"{share.most:,}")
                for share in bound.breakdown
            ),
            ("calls", f"{once.calls:,}", f"{most.calls:,}"),
            ("prompt tokens, about", f"{once.prompt_tokens:,}", f"{most.prompt_tokens:,}"),
            (
                "completion tokens, about",
                f"{once.completion_tokens:,}",
                f"{most.completion_tokens:,}",
            ),
            ("cost, about, USD", _dollars(once.cost), _dollars(most.cost)),
        ],
    )
    output.say(
        "at most: every conversation and debate takes all its rounds, every reply is asked for "
        "twice, and every utterance of the user is rewritten twice. Failed attempts are not "
        "counted: `retries` and `patience` limit them. What a store has already is not subtracted"
    )


def _dollars(cost: float | None) -> str:
    return "unknown" if cost is None else f"{cost:,.2f}"
