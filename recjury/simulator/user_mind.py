"""What the rule user has in mind when it speaks: its wants, what was said and understood."""

from collections.abc import Callable, Sequence
from functools import cached_property
from random import Random

from recjury.knowledge import Catalogue
from recjury.records import (
    Act,
    Attribute,
    Domain,
    Item,
    Speaker,
    Turn,
    UserContext,
    digest,
)
from recjury.simulator.said_so_far import SaidSoFar, said_so_far
from recjury.simulator.turn_facts import TurnFacts, turn_facts
from recjury.simulator.wants import Want, agenda, categories, is_near, like, want_of, wants_of

_FIRST_LISTED = 3
_NAMES_EARLY = 2  # turns in which it says a name that nobody asked for
_KNOWN_FOR = 4  # items with a person from which people know the name


class UserMind:
    """The state of one user; everything is read from the context when it is needed."""

    def __init__(
        self,
        catalogue: Catalogue,
        context: UserContext,
        past: SaidSoFar,
        leaks: Callable[[str], bool],
        seed: int,
    ):
        """`past` is what the person did in the history; `seed` is the user's.

        `leaks` tells whether a text gives a target away.
        """
        self.catalogue = catalogue
        self.context = context
        self.past = past
        self.traits = context.person.traits
        self._leaks = leaks
        self._seed = seed

    def random(self, *what: str) -> Random:
        """Random numbers that belong to this conversation and to `what`."""
        return Random(digest([self._seed, self.context.scenario.id, *what]))

    # --- what was said and understood ------------------------------------------------------------

    @cached_property
    def user_turns(self) -> tuple[Turn, ...]:
        """The user's turns since the history."""
        return tuple(t for t in self.context.interaction if t.speaker is Speaker.USER)

    @cached_property
    def system_turns(self) -> tuple[Turn, ...]:
        """The system's turns since the history."""
        return tuple(t for t in self.context.interaction if t.speaker is Speaker.SYSTEM)

    @cached_property
    def said(self) -> SaidSoFar:
        """What the user did since, as it declared."""
        return said_so_far(self.context.interaction, self.catalogue)

    @cached_property
    def last_turn(self) -> TurnFacts:
        """What the system said last."""
        turns = (*self.context.scenario.history, *self.context.interaction)
        return turn_facts(turns, self.catalogue, self.domain, self.named_myself)

    @cached_property
    def offered(self) -> tuple[Item, ...]:
        """The items of the system's last turn: those that it names, or the first of its list."""
        ids: Sequence[str | None] = self.last_turn.named
        if not ids and self.context.shows_list:
            ids = [item.id for item in self.system_turns[-1].items[:_FIRST_LISTED]]
        return self._items(ids)

    @cached_property
    def offered_before(self) -> frozenset[str]:
        """The items that the system named in its earlier turns of this conversation."""
        return self.named_in(self.system_turns[:-1])

    @cached_property
    def named_in_history(self) -> frozenset[str]:
        """The items that the history names."""
        return self.named_in(self.context.scenario.history)

    @cached_property
    def named_myself(self) -> frozenset[str]:
        """The items that the person named in the history."""
        own = (t for t in self.context.scenario.history if t.speaker is Speaker.USER)
        return self.named_in(tuple(own))

    def named_in(self, turns: Sequence[Turn]) -> frozenset[str]:
        """The items that these turns name."""
        return frozenset(mention.id for t in turns for mention in self.catalogue.link(t.text))

    def _items(self, ids: Sequence[str | None]) -> tuple[Item, ...]:
        return tuple(self.catalogue.item(id_) for id_ in ids if id_ and id_ in self.catalogue)

    # --- what it wants ---------------------------------------------------------------------------

    @cached_property
    def domain(self) -> Domain:
        """What the user looks for: films, books, ..."""
        return self.catalogue.wanted_domain(self.context.scenario)

    @cached_property
    def targets(self) -> tuple[Item, ...]:
        """The targets that the user knows, of those that the catalogue has."""
        if self.context.person.knows == "wishes":
            return ()
        return self._items([target.id for target in self.context.scenario.targets])

    @cached_property
    def target(self) -> Item | None:
        """The target of which most is known; None for a user with wishes, or without any."""
        return max(self.targets, key=lambda item: len(wants_of(item, self.domain)), default=None)

    @cached_property
    def agenda(self) -> tuple[Want, ...]:
        """What the user may tell of what it is after, in order."""
        if self.target is not None:
            wants = agenda(self.target, self.domain, self.random("agenda"))
        else:
            wished = (want_of(each, self.domain) for each in self.context.person.wishes)
            wants = tuple(want for want in wished if want is not None)
        refused = {self._meaning(each) for each in (*self.past.refused, *self.said.refused)}
        return tuple(
            want
            for want in wants
            if want.attribute
            and want.attribute not in self.context.barred
            and self._meaning(want.attribute) not in refused
            and self.may_say(want.words)
            and not (self.traits.knowledge == "low" and self._is_maker(want))
        )

    @cached_property
    def wished_before(self) -> tuple[Want, ...]:
        """What the person wished for in the history and a target has, the last wish first."""
        wants = self._wants(self.past)
        if not self.targets:
            return wants
        return tuple(
            want
            for want in wants
            if want.item is not None or any(self.has(item, want) for item in self.targets)
        )

    @cached_property
    def told(self) -> tuple[Want, ...]:
        """All that was wished for so far, the last wish first."""
        return tuple(dict.fromkeys((*self._wants(self.said), *self.wished_before)))

    def _wants(self, said: SaidSoFar) -> tuple[Want, ...]:
        found: list[Want | None] = []
        for act in said.wishes:
            if act.wish is not None:
                found.append(want_of(act.wish, self.domain))
            elif act.item is not None and act.item in self.catalogue:
                found.append(like(self.catalogue.item(act.item)))
        return tuple(want for want in found if want is not None and self.may_say(want.words))

    @cached_property
    def left(self) -> tuple[Want, ...]:
        """The wants of the agenda that were not told, and that hardly differ from none told."""
        known = {want.value.lower() for want in self.told}
        return tuple(want for want in self.agenda if want.value.lower() not in known)

    @cached_property
    def unasked(self) -> tuple[Want, ...]:
        """Those that one says without being asked, and that the suggestions do not have yet.

        Names are said early only, of well-known people, and by who has wished for nothing yet: a
        name that comes out of nothing sounds like a hint.
        """
        silent = not self.past.wishes and self.past.quote is None
        early = silent and len(self.user_turns) < _NAMES_EARLY
        early = early or self.context.person.knows == "wishes"
        return tuple(
            want
            for want in self.left
            if not all(self.has(item, want) for item in self.offered or (None,))
            and (not self.is_name(want) or (early and self._is_well_known(want)))
        )

    def may_quote(self, sentence: str) -> bool:
        """Whether saying a sentence of the history again gives no target away."""
        return not self._leaks(sentence)

    def may_say(self, words: str) -> bool:
        """Whether saying this gives no target away."""
        return not self._leaks(f"I like {words}, yes.")

    def is_name(self, want: Want) -> bool:
        """Whether it is the name of somebody."""
        return want.attribute is not None and self.catalogue.attributes.is_name(want.attribute)

    def _is_maker(self, want: Want) -> bool:
        makers = {each.name for each in self.domain.of_kind("maker")}
        return want.attribute is not None and want.attribute.kind in makers

    def _is_well_known(self, want: Want) -> bool:
        assert want.attribute is not None
        return len(self.catalogue.attributes.items_meant_by(want.attribute)) >= _KNOWN_FOR

    def _meaning(self, attribute: Attribute) -> tuple[str, str]:
        return self.catalogue.attributes.meaning(attribute)

    # --- what fits -----------------------------------------------------------------------------

    def has(self, item: Item | None, want: Want) -> bool:
        """Whether the item has what is wanted; False for no item."""
        if item is None or want.attribute is None:
            return False
        if want.is_category:
            return any(is_near(want.value, each.value) for each in self.categories(item))
        return item.id in self.catalogue.attributes.items_meant_by(want.attribute)

    def fits(self, item: Item | None, want: Want) -> bool:
        """Whether the item has what is wanted, or what else was told of its sort.

        Who has told of comedies and crime films is content with either.
        """
        told = (each for each in self.told if each.sort == want.sort)
        return any(self.has(item, each) for each in (want, *told))

    @cached_property
    def unmet(self) -> tuple[Want, ...]:
        """The values that were told and that no suggestion fits, the last one first."""
        values = (want for want in self.told if want.attribute is not None)
        return tuple(w for w in values if not any(self.fits(item, w) for item in self.offered))

    def categories(self, item: Item) -> tuple[Want, ...]:
        """The kinds of items that the item is."""
        return categories(item, self.catalogue.domain_of(item))

    def unwanted(self, item: Item) -> tuple[Want, ...]:
        """Its categories that nobody asked for, and that no target or item of the history has."""
        return tuple(
            each
            for each in self.categories(item)
            if not any(is_near(each.value, want.value) for want in self._agreeable)
            and self.may_say(each.words)
        )

    @cached_property
    def _agreeable(self) -> tuple[Want, ...]:
        """The categories that the person has nothing against."""
        known = (*self.targets, *self._items(sorted(self.named_myself)))
        return (*self.agenda, *self.told, *(w for item in known for w in self.categories(item)))

    def has_seen(self, item: Item) -> bool:
        """Whether the user has seen the item: drawn once for each conversation."""
        if item.id in self.past.items(Act.SEEN) | self.said.items(Act.SEEN):
            return True
        if item.id in self.said.items(Act.ASK) | self.past.items(Act.ASK, Act.ACCEPT):
            return False
        chance = {"low": 0.08, "medium": 0.2, "high": 0.35}[self.traits.knowledge]
        known = self.catalogue.little_known(item.id) is not True
        return self.random("seen", item.id).random() < (chance if known else chance / 4)
