"""Count calls that are planned and not sent, about conversations that may still be to be played."""

from collections.abc import Iterable, Iterator
from itertools import islice
from math import ceil

from recjury.knowledge import Catalogue
from recjury.llm import PlannedCall
from recjury.records import (
    LIST_LENGTH,
    ConversationLog,
    Ending,
    ExpectedCalls,
    ItemRef,
    Scenario,
    Speaker,
    Turn,
)
from recjury.simulator.session import user_opens

_CHARACTERS = 4  # of a token
_REPLY = 120  # tokens of a reply without a form, on average
_USER = "Words of a typical length stand here for what the user says. "
_SYSTEM = "Words of a typical length stand here for what the system says and recommends. " * 2


def count_calls(
    planned: Iterable[PlannedCall], *, attempts: int, logs: int = 1, conversations: int = 1
) -> Iterator[ExpectedCalls]:
    """Planned calls by model and kind; those of `logs` conversations stand for `conversations`."""
    shares: dict[tuple[str, str], list[PlannedCall]] = {}
    for call in planned:
        place = (call.request.model, _kind(call.request.purpose))
        shares.setdefault(place, []).append(call)
    for (model, kind), calls in shares.items():
        scale = 1.0 if calls[0].shared else conversations / logs
        replies = sum(call.samples for call in calls)
        requests = sum(1 if call.together else call.samples for call in calls)
        prompts = sum(
            _prompt_tokens(call) * (1 if call.together else call.samples) for call in calls
        )
        said = sum(_reply_tokens(call) * call.samples for call in calls)
        yield ExpectedCalls(
            model,
            kind,
            ceil(requests * scale),
            ceil((requests + (attempts - 1) * replies) * scale),
            round(prompts / requests),
            round(said / requests),
        )


def assumed_log(scenario: Scenario, catalogue: Catalogue, rounds: int) -> ConversationLog:
    """The conversation that a scenario may give: all rounds, with texts of a typical length."""
    listed = tuple(item.ref for item in islice(catalogue, LIST_LENGTH))
    items = listed or (ItemRef(id=None, name="An item of a typical length"),)
    system = Turn(speaker=Speaker.SYSTEM, text=_SYSTEM, items=items)
    user = Turn(speaker=Speaker.USER, text=_USER)
    opening = (user,) if user_opens(scenario) else ()
    return ConversationLog(
        system="assumed",
        scenario=scenario,
        interaction=(*opening, *((system, user) * rounds)),
        ending=Ending.ROUND_LIMIT,
    )


def assumed_turns(number: int) -> tuple[Turn, ...]:
    """A history of so many turns; the user begins."""
    texts = {Speaker.USER: _USER, Speaker.SYSTEM: _SYSTEM}
    speakers = (Speaker.USER, Speaker.SYSTEM) * number
    return tuple(Turn(speaker=each, text=texts[each]) for each in speakers[:number])


def _kind(purpose: str) -> str:
    """The kind of a call: what its purpose begins with."""
    first, _, rest = purpose.partition("/")
    return purpose if first == "simulator" else first if rest else purpose


def _prompt_tokens(call: PlannedCall) -> int:
    return ceil(sum(len(message.text) for message in call.request.messages) / _CHARACTERS)


def _reply_tokens(call: PlannedCall) -> int:
    form = call.request.form
    return _REPLY if form is None else form.typical
