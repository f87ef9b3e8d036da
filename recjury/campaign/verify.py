"""Verification: every evaluation is done again from the stored replies, and compared."""

from collections.abc import Sequence
from itertools import takewhile
from typing import NamedTuple

from recjury.campaign.config import Config
from recjury.campaign.prepare import Prepared, prepared
from recjury.errors import Altered
from recjury.llm import Ask, AttemptError, Dialect, Remedy
from recjury.mistakes import made
from recjury.records import (
    Completion,
    Evidence,
    Finding,
    Rating,
    Request,
    Statement,
    Status,
    Unit,
    ratings_of,
    statements_of,
)
from recjury.store import EvaluationRow, Store


class StoredReplies:
    """Answers with the replies of a store, and refuses a prompt that is not the stored one."""

    def __init__(self, store: Store):
        """Nothing is sent."""
        self._store = store

    async def ask(
        self,
        calls: Sequence[str],
        request: Request,
        code: str,  # noqa: ARG002 (a stored reply has its own)
        dialect: Dialect,  # noqa: ARG002
    ) -> Sequence[Completion]:
        """The stored completions of the first of `calls`. Raises AttemptError."""
        rows = {row.completion.call: row for row in self._store.calls(calls)}
        found = [rows[call] for call in takewhile(rows.__contains__, calls)]
        if not found:
            raise _refused(f"the store has no reply to this prompt ({request.purpose})")
        if any(row.prompt != request.messages for row in found):
            raise _refused("the stored prompt is another one")
        return [row.completion for row in found]

    async def aclose(self) -> None:
        """Nothing is open."""


def _refused(reason: str) -> AttemptError:
    return AttemptError(Remedy("refused", reason))


class Verified(NamedTuple):
    """Evaluations that came out equal, those that differ with what differs, and those not tried.

    An evaluation is not tried if the settings or the code of its evaluator have changed since.
    """

    equal: int
    differing: dict[str, str]
    changed: int


async def verify(store: Store, campaign: str, *, conversation: str = "") -> Verified:
    """Rate the finished evaluations of a campaign, or of one conversation, again.

    It shows that scores and statements follow from the stored replies, and that the stored prompts
    are what the logs render to. Nothing is written and nothing is sent.
    """
    config = made(Config, store.config(campaign)).model_copy(update={"budget": None})
    differing, equal, changed = dict[str, str](), 0, 0
    with Store() as memory:
        async with prepared(
            config, memory, open_provider=lambda _: StoredReplies(store), only_rates=True
        ) as ready:
            rows = store.evaluations(campaign, conversation=conversation)
            for row in (row for row in rows if row.state == "done"):
                if row.evaluator not in ready.evaluators:
                    changed += 1
                elif problem := await _difference(row, ready, store):
                    differing[row.id] = f"{problem}, conversation {row.conversation[:8]},"
                else:
                    equal += 1
    return Verified(equal, differing, changed)


async def _difference(row: EvaluationRow, ready: Prepared, store: Store) -> str:
    """What differs between an evaluation and the same one done again; empty if nothing does."""
    unit = Unit(ready.config.name, row.conversation, row.id)
    ask = Ask(ready.gateway, unit, sample=row.judging, tries=row.tries)
    try:
        if (log := await store.log(row.conversation)) is None:
            return "the conversation's log"
        before = _comparable(store.findings(row.id))
        again = _comparable(await ready.evaluators[row.evaluator].rate(log, ask))
    except Altered:
        return "the form of what is stored"
    names = sorted(before.keys() | again.keys())
    return next((name for name in names if before.get(name) != again.get(name)), "")


def _comparable(findings: Sequence[Finding]) -> dict[str, str]:
    """What was found, by name."""
    parts: dict[str, Rating | Statement | Evidence] = {
        **{f"{r.metric} by {r.rater}{_at(r)}": r for r in ratings_of(findings)},
        **{f"round {s.round}, {s.role}": s for s in statements_of(findings)},
        **{f"{e.name} {n}": e for n, e in enumerate(findings) if isinstance(e, Evidence)},
    }
    return {name: _without_refusal(part).model_dump_json() for name, part in parts.items()}


def _at(rating: Rating) -> str:
    return "" if rating.turn is None else f", turn {rating.turn + 1}"


def _without_refusal(part: Rating | Statement | Evidence) -> Rating | Statement | Evidence:
    """What was refused has no reply that could be compared, and other words the second time."""
    if isinstance(part, Evidence) or part.status is not Status.REFUSED:
        return part
    return part.model_copy(update={"reason": "", "calls": ()})
