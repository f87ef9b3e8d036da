"""What `recjury replay` shows: conversations, ratings, and debates round by round."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from recjury.cli import output
from recjury.safe_text import printable

if TYPE_CHECKING:
    from recjury.debate.stored_debate import ForkOf, ReplayedDebate
    from recjury.records import ConversationLog, ItemRef, Rating, Turn
    from recjury.store import Unfinished

    Replayed: TypeAlias = "ReplayedDebate | Unfinished | Undebated"

_DIGITS = 12  # of an id


class Undebated(NamedTuple):
    """A conversation without a debate; `reason` says why there is none."""

    conversation: str
    log: "ConversationLog"
    ratings: "Sequence[Rating]"
    reason: str


def show(found: Iterable["Replayed"]) -> None:
    """Print debates, and conversations without one, one after the other."""
    from recjury.store import Unfinished

    view = View()
    for each in found:
        if isinstance(each, Undebated):
            view.undebated(each)
        elif isinstance(each, Unfinished):
            view.unfinished(each)
        else:
            view.debate(each)


class View:
    """Prints to standard output, as wide as the terminal."""

    def __init__(self) -> None:
        from rich.console import Console

        self._console = Console(highlight=False)

    def debate(self, debate: "ReplayedDebate") -> None:
        """The conversation, its ratings, each round, and the verdict."""
        from recjury.debate.recompute import installed_protocol

        self._conversation(debate.log)
        protocol = debate.transcript.protocol
        if protocol != installed_protocol(protocol):
            self._rule(
                f"made by another version, {protocol}: installed is {installed_protocol(protocol)}"
            )
        self._ratings(debate.ratings)
        if debate.forked is not None:
            self._forked(debate.forked)
        self.rounds(debate)

    def rounds(self, debate: "ReplayedDebate", *, start: int = 1) -> None:
        """Each round from the one numbered `start` on; the verdict, and what the debate changed."""
        from recjury.debate import before_and_after
        from recjury.debate.rules import verdict_name

        for number in range(start, debate.transcript.rounds + 1):
            self._rule(f"round {number}")
            for said in debate.transcript.of_round(number):
                head = f"{said.role} ({said.speaker}) {output.number(said.score, 0)}  "
                self._say(head, said.text or said.reason)
        verdict = debate.verdict
        how = "agreed" if verdict.agreed else f"after {verdict.rounds} rounds"
        last = debate.transcript.of_round(verdict.rounds)
        if verdict.spoke < len(last):
            how += f", {verdict.spoke} of {len(last)} roles spoke"
        score = output.number(verdict.score, 1)
        name = verdict_name(debate.transcript.protocol)
        self._rule(f"{name} {score}, {how} {verdict.reason}".strip())
        if change := before_and_after(debate.transcript):
            self._say("", change)

    def unfinished(self, failed: "Unfinished") -> None:
        """The turns, and why the conversation ended."""
        self._conversation(failed.log)
        self._rule(f"failed {failed.place}, not rated")
        self._say("", failed.reason)

    def undebated(self, found: Undebated) -> None:
        """The conversation and its ratings, and why there is no debate."""
        self._conversation(found.log)
        self._ratings(found.ratings)
        self._rule("no debate")
        self._say("", found.reason)

    def _ratings(self, ratings: "Sequence[Rating]") -> None:
        for rating in ratings:
            score = output.number(rating.score, 0)
            self._say("", f"  {rating.factor}: {score}  {rating.reason or rating.rationale}")

    def _forked(self, forked: "ForkOf") -> None:
        fork = forked.fork
        self._rule(f"fork of {forked.original[:_DIGITS]} from round {fork.round}")
        for role in fork.edits:
            self._say("", f"  {role}: edited in round {fork.round}")
        for role, model in fork.models.items():
            self._say("", f"  {role}: played by {model} from round {fork.round} on")

    def _conversation(self, log: "ConversationLog") -> None:
        """Targets and wishes, the history, and each turn with its recommendations."""
        self._rule(f"{log.system} · {log.scenario.id}")
        scenario = log.scenario
        if scenario.targets:
            seen = " (named in the history)" if scenario.target_seen else ""
            self._say("targets  ", "; ".join(item.name for item in scenario.targets) + seen)
        if scenario.wishes:
            self._say(" wishes  ", "; ".join(scenario.wishes))
        if log.person is not None and log.person.described:
            self._say(" person  ", log.person.described)
        if log.speechless:
            self._say("   note  ", "every known value of the targets gives them away")
        if log.acts_dropped or log.acts_differing:
            counts = f"{log.acts_differing} differ from the words, {log.acts_dropped} not usable"
            self._say("   note  ", f"declared acts: {counts}")
        for turn in scenario.history:
            self._turn(turn, log)
        if scenario.history:
            self._rule("from here on the system under test answers")
        if log.items_linked:
            self._say("  lists  ", "linked from the text, since the system gave none")
        for turn in log.interaction:
            self._turn(turn, log)

    def _turn(self, turn: "Turn", log: "ConversationLog") -> None:
        said = turn.text if turn.failure is None else f"[no usable answer: {turn.failure}]"
        self._say(f"{turn.speaker:>7}  ", said)
        items = turn.items[: log.list_length]
        if items:
            self._say("", "         " + " · ".join(_listed(log, items)))

    def _rule(self, text: str) -> None:
        from rich.text import Text

        self._console.rule(Text(printable(text)))

    def _say(self, head: str, text: str) -> None:
        from rich.text import Text

        self._console.print(Text.assemble((printable(head), "bold"), printable(text)))


def _listed(log: "ConversationLog", items: "Sequence[ItemRef]") -> Iterable[str]:
    """Numbered items, those marked that are targets."""
    from recjury.records import is_target

    for number, item in enumerate(items, start=1):
        hit = " [hit]" if is_target(item, log.scenario.targets) else ""
        yield f"{number} {item.name}{hit}"
