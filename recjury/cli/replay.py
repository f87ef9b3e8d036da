"""`recjury replay`: watch a stored debate again, or verify that it is what it was."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from recjury.cli import options, output
from recjury.cli.plain_text import printable
from recjury.cli.replay_view import Undebated, show
from recjury.errors import ConfigError, StoreError

if TYPE_CHECKING:
    from recjury.cli.replay_view import Replayed
    from recjury.debate.difference import Difference
    from recjury.debate.replay import ReplayedDebate
    from recjury.records import JSON, Rating
    from recjury.store import Store, Unfinished

SOME_DIFFER = 3
_REASON = 100  # characters of a reason in a list


def replay(
    trial: Annotated[
        str | None, typer.Argument(metavar="[TRIAL]", help="A trial's id, or its first digits.")
    ] = None,
    store: options.Store = options.DEFAULT_STORE,
    every: Annotated[bool, typer.Option("--all", help="All debates of the store.")] = False,
    verify: Annotated[
        bool, typer.Option("--verify", help="Read the stored raw replies again and compare.")
    ] = False,
    campaign: options.Campaign = None,
    as_json: options.Json = False,
) -> None:
    """Replay debates from the store, round by round; nothing is asked of any model.

    Of a trial without a debate, what there is of it is shown: the conversation, as far as it
    went, and the ratings.

    \b
    recjury replay                     list the debates, and the conversations that failed
    recjury replay 3f2a91              watch one
    recjury replay --verify            recompute every verdict from the raw replies
    """
    from recjury.store import Store as Kept

    if every and trial:
        raise ConfigError("name a trial or say --all, not both")
    with Kept.open(store, create=False) as kept:
        chosen = kept.campaign(campaign).id if campaign else None
        if not (trial or every or verify):
            _list(kept, chosen, as_json=as_json)
            return
        ids = [kept.trial(trial).id] if trial else kept.debated(chosen)
        if verify:
            _verify(kept, ids, every=trial is None, as_json=as_json)
        else:
            failed = () if trial else kept.unfinished_trials(chosen)
            _watch(kept, [*ids, *failed], as_json=as_json)


def _list(store: "Store", campaign: str | None, *, as_json: bool) -> None:
    debates = [summary._asdict() for summary in store.debates(campaign)]
    failed = [store.unfinished(trial) for trial in store.unfinished_trials(campaign)]
    unfinished = [each for each in failed if each is not None]
    if as_json:
        brief = [
            {"trial": each.trial, "system": each.log.system, "scenario": each.log.scenario.id}
            | {"round": each.round, "reason": each.reason}
            for each in unfinished
        ]
        output.emit_json({"debates": debates, "unfinished": brief})
        return
    output.show_table(
        ["trial", "system", "scenario", "verdict", "rounds", "agreed"],
        (
            [
                str(debate["trial"])[:12],
                debate["system"],
                debate["scenario"],
                output.number(debate["score"], 1),
                str(debate["rounds"]),
                "yes" if debate["agreed"] else "no",
            ]
            for debate in debates
        ),
    )
    if unfinished:
        _list_unfinished(unfinished)


def _list_unfinished(unfinished: "Iterable[Unfinished]") -> None:
    output.show_table(
        ["trial", "system", "scenario", "failed", "why"],
        (
            [
                each.trial[:12],
                each.log.system,
                each.log.scenario.id,
                each.place,
                each.reason[:_REASON],
            ]
            for each in unfinished
        ),
        title="conversations that failed",
    )


def _verify(store: "Store", trials: Sequence[str], *, every: bool, as_json: bool) -> None:
    from recjury.debate.replay import another_version

    different: list[dict[str, JSON]] = []
    others: list[dict[str, JSON]] = []
    verified = 0
    for trial in trials:
        found = _differences(store, trial, every=every)
        different += [{"trial": trial, **difference.model_dump()} for difference in found]
        if not found:
            verified += 1
            protocol = another_version(store, trial)
            others += [] if protocol is None else [{"trial": trial, "protocol": protocol}]
    if as_json:
        result = {"debates": len(trials), "verified": verified, "different": different}
        # Only where there is something to say: mostly all debates are of the installed version.
        output.emit_json(result | ({"another_version": others} if others else {}))
    else:
        for difference in different:
            line = (
                f"{difference['trial']} {difference['kind']} at {difference['where']}: "
                f"expected {difference['expected']!r}, found {difference['found']!r}"
            )
            output.say(printable(line))
        output.say(f"{verified} of {len(trials)} debates are what they were")
        _say_versions(Counter(str(other["protocol"]) for other in others))
    if different:
        output.stop(SOME_DIFFER)


def _say_versions(others: Counter[str]) -> None:
    for protocol, count in others.most_common():
        held = "was" if count == 1 else "were"
        output.say(
            f"{count} of them {held} held by another version, {protocol}: what that version said "
            "or asked was held against its hashes, and not made again"
        )


def _differences(store: "Store", trial: str, *, every: bool) -> "tuple[Difference, ...]":
    """Of `every` debate that must be there, one that is not differs; one that was named is not."""
    from recjury.debate.difference import Difference
    from recjury.debate.replay import verify

    try:
        return verify(store, trial)
    except StoreError as problem:
        if not every:
            raise
        wrong = Difference(
            kind="store", where=trial, expected="as it was written", found=str(problem)
        )
        return (wrong,)


def _watch(store: "Store", trials: Sequence[str], *, as_json: bool) -> None:
    """Show debates; of a trial without one, how far it came."""
    found = (_found(store, trial) for trial in trials)
    if as_json:
        output.emit_json(_sorted_out(found))
    else:
        show(found)


def _found(store: "Store", trial: str) -> "Replayed":
    """The debate of a trial, or how far it came."""
    from recjury.debate.replay import replay as replayed

    if (failed := store.unfinished(trial)) is not None:
        return failed
    log = store.log(trial) if store.debate(trial) is None else None
    if log is None:
        return replayed(store, trial)
    ratings = store.ratings(trial)
    return Undebated(trial, log, ratings, _why(store, trial, ratings))


def _why(store: "Store", trial: str, ratings: "Sequence[Rating]") -> str:
    """Why a trial has a conversation and no debate."""
    from recjury.records import Factor

    # A stage that failed may have been finished since: then it is not what is missing.
    rated = any(rating.factor in set(Factor) for rating in ratings)
    missing = "debate" if rated else "rate"
    failures = [each for each in store.failures(trial) if each.stage == missing]
    if failures:
        return f"{missing} failed: {failures[-1].reason}"
    return "none was held: the debate is off, or its campaign is not done"


def _sorted_out(found: "Iterable[Replayed]") -> "dict[str, list[dict[str, JSON]]]":
    """All of them as JSON, by how far they came."""
    from recjury.store import Unfinished

    debates: list[dict[str, JSON]] = []
    unfinished: list[dict[str, JSON]] = []
    undebated: list[dict[str, JSON]] = []
    for each in found:
        if isinstance(each, Undebated):
            undebated.append(_undebated_as_json(each))
        elif isinstance(each, Unfinished):
            unfinished.append(_unfinished_as_json(each))
        else:
            debates.append(_debate_as_json(each))
    return {"debates": debates, "unfinished": unfinished, "undebated": undebated}


def _debate_as_json(debate: "ReplayedDebate") -> "dict[str, JSON]":
    from recjury.debate.replay import installed

    protocol = debate.transcript.protocol
    other = None if protocol == installed(protocol) else protocol
    return {**debate.model_dump(mode="json"), "another_version": other}


def _undebated_as_json(trial: Undebated) -> "dict[str, JSON]":
    return {
        "trial": trial.trial,
        "reason": trial.reason,
        "log": trial.log.model_dump(mode="json"),
        "ratings": [rating.model_dump(mode="json") for rating in trial.ratings],
    }


def _unfinished_as_json(failed: "Unfinished") -> "dict[str, JSON]":
    return {
        "trial": failed.trial,
        "reason": failed.reason,
        "round": failed.round,
        "failed_at": failed.failed_at,
        "log": failed.log.model_dump(mode="json"),
    }
