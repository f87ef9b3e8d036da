"""recjury: how good is a conversational recommender for the person talking to it.

    import recjury

    run = recjury.evaluate(systems=["retrieval"], scenarios="sample", limit=10)
    run.systems["retrieval"]["core.overall"]

`evaluate` runs a campaign, `judge` evaluates conversations that exist, `open` reads a store. What
is listed in `__all__` is the public API.
"""

TYPE_CHECKING = False  # that of `typing`, whose import takes longer than all else here
if TYPE_CHECKING:
    from recjury.api import (
        Run,
        Stored,
        evaluate,
        evaluate_async,
        import_labels,
        judge,
        judge_async,
        open,  # noqa: A004
    )
    from recjury.campaign import Progress
    from recjury.errors import UserError
    from recjury.judges import Evaluator
    from recjury.records import (
        Conversation,
        ConversationLog,
        ItemRef,
        Level,
        Metric,
        Need,
        Rating,
        Recommender,
        Status,
        SystemReply,
        Turn,
        UserSimulator,
    )

__version__ = "0.2.0"

__all__ = [
    "Conversation",
    "ConversationLog",
    "Evaluator",
    "ItemRef",
    "Level",
    "Metric",
    "Need",
    "Progress",
    "Rating",
    "Recommender",
    "Run",
    "Status",
    "Stored",
    "SystemReply",
    "Turn",
    "UserError",
    "UserSimulator",
    "evaluate",
    "evaluate_async",
    "import_labels",
    "judge",
    "judge_async",
    "open",
]

_PACKAGES = {
    "recjury.api": {
        "Run",
        "Stored",
        "evaluate",
        "evaluate_async",
        "import_labels",
        "judge",
        "judge_async",
        "open",
    },
    "recjury.campaign": {"Progress"},
    "recjury.errors": {"UserError"},
    "recjury.judges": {"Evaluator"},
}


def __getattr__(name: str) -> object:
    """Import a public name when it is first used: the command line starts without these imports."""
    if name not in __all__:
        raise AttributeError(f"module 'recjury' has no attribute {name!r}")
    from importlib import import_module

    package = next((each for each, names in _PACKAGES.items() if name in names), "recjury.records")
    found: object = getattr(import_module(package), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
