"""What became of a conversation: whether the user found something, in which round, how it ended."""

from collections.abc import Iterator, Sequence
from typing import ClassVar, Literal

from recjury.corpora import fact_of, fold
from recjury.judges.evaluator import Evaluator, computed, not_applicable, rating_of
from recjury.llm import Answer, Ask, Score
from recjury.records import LEAK, ConversationLog, Ending, Finding, ItemRef, Metric

_ENDINGS: dict[str, Ending] = {
    "ended_hit": "hit",
    "ended_named": "named",
    "ended_round_limit": "round limit",
}
_UNKNOWN: dict[Ending, str] = {
    "recorded": "the conversation was recorded",
    "offline": "nobody answered the system",
}
"""Why there is no user to count."""

_Found = tuple[str, Answer[Score]]
"""A metric, and its score or why there is none."""


class Outcome(Evaluator):
    """`success`, `recall@k` and `ended_*` are 1 or 0; rounds count from 1.

    A success is a target in a list; where the scenario has wishes, it is an item that meets all of
    them by the catalogue. Recall is over the session's list (CoRE, 6.3 and 6.5), `last_recall@10`
    over the last turn's. A conversation that was played without any list has found nothing. `leaks`
    counts the user's turns that gave a target away and were changed.
    """

    RENDERING: ClassVar[int] = 3

    kind: Literal["outcome"] = "outcome"

    @property
    def metrics(self) -> Sequence[Metric]:
        """Success first."""
        return [
            Metric(name="success", title="Found what was wanted", high=1),
            Metric(
                name="rounds_to_success", title="Rounds to success", low=1, lower_is_better=True
            ),
            *(
                Metric(name=f"recall@{k}", title=f"Recall@{k} of the session", high=1)
                for k in (1, 5, 10)
            ),
            Metric(name="last_recall@10", title="Recall@10 of the last turn", high=1),
            Metric(name="rounds", title="Rounds", low=1, lower_is_better=True),
            Metric(name="ended_hit", title="Ended with a hit", high=1),
            Metric(name="ended_named", title="Ended with a named target", high=1),
            Metric(
                name="ended_round_limit",
                title="Ended at the round limit",
                high=1,
                lower_is_better=True,
            ),
            Metric(name="leaks", title="Leaks of the user", lower_is_better=True),
        ]

    async def rate(self, log: ConversationLog, ask: Ask) -> Sequence[Finding]:  # noqa: ARG002
        """Computed from lists, targets, wishes and the ending; otherwise not applicable."""
        found = (*self._success(log), *self._recall(log), *self._course(log))
        return [rating_of(metric, self.kind, answer) for metric, answer in found]

    def _success(self, log: ConversationLog) -> Iterator[_Found]:
        names = ("success", "rounds_to_success")
        scenario = log.scenario
        unknown = self._unknown_wish(log)
        if missing := _lacks(log, wanted=bool(scenario.targets or scenario.wishes)) or unknown:
            yield from ((name, not_applicable(missing)) for name in names)
            return
        turns = (turn for turn in log.interaction if turn.speaker == "system")
        found = (
            n for n, turn in enumerate(turns, 1) if any(self._suits(i, log) for i in turn.items)
        )
        number = next(found, None)
        yield names[0], computed(number is not None)
        yield names[1], computed(number) if number else not_applicable("there is no success")

    def _recall(self, log: ConversationLog) -> Iterator[_Found]:
        metrics = [metric.name for metric in self.metrics if "recall" in metric.name]
        wanted = {target.id for target in log.scenario.targets}
        if missing := _lacks(log, wanted=bool(wanted)):
            yield from ((name, not_applicable(missing)) for name in metrics)
            return
        last = [turn for turn in log.interaction if turn.speaker == "system"][-1]
        for name in metrics:
            items = last.items if name.startswith("last") else log.session_list
            length = int(name.partition("@")[2])
            yield name, computed(any(item.id in wanted for item in items[:length]))

    def _course(self, log: ConversationLog) -> Iterator[_Found]:
        yield "rounds", computed(log.rounds)
        if reason := _UNKNOWN.get(log.ending, ""):
            yield from ((name, not_applicable(reason)) for name in (*_ENDINGS, "leaks"))
            return
        for name, ending in _ENDINGS.items():
            yield name, computed(log.ending == ending)
        events = (event for turn in log.interaction for event in turn.events)
        yield "leaks", computed(sum(event.kind == LEAK for event in events))

    def _suits(self, item: ItemRef, log: ConversationLog) -> bool:
        """Whether an item is what the user looks for."""
        if wishes := log.scenario.wishes:
            known = self.catalogue(log.scenario).items.get(item.id)
            return known is not None and known.values.issuperset(map(_value_of, wishes))
        return item.id in {target.id for target in log.scenario.targets}

    def _unknown_wish(self, log: ConversationLog) -> str:
        """Why the catalogue cannot tell whether the wishes are met, or nothing."""
        known = self.catalogue(log.scenario).values
        unknown = (wish for wish in log.scenario.wishes if _value_of(wish) not in known)
        wish = next(unknown, None)
        return f"no item of the catalogue has the value {wish!r}" if wish else ""


def _lacks(log: ConversationLog, *, wanted: bool) -> str:
    if not wanted:
        return "there is no target"
    # Who played and listed nothing has found nothing; a recording may have lost its lists.
    is_known = log.session_list or log.ending in _ENDINGS.values()
    return "" if is_known else "there is no list"


def _value_of(wish: str) -> str:
    """The folded value of a wish."""
    return fold(fact_of(wish)[1])
