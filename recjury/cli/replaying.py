"""`recjury replay`: a conversation and its debate, verified, or held again in another way."""

import asyncio
import json
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from recjury import campaign as campaigns
from recjury import results
from recjury.campaign import Change
from recjury.cli.options import (
    DEFAULT_STORE,
    CampaignOption,
    FormOutput,
    SelectionOptions,
    StoreOption,
    campaign_of,
    pairs,
)
from recjury.cli.parameters import OptionsOf
from recjury.cli.stores import verification
from recjury.cli.work import run_until_interrupted
from recjury.errors import UserError
from recjury.files import read_text
from recjury.results import Findings
from recjury.store import Store


@dataclass(frozen=True)
class WhatIf:
    """What is another one in a debate that is held again."""

    score: Annotated[
        list[str] | None, typer.Option(help="What if: ROLE=SCORE, such as linguist=40.")
    ] = None
    say: Annotated[
        list[str] | None, typer.Option(help="What if: ROLE=FILE with another statement.")
    ] = None
    model: Annotated[
        list[str] | None, typer.Option(help="What if: ROLE=MODEL speaks from then on.")
    ] = None
    round_: Annotated[int, typer.Option("--round", min=1, help="The round that is changed.")] = 1
    max_rounds: Annotated[int | None, typer.Option(min=1, max=8)] = None
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="What if: only say how many calls it takes.")
    ] = False

    def __bool__(self) -> bool:
        return bool(self.score or self.say or self.model or self.max_rounds)

    def debated(self, store: Store, conversation: str, campaign: str) -> Findings:
        """The debate as it was, and below it as it goes on after the changes. Raises UserError."""
        hold = partial(
            campaigns.what_if,
            store,
            store.conversation(conversation, campaign).id,
            self._changes(),
            campaign=campaign,
            round_=self.round_,
            models=pairs(self.model or (), "--model ROLE=VALUE"),
            max_rounds=self.max_rounds,
        )
        typical = asyncio.run(hold(dry_run=True))
        expected = f"about {typical.sent} calls to models of campaign {typical.campaign}"
        if self.dry_run:
            return Findings(
                title=typical.evaluation,
                answer=f"The rest of the debate: {expected}.",
                data={"campaign": typical.campaign, "calls": typical.sent},
            )
        if typical.sent:
            typer.echo(f"The rest of the debate is held again: {expected}.", err=True)
        held = run_until_interrupted(hold())
        before, after = (
            results.debate_data(held.ratings, each) for each in (held.before, held.after)
        )
        texts = [results.debate_text(each) for each in (held.before, held.after)]
        old, new = (_score(data["verdict"]) for data in (before, after))
        sent = f" {held.sent} calls sent, on account of {held.campaign}." if typical.sent else ""
        return Findings(
            title=held.evaluation,
            answer=f"Verdict: {old} as it was, {new} if.{sent}",
            text=f"As it was\n\n{texts[0]}\n\nIf\n\n{texts[1]}",
            data={
                "evaluation": held.evaluation,
                "campaign": held.campaign,
                "sent": held.sent,
                "original": before,
                "variant": after,
            },
        )

    def _changes(self) -> dict[str, Change]:
        """What is said instead, by role. Raises UserError."""
        changes: dict[str, Change] = {}
        for role, value in pairs(self.score or (), "--score ROLE=VALUE").items():
            try:
                number = float(value)
            except ValueError:
                number = -1
            if not 0 <= number <= 100:
                raise UserError(f"--score {role}={value}: a number from 0 to 100 is wanted")
            changes[role] = Change(score=number)
        for role, file in pairs(self.say or (), "--say ROLE=VALUE").items():
            text = read_text(Path(file)).strip()
            changes[role] = changes.get(role, Change())._replace(text=text)
        return changes


def replay(
    *,
    conversation: Annotated[str, typer.Argument(help="An id or how one begins.")] = "",
    selection: SelectionOptions,
    sort: Annotated[
        str, typer.Option(help="List the lowest scores of this metric first; -METRIC the highest.")
    ] = "",
    verify: Annotated[
        bool, typer.Option("--verify", help="Rate again from the stored replies, and compare.")
    ] = False,
    what_if: Annotated[WhatIf, OptionsOf(WhatIf)],
    out: Annotated[
        Path | None, typer.Option(help="Write the debate as JSON; with what-if, both debates.")
    ] = None,
    store: StoreOption = DEFAULT_STORE,
    campaign: CampaignOption = "",
    output: FormOutput,
) -> None:
    """Show a conversation, its ratings and its debate; without an id, list the conversations.

    Examples: recjury replay 3f2a; recjury replay --sort core.overall; recjury replay --where
    'core.overall<40'; recjury replay --verify; recjury replay 3f2a --score linguist=40; recjury
    replay 3f2a --json > debate.json. What-if asks models, which is paid; what is stored is not
    asked again.
    """
    if (selection or sort) and (verify or conversation):
        raise UserError(
            "--system, --user, --scenario, --where, --failed and --sort are of the list alone"
        )
    with Store(store, readonly=not what_if or what_if.dry_run) as opened:
        if what_if:
            found = what_if.debated(opened, conversation, campaign)
        elif verify:
            name = campaign_of(opened, campaign)
            id_ = opened.conversation(conversation, campaign).id if conversation else ""
            found = verification(opened, [name], title=name, conversation=id_)
            found = replace(found, data={"campaign": name, **found.data})
        elif conversation:
            found = asyncio.run(results.replay(opened, conversation, campaign))
        else:
            name = campaign_of(opened, campaign)
            found = results.conversation_list(opened, name, selection=selection, sort=sort)
    if out is not None:
        _write(out, found)
    output.show(found)


def _score(score: float | None) -> str:
    return "none" if score is None else f"{score:g}"


def _write(path: Path, found: Findings) -> None:
    try:
        path.write_text(json.dumps(found.data, ensure_ascii=False, indent=1), "utf-8")
    except OSError as error:
        raise UserError(f"--out {path}: {error.strerror}") from None
