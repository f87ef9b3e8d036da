"""Composes one turn of the rule user."""

import re
from collections.abc import Callable, Sequence
from functools import cached_property
from random import Random

from recjury.knowledge import Catalogue
from recjury.records import Item, Speaker, Turn, UserContext, is_target
from recjury.simulator.agenda import (
    Constraint,
    ConstraintKind,
    agenda,
    decade_of,
    noun_of,
    phrases,
    spoken_genres,
)

_QUESTION = re.compile(r"[^.!?\n]*\?")
_ASKS_FOR: tuple[tuple[ConstraintKind, re.Pattern[str]], ...] = (
    ("director", re.compile(r"\bdirect(?:or|ors|ed|ing)\b|\bfilmmakers?\b", re.IGNORECASE)),
    (
        "actor",
        re.compile(r"\bact(?:or|ors|ress|resses)\b|\bstar(?:s|ring)?\b|\bcast\b", re.IGNORECASE),
    ),
    (
        "era",
        re.compile(
            r"\b(?:era|years?|decades?|old|older|new|newer|recent|when|period)\b", re.IGNORECASE
        ),
    ),
    ("genre", re.compile(r"\b(?:genres?|kinds?|types?|sort|mood|like)\b", re.IGNORECASE)),
)


class RuleTurn:
    """One turn of the rule user: the conversation so far, and the attributes left to reveal."""

    def __init__(self, catalogue: Catalogue, context: UserContext, leaks: Callable[[str], bool]):
        """`leaks` tells whether a text gives a target away; such attributes are not revealed."""
        self._catalogue = catalogue
        self._context = context
        self._leaks = leaks
        self._phrases = phrases()

    def compose(self, draw: Random, *, plain: bool = False) -> str:
        """The utterance; `plain` omits the titles of other items."""
        context, said = self._context, self._phrases
        if context.hit is not None:
            return self._introduce(draw) if context.introduce else draw.choice(said.accept)
        if not context.interaction:
            return self._open(draw)
        return " ".join(self._react(draw, plain=plain))

    @cached_property
    def _target(self) -> Item | None:
        """The target with the most attributes to reveal; the first one in a tie."""
        known = [
            self._catalogue.item(target.id)
            for target in self._context.scenario.targets
            if target.id is not None and target.id in self._catalogue
        ]
        return max(known, key=lambda item: len(agenda(item, ())), default=None)

    @cached_property
    def _agenda(self) -> tuple[Constraint, ...]:
        attributes = agenda(self._target, self._context.scenario.wishes)
        barred = {each.value for each in self._context.barred}
        return tuple(
            one
            for one in attributes
            if one.value not in barred and not self._leaks(f"I like {one.value}, yes.")
        )

    @cached_property
    def _told(self) -> tuple[Constraint, ...]:
        spoken = " ".join(
            turn.text for turn in self._context.interaction if turn.speaker is Speaker.USER
        )
        return tuple(one for one in self._agenda if _holds(spoken, one.value))

    @cached_property
    def _left(self) -> tuple[Constraint, ...]:
        return tuple(one for one in self._agenda if one not in self._told)

    def _introduce(self, draw: Random) -> str:
        context, said = self._context, self._phrases
        assert context.hit is not None
        earlier = _turns_of_system(context.interaction)[:-1]
        if any(is_target(item, [context.hit]) for turn in earlier for item in turn.items):
            return draw.choice(said.more)
        if not context.system_named_hit:
            return draw.choice(said.introduce)
        title = context.hit.name
        if context.hit.id is not None and context.hit.id in self._catalogue:
            title = self._catalogue.item(context.hit.id).title
        return draw.choice(said.introduce_named).format(title=title, Title=_upper(title))

    def _open(self, draw: Random) -> str:
        first = self._left[0] if self._left else None
        forms = self._phrases.wish[first.kind if first else "none"]
        wish = self._filled(draw.choice(forms), first)
        opening = draw.choice(self._phrases.opening).format(wish=wish)
        if self._context.scenario.history:
            return opening
        return f"{draw.choice(self._phrases.greeting)} {opening}"

    def _react(self, draw: Random, *, plain: bool) -> list[str]:
        """Reject the offered item, answer the question, and reveal one more attribute."""
        heard = _turns_of_system(self._context.interaction)[-1]
        offered = self._offered(heard)
        parts: list[str] = []
        new: Constraint | None = None
        if offered is not None:
            reason, new = self._turn_down(offered, draw, plain=plain)
            parts.append(reason)
        asked = _asked_for(heard.text)
        if asked is not None and new is None:
            answer, new = self._answer(asked, draw)
            parts += answer
        if new is None:
            parts.append(self._reveal(draw))
        return parts

    def _offered(self, heard: Turn) -> Item | None:
        """The first item that the text names, or else the first of the list, if it is known."""
        named = [mention.id for mention in self._catalogue.link(heard.text)]
        listed = [item.id for item in heard.items if item.id is not None]
        targets = {target.id for target in self._context.scenario.targets}
        for id_ in (*named, *listed[:1]):
            if id_ not in targets and id_ in self._catalogue:
                return self._catalogue.item(id_)
        return None

    def _turn_down(
        self, offered: Item, draw: Random, *, plain: bool
    ) -> tuple[str, Constraint | None]:
        """Why `offered` does not fit, and the attribute that this reveals for the first time."""
        said = self._phrases
        item = draw.choice(said.nameless) if plain else offered.title
        if self._is_known(offered):
            return draw.choice(said.known).format(item=item, Item=_upper(item)), None
        told, left = (
            [one for one in these if one.kind in said.mismatch and _lacks(offered, one)]
            for these in (self._told, self._left)
        )
        if told or left:
            attribute = draw.choice(told) if told else left[0]
            text = self._filled(draw.choice(said.mismatch[attribute.kind]), attribute, item)
            return text, None if told else attribute
        return draw.choice(said.unfit).format(item=item, Item=_upper(item)), None

    def _is_known(self, offered: Item) -> bool:
        return any(
            mention.id == offered.id
            for turn in self._context.scenario.history
            for mention in self._catalogue.link(turn.text)
        )

    def _answer(self, asked: ConstraintKind, draw: Random) -> tuple[list[str], Constraint | None]:
        """The answer to a question, and the attribute that it reveals for the first time."""
        of_kind = [one for one in (*self._left, *self._told) if one.kind == asked]
        if not of_kind:
            return [draw.choice(self._phrases.indifferent[asked])], None
        text = self._filled(draw.choice(self._phrases.answer[asked]), of_kind[0])
        return [text], of_kind[0] if of_kind[0] in self._left else None

    def _reveal(self, draw: Random) -> str:
        if not self._left:
            return draw.choice(self._phrases.exhausted)
        return self._filled(draw.choice(self._phrases.reveal[self._left[0].kind]), self._left[0])

    def _filled(self, form: str, attribute: Constraint | None, item: str = "") -> str:
        value = attribute.value if attribute else ""
        article = "an" if value[:1].lower() in "aeiou" and value else "a"
        return form.format(
            value=value,
            article=article,
            Article=article.capitalize(),
            noun=noun_of(self._target),
            item=item,
            Item=_upper(item),
        )


def _turns_of_system(turns: Sequence[Turn]) -> list[Turn]:
    return [turn for turn in turns if turn.speaker is Speaker.SYSTEM]


def _asked_for(text: str) -> ConstraintKind | None:
    questions = " ".join(_QUESTION.findall(text[-2000:]))
    return next((kind for kind, words in _ASKS_FOR if words.search(questions)), None)


def _lacks(item: Item, attribute: Constraint) -> bool:
    """Whether the catalogue shows that an item does not have an attribute."""
    match attribute.kind:
        case "genre":
            genres = spoken_genres(item)
            return bool(genres) and attribute.value not in genres
        case "era":
            return decade_of(item) not in (None, attribute.value)
        case "actor":
            return bool(item.actors) and attribute.value not in item.actors
        case "director":
            return bool(item.directors) and attribute.value not in item.directors
        case _:
            return False


def _holds(spoken: str, value: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(value)}(?!\w)", spoken) is not None


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]
