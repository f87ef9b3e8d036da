"""What-if: a stored debate goes on from a round in which statements were changed."""

from collections.abc import Mapping
from typing import NamedTuple

from recjury.campaign.config import Config
from recjury.campaign.prepare import Open, prepared
from recjury.debate import edited
from recjury.demo import Counted
from recjury.errors import UserError
from recjury.files import nearest
from recjury.judges import Core
from recjury.llm import Ask
from recjury.records import Debate, Statement, Unit, ratings_of
from recjury.store import Store


class Change(NamedTuple):
    """Another score, another text, or both, for a role in the round that is changed."""

    score: float | None = None
    text: str = ""


class WhatIf(NamedTuple):
    """The debate as it was, and as it goes on after the changes."""

    before: Debate
    after: Debate


async def what_if(
    store: Store,
    evaluation: str,
    changes: Mapping[str, Change],
    *,
    round_: int = 1,
    models: Mapping[str, str] | None = None,
    max_rounds: int | None = None,
    open_provider: Open | None = None,
) -> WhatIf:
    """Keep the rounds up to `round_`, change statements there, and hold the rest of the debate.

    `changes` and `models` (aliases) are by role. New calls are kept in the store, so a second look
    at the same question is free. Raises UserError if there is no such debate, round or role.
    """
    row = store.evaluation(evaluation)
    config = Config.model_validate(store.config(row.campaign))
    models_ = {alias: model.live for alias, model in config.models.items()}
    config = config.model_copy(update={"models": models_})
    found = store.findings(evaluation)
    before = next((each for each in found if isinstance(each, Debate)), None)
    if before is None or not 1 <= round_ <= before.rounds:
        rounds = before.rounds if before else 0
        raise UserError(f"evaluation {evaluation} has {rounds} rounds, got round {round_}")
    async with prepared(config, store, open_provider=open_provider, only_rates=True) as ready:
        evaluator, opening = ready.evaluators.get(row.evaluator), _opening(before, changes, round_)
        if isinstance(evaluator, Counted):
            after = await evaluator.debated(ratings_of(found), opening, max_rounds=max_rounds or 0)
            return WhatIf(before, after)
        log = await store.log(row.conversation)
        if not isinstance(evaluator, Core) or evaluator.debate is None or log is None:
            raise UserError("the evaluator's settings or code have changed since that debate")
        roles = {_role(name, before): model for name, model in (models or {}).items()}
        settings = evaluator.debate.model_copy(
            update={
                "roles": evaluator.debate.roles | roles,
                "max_rounds": max_rounds or evaluator.debate.max_rounds,
            }
        )
        ask = Ask(ready.gateway, Unit(config.name, row.conversation), sample=row.judging)
        after = await evaluator.debated(log, ratings_of(found), ask, settings, opening)
    return WhatIf(before, after)


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
