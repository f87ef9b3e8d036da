"""`recjury paireval tournament` and `adversaries`: systems ranked, and negatives written."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recjury.cli import options, output
from recjury.cli.paireval_options import Config, Data, DryRun, Seed, read_models, show_comparisons
from recjury.cli.progress_line import progress_line

if TYPE_CHECKING:
    from recjury.judges.paireval.adversaries import Adversaries
    from recjury.judges.paireval.tournament import TournamentResult
    from recjury.llm import Gateway
    from recjury.records import ConversationLog

_EVERY = 10.0  # seconds between lines if there is no terminal


class ComparedLevel(StrEnum):
    """What is compared in a tournament."""

    TURN = "turn"
    DIALOGUE = "dialogue"


Model = Annotated[
    str | None,
    typer.Option("--model", metavar="ALIAS", help="The model that asks (default: main)."),
]


def tournament(
    config: Config,
    campaign: Annotated[
        list[str] | None,
        typer.Option("--campaign", metavar="ID", help="Only this one; may be repeated."),
    ] = None,
    model: Model = None,
    level: Annotated[
        ComparedLevel, typer.Option(help="What is compared.")
    ] = ComparedLevel.DIALOGUE,
    comparisons: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Make at most N comparisons in all.")
    ] = None,
    until_apart: Annotated[
        bool,
        typer.Option(
            "--until-apart", help="Stop when all neighbours are 1.96 standard errors apart."
        ),
    ] = False,
    at_once: Annotated[
        int, typer.Option(min=1, metavar="N", help="Comparisons that are planned together.")
    ] = 8,
    seed: Seed = 0,
    budget: options.Budget = None,
    store: options.Store = options.DEFAULT_STORE,
    dry_run: DryRun = False,
    as_json: options.Json = False,
) -> None:
    """Rank systems by comparing what they said in the same scenarios, and say what to ask next.

    The next comparison is always one that would teach most about the ranking (Bradley-Terry). If it
    was interrupted, the same command continues; with more --comparisons, it goes on.

    \b
    recjury paireval tournament --config models.yaml --store sqlite:///runs.db --comparisons 100
    recjury paireval tournament --config models.yaml --level turn --until-apart --json
    """
    from recjury.campaign.paireval import with_model
    from recjury.cli.async_work import await_work
    from recjury.judges.paireval.comparison import Comparer
    from recjury.judges.paireval.prompts import PairPrompts
    from recjury.judges.paireval.tournament import TournamentPlan, meetings_of, run_tournament
    from recjury.llm import MAIN_MODEL
    from recjury.plugins.extras import require_ranking
    from recjury.records import Level, digest

    require_ranking("a tournament")
    alias = model or MAIN_MODEL
    read = read_models(config, [alias], budget)
    meetings = meetings_of(_logs(store, campaign), Level(level.value))
    plan = TournamentPlan(
        level=level.value,
        comparisons=comparisons,
        until_apart=until_apart,
        at_once=at_once,
        seed=seed,
    )
    most = min(comparisons or len(meetings), len(meetings))
    if dry_run:
        show_comparisons(read, [alias], 2 * most, level=level, as_json=as_json)
        return
    made = [0, most]

    def watch(done: int, of: int) -> None:
        made[:] = done, of

    async def do(gateway: "Gateway") -> "TournamentResult":
        return await run_tournament(Comparer(gateway, alias), meetings, plan, watch)

    known = digest([[each.one, each.other, each.block, each.place] for each in meetings])
    what = {"level": level.value, "meetings": known, "prompts": PairPrompts().identity}
    with progress_line(
        lambda: f"{made[0]} of {made[1]} comparisons",
        lambda: made[0] / max(1, made[1]),
        every=_EVERY,
    ):
        found = await_work(with_model("tournament", read, store, alias, what, do))
    if as_json:
        output.emit_json(_as_json(found))
    else:
        _show(found)
    if found.unscored:
        output.stop(output.SOME_FAILED)


def _logs(store: str, campaigns: list[str] | None) -> "list[ConversationLog]":
    from recjury.store import Store

    with Store.open(store, create=False) as kept:
        chosen = [kept.campaign(each).id for each in campaigns] if campaigns else [None]
        ids = [each.id for one in chosen for each in kept.conversations(one)]
        found = (kept.log(each) for each in dict.fromkeys(ids))
        return [log for log in found if log is not None]


def _as_json(found: "TournamentResult") -> dict[str, object]:
    return {
        "standings": [each._asdict() for each in found.standings],
        "matches": len(found.matches),
        "next": None if found.next is None else found.next._asdict(),
        "are_apart": found.are_apart,
        "left": found.left,
        "cut": found.cut,
        "unscored": dict(found.unscored),
    }


def _show(found: "TournamentResult") -> None:
    output.show_table(
        ["system", "strength", "95 % interval", "wins", "comparisons", "above the next"],
        (
            [
                each.system,
                f"{each.strength:.2f}",
                "-" if each.low is None else f"{each.low:.2f} to {each.high:.2f}",
                f"{each.wins:.0%}",
                str(each.matches),
                "" if each.above_next is None else f"{each.above_next:.1%}",
            ]
            for each in found.standings
        ),
    )
    apart = "all neighbours are" if found.are_apart else "not all neighbours are"
    output.say(
        f"{len(found.matches)} comparisons, {found.left} left; {apart} 1.96 standard errors apart "
        "(a rule to stop by, not a test)"
    )
    if found.next is not None:
        output.say(
            f"next: {found.next.one} and {found.next.other} in {found.next.scenario} "
            f"(gain {found.next.gain:.4f})"
        )
    if found.cut:
        output.say(f"{found.cut} comparisons were too long, and lost their oldest turns")
    for reason, count in found.unscored.items():
        output.say(f"{count} without a result: {reason}")


def adversaries(
    config: Config,
    out: Annotated[Path, typer.Option(metavar="FILE", help="The file to write: JSON lines.")],
    model: Model = None,
    data: Data = None,
    corpus: Annotated[
        str, typer.Option(metavar="NAME", help="The dialogues whose contexts are used.")
    ] = "dailydialog.train",
    number: Annotated[int, typer.Option(min=1, metavar="N", help="How many contexts.")] = 1000,
    replies: Annotated[int, typer.Option(min=1, max=20, help="Replies for each context.")] = 5,
    seed: Seed = 0,
    budget: options.Budget = None,
    store: options.Store = options.DEFAULT_STORE,
    dry_run: DryRun = False,
    as_json: options.Json = False,
) -> None:
    """Let a model write replies that look fitting and are not, to train with.

    The file has the form of DailyDialog++. Contexts with a history of a rated set are left out.

    \b
    recjury paireval adversaries --config models.yaml --data DATA --number 500 --out hard.jsonl
    recjury train paireval --data DATA --model MODEL --adversarial hard.jsonl --out tuned
    """
    import orjson

    from recjury.campaign.paireval import sets_folder, with_model
    from recjury.cli.async_work import await_work
    from recjury.cli.dry_run import show_calls
    from recjury.corpora.dialogues import read_dialogues
    from recjury.corpora.leakage import rated_histories
    from recjury.corpora.writing import check_writable, write_file
    from recjury.judges.paireval.adversaries import (
        AdversaryWriter,
        asked_for,
        contexts,
        expected_writing,
    )
    from recjury.llm import MAIN_MODEL

    check_writable(out)
    alias = model or MAIN_MODEL
    read = read_models(config, [alias], budget)
    if dry_run:
        show_calls(
            read, [expected_writing(alias, number, read.attempts, replies=replies)], as_json=as_json
        )
        return
    folder = sets_folder(data)
    histories = rated_histories(folder)
    dialogues = (turns for _, turns in read_dialogues(folder, corpus))
    untested = (each for each in dialogues if not histories.are_in([turn.text for turn in each]))
    chosen = contexts(untested, number, seed)

    async def do(gateway: "Gateway") -> "list[Adversaries]":
        return await AdversaryWriter(gateway, alias, replies=replies).write(chosen)

    what = asked_for(chosen, replies=replies)
    found = await_work(with_model("adversaries", read, store, alias, what, do))
    made = [each for each in found if each.replies]
    write_file(out, (orjson.dumps(each.as_json()) + b"\n" for each in made))
    lost = len(found) - len(made)
    if as_json:
        count = sum(len(each.replies) for each in made)
        output.emit_json({"file": str(out), "contexts": len(made), "replies": count, "lost": lost})
    else:
        output.say(f"{out}: replies to {len(made)} contexts")
    if lost:
        reason = next(each.reason for each in found if not each.replies)
        output.say(f"{lost} contexts have none, the first: {reason}")
        output.stop(output.SOME_FAILED)
