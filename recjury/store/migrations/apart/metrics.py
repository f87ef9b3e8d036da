"""What the evaluators declared, as `records.Metric` has it."""

from collections.abc import Iterable
from typing import Any

Declared = dict[str, Any]

_DIMENSIONS = {
    "Dialogue Actions": ("Coherence", "Recoverability", "Proactiveness"),
    "Language Expression": ("Grammatical Correctness", "Naturalness", "Appropriateness"),
    "Recommended Items": ("Effectiveness", "Novelty", "Diversity"),
    "Response Content": ("Semantic Relevance", "Explainability", "Groundness"),
}
_LISTS = ("Novelty", "Diversity", "Semantic Relevance", "Explainability", "Groundness")
_NEEDS = {"Effectiveness": ["list", "targets"], **{name: ["list"] for name in _LISTS}}
_ITEMS = ["list", "targets"]
_RECALLS = (
    ("", "", (), False),
    ("new_", " of new targets", (1, 5), True),
    ("last_turn_", " of the last turn", (1, 5, 10), False),
)
ASPECTS = {
    "relevance": ("turn", 2),
    "interestingness": ("turn", 2),
    "understanding": ("dialogue", 2),
    "task_completion": ("dialogue", 2),
    "efficiency": ("dialogue", 1),
    "interest_arousal": ("dialogue", 2),
    "dialogue_overall": ("dialogue", 4),
}
"""Level and highest score of each aspect of FACE."""


def core(*, debate: bool, llm: bool) -> list[Declared]:
    """The verdict of the debate and the twelve factors."""
    model = ["model"] if llm else []
    factors = [
        {
            "id": name.lower().replace(" ", "_"),
            "title": name,
            "group": dimension,
            "high": 4,
            "needs": [*_NEEDS.get(name, []), *model],
        }
        for dimension, names in _DIMENSIONS.items()
        for name in names
    ]
    overall = {"id": "overall", "title": "Overall", "high": 100, "digits": 1}
    return [overall, *factors] if debate else factors


def outcome() -> list[Declared]:
    """Recall, rounds, leaks, time, cost, Persuasiveness."""
    recalls: list[Declared] = [
        {
            "id": f"{prefix}recall@{k}",
            "title": f"Recall@{k}{suffix}",
            "group": "Recommendation",
            "high": 1,
            "needs": _ITEMS,
            "digits": 3,
            "detail": k in detail,
            "of_some": of_some,
        }
        for prefix, suffix, detail, of_some in _RECALLS
        for k in (1, 5, 10)
    ]
    of_talk = {"group": "Conversation", "detail": True}
    fewer = {**of_talk, "higher_is_better": False}
    hit = {**fewer, "group": "Recommendation", "low": 1, "needs": _ITEMS, "of_some": True}
    asked = {"group": "Conversation", "high": 2, "needs": ["targets"]}
    return [
        *recalls,
        {"id": "hit_round", "title": "Hit round", **hit},
        {"id": "rounds", "title": "Rounds", **of_talk},
        {"id": "leaks_caught", "title": "Leaks caught", **fewer},
        {"id": "leaks_through", "title": "Leaks through", **fewer},
        {"id": "seconds_per_turn", "title": "Seconds a turn", **fewer},
        {"id": "cost_per_turn", "title": "Cost a turn", **fewer, "digits": 6},
        {"id": "persuasiveness", "title": "Persuasiveness", **asked},
    ]


def aspects(names: Iterable[str], *, logprobs: bool) -> list[Declared]:
    """Aspects of FACE."""
    return [
        {
            "id": name,
            "title": name.replace("_", " ").capitalize(),
            "group": "Turns" if ASPECTS[name][0] == "turn" else "Dialogue",
            "level": ASPECTS[name][0],
            "high": ASPECTS[name][1],
            "needs": ["model", "logprobs"] if logprobs else ["model"],
        }
        for name in names
    ]
