"""How many calls an evaluator makes for a log: the table of docs/how-to/evaluators.md."""

import asyncio
from typing import Any

import pytest

from recjury.corpora import Context
from recjury.judges import EVALUATORS
from tests.judges import likely
from tests.judges.test_face import scripted
from tests.judges.test_golden import reply
from tests.judges.test_paireval import CONTEXT
from tests.logs import LOG, ask_of

TURNS, PARTICLES = 2, 3  # of the system in LOG, and as `scripted` divides them


@pytest.mark.parametrize(
    ("kind", "settings", "calls"),
    [
        ("face", {}, TURNS + PARTICLES * 7 * 1 * 5),
        ("face", {"samples": 1, "aspects": ["relevance"]}, TURNS + PARTICLES),
        ("direct", {}, 2 * TURNS + 5),
        ("g-eval", {}, 7 + 2 * TURNS + 5 + 1),
        ("g-eval", {"logprobs": False}, 7 + 20 * (2 * TURNS + 5)),
        ("paireval", {}, 2 * 3 * (TURNS + 1) + 1),
        ("paireval", {"position": "first"}, 3 * (TURNS + 1) + 1),
        ("paireval", {"method": "direct"}, TURNS + 1 + 1),
        ("dialogue-quality", {}, TURNS + 1 + 1),
        ("dialogue-quality", {"method": "generation"}, TURNS + 1),
    ],
)
def test_calls_for_a_log(kind: str, settings: dict[str, Any], calls: int) -> None:
    def script(request: Any, code: str) -> Any:
        if kind == "face":
            return scripted(request, code)
        if kind == "g-eval" and request.shape is not None and request.shape.logprobs:
            return likely.rating(code, {"1": 1.0})
        return reply(request, code)

    ask, _ = ask_of(likely.sending(script))
    evaluator = EVALUATORS[kind].model_validate(settings)
    ready = evaluator.prepared(CONTEXT if kind == "paireval" else Context())
    asyncio.run(ready.rate(LOG, ask))
    assert len(set(ask.calls)) == calls
