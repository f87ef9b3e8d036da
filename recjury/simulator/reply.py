"""A system's reply: within a conversation, or once to the history of people, as offline."""

from collections.abc import Iterable
from typing import NamedTuple

from recjury.errors import BudgetSpent, UnitFailed, UserError
from recjury.knowledge import Catalogue
from recjury.records import (
    Conversation,
    ConversationLog,
    Ending,
    Recommender,
    Scenario,
    Speaker,
    Turn,
    first_hit,
    usable_reply,
)


class ConversationFailed(UnitFailed):
    """A conversation did not reach its end; `log` has the turns so far, None if there are none."""

    def __init__(self, reason: str, log: ConversationLog | None = None):
        """`reason` says what failed and why."""
        super().__init__(reason)
        self.log = log


async def reply_once(
    recommender: Recommender, scenario: Scenario, catalogue: Catalogue, list_length: int
) -> ConversationLog:
    """The log of an offline evaluation: the history, and the system's one reply to it.

    `list_length` items of its list count. If the system fails, the log has the failed turn and its
    reason. Raises ConversationFailed if the budget is spent, and UserError if an endpoint refuses
    the system's calls.
    """
    try:
        turn, names_filled = await answer(recommender, scenario, catalogue)
    except BudgetSpent as spent:
        raise ConversationFailed(str(spent)) from spent
    return ConversationLog(
        system=recommender.name,
        scenario=scenario,
        interaction=(turn,),
        ending=Ending.OFFLINE if turn.failure is None else Ending.SYSTEM_FAILED,
        hit_round=first_hit((turn,), scenario.targets, list_length),
        list_length=list_length,
        names_filled=names_filled,
    )


class SystemAnswer(NamedTuple):
    """A system's turn, and whether it filled the names of its list into its text."""

    turn: Turn
    names_filled: bool


async def answer(
    recommender: Recommender,
    scenario: Scenario,
    catalogue: Catalogue,
    interaction: Iterable[Turn] = (),
) -> SystemAnswer:
    """The system's next turn; one that failed has its reason.

    Raises BudgetSpent, and UserError if an endpoint refuses the system's calls.
    """
    try:
        heard = Conversation(
            turns=(*scenario.history, *interaction), domain=catalogue.wanted_domain(scenario).name
        )
        reply = usable_reply(await recommender.respond(heard))
    except (BudgetSpent, UserError):
        raise
    except Exception as failure:  # a system under test may raise any exception: the log is kept
        turn = Turn(speaker=Speaker.SYSTEM, text="", failure=_reason(failure))
        return SystemAnswer(turn, names_filled=False)
    turn = Turn(
        speaker=Speaker.SYSTEM, text=reply.text, items=tuple(reply.items), calls=reply.calls
    )
    return SystemAnswer(turn, reply.names_filled)


def _reason(failure: Exception) -> str:
    # The name of a private class says nothing to a reader: its first public ancestor's does.
    names = (each.__name__ for each in type(failure).__mro__)
    kind = next(name for name in names if not name.startswith("_"))
    message = " ".join(str(failure).split())
    return f"{kind}: {message}"[:500] if message else kind
