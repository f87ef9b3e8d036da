"""Worse versions of replies: the ten kinds of PairEval's table 7, made from any dialogues.

The kinds are those of Khalid and Lee (2022). Theirs are made with spaCy, WordNet and trained
models; ours with word lists, so that any dialogue, CRS turns included, can be changed anywhere.
"""

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import StrEnum
from typing import NamedTuple

from recjury.agreement.replies import worse_texts
from recjury.agreement.replies.entities import names_in
from recjury.corpora.dialogues import RobustnessPair
from recjury.records import Speaker, Turn


class Attack(StrEnum):
    """A kind of manipulation, as files name it."""

    DULLNESS = "dullness"  # a reply that fits everywhere, or the speaker's last one again
    PRONOUN = "pronoun"  # pronouns of another person, number or gender
    REPETITION = "repetition"  # a word or phrase said several times
    ENTAILMENT = "entailment"  # a reply of another dialogue, which does not follow
    CONTRADICTION = "contradiction"  # the opposite of what the speaker said, or meant to say
    SPEAKER = "speaker"  # the other speaker's last words, as if they were one's own
    ENTRAINMENT = "entrainment"  # a word that both use becomes a near synonym
    NAMED_ENTITIES = "named_entities"  # names become other names
    BAD_PARAPHRASE = "bad_paraphrase"  # synonyms of senses that do not fit
    VOCABULARY_DIVERSITY = "vocabulary_diversity"  # words that the dialogue already has


class SourceDialogue(NamedTuple):
    """A dialogue whose system turns are made worse; `id` is part of its pairs' ids."""

    id: str
    turns: tuple[Turn, ...]


class _Place(NamedTuple):
    """A turn of the system, and what was said before it."""

    turn: Turn
    before: tuple[Turn, ...]

    @property
    def text(self) -> str:
        return self.turn.text

    def last_of(self, speaker: Speaker) -> str | None:
        """What a speaker said last; None if nothing, or only blank text."""
        texts = [t.text for t in self.before if t.speaker is speaker and t.text.strip()]
        return texts[-1] if texts else None

    def words(self, *, by_user: bool) -> list[str]:
        """The words of the user so far, or those of all turns, this one included."""
        turns = self.before if by_user else (*self.before, self.turn)
        return worse_texts.words_of(
            t.text for t in turns if not by_user or t.speaker is Speaker.USER
        )


def _dull(place: _Place, draw: random.Random) -> str | None:
    asked = "?" in place.before[-1].text
    return worse_texts.dull(asked, place.last_of(Speaker.SYSTEM), place.text, draw)


def _contradicting(place: _Place, draw: random.Random) -> str | None:
    own, found = place.last_of(Speaker.SYSTEM), None
    if own is not None and "?" not in own:
        found = worse_texts.contradicting(own, draw)
    return found or worse_texts.contradicting(place.text, draw)


def _as_other_speaker(place: _Place, draw: random.Random) -> str | None:  # noqa: ARG001
    other = place.last_of(Speaker.USER)
    return f"{other} {place.text}" if other else None


_WAYS: dict[Attack, Callable[[_Place, random.Random], str | None]] = {
    Attack.DULLNESS: _dull,
    Attack.PRONOUN: lambda place, draw: worse_texts.wrong_pronouns(place.text, draw),
    Attack.REPETITION: lambda place, draw: worse_texts.repeated(place.text, draw),
    Attack.CONTRADICTION: _contradicting,
    Attack.SPEAKER: _as_other_speaker,
    Attack.ENTRAINMENT: lambda place, draw: worse_texts.not_entrained(
        place.text, place.words(by_user=True), draw
    ),
    Attack.BAD_PARAPHRASE: lambda place, draw: worse_texts.badly_paraphrased(place.text, draw),
    Attack.VOCABULARY_DIVERSITY: lambda place, draw: worse_texts.less_diverse(
        place.text, place.words(by_user=False), draw
    ),
}
"""The kinds that need nothing of other dialogues."""


class Manipulator:
    """Makes worse versions of the system's turns of its dialogues.

    A pair depends on the seed, on its attack, on its turn, and on the dialogues, from which
    replies and names are borrowed.
    """

    def __init__(self, dialogues: Iterable[SourceDialogue], *, seed: int = 0):
        """Raises ValueError without dialogues."""
        self._dialogues = tuple(dialogues)
        if not self._dialogues:
            raise ValueError("no dialogue to take replies from")
        self._seed = seed
        self._replies = [
            (each.id, turn.text)
            for each in self._dialogues
            for turn in each.turns
            if turn.speaker is Speaker.SYSTEM and turn.text.strip()
        ]
        self._names = sorted(
            {name for each in self._dialogues for turn in each.turns for name in names_in(turn)}
        )

    def pairs(self, attacks: Sequence[Attack] = tuple(Attack)) -> Iterator[RobustnessPair]:
        """For each attack, every system turn that offers something to change.

        Turns without a history are left out: nothing tells there what fits.
        """
        for attack in attacks:
            for dialogue in self._dialogues:
                for place, turn in enumerate(dialogue.turns):
                    if place and turn.speaker is Speaker.SYSTEM and turn.text.strip():
                        worse = self.worsen(attack, dialogue, place)
                        if worse is not None:
                            history = dialogue.turns[:place]
                            name = f"{attack}-{dialogue.id}-{place}"
                            yield RobustnessPair(
                                name, str(attack), history, turn.text, worse, history
                            )

    def worsen(self, attack: Attack, dialogue: SourceDialogue, place: int) -> str | None:
        """A worse version of the turn at `place`; None if it offers nothing to change."""
        draw = random.Random(f"{self._seed}:{attack}:{dialogue.id}:{place}")
        turn = dialogue.turns[place]
        if attack is Attack.ENTAILMENT:
            return self._of_another(dialogue.id, turn.text, draw)
        if attack is Attack.NAMED_ENTITIES:
            return worse_texts.with_other_names(turn.text, names_in(turn), self._names, draw)
        return _WAYS[attack](_Place(turn, dialogue.turns[:place]), draw)

    def _of_another(self, dialogue: str, text: str, draw: random.Random) -> str | None:
        """A reply of another dialogue; of this one, not the turn itself, if there is no other."""
        for elsewhere in (True, False):
            choices = [
                reply
                for name, reply in draw.sample(self._replies, min(50, len(self._replies)))
                if (name != dialogue) is elsewhere and reply != text
            ]
            if choices:
                return choices[0]
        return None
