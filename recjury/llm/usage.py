"""Counters of what went through a gateway, and how a cost is told."""

from dataclasses import dataclass

from recjury.llm.transport import Completion


@dataclass(slots=True)
class GatewayUsage:
    """What happened since the gateway was made.

    `calls` were sent and answered; `reused` were answered without being sent; `retried` counts
    further attempts; `failed` calls got no answer. `cost` is in US dollars, and without that of
    the `unpriced` calls, whose models have no prices.
    """

    calls: int = 0
    reused: int = 0
    retried: int = 0
    failed: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float = 0.0
    unpriced: int = 0
    in_flight: int = 0

    def add(self, completion: Completion, cost: float | None) -> None:
        """Count an answered call; `cost` None is unknown."""
        self.calls += 1
        self.prompt_tokens += completion.prompt_tokens
        self.completion_tokens += completion.completion_tokens
        if cost is None:
            self.unpriced += 1
        else:
            self.cost += cost


def cost_text(cost: float | None, unpriced: int = 0) -> str:
    """What calls cost, for people: `cost` in US dollars, besides calls whose cost is unknown."""
    if cost is None or (unpriced and not cost):
        return "cost unknown"
    known = f"${cost:,.4f}"
    if not unpriced:
        return known
    return f"{known} + {unpriced:,} {'call' if unpriced == 1 else 'calls'} without a price"
