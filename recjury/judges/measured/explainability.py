"""Explainability: of the turns that recommend an item, the share that gives a reason."""

from collections.abc import Iterator
from typing import NamedTuple

from recjury.judges.measured.annotated_log import AnnotatedLog, SystemTurn, UserTurn
from recjury.judges.measured.outcome import Finding, Outcome, counted, from_share, scored
from recjury.judges.measured.said import words_of
from recjury.knowledge import Catalogue, attributes_of
from recjury.knowledge.ordinary_words import word_list
from recjury.language.genres import canonical_genres, excluded, genres_in
from recjury.records import Act, Domain, Item

_LONG_WORD = 4
# Words of asking for and giving a suggestion, which say nothing of an item.
_OF_ASKING = "enjoy enjoyed find interested movies please prefer recommend recommendations similar"


class Reason(NamedTuple):
    """A reason: the value that the turn says of an item, and whether the user spoke of it."""

    value: str
    asked: bool


class Heard:
    """What the user has said so far: words of wishes, values wished for, and items named."""

    def __init__(self, catalogue: Catalogue, domain: Domain, wishes: tuple[str, ...]):
        self._catalogue = catalogue
        common = word_list("common") | set(_OF_ASKING.split())
        self._plain = common | {
            w for words in (*domain.all_words, domain.verb) for w in words.split()
        }
        self.words: set[str] = set()
        self.genres = {name for wish in wishes for name in canonical_genres(wish)}
        self.values = {words_of(wish) for wish in wishes}
        self.items: set[str] = set()

    def hear(self, user: UserTurn) -> None:
        """Take in a turn of the user."""
        said, reading = user.said, user.reading
        rejected = {words_of(each.value) for each in reading.rejects}
        self.values |= {words_of(each.value) for each in reading.wants}
        self.genres |= {g for each in reading.wants for g in canonical_genres(each.value)}
        self.genres |= said.genres - genres_in(" ".join(rejected))
        self.items |= {each.key for each in said.named if each.key in self._catalogue}
        if reading.does(Act.WISH) is not False:
            words = {word for part in said.sentences for word in part.masked}
            long = {word for word in words if len(word) >= _LONG_WORD}
            self.words |= long - self._plain - rejected

    def knows(self, value: str, item: Item) -> bool:
        """Whether the user wished for a value, said its words, or named an item that has it."""
        words = words_of(value)
        if words in self.values or (words and set(words.split()) <= self.words):
            return True
        others = (self._catalogue.item(id_) for id_ in self.items if id_ != item.id)
        return any(
            value in each.of(other)
            for other in others
            for each in self._catalogue.domain_of(other).of_kind("maker", "cast")
        )


def reasons(log: AnnotatedLog, turn: SystemTurn, heard: Heard) -> Iterator[Reason]:
    """The reasons that a recommending turn gives, in no order.

    They are values of the items that it is the first to name, words of the user's wish, and items
    that the user had named. A kind of item ("comedy") or a year is none unless it was wished for.
    """
    items = log.items_of(turn.new)
    for item in items:
        yield from _values_said(turn, item, log.catalogue.domain_of(item), heard)
    for mention in turn.said.named:
        if mention.id in heard.items:
            yield Reason(mention.text, True)
    wrong = {g for g in turn.said.genres if items and all(excluded(g, item) for item in items)}
    for part in turn.said.sentences:
        if not part.is_question and not wrong:
            for word in part.masked:
                if word in heard.words:
                    yield Reason(word, True)


def _values_said(turn: SystemTurn, item: Item, domain: Domain, heard: Heard) -> Iterator[Reason]:
    kinds = [each.name for each in domain.of_kind("category")]
    bare = {*kinds[:1], "language", "year", "decade"}
    for attribute in attributes_of(item, domain):
        if attribute.kind == "genre":
            for genre in canonical_genres(attribute.value) & turn.said.genres & heard.genres:
                yield Reason(genre, True)
        elif turn.said.says(attribute.value):
            asked = heard.knows(attribute.value, item)
            if asked or attribute.kind not in bare:
                yield Reason(attribute.value, asked)


def explainability(log: AnnotatedLog) -> Outcome:
    """A reason always 4, mostly 3, about half 2, rarely 1, never 0.

    A reason that was given before counts half, and so does a value of which the user has not
    spoken. A broken turn gives none.
    """
    heard = Heard(log.catalogue, log.domain, log.log.scenario.wishes)
    for user in log.heard_before:
        heard.hear(user)
    findings: list[Finding] = []
    given: set[str] = set()
    halves = 0
    for turn in log.spoken:
        if turn.user is not None:
            heard.hear(turn.user)
        if not turn.new or turn.broken:
            continue
        best = max(
            reasons(log, turn, heard),
            key=lambda reason: (reason.asked, words_of(reason.value) not in given),
            default=None,
        )
        if best is None:
            continue
        again = words_of(best.value) in given
        given.add(words_of(best.value))
        halves += 1 if again or not best.asked else 2
        half = ", as before, half" if again else "" if best.asked else ", not asked for, half"
        findings.append(Finding(turn.place, "reason", f"{best.value!r}{half}", best.value))
    total = len(log.recommending)
    summary = f"{halves / 2:g} of {counted(total, 'recommending turn')} give a reason"
    return scored(from_share(halves, 2 * total), summary, findings)
