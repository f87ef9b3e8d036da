"""The debates to which the id of an evaluation or a conversation refers."""

from collections.abc import Callable
from typing import NamedTuple, TypeVar

from recjury.errors import StoreError
from recjury.store import DebateSummary, Store, StoredEvaluation

T = TypeVar("T")

_OLDER = "@"  # in the label of all versions of an evaluator but the newest


class DebateLookup(NamedTuple):
    """What an id refers to: its debates, and their conversation.

    `evaluation` is None if the id is a conversation's. `debates` are ids of evaluations: the one
    that was named, or those of the conversation by the newest version of each evaluator that
    debates.
    """

    conversation: str
    evaluation: str | None
    debates: tuple[str, ...]


def look_up_debates(store: Store, prefix: str) -> DebateLookup:
    """What the id that begins with `prefix` refers to.

    Raises StoreError if there is no such evaluation or conversation, or more than one.
    """
    evaluation = _found(store.evaluation, prefix)
    conversation = _found(store.conversation, prefix)
    if evaluation is not None and conversation is not None:
        raise StoreError(
            f"an evaluation and a conversation begin with {prefix}: give more of the id"
        )
    if evaluation is not None:
        over = next(iter(evaluation.conversations), evaluation.id)
        debates = (evaluation.id,) if _has_debate(store, evaluation) else ()
        return DebateLookup(over, evaluation.id, debates)
    if conversation is None:
        raise StoreError(
            f"no evaluation and no conversation begins with {prefix}, or several do: "
            "`recjury replay` lists the debates"
        )
    return DebateLookup(conversation.id, None, _newest(store, conversation.id))


def debates_of(store: Store, prefix: str) -> tuple[str, ...]:
    """The debates that `prefix` refers to, as in `look_up_debates`; StoreError if none."""
    found = look_up_debates(store, prefix)
    if not found.debates:
        what = found.evaluation or found.conversation
        raise StoreError(f"{what} has no debate in the store: resume its campaign first")
    return found.debates


def with_forks(debates: tuple[DebateSummary, ...]) -> list[DebateSummary]:
    """The same debates, each followed by its forks."""
    known = {each.evaluation for each in debates}
    forks: dict[str, list[DebateSummary]] = {}
    first: list[DebateSummary] = []
    for each in debates:
        if each.fork_of is not None and each.fork_of in known:
            forks.setdefault(each.fork_of, []).append(each)
        else:
            first.append(each)
    ordered: list[DebateSummary] = []
    left = first[::-1]
    while left:
        each = left.pop()
        ordered.append(each)
        left += forks.get(each.evaluation, [])[::-1]
    return ordered


def _newest(store: Store, conversation: str) -> tuple[str, ...]:
    return tuple(
        each.evaluation
        for each in store.debates()
        if each.conversation == conversation
        and each.fork_of is None
        and not each.superseded
        and _OLDER not in each.evaluator
    )


def _has_debate(store: Store, evaluation: StoredEvaluation) -> bool:
    """Whether the debate stage is done, even if the stored debate is damaged."""
    stages = store.evaluation_stages([evaluation.id]).get(evaluation.id, set())
    return "debate" in stages


def _found(find: Callable[[str], T], prefix: str) -> T | None:
    try:
        return find(prefix)
    except StoreError:
        return None
