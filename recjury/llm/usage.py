"""Counters of what went through a gateway."""

from dataclasses import dataclass

from recjury.llm.wire import Completion


@dataclass(slots=True)
class GatewayUsage:
    """What happened since the gateway was made.

    `calls` were sent and answered; `reused` were answered without being sent; `retried` counts
    further attempts; `failed` calls got no answer. `cost` is in US dollars.
    """

    calls: int = 0
    reused: int = 0
    retried: int = 0
    failed: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float = 0.0
    in_flight: int = 0

    def add(self, completion: Completion, cost: float) -> None:
        """Count an answered call."""
        self.calls += 1
        self.prompt_tokens += completion.prompt_tokens
        self.completion_tokens += completion.completion_tokens
        self.cost += cost
