"""What counts are made of: the system's answers, with the items that each of them brings."""

import functools
import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from recjury.corpora import Catalogue, Item, fold
from recjury.corpora.titles import without_names
from recjury.corpora.words import phrases_in
from recjury.files import shipped
from recjury.records import ConversationLog, ItemRef, Turn


class Answer(NamedTuple):
    """A system's turn. `named` are the items that its text names and the user had not named.

    `new` are the ids, listed or named, that nobody had brought up before. `wanted` are the values
    of the catalogue in the user's words right before it, and `objected` says whether these turn
    something down. `template` is its text without names.
    """

    text: str
    listed: tuple[ItemRef, ...]
    named: tuple[ItemRef, ...]
    new: frozenset[str]
    wanted: frozenset[str]
    objected: bool
    template: str

    @property
    def asks(self) -> bool:
        """Whether it asks something."""
        return any(sign in self.text for sign in "?？؟")


class Talk:
    """A log as counts see it."""

    def __init__(self, log: ConversationLog, catalogue: Catalogue):
        """`catalogue` is the one that the log's items are of."""
        self.log, self.catalogue = log, catalogue
        self.answers = tuple(self._answers())

    @cached_property
    def items(self) -> list[Item]:
        """The items of the session's list that the catalogue has."""
        return self._known(self.log.session_list)

    @cached_property
    def targets(self) -> list[Item]:
        """The targets that the catalogue has."""
        return self._known(self.log.scenario.targets)

    def values(self, refs: Iterable[ItemRef]) -> set[str]:
        """The folded attribute values of items."""
        return {value for item in self._known(refs) for value in item.values}

    @cached_property
    def is_english(self) -> bool:
        """Whether the answers, without names, show English and no other language more.

        It shows in common words, and other scripts in their letters.
        """
        text = " ".join(answer.template for answer in self.answers)
        english, others = (len(_words(kind).findall(text)) for kind in ("english", "others"))
        letters = [sign for sign in text if sign.isalpha()]
        return others < english and 2 * sum(sign > "\u024f" for sign in letters) <= len(letters)

    def _known(self, refs: Iterable[ItemRef]) -> list[Item]:
        return [self.catalogue.items[ref.id] for ref in refs if ref.id in self.catalogue.items]

    def _answers(self) -> Iterator[Answer]:
        by_user, offered = set[str](), set[str]()
        wanted, objected = frozenset[str](), False
        history = self.log.scenario.history
        for number, turn in enumerate((*history, *self.log.interaction)):
            named = self._named(turn)
            ids = {ref.id for ref in (*named, *turn.items)}
            if turn.speaker == "user":
                by_user |= {ref.id for ref in named}
                wanted = frozenset(
                    value for *_, value in phrases_in(turn.text, self.catalogue.values)
                )
                objected = (
                    bool(offered) and _words("objection").search(turn.text.casefold()) is not None
                )
                continue
            if number >= len(history):
                yield Answer(
                    turn.text,
                    turn.items,
                    tuple(ref for ref in named if ref.id not in by_user),
                    frozenset(ids - by_user - offered),
                    wanted,
                    objected,
                    fold(
                        without_names(
                            turn.text, (ref.name for ref in (*named, *turn.items)), " ITEM "
                        )
                    ),
                )
            offered |= ids

    def _named(self, turn: Turn) -> tuple[ItemRef, ...]:
        if self.log.linked and turn.speaker == "system" and turn.items:
            return turn.items
        return self.catalogue.link(turn.text)


@functools.cache
def _words(kind: str) -> re.Pattern[str]:
    """Any word of a kind, in folded case."""
    words = shipped(Path(__file__).with_name("words.yaml"))[kind].split()
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, words))})\b")
