"""What the rule user says to what the system suggests."""

from functools import cached_property

from recjury.records import Act, Item
from recjury.simulator.turn_writer import Spoken, TurnWriter
from recjury.simulator.wants import plural, thing

_TELLS_SO = 0.5
_CURIOUS = {"low": 0.0, "medium": 0.35, "high": 0.6}  # by openness
_IN_MOOD = 0.5
_SEVERAL = 0.4


class Offers:
    """Turns suggestions down for what was asked for, for what is known, or for taste; or asks."""

    def __init__(self, writer: TurnWriter):
        """`writer` knows the user's mind."""
        self._say = writer.say
        self._writer = writer
        self._mind = writer.mind

    def react(self) -> list[Spoken]:
        """Answer whether it has seen the suggestions, and ask about one or turn it down."""
        mind = self._mind
        passed = self._question_passed()
        if passed or not mind.offered:
            return passed
        item = self._item
        if self._may_wonder(item) and self._writer.happens(_CURIOUS[mind.traits.openness]):
            curious = self._wonder(item)
            if curious:
                return curious
        return [*self._not_seen(), *self.turn_down()]

    def _wonder(self, item: Item) -> list[Spoken]:
        """Ask about the item; the first answer says why."""
        if self._mind.user_turns:
            return self._say("curious", item)
        met = [want for want in self._mind.told if self._mind.has(item, want)]
        why = self._say("likes_wish", item, met[:1], hit=self._writer.name(item))
        return [*why, *self._say("ask_about", item)]

    def turn_down(self) -> list[Spoken]:
        """A refusal of the suggestion with a reason; [] without a suggestion."""
        if not self._mind.offered:
            return []
        item = self._item
        return self._known(item) or self._unfit(item) or self._just_so(item)

    @property
    def _item(self) -> Item:
        """The suggestion that the user speaks of: the one it asked about, or the first new one."""
        mind = self._mind
        asked = (item for item in mind.offered if item.title in self._asked_titles)
        new = (item for item in mind.offered if item.id not in mind.offered_before)
        return next(asked, None) or next(new, mind.offered[0])

    @cached_property
    def _asked_titles(self) -> frozenset[str]:
        """The titles that the user's last turn asked about: several items may have the same."""
        mind = self._mind
        last = mind.user_turns[-1].acts if mind.user_turns else ()
        ids = (act.item for act in last if act.act is Act.ASK and act.item)
        return frozenset(mind.catalogue.item(id_).title for id_ in ids)

    def _not_seen(self) -> list[Spoken]:
        mind = self._mind
        asked = mind.last_turn.asks_done and self._item.id not in mind.named_myself
        if not asked or any(mind.has_seen(item) for item in mind.offered):
            return []
        if len(mind.offered) > 1:
            return self._say("none_seen")
        obscure = mind.catalogue.little_known(self._item.id) is True
        return self._say("never_heard" if obscure else "not_seen")

    def _question_passed(self) -> list[Spoken]:
        """A complaint that the system went on to others when it was asked about one."""
        titles = self._asked_titles
        offered = {item.title for item in self._mind.offered}
        if not titles or not offered or titles & offered:
            return []
        asked = "that one" if self._writer.nameless else min(titles)
        return self._say("question_passed", asked=asked)

    def _may_wonder(self, item: Item) -> bool:
        """Whether it may ask about the item: a new one that has something of what is wanted.

        The first answer says what is wanted, if the item does not have it.
        """
        mind = self._mind
        known = mind.offered_before | mind.named_myself | mind.said.items(Act.ASK)
        wanted = (*mind.told, *(mind.agenda if mind.user_turns else ()))
        fits = any(mind.has(item, want) for want in wanted)
        new = item.id not in known and not mind.has_seen(item)
        return fits and new and mind.catalogue.domain_of(item) == mind.domain

    def _known(self, item: Item) -> list[Spoken]:
        """It is known: from this conversation, from the history, or seen before."""
        mind = self._mind
        if item.title in self._asked_titles:
            return self._say("after_told", item)
        if item.id in mind.offered_before:
            return self._say("came_up", item)
        if mind.catalogue.domain_of(item) != mind.domain:
            its = mind.catalogue.domain_of(item)
            return self._say("other_domain", item, its_noun=thing((), its))
        if mind.has_seen(item):
            return self._say("seen", item)
        return self._say("named_myself", item) if item.id in mind.named_myself else []

    def _unfit(self, item: Item) -> list[Spoken]:
        """It lacks what was asked for, or what the user would tell next, which it tells so."""
        mind = self._mind
        may = mind.user_turns and self._writer.happens(_TELLS_SO)
        untold = mind.unasked[:1] if may else ()
        for want in (*mind.told, *untold):
            if want.attribute is None or mind.fits(item, want):
                continue
            if want.is_category and self.kind_of(item):
                return self._say("lacks_kind", item, (want,), its=self.kind_of(item))
            if mind.is_name(want):
                return self._say("lacks_person", item, (want,))
            if want.attribute.kind == "decade" and item.year is not None:
                known = want in mind.told and self._writer.happens(0.5)
                too = "newer" if item.year > int(want.attribute.value[:4]) else "older"
                return self._say(too, item) if known else self._say("lacks_era", item, (want,))
        return []

    def _just_so(self, item: Item) -> list[Spoken]:
        """No reason but taste."""
        mind = self._mind
        unwanted = mind.unwanted(item)
        all_unwanted = unwanted and len(unwanted) == len(mind.categories(item))
        if all_unwanted and self._writer.happens(_IN_MOOD):
            values = [each.attribute for each in unwanted[:1] if each.attribute]
            many = plural(unwanted[0], mind.domain)
            return self._say("not_in_mood", item, refused=values, its_many=many)
        if len(mind.offered) > 1 and self._writer.happens(_SEVERAL):
            return self._say("none_of_these")
        if mind.traits.openness == "low" and mind.catalogue.little_known(item.id):
            return self._say("obscure", item)
        if any(mind.has(item, want) for want in mind.told) and self._writer.happens(0.3):
            return self._say("close", item)
        return self._say("unconvinced", item) or self._say("none_of_these")

    def kind_of(self, item: Item) -> str:
        """What the item is, by a category that nobody asked for; "" without one."""
        unwanted = self._mind.unwanted(item)
        return thing(unwanted[:1], self._mind.domain) if unwanted else ""
