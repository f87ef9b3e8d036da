"""Count calls that are planned and not sent, about conversations that may still be to be played."""

from collections.abc import Iterable, Iterator
from itertools import islice
from math import ceil

from recjury.campaign.config import EvaluationConfig
from recjury.knowledge import Catalogue
from recjury.llm import Gateway, NullRecorder, PlannedCall
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
_NEW_ITEMS = 2  # in each list, as in the recorded conversations of iEvaLM's systems
_USER = "Words of a typical length stand here for what the user says. "
_SYSTEM = "Words of a typical length stand here for what the system says and recommends. " * 2


def planning_gateway(config: EvaluationConfig) -> Gateway | None:
    """A gateway through which nothing is to be sent; None if there is no model."""
    return Gateway(config.all_models, NullRecorder()) if config.has_models else None


def count_calls(
    planned: Iterable[PlannedCall], *, attempts: int, logs: int = 1, conversations: int = 1
) -> Iterator[ExpectedCalls]:
    """Planned calls by model and kind; those of `logs` conversations stand for `conversations`.

    Each of the `logs` has planned what all share.
    """
    shares: dict[tuple[str, str], list[PlannedCall]] = {}
    for call in planned:
        shares.setdefault((call.request.model, call.kind), []).append(call)
    for (model, kind), calls in shares.items():
        scale = (1 if calls[0].shared else conversations) / logs
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
    known = tuple(item.ref for item in islice(catalogue, LIST_LENGTH + _NEW_ITEMS * rounds))
    items = known or (ItemRef(id=None, name="An item of a typical length"),)
    user = Turn(speaker=Speaker.USER, text=_USER)
    turns = [user] if user_opens(scenario) else []
    for start in range(0, _NEW_ITEMS * rounds, _NEW_ITEMS):
        shown = items[start : start + LIST_LENGTH] or items[:LIST_LENGTH]
        turns += [Turn(speaker=Speaker.SYSTEM, text=_SYSTEM, items=shown), user]
    return ConversationLog(
        system="assumed",
        scenario=scenario,
        interaction=tuple(turns),
        ending=Ending.ROUND_LIMIT,
    )


def assumed_turns(number: int) -> tuple[Turn, ...]:
    """A history of so many turns; the user begins."""
    texts = {Speaker.USER: _USER, Speaker.SYSTEM: _SYSTEM}
    speakers = (Speaker.USER, Speaker.SYSTEM) * number
    return tuple(Turn(speaker=each, text=texts[each]) for each in speakers[:number])


def _prompt_tokens(call: PlannedCall) -> int:
    return ceil(sum(len(message.text) for message in call.request.messages) / _CHARACTERS)


def _reply_tokens(call: PlannedCall) -> int:
    form = call.request.form
    return _REPLY if form is None else form.typical
