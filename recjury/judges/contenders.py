"""What PairEval compares with: responses and dialogues of people, drawn by seed (section 3.2)."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from recjury.corpora import read_recordings
from recjury.corpora.drawing import lot
from recjury.judges.subjects import Subject
from recjury.llm.prompts import turns_block
from recjury.records import ConversationLog, Level, Turn, text_hash

_BEGINNING = 2  # turns by which two dialogues are taken for one


class Contender(NamedTuple):
    """A response after the `turns` before it; without a `response`, the dialogue of the turns."""

    turns: tuple[Turn, ...]
    response: tuple[Turn, ...] = ()

    @property
    def block(self) -> str:
        """It as a prompt shows it."""
        conversation = turns_block("conversation", self.turns)
        if not self.response:
            return conversation
        return f"{conversation}\n{turns_block('response', self.response)}"

    def is_of(self, log: ConversationLog) -> bool:
        """Whether its dialogue begins as the log does: then people said it in the log's place."""
        begun = (log.scenario.history or log.interaction)[:_BEGINNING]
        own = (*self.turns, *self.response)[: len(begun)]
        return [each.text for each in own] == [each.text for each in begun]


def contender_of(subject: Subject) -> Contender:
    """A turn or a dialogue that is rated; a dialogue is compared with its history."""
    if subject.turn is None:
        return Contender((*subject.before, *subject.rated))
    return Contender(subject.before, subject.rated)


def contenders(
    dialogues: Iterable[Sequence[Turn]], level: Level, seed: int
) -> tuple[Contender, ...]:
    """One of each dialogue, in an order drawn by the seed, so that draws are nested.

    Of what begins alike, the longest counts. A response is a system turn that is drawn, too.
    """
    longest: dict[tuple[str, ...], Sequence[Turn]] = {}
    for turns in dialogues:
        begins = tuple(turn.text for turn in turns[:_BEGINNING])
        longest[begins] = max(longest.get(begins, ()), turns, key=len)
    drawn = sorted(longest.items(), key=lambda each: lot(seed, *each[0]))
    if level is Level.DIALOGUE:
        return tuple(Contender(tuple(turns)) for _, turns in drawn if _places(turns))
    return tuple(_response(turns, seed) for _, turns in drawn if _places(turns))


def recorded_dialogues(path: Path) -> list[tuple[Turn, ...]]:
    """The dialogues in a file of recordings. Raises UserError."""
    logs = (recording.log() for recording in read_recordings([path]).recordings)
    return [(*log.scenario.history, *log.interaction) for log in logs]


def by_history(dialogues: Iterable[Sequence[Turn]]) -> dict[str, list[Contender]]:
    """Responses to one history, by `history_key`: the last turns of dialogues."""
    found: dict[str, list[Contender]] = {}
    for turns in dialogues:
        own = Contender(tuple(turns[:-1]), tuple(turns[-1:]))
        found.setdefault(history_key(own.turns), []).append(own)
    return found


def history_key(turns: Sequence[Turn]) -> str:
    """The same for histories in which the same is said."""
    return text_hash("\0".join(turn.text for turn in turns))


def _response(turns: Sequence[Turn], seed: int) -> Contender:
    place = min(_places(turns), key=lambda place: lot(seed, turns[place].text, place))
    return Contender(tuple(turns[:place]), (turns[place],))


def _places(turns: Sequence[Turn]) -> list[int]:
    """Where the system responds to something."""
    said = list(enumerate(turns))[1:]
    return [place for place, turn in said if turn.speaker == "system" and turn.text.strip()]
