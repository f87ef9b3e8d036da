"""`recjury replay`: show stored conversations and debates again, or verify debates."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from recjury.cli import options, output
from recjury.cli.replay_verify import verify_debates
from recjury.cli.replay_view import Undebated, show
from recjury.errors import ConfigError

if TYPE_CHECKING:
    from recjury.cli.replay_view import Replayed
    from recjury.debate.stored_debate import ReplayedDebate
    from recjury.records import JSON
    from recjury.store import DebateSummary, EvaluationResult, Store, Unfinished

_REASON = 100  # characters of a reason in a list
_DIGITS = 12  # of an id in a list


def replay(
    named: Annotated[
        str | None,
        typer.Argument(
            metavar="[ID]", help="The id of a debate or a conversation, or its first digits."
        ),
    ] = None,
    store: options.Store = options.DEFAULT_STORE,
    every: Annotated[bool, typer.Option("--all", help="All debates of the store.")] = False,
    verify: Annotated[
        bool, typer.Option("--verify", help="Read the stored raw replies again and compare.")
    ] = False,
    campaign: options.Campaign = None,
    as_json: options.Json = False,
) -> None:
    """Replay conversations and their debates from the store; no model is called.

    For a conversation without a debate, the turns and the ratings that exist are shown.

    \b
    recjury replay                     list the debates, and the conversations that failed
    recjury replay 3f2a91              show one
    recjury replay --verify            recompute every verdict from the raw replies
    """
    from recjury.debate.lookup import debates_of
    from recjury.store import Store as Kept

    if every and named:
        raise ConfigError("name a debate or say --all, not both")
    with Kept.open(store, read_only=True) as kept:
        chosen = kept.campaign(campaign).id if campaign else None
        if not (named or every or verify):
            _list(kept, chosen, as_json=as_json)
        elif verify:
            ids = debates_of(kept, named) if named else kept.debated(chosen)
            verify_debates(kept, ids, every=named is None, as_json=as_json)
        else:
            found = _named(kept, named) if named else _all(kept, chosen)
            if as_json:
                output.emit_json(_sorted_out(found))
            else:
                show(found)


def _list(store: "Store", campaign: str | None, *, as_json: bool) -> None:
    from recjury.debate.lookup import with_forks

    debates = with_forks(store.debates(campaign))
    failed = [store.unfinished(each) for each in store.unfinished_conversations(campaign)]
    unfinished = [each for each in failed if each is not None]
    if as_json:
        brief = [
            {"conversation": each.conversation, "trial": each.conversation}
            | {"system": each.log.system, "scenario": each.log.scenario.id}
            | {"round": each.round, "reason": each.reason}
            for each in unfinished
        ]
        listed = [each._asdict() | {"trial": each.conversation} for each in debates]
        output.emit_json({"debates": listed, "unfinished": brief})
        return
    _list_debates(store, debates)
    if unfinished:
        _list_unfinished(unfinished)


def _list_debates(store: "Store", debates: "list[DebateSummary]") -> None:
    """A line each; the columns `evaluator`, `fork` and `superseded` only if there are several, or
    any."""
    from recjury.debate import verdict_name

    several = len({each.evaluator for each in debates}) > 1
    forks = any(each.fork_of for each in debates)
    names = {verdict_name(each.protocol) for each in debates}
    verdict = names.pop() if len(names) == 1 else "verdict"
    headings = ["debate", "system", "scenario", verdict, "rounds", "agreed"]
    repeated = any(each.superseded for each in debates)
    headings += ["evaluator"] * several + ["fork"] * forks + ["superseded"] * repeated
    rows = []
    for each in debates:
        row = [each.evaluation[:_DIGITS], each.system, each.scenario]
        row += [output.number(each.score, 1), str(each.rounds), "yes" if each.agreed else "no"]
        row += [each.evaluator] * several
        row += [_fork(store, each)] if forks else []
        rows.append(row + ["yes" if each.superseded else "no"] * repeated)
    output.show_table(headings, rows)


def _fork(store: "Store", debate: "DebateSummary") -> str:
    if debate.fork_of is None:
        return ""
    fork = store.stage_results(debate.evaluation)["fork"].output or {}
    return f"fork of {debate.fork_of[:_DIGITS]} from round {fork.get('round')}"


def _list_unfinished(unfinished: "Iterable[Unfinished]") -> None:
    output.show_table(
        ["conversation", "system", "scenario", "failed", "why"],
        (
            [
                each.conversation[:_DIGITS],
                each.log.system,
                each.log.scenario.id,
                each.place,
                each.reason[:_REASON],
            ]
            for each in unfinished
        ),
        title="conversations that failed",
    )


def _all(store: "Store", campaign: str | None) -> "Iterator[Replayed]":
    from recjury.debate.stored_debate import load_debate

    for evaluation in store.debated(campaign):
        yield load_debate(store, evaluation)
    for conversation in store.unfinished_conversations(campaign):
        failed = store.unfinished(conversation)
        if failed is not None:
            yield failed


def _named(store: "Store", prefix: str) -> "Iterator[Replayed]":
    """The debates of the named id; without one, the conversation as far as it went."""
    from recjury.debate.lookup import look_up_debates
    from recjury.debate.stored_debate import load_debate

    found = look_up_debates(store, prefix)
    if (failed := store.unfinished(found.conversation)) is not None:
        yield failed
        return
    for evaluation in found.debates:
        yield load_debate(store, evaluation)
    if not found.debates:
        yield _undebated(store, found.conversation, found.evaluation)


def _undebated(store: "Store", conversation: str, evaluation: str | None) -> Undebated:
    """A conversation without a debate, and its ratings.

    They are those of `evaluation` if given, else of the evaluators with a debate, else all.
    """
    from recjury.errors import StoreError

    log = store.log(conversation)
    if log is None:
        raise StoreError(f"conversation {conversation} has no log: resume its campaign first")
    (result,) = store.results(conversations=[conversation])
    found = list(result.evaluations)
    if evaluation is not None:
        chosen = [each for each in found if each.evaluation == evaluation]
    else:
        debating = {each.label for each in store.evaluators(None) if "debate" in each.stages}
        chosen = [each for each in found if each.label in debating] or found
    ratings = tuple(rating for each in chosen for rating in each.ratings)
    return Undebated(conversation, log, ratings, _why(chosen))


def _why(evaluations: "list[EvaluationResult]") -> str:
    """Why the conversation has no debate."""
    for each in evaluations:
        for stage in ("rate", "debate"):
            # A stage that failed may have been finished later: then it is not the reason.
            if stage in each.failures and stage not in each.stages:
                return f"{stage} failed: {each.failures[stage]}"
    return "there is none: the debate is off, or its campaign is not finished"


def _sorted_out(found: "Iterable[Replayed]") -> "dict[str, list[dict[str, JSON]]]":
    """All of them as JSON, grouped by how far they went."""
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
    from recjury.debate.recompute import installed_protocol

    protocol = debate.transcript.protocol
    other = None if protocol == installed_protocol(protocol) else protocol
    whole = debate.model_dump(mode="json")
    return {"trial": debate.conversation, **whole, "another_version": other}


def _undebated_as_json(found: Undebated) -> "dict[str, JSON]":
    return {
        "conversation": found.conversation,
        "trial": found.conversation,
        "reason": found.reason,
        "log": found.log.model_dump(mode="json"),
        "ratings": [rating.model_dump(mode="json") for rating in found.ratings],
    }


def _unfinished_as_json(failed: "Unfinished") -> "dict[str, JSON]":
    return {
        "conversation": failed.conversation,
        "trial": failed.conversation,
        "reason": failed.reason,
        "round": failed.round,
        "failed_at": failed.failed_at,
        "log": failed.log.model_dump(mode="json"),
    }
