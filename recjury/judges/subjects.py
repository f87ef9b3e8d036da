"""What is rated: a whole log, or one of its system turns."""

from collections.abc import Iterator
from typing import NamedTuple

from recjury.judges.evaluator import not_applicable, rating_of
from recjury.llm import Answer, Score
from recjury.llm.prompts import turns_block
from recjury.records import ConversationLog, ItemRef, Level, Rating, Turn


class Subject(NamedTuple):
    """A log, or the system turn at the index `turn` of its interaction."""

    log: ConversationLog
    turn: int | None = None

    @property
    def before(self) -> tuple[Turn, ...]:
        """All that was said before the turn; of a log, its history."""
        history = self.log.scenario.history
        return (*history, *self.log.interaction[: self.turn or 0])

    @property
    def rated(self) -> tuple[Turn, ...]:
        """The turn, or the interaction."""
        said = self.log.interaction
        return said if self.turn is None else (said[self.turn],)

    @property
    def items(self) -> tuple[ItemRef, ...]:
        """The list that is rated: the session's, or the turn's."""
        return self.log.session_list if self.turn is None else self.rated[0].items

    @property
    def answer(self) -> tuple[Turn, ...]:
        """The user's answer to the turn; nothing if the log ends with the turn."""
        following = () if self.turn is None else self.log.interaction[self.turn + 1 :][:1]
        return following if following and following[0].speaker == "user" else ()

    @property
    def level(self) -> Level:
        """Whether it is a turn or a dialogue."""
        return Level.DIALOGUE if self.turn is None else Level.TURN

    @property
    def name(self) -> str:
        """A name for evidence about it: "turn.2", "dialogue"."""
        return str(self.level) if self.turn is None else f"{self.level}.{self.turn}"

    @property
    def lacks(self) -> str:
        """Why nobody can rate it, or nothing: the prompts show texts and cards, and no lists."""
        answers = (each for each in self.rated if each.speaker == "system" and not each.failure)
        is_shown = any(each.text.strip() or each.events for each in answers)
        return "" if is_shown else "the system gave no usable answer"

    @property
    def blocks(self) -> dict[str, str]:
        """The blocks of a prompt: what came before, what is rated, and the answer to it."""
        if self.turn is None:
            history = turns_block("history", self.before) if self.before else ""
            said = turns_block("conversation", self.rated)
            return {"history": history, "conversation": said, "turn": "", "answer": ""}
        return {
            "history": "",
            "conversation": turns_block("conversation", self.before),
            "turn": turns_block("rated_turn", self.rated),
            "answer": turns_block("users_answer", self.answer),
        }

    def rating(self, metric: str, rater: str, said: Answer[Score]) -> Rating:
        """The rating that an answer gives, or the reason why there is none."""
        return rating_of(metric, rater, said, turn=self.turn)

    def not_applicable(self, metric: str, rater: str, reason: str) -> Rating:
        """The rating of what cannot be rated."""
        return self.rating(metric, rater, not_applicable(reason))


def subjects(log: ConversationLog, level: Level) -> Iterator[Subject]:
    """The log, or each of its system turns."""
    if level is Level.DIALOGUE:
        yield Subject(log)
        return
    for index, turn in enumerate(log.interaction):
        if turn.speaker == "system":
            yield Subject(log, index)
