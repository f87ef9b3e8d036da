"""One log, annotated once for all measured judges: its texts, acts, wishes and items."""

from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator
from functools import cached_property
from typing import NamedTuple

from recjury.judges.measured.linked_text import LinkedText, words_of
from recjury.judges.measured.outcome import Finding, join_first
from recjury.judges.measured.wishes import Wish
from recjury.knowledge import Catalogue, TitleMention
from recjury.language import Reading, ReplyCheck, read, read_reply
from recjury.records import ConversationLog, Item, ItemRef, Speaker, Turn

_SHOWN_WORDS = 8
_LONG_SENTENCE = 4
_IN_WORDS = {"truncated": "cut off", "loop": "repeats words", "residue": "text of a program"}


class UserTurn(NamedTuple):
    """A user's turn, what was read of it, and the sentence of the user that it repeats, if any."""

    turn: Turn
    said: LinkedText
    reading: Reading
    repeats: str = ""


class SystemTurn(NamedTuple):
    """A system's turn, at index `place` of the interaction, and the user's turn that it answers.

    `then` is the user's next turn. `asked` are the words of the system's questions before. `new`
    are the items that nobody had named before. `last_item` is the key of the item that was named
    last, None if several were in one turn. `offered` are the ids of the items that the system had
    named or listed. `wish` is what the user wants when the turn begins. `same_as` is the index of
    the first turn of anybody with the same words, and `template_of` are those of earlier turns with
    the same template.
    """

    place: int
    turn: Turn
    said: LinkedText
    check: ReplyCheck | None
    user: UserTurn | None
    then: UserTurn | None
    asked: frozenset[str]
    new: tuple[TitleMention, ...]
    last_item: str | None
    offered: frozenset[str]
    wish: Wish
    same_as: int | None
    template_of: tuple[int, ...]

    @property
    def spoke(self) -> bool:
        """Whether the turn did not fail and has a text."""
        return self.check is not None

    def finding(
        self, label: str, note: str, quote: str | None = None, worth: float = 0.0
    ) -> Finding:
        """A finding in this turn; it quotes the whole text unless told what."""
        return Finding(self.place, label, note, self.turn.text if quote is None else quote, worth)

    def flaw(self, *kinds: str) -> Finding | None:
        """How the text is broken, if it surely is, in one of `kinds`; without kinds, in any way."""
        check = self.check
        if check is None or not check.broken or (kinds and check.kind not in kinds):
            return None
        kind = check.kind.replace("_", " ") or "broken"
        return self.finding(kind, f"{_IN_WORDS.get(kind, kind)} {check.quote!r}", check.quote)

    def lacks(self, what: str) -> Finding:
        """That there is none of it in the turn, in words alone: this is no evidence."""
        note = f"{what} in {_opening(self.turn.text, ' ...')!r}" if self.spoke else "no answer"
        return Finding(self.place, "", note)

    def said_before(self, times: int = 2) -> Finding | None:
        """Whether it has the words of an earlier turn; or the template of so many."""
        if self.same_as is not None:
            note = f"says turn {self.same_as + 1} again"
        elif len(self.template_of) >= times:
            note = f"says turn {self.template_of[0] + 1} again with other names"
        else:
            return None
        return self.finding("said again", note)


class AnnotatedLog:
    """A log with the data that the judges share; what turns hold is computed when first used.

    `domain` is that of the log's items, `session` the session-level list.
    """

    def __init__(
        self, log: ConversationLog, catalogue: Catalogue, link: Callable[[str], LinkedText]
    ):
        """`link` finds the items of the catalogue in a text."""
        self.log = log
        self.catalogue = catalogue
        self.domain = catalogue.wanted_domain(log.scenario)
        self.session = log.session_list()
        self._turns = (*log.scenario.history, *log.interaction)
        self._said = tuple(link(turn.text) for turn in self._turns)

    @cached_property
    def system(self) -> tuple[SystemTurn, ...]:
        """The system's turns of the interaction, including failed ones."""
        return tuple(self._system_turns())

    @cached_property
    def spoken(self) -> tuple[SystemTurn, ...]:
        """The system's turns that have a text to judge."""
        return tuple(turn for turn in self.system if turn.spoke)

    def findings_of(self, items: Iterable[Item | ItemRef], label: str) -> list[Finding]:
        """A finding for each turn that is the first to list some of these items of the session."""
        names = {item.id: item.name for item in items}
        findings: list[Finding] = []
        for place in self.log.system_turn_indices:
            refs = self.log.interaction[place].items[: self.log.list_length]
            here = [names.pop(ref.id) for ref in refs if ref.id in names and ref.id is not None]
            findings += [Finding(place, label, f"{label}: {join_first(here)}")] if here else []
        return findings

    def items_of(self, refs: Iterable[ItemRef | TitleMention]) -> tuple[Item, ...]:
        """The catalogue's items for references or mentions; unknown ones are left out."""
        known = dict.fromkeys(ref.id for ref in refs if ref.id is not None)
        return tuple(self.catalogue.item(id_) for id_ in known if id_ in self.catalogue)

    @cached_property
    def user_turns(self) -> tuple[UserTurn | None, ...]:
        """One for each turn of history and interaction; None for those of the system."""
        found: list[UserTurn | None] = []
        sentences: dict[str, str] = {}
        for at, (turn, said) in enumerate(zip(self._turns, self._said, strict=True)):
            if turn.speaker is not Speaker.USER:
                found.append(None)
                continue
            spoken = f" {' '.join(token.key for token in said.tokens)} "
            repeats = next((text for key, text in sentences.items() if key in spoken), "")
            reading = read(turn, self._turns[:at], self.catalogue)
            found.append(UserTurn(turn, said, reading, repeats))
            long = (each.text for each in said.sentences if len(each.words) >= _LONG_SENTENCE)
            sentences |= {f" {words_of(text)} ": text for text in long}
        return tuple(found)

    def _system_turns(self) -> Iterator[SystemTurn]:
        begins = len(self.log.scenario.history)
        users = (*self.user_turns, None)
        named: set[str] = set()
        last: str | None = None
        offered: frozenset[str] = frozenset()
        wish = Wish()
        asked: frozenset[str] = frozenset()
        same: dict[str, int] = {}
        templates: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
        for at, (turn, said) in enumerate(zip(self._turns, self._said, strict=True)):
            user = users[at]
            if user is not None:
                wish = wish.after(user.turn, user.reading)
            elif at >= begins:
                yield SystemTurn(
                    place=at - begins,
                    turn=turn,
                    said=said,
                    check=_checked(turn, users[at - 1]),
                    user=users[at - 1],
                    then=users[at + 1],
                    asked=asked,
                    new=_first_named(said, named),
                    last_item=last,
                    offered=offered,
                    wish=wish,
                    same_as=same.get(said.same),
                    template_of=tuple(templates[said.template][:2]),
                )
                templates[said.template] += [at - begins] if said.template else []
            if at >= begins and said.same:
                same.setdefault(said.same, at - begins)
            if user is None:
                asked |= {words_of(part.text) for part in said.sentences if "?" in part.text}
                listed = turn.items[: self.log.list_length]
                offered |= {each.id for each in listed if each.id is not None} | said.keys
            named |= said.keys
            if said.keys:
                last = min(said.keys) if len(said.keys) == 1 else None


def _checked(turn: Turn, user: UserTurn | None) -> ReplyCheck | None:
    """Whether the text is broken; it is, too, if the user speaks English and it does not. None
    without a text."""
    if turn.failure is not None or not turn.text.strip():
        return None
    check = read_reply(turn.text)
    if check.english or user is None or not user.reading.english:
        return check
    return ReplyCheck(1.0, broken=True, kind="mixed_languages", quote=_opening(turn.text))


def _opening(text: str, more: str = "") -> str:
    words = text.split()
    return " ".join(words[:_SHOWN_WORDS]) + (more if len(words) > _SHOWN_WORDS else "")


def _first_named(said: LinkedText, named: Container[str]) -> tuple[TitleMention, ...]:
    """The items that nobody had named, each once."""
    new = {mention.key: mention for mention in reversed(said.named) if mention.key not in named}
    return tuple(sorted(new.values(), key=lambda mention: mention.start))
