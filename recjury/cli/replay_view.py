"""What `recjury replay` shows to people: debates round by round, conversations that failed."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from recjury.cli import output
from recjury.cli.plain_text import printable

if TYPE_CHECKING:
    from recjury.debate.replay import ReplayedDebate
    from recjury.records import ConversationLog, Rating
    from recjury.store import Unfinished

    Replayed: TypeAlias = "ReplayedDebate | Unfinished | Undebated"


class Undebated(NamedTuple):
    """A trial that has its conversation and no debate; `reason` says why there is none."""

    trial: str
    log: "ConversationLog"
    ratings: "Sequence[Rating]"
    reason: str


def show(found: Iterable["Replayed"]) -> None:
    """Print debates, and what there is of trials without one, each as it comes."""
    from recjury.store import Unfinished

    view = _View()
    for each in found:
        if isinstance(each, Undebated):
            view.undebated(each)
        elif isinstance(each, Unfinished):
            view.unfinished(each)
        else:
            view.debate(each)


class _View:
    """Prints to standard output, as wide as the terminal."""

    def __init__(self) -> None:
        from rich.console import Console

        self._console = Console(highlight=False)

    def debate(self, debate: "ReplayedDebate") -> None:
        """The conversation, its ratings, each round, and the verdict."""
        from recjury.debate.replay import installed

        self._talk(debate.log)
        protocol = debate.transcript.protocol
        if protocol != installed(protocol):
            self._rule(f"held by another version, {protocol}: installed is {installed(protocol)}")
        self._ratings(debate.ratings)
        for number in range(1, debate.transcript.rounds + 1):
            self._rule(f"round {number}")
            for said in debate.transcript.of_round(number):
                head = f"{said.role} ({said.speaker}) {output.number(said.score, 0)}  "
                self._say(head, said.text or said.reason)
        verdict = debate.verdict
        how = "agreed" if verdict.agreed else f"after {verdict.rounds} rounds"
        score = output.number(verdict.score, 1)
        self._rule(f"verdict {score}, {how} {verdict.reason}".strip())

    def unfinished(self, failed: "Unfinished") -> None:
        """What was said, and why it went no further."""
        self._talk(failed.log)
        self._rule(f"failed {failed.place}, not rated")
        self._say("", failed.reason)

    def undebated(self, trial: Undebated) -> None:
        """The conversation and its ratings, and why there is no debate."""
        self._talk(trial.log)
        self._ratings(trial.ratings)
        self._rule("no debate")
        self._say("", trial.reason)

    def _ratings(self, ratings: "Sequence[Rating]") -> None:
        for rating in ratings:
            score = output.number(rating.score, 0)
            self._say("", f"  {rating.factor}: {score}  {rating.reason or rating.rationale}")

    def _talk(self, log: "ConversationLog") -> None:
        self._rule(f"{log.system} · {log.scenario.id}")
        for turn in log.interaction:
            said = turn.text if turn.failure is None else f"[no usable answer: {turn.failure}]"
            self._say(f"{turn.speaker:>7}  ", said)

    def _rule(self, text: str) -> None:
        from rich.text import Text

        self._console.rule(Text(printable(text)))

    def _say(self, head: str, text: str) -> None:
        from rich.text import Text

        self._console.print(Text.assemble((printable(head), "bold"), printable(text)))
