"""Worse versions of replies: the ten kinds of PairEval's table 7, made from any dialogues.

The kinds are those of Khalid and Lee (2022). Theirs are made with spaCy, WordNet and trained
models; ours with word lists, so that any dialogue, CRS turns included, can be changed anywhere.
"""

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import StrEnum
from typing import ClassVar, NamedTuple

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
        return self._ways[attack](self, dialogue, place, draw)

    def _dull(self, dialogue: SourceDialogue, place: int, draw: random.Random) -> str | None:
        asked = "?" in dialogue.turns[place - 1].text
        own = _last_of(dialogue.turns[:place], Speaker.SYSTEM)
        return worse_texts.dull(asked, own, dialogue.turns[place].text, draw)

    def _pronouns(self, dialogue: SourceDialogue, place: int, draw: random.Random) -> str | None:
        return worse_texts.wrong_pronouns(dialogue.turns[place].text, draw)

    def _repeated(self, dialogue: SourceDialogue, place: int, draw: random.Random) -> str | None:
        return worse_texts.repeated(dialogue.turns[place].text, draw)

    def _of_another(self, dialogue: SourceDialogue, place: int, draw: random.Random) -> str | None:
        """A reply of another dialogue; of this one, not the turn itself, if there is no other."""
        text = dialogue.turns[place].text
        for elsewhere in (True, False):
            choices = [
                reply
                for name, reply in draw.sample(self._replies, min(50, len(self._replies)))
                if (name != dialogue.id) is elsewhere and reply != text
            ]
            if choices:
                return choices[0]
        return None

    def _contradicting(
        self, dialogue: SourceDialogue, place: int, draw: random.Random
    ) -> str | None:
        own = _last_of(dialogue.turns[:place], Speaker.SYSTEM)
        found = None
        if own is not None and "?" not in own:
            found = worse_texts.contradicting(own, draw)
        return found or worse_texts.contradicting(dialogue.turns[place].text, draw)

    def _as_other_speaker(
        self,
        dialogue: SourceDialogue,
        place: int,
        draw: random.Random,  # noqa: ARG002 (there is only one way)
    ) -> str | None:
        other = _last_of(dialogue.turns[:place], Speaker.USER)
        return f"{other} {dialogue.turns[place].text}" if other else None

    def _not_entrained(
        self, dialogue: SourceDialogue, place: int, draw: random.Random
    ) -> str | None:
        said = worse_texts.words_of(
            turn.text for turn in dialogue.turns[:place] if turn.speaker is Speaker.USER
        )
        return worse_texts.not_entrained(dialogue.turns[place].text, said, draw)

    def _other_names(self, dialogue: SourceDialogue, place: int, draw: random.Random) -> str | None:
        turn = dialogue.turns[place]
        return worse_texts.with_other_names(turn.text, names_in(turn), self._names, draw)

    def _badly_paraphrased(
        self, dialogue: SourceDialogue, place: int, draw: random.Random
    ) -> str | None:
        return worse_texts.badly_paraphrased(dialogue.turns[place].text, draw)

    def _less_diverse(
        self, dialogue: SourceDialogue, place: int, draw: random.Random
    ) -> str | None:
        said = worse_texts.words_of(turn.text for turn in dialogue.turns[: place + 1])
        return worse_texts.less_diverse(dialogue.turns[place].text, said, draw)

    _ways: ClassVar[
        dict[Attack, Callable[["Manipulator", SourceDialogue, int, random.Random], str | None]]
    ] = {
        Attack.DULLNESS: _dull,
        Attack.PRONOUN: _pronouns,
        Attack.REPETITION: _repeated,
        Attack.ENTAILMENT: _of_another,
        Attack.CONTRADICTION: _contradicting,
        Attack.SPEAKER: _as_other_speaker,
        Attack.ENTRAINMENT: _not_entrained,
        Attack.NAMED_ENTITIES: _other_names,
        Attack.BAD_PARAPHRASE: _badly_paraphrased,
        Attack.VOCABULARY_DIVERSITY: _less_diverse,
    }


def _last_of(turns: Sequence[Turn], speaker: Speaker) -> str | None:
    """What a speaker said last; None if nothing, or only blank text."""
    texts = [turn.text for turn in turns if turn.speaker is speaker and turn.text.strip()]
    return texts[-1] if texts else None
