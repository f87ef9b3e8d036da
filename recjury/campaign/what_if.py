"""What-if: a stored debate goes on from a round in which statements were changed."""

from collections.abc import Mapping
from typing import NamedTuple

from recjury.campaign.config import Config
from recjury.campaign.prepare import Open, Prepared, check_prices, prepared
from recjury.campaign.run import budget_of
from recjury.debate import edited
from recjury.demo import Counted
from recjury.errors import UserError
from recjury.files import nearest
from recjury.judges import Core
from recjury.llm import Ask, TypicalModel
from recjury.mistakes import made
from recjury.records import Debate, Rating, Statement, Unit, ratings_of
from recjury.store import EvaluationRow, Store


class Change(NamedTuple):
    """Another score, another text, or both, for a role in the round that is changed."""

    score: float | None = None
    text: str = ""


class WhatIf(NamedTuple):
    """The debate as it was, and as it goes on after the changes.

    `ratings` are what it is about. `sent` calls went to models of `campaign`, and are charged to
    it.
    """

    evaluation: str
    campaign: str
    ratings: list[Rating]
    before: Debate
    after: Debate
    sent: int


async def what_if(
    store: Store,
    conversation: str,
    changes: Mapping[str, Change],
    *,
    campaign: str = "",
    round_: int = 1,
    models: Mapping[str, str] | None = None,
    max_rounds: int | None = None,
    dry_run: bool = False,
    open_provider: Open | None = None,
) -> WhatIf:
    """Keep the rounds up to `round_`, change statements there, and hold the rest of the debate.

    `changes` and `models` (aliases) are by role. The settings are those of `campaign`, by default
    of one that still rates as it did then, and its budget holds. New calls are kept in the store,
    so a second look at the same question is free. In a `dry_run` a typical model speaks, and
    nothing is kept. Raises UserError if there is no such debate, round or role.
    """
    row = store.debate_of(conversation, campaign)
    if row is None:
        where = f" in campaign {campaign}" if campaign else ""
        raise UserError(f"conversation {conversation[:8]} has no debate{where}")
    found = store.findings(row.id)
    before = next(each for each in found if isinstance(each, Debate))
    if not 1 <= round_ <= before.rounds:
        raise UserError(f"--round {round_}: that debate has rounds 1 to {before.rounds}")
    config = made(Config, store.config(row.campaign))
    live = {alias: model.live for alias, model in config.models.items()}
    config = config.model_copy(update={"models": live})
    opening = _opening(before, changes, round_)
    speakers = {_role(name, before): model for name, model in (models or {}).items()}
    with Store(below=store) as memory:
        async with prepared(
            config,
            memory if dry_run else store,
            open_provider=TypicalModel if dry_run else open_provider,
            budget=None if dry_run else budget_of(config, store),
            only_rates=True,
        ) as ready:
            check_prices(config, (models or {}).values())
            ratings = ratings_of(found)
            after = await _held(row, ready, store, ratings, opening, speakers, max_rounds)
            return WhatIf(row.id, row.campaign, ratings, before, after, ready.gateway.sent)


async def _held(
    row: EvaluationRow,
    ready: Prepared,
    store: Store,
    ratings: list[Rating],
    opening: list[Statement],
    speakers: dict[str, str],
    max_rounds: int | None,
) -> Debate:
    """The debate after its opening. Raises UserError if its evaluator is another one by now."""
    evaluator = ready.evaluators.get(row.evaluator)
    if isinstance(evaluator, Counted):
        return await evaluator.debated(ratings, opening, max_rounds=max_rounds or 0)
    log = await store.log(row.conversation)
    if not isinstance(evaluator, Core) or evaluator.debate is None or log is None:
        raise UserError(
            f"{row.name} of campaign {row.campaign} has changed since that debate, in its settings,"
            " its model's or its code: run the campaign as it was, and ask again"
        )
    settings = evaluator.debate
    changed = {
        "roles": settings.roles | speakers,
        "max_rounds": max_rounds or settings.max_rounds,
    }
    ask = Ask(ready.gateway, Unit(row.campaign, row.conversation), sample=row.judging)
    return await evaluator.debated(log, ratings, ask, settings.model_copy(update=changed), opening)


def _opening(before: Debate, changes: Mapping[str, Change], round_: int) -> list[Statement]:
    """The statements up to a round, with the changes in it."""
    wanted = {_role(name, before): change for name, change in changes.items()}
    return [
        edited(said, score=wanted[said.role].score, text=wanted[said.role].text)
        if said.round == round_ and said.role in wanted
        else said
        for said in before.statements
        if said.round <= round_
    ]


def _role(name: str, debate: Debate) -> str:
    """The role whose name begins so. Raises UserError if there is not just one."""
    roles = list(dict.fromkeys(said.role for said in debate.statements))
    found = [role for role in roles if role.casefold().startswith(name.casefold())]
    if len(found) != 1:
        known = ", ".join(roles)
        raise UserError(f"there is no role {name!r}{nearest(name, roles)}: roles are {known}")
    return found[0]
