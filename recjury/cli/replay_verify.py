"""What `recjury replay --verify` finds, printed."""

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from recjury.cli import output
from recjury.errors import StoreError
from recjury.safe_text import printable

if TYPE_CHECKING:
    from recjury.debate.discrepancy import Discrepancy
    from recjury.debate.stored_debate import Verification
    from recjury.records import JSON
    from recjury.store import Store

SOME_DIFFER = 3


def verify_debates(
    store: "Store", evaluations: Sequence[str], *, every: bool, as_json: bool
) -> None:
    """Recompute debates and print where they differ; with `every`, a missing one differs."""
    from recjury.debate.stored_debate import verifications

    if not evaluations:
        raise StoreError("there is no debate to verify")
    different: list[dict[str, JSON]] = []
    others: list[dict[str, JSON]] = []
    verified = 0
    for debate in verifications(store, evaluations):
        found = _differences(debate, every=every)
        place: dict[str, JSON] = {"evaluation": debate.evaluation}
        place |= {"conversation": debate.conversation, "trial": debate.conversation}
        different += [{**place, **difference.model_dump()} for difference in found]
        if not found:
            verified += 1
            protocol = debate.another_version()
            others += [] if protocol is None else [{**place, "protocol": protocol}]
    if as_json:
        result = {"debates": len(evaluations), "verified": verified, "different": different}
        # Left out if it is empty: usually all debates are of the installed version.
        output.emit_json(result | ({"another_version": others} if others else {}))
    else:
        for difference in different:
            line = (
                f"{difference['evaluation']} {difference['kind']} at {difference['where']}: "
                f"expected {difference['expected']!r}, found {difference['found']!r}"
            )
            output.say(printable(line))
        output.say(f"{verified} of {len(evaluations)} debates are what they were")
        _say_versions(Counter(str(other["protocol"]) for other in others))
    if different:
        output.stop(SOME_DIFFER)


def _say_versions(others: Counter[str]) -> None:
    for protocol, count in others.most_common():
        made = "was" if count == 1 else "were"
        output.say(
            f"{count} of them {made} made by another version, {protocol}: texts and prompts were "
            "compared by their hashes, and not made again"
        )


def _differences(debate: "Verification", *, every: bool) -> "tuple[Discrepancy, ...]":
    """Where a debate differs. With `every`, a missing debate is a difference, else StoreError."""
    from recjury.debate.discrepancy import Discrepancy

    try:
        return debate.differences()
    except StoreError as problem:
        if not every:
            raise
        wrong = Discrepancy(
            kind="store",
            where=debate.evaluation,
            expected="as it was written",
            found=str(problem),
        )
        return (wrong,)
