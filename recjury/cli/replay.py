"""`recjury replay`: watch a stored debate again, or verify that it is what it was."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from recjury.cli import options, output
from recjury.cli.plain_text import printable
from recjury.errors import ConfigError, StoreError

if TYPE_CHECKING:
    from recjury.debate.difference import Difference
    from recjury.debate.replay import ReplayedDebate
    from recjury.records import JSON
    from recjury.store import Store

SOME_DIFFER = 3


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

    \b
    recjury replay                     list the debates
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
            _watch(kept, ids, as_json=as_json)


def _list(store: "Store", campaign: str | None, *, as_json: bool) -> None:
    debates = [summary._asdict() for summary in store.debates(campaign)]
    if as_json:
        output.emit_json({"debates": debates})
        return
    output.show_table(
        ["trial", "system", "scenario", "verdict", "rounds", "agreed"],
        (
            [
                str(debate["trial"])[:12],
                printable(debate["system"]),
                printable(debate["scenario"]),
                output.number(debate["score"], 1),
                str(debate["rounds"]),
                "yes" if debate["agreed"] else "no",
            ]
            for debate in debates
        ),
    )


def _verify(store: "Store", trials: Sequence[str], *, every: bool, as_json: bool) -> None:
    different: list[dict[str, JSON]] = []
    verified = 0
    for trial in trials:
        found = _differences(store, trial, every=every)
        verified += not found
        different += [{"trial": trial, **difference.model_dump()} for difference in found]
    if as_json:
        output.emit_json({"debates": len(trials), "verified": verified, "different": different})
    else:
        for difference in different:
            line = (
                f"{difference['trial']} {difference['kind']} at {difference['where']}: "
                f"expected {difference['expected']!r}, found {difference['found']!r}"
            )
            output.say(printable(line))
        output.say(f"{verified} of {len(trials)} debates are what they were")
    if different:
        output.stop(SOME_DIFFER)


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
    from recjury.debate.replay import replay as replayed

    if as_json:
        debates = [replayed(store, trial).model_dump(mode="json") for trial in trials]
        output.emit_json({"debates": debates})
        return
    for trial in trials:
        _show(replayed(store, trial))


def _show(debate: "ReplayedDebate") -> None:
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False)

    def rule(text: str) -> None:
        console.rule(Text(printable(text)))

    def say(head: str, text: str) -> None:
        console.print(Text.assemble((printable(head), "bold"), printable(text)))

    rule(f"{debate.log.system} · {debate.log.scenario.id}")
    for turn in debate.log.interaction:
        say(f"{turn.speaker:>7}  ", turn.text)
    for rating in debate.ratings:
        score = output.number(rating.score, 0)
        console.print(
            Text(printable(f"  {rating.factor}: {score}  {rating.reason or rating.rationale}"))
        )
    for number in range(1, debate.transcript.rounds + 1):
        rule(f"round {number}")
        for said in debate.transcript.of_round(number):
            head = f"{said.role} ({said.speaker}) {output.number(said.score, 0)}  "
            say(head, said.text or said.reason)
    verdict = debate.verdict
    how = "agreed" if verdict.agreed else f"after {verdict.rounds} rounds"
    rule(f"verdict {output.number(verdict.score, 1)}, {how} {verdict.reason}".strip())
