"""Explainability: of the turns that recommend an item, the share that gives a reason."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from recjury.judges.measured.annotated_log import AnnotatedLog, SystemTurn, UserTurn
from recjury.judges.measured.linked_text import TITLE, LinkedText, words_of
from recjury.judges.measured.outcome import Finding, Outcome, by_worth, not_applicable
from recjury.judges.measured.wishes import names_of
from recjury.knowledge import attributes_of
from recjury.language.genres import canonical_genres, excluded, genres_in
from recjury.records import Act, Item

_BARE = frozenset({"language", "year", "decade"})
# Words of asking for and giving a suggestion, which say nothing of an item.
_OF_ASKING = ("enjoy", "find", "interested", "please", "prefer", "recommend", "similar", "suggest")


class Reason(NamedTuple):
    """A reason: the value that the turn says of an item, and whether the user spoke of it."""

    value: str
    asked: bool


class UserInterests:
    """What the user has said so far: words of wishes, values wished for, and items named."""

    def __init__(self, log: AnnotatedLog):
        self._log = log
        self._of_asking = {TITLE, *_OF_ASKING, *log.domain.all_words, log.domain.verb}
        self.words: set[str] = set()
        self.values: set[str] = set()
        self.items: set[str] = set()
        self._want(log.log.scenario.wishes)
        for user in log.user_turns[: len(log.log.scenario.history)]:
            self.hear(user)

    def _want(self, values: Iterable[str]) -> None:
        for value in values:
            self.values |= {words_of(value), *canonical_genres(value)}

    def hear(self, user: UserTurn | None) -> None:
        """Take in a turn of the user, if it is one."""
        if user is None:
            return
        said, reading = user.said, user.reading
        self._want(each.value for each in reading.wants)
        self.values |= genres_in(said.folded)
        for item in self._log.items_of(said.named):
            self.items.add(item.id)
            domain = self._log.catalogue.domain_of(item)
            self.values |= names_of(item, *domain.of_kind("maker", "cast"))
        if Act.WISH in reading.yes:
            self.words |= said.long_words - self._of_asking

    def reasons_in(self, turn: SystemTurn) -> Iterator[Reason]:
        """The reasons that a recommending turn gives, in no order.

        They are values of the new items, words of the user's wish, and items that only
        the user had named.
        """
        items = self._log.items_of(turn.new)
        rejected = {genre for each in turn.wish.rejects for genre in canonical_genres(each.value)}
        spoken = genres_in(turn.said.folded) - rejected
        for item in items:
            yield from self._values_said(turn.said, item, spoken)
        likened = self.items - turn.offered
        yield from (Reason(each.text, True) for each in turn.said.named if each.key in likened)
        wrong = any(all(excluded(genre, item) for item in items) for genre in spoken if items)
        for part in turn.said.sentences:
            if "?" not in part.text and not wrong:
                yield from (Reason(word, True) for word in part.words if word in self.words)

    def _values_said(
        self, said: LinkedText, item: Item, spoken: frozenset[str]
    ) -> Iterator[Reason]:
        """A type of item ("phone"), a year or a language is no reason unless it was asked for."""
        domain = self._log.catalogue.domain_of(item)
        bare = {*(each.name for each in domain.of_kind("category")[:1]), *_BARE}
        for kind, value in attributes_of(item, domain):
            if kind == "genre":
                genres = canonical_genres(value) & spoken
                yield from (Reason(genre, genre in self.values) for genre in sorted(genres))
            elif said.says(value):
                asked = words_of(value) in self.values
                yield from [Reason(value, asked)] if asked or kind not in bare else []


def explainability(log: AnnotatedLog) -> Outcome:
    """A reason always 4, mostly 3, about half 2, rarely 1, never 0.

    A reason that was given before counts half, and so does a value of which the user has not
    spoken, as a bare genre word. A broken turn gives none.
    """
    interests = UserInterests(log)
    rated: list[Finding] = []
    given: set[str] = set()
    for turn in log.spoken:
        interests.hear(turn.user)
        if not turn.new:
            continue
        best = max(
            () if turn.flaw() else interests.reasons_in(turn),
            key=lambda reason: (reason.asked, words_of(reason.value) not in given),
            default=None,
        )
        if best is None:
            rated.append(turn.lacks("no reason"))
        else:
            again = words_of(best.value) in given
            given.add(words_of(best.value))
            whole = best.asked and not again
            half = "" if whole else f"{' again' if again else ''}, which counts half"
            note = f"reason {best.value!r}{half}"
            rated.append(turn.finding("reason", note, best.value, 1.0 if whole else 0.5))
    if not rated:
        return not_applicable("the text recommends nothing")
    return by_worth(rated, "recommending turn", "with a reason")
