"""`recjury replay`: a conversation and its debate, verified, or held again in another way."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recjury.cli.app import app
from recjury.cli.options import (
    DEFAULT_STORE,
    CampaignOption,
    FailedOption,
    FormatOption,
    JsonOption,
    ScenariosOption,
    StoreOption,
    SystemsOption,
    UsersOption,
    WhereOption,
    campaign_of,
    selection,
)
from recjury.errors import UserError

if TYPE_CHECKING:
    from recjury.campaign import Change
    from recjury.results import Findings
    from recjury.store import Store


@app.command()
def replay(
    conversation: Annotated[
        str, typer.Argument(help="An id or how one begins, or a JSON file that replay wrote.")
    ] = "",
    systems: SystemsOption = None,
    users: UsersOption = None,
    scenarios: ScenariosOption = None,
    where: WhereOption = None,
    failed: FailedOption = False,
    sort: Annotated[
        str, typer.Option(help="List the lowest scores of this metric first; -METRIC the highest.")
    ] = "",
    store: StoreOption = DEFAULT_STORE,
    campaign: CampaignOption = "",
    verify: Annotated[
        bool, typer.Option("--verify", help="Rate again from the stored replies, and compare.")
    ] = False,
    score: Annotated[
        list[str] | None, typer.Option(help="What if: ROLE=SCORE, such as linguist=40.")
    ] = None,
    say: Annotated[
        list[str] | None, typer.Option(help="What if: ROLE=FILE with another statement.")
    ] = None,
    model: Annotated[
        list[str] | None, typer.Option(help="What if: ROLE=MODEL speaks from then on.")
    ] = None,
    round_: Annotated[int, typer.Option("--round", min=1, help="The round that is changed.")] = 1,
    max_rounds: Annotated[int | None, typer.Option(min=1, max=8)] = None,
    out: Annotated[
        Path | None, typer.Option(help="Write the debate as JSON; with what-if, both debates.")
    ] = None,
    form: FormatOption = "text",
    json: JsonOption = False,
) -> None:
    """Show a conversation, its ratings and its debate; without an id, list the conversations.

    Examples: recjury replay 3f2a; recjury replay --sort core.overall; recjury replay --where
    'core.overall<40'; recjury replay --verify; recjury replay 3f2a --score linguist=40; recjury
    replay 3f2a --json > debate.json; recjury replay debate.json.
    """
    import asyncio

    from recjury import results
    from recjury.cli.show import show
    from recjury.store import Store

    if conversation.endswith(".json"):
        show(results.replay_file(Path(conversation)), as_json=json, form=form)
        return
    chosen = selection(systems, users, scenarios, where, failed)
    if (chosen or sort) and (verify or conversation):
        raise UserError(
            "--system, --user, --scenario, --where, --failed and --sort are of the list alone"
        )
    what_if = bool(score or say or model or max_rounds)
    with Store(store, readonly=not what_if) as opened:
        if what_if:
            changes = _changes(score or [], say or [])
            models = _pairs(model or [], "--model")
            found = asyncio.run(
                _what_if(
                    opened, conversation, changes, round_, models=models, max_rounds=max_rounds
                )
            )
        elif verify:
            found = asyncio.run(_verified(opened, campaign, conversation))
        elif conversation:
            found = asyncio.run(results.replay(opened, conversation))
        else:
            name = campaign_of(opened, campaign)
            found = results.conversation_list(opened, name, selection=chosen, sort=sort)
    if out is not None:
        _write(out, found)
    show(found, as_json=json, form=form)


async def _verified(store: "Store", campaign: str, conversation: str) -> "Findings":
    from recjury.campaign import verify
    from recjury.results import Findings

    name = campaign_of(store, campaign)
    id_ = store.conversation(conversation).id if conversation else ""
    found = await verify(store, name, conversation=id_)
    changed = f"; {found.changed} not tried, their evaluator has changed" if found.changed else ""
    return Findings(
        title=name,
        answer=f"{name}: {found.equal} evaluations came out equal, "
        f"{len(found.differing)} differ{changed}.",
        problems=tuple(f"{id_}: {what} differs" for id_, what in found.differing.items()),
        data={"campaign": name, **found._asdict()},
    )


async def _what_if(
    store: "Store",
    conversation: str,
    changes: "dict[str, Change]",
    round_: int,
    *,
    models: dict[str, str],
    max_rounds: int | None,
) -> "Findings":
    """The debate as it was, and below it as it goes on after the changes."""
    from recjury.campaign import what_if
    from recjury.records import ratings_of
    from recjury.results import Findings, debate_data, debate_text

    row = store.conversation(conversation)
    evaluation = _debated(store, row.campaign, row.id)
    both = await what_if(
        store, evaluation, changes, round_=round_, models=models, max_rounds=max_rounds
    )
    ratings = ratings_of(store.findings(evaluation))
    before, after = (debate_data(ratings, debate) for debate in both)
    return Findings(
        title=evaluation,
        answer=f"Verdict: {_score(before['verdict'])} as it was, {_score(after['verdict'])} if.",
        text=f"As it was\n\n{debate_text(both.before)}\n\nIf\n\n{debate_text(both.after)}",
        data={"evaluation": evaluation, "original": before, "variant": after},
    )


def _debated(store: "Store", campaign: str, conversation: str) -> str:
    """The first evaluation of a conversation that has a debate. Raises UserError."""
    from recjury.records import statements_of

    for row in store.evaluations(campaign, conversation=conversation):
        if statements_of(store.findings(row.id)):
            return row.id
    raise UserError(f"conversation {conversation[:8]} has no debate")


def _changes(scores: list[str], texts: list[str]) -> "dict[str, Change]":
    """What is said instead, by role. Raises UserError."""
    from recjury.campaign import Change
    from recjury.files import read_text

    changes: dict[str, Change] = {}
    for role, value in _pairs(scores, "--score").items():
        try:
            number = float(value)
        except ValueError:
            number = -1
        if not 0 <= number <= 100:
            raise UserError(f"--score {role}={value}: a number from 0 to 100 is wanted")
        changes[role] = Change(score=number)
    for role, file in _pairs(texts, "--say").items():
        text = read_text(Path(file)).strip()
        changes[role] = changes.get(role, Change())._replace(text=text)
    return changes


def _pairs(values: list[str], option: str) -> dict[str, str]:
    pairs = {}
    for each in values:
        name, sign, value = each.partition("=")
        if not (name and sign and value):
            raise UserError(f"{option} {each}: ROLE=VALUE is wanted")
        pairs[name] = value
    return pairs


def _score(score: float | None) -> str:
    return "none" if score is None else f"{score:g}"


def _write(path: Path, found: "Findings") -> None:
    import json

    try:
        path.write_text(json.dumps(found.data, ensure_ascii=False, indent=1), "utf-8")
    except OSError as error:
        raise UserError(f"--out {path}: {error.strerror}") from None
