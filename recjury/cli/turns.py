"""One real turn with a system: what was sent, what came, and what was read from it."""

from typing import NamedTuple
from uuid import uuid4

from recjury.agents import LoadedSystem
from recjury.agents.http import HttpSystem
from recjury.errors import Stop, UnitFailed
from recjury.llm import Ask
from recjury.records import Conversation, Scenario, Turn

_HELLO = "Hello. What would you recommend?"
_LINES, _LONG = 8, 300  # lines that are shown of what came, and characters of each


class Taken(NamedTuple):
    """What a turn looked like, and why it failed, if it did."""

    text: str
    failure: str


async def take_turn(system: LoadedSystem, scenario: Scenario, ask: Ask) -> Taken:
    """Open a conversation, take one turn, and close it."""
    history = scenario.history
    if not history or history[-1].speaker != "user":
        history = (*history, Turn(speaker="user", text=_HELLO))
    conversation = Conversation(id=uuid4().hex, turns=history, domain=scenario.domain)
    heard: list[tuple[str, str]] = [("said", history[-1].text)]
    if isinstance(system.system, HttpSystem):
        system.system.hear = lambda what, text: heard.append((what, text))
    try:
        await system.start(conversation)
        try:
            turn = await system.turn(conversation, ask)
        finally:
            await system.end(conversation)
    except (UnitFailed, Stop) as failure:
        turn = Turn(speaker="system", failure=str(failure))
    lines = [f"system {system.name}", *_shown(heard)]
    if not turn.failure:
        items = ", ".join(item.name for item in turn.items) + " (found in the text)" * turn.linked
        events = ", ".join(f"{event.kind} {event.value}" for event in turn.events)
        read = {"text": turn.text, "items": items, "events": events}
        lines += [f"  {name:6} {_short(value) or 'none'}" for name, value in read.items()]
    return Taken("\n".join(lines), turn.failure)


def _shown(heard: list[tuple[str, str]]) -> list[str]:
    """What was said and sent, and the first lines of what came."""
    joined: list[list[str]] = []
    for what, text in heard:
        if joined and what == joined[-1][0] == "came":  # pieces of one answer
            joined[-1][1] += text
        else:
            joined.append([what, text])
    lines = []
    for what, text in joined:
        first, *more = [line for line in text.splitlines() if line.strip()] or [""]
        shown = [first, *more[: _LINES - 1]]
        lines.append(f"  {what:6} " + f"\n{'':9}".join(map(_short, shown)))
        lines += [f"{'':9}... {len(more) - _LINES + 1} more lines"] * (len(more) >= _LINES)
    return lines


def _short(text: str) -> str:
    return text if len(text) <= _LONG else f"{text[:_LONG]}..."
