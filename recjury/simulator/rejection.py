"""Why a suggestion does not fit: the reasons of the rule user, and their sentences."""

from typing import NamedTuple

from recjury.records import Item
from recjury.simulator.agenda import Want, spoken_categories
from recjury.simulator.grammar import with_article
from recjury.simulator.user_state import UserState

_YEARS_APART = 8
_LONG_APART = 20
_OLD = 1985
_TOLD_WORDS = 12
# Who asks for these does not turn a suggestion down for what kind of item it is.
_PARTICULAR = ("ask", "clause", "cast", "maker")


OF_TIME = ("reject_older", "reject_aged", "reject_newer")  # rules that say when an item was made


class Rejection(NamedTuple):
    """A sentence that rejects, and the want that it tells for the first time or again, if any."""

    text: str
    told: Want | None = None


class Rejecting:
    """Rejects one suggestion."""

    def __init__(self, state: UserState, item: Item, name: str):
        """`name` is how the item is spoken of: its title, or "that one"."""
        self._state = state
        self._item = item
        self._categories = spoken_categories(item, state.catalogue.domain_of(item))
        self._slots = {**state.words(state.catalogue.domain_of(item)), "item": name}

    def reject(self) -> Rejection:
        """The reason that fits best; among several, one that was not given before."""
        state, item = self._state, self._item
        if item.id in (*state.named_earlier, *state.wish.mentioned):
            return self._plain(self._came_up())
        if state.catalogue.domain_of(item) != state.domain:
            return (
                Rejection(self._other_domain())
                if self._other_domain()
                else self._plain("reject_unconvinced")
            )
        if state.has_done(item):
            return self._plain("reject_seen")
        options = [
            (weight, found) for weight, found in self._reasons() if found is not None and found.text
        ]
        chosen = state.grammar.pick(options)
        return chosen if chosen is not None else self._plain("reject_unconvinced")

    def _came_up(self) -> str:
        """The rule for an item that came up before, by what the person said of it."""
        id_, wish = self._item.id, self._state.wish
        if id_ in self._state.named_earlier:
            return "reject_came_up"
        if id_ in wish.disliked:
            return "reject_disliked"
        if id_ in wish.items.chosen:
            return "reject_chosen"
        if id_ in wish.items.unseen:
            return "reject_came_up"
        if id_ in wish.items.named and id_ not in (*wish.items.seen, *wish.liked):
            told = self._state.heard.words > _TOLD_WORDS
            return "reject_after_told" if told else "reject_came_up"
        if id_ in wish.items.named:
            return "reject_history"
        return "reject_liked" if id_ in wish.liked else "reject_came_up"

    def _plain(self, rule: str) -> Rejection:
        said = self._state.grammar.say(rule, **self._slots)
        if not said and rule != "reject_unconvinced":
            return self._plain("reject_unconvinced")
        return Rejection(said)

    def _other_domain(self) -> str:
        """It is a book, say, and not a film."""
        state = self._state
        its = with_article(state.catalogue.domain_of(self._item).item)
        slots = {**self._slots, "its_noun": its, "a_noun": with_article(state.domain.item)}
        return state.grammar.say("reject_domain", **slots)

    def _reasons(self) -> list[tuple[float, Rejection | None]]:
        return [
            (self._fresh(3.0, "reject_category"), self._category()),
            (self._fresh(2.0, "reject_unlike"), self._unlike()),
            (2.0, self._era()),
            (self._fresh(2.0, "reject_cast", "reject_maker"), self._people()),
            (1.0, self._mood()),
            (3.0, self._unknown()),
            (self._fresh(1.0, "reject_close"), self._close()),
            (1.0, self._plain("reject_unconvinced")),
        ]

    def _fresh(self, weight: float, *rules: str) -> float:
        """The weight of a reason, less of it if it was given before."""
        return weight / 4 if any(map(self._state.grammar.was_said, rules)) else weight

    def _category(self) -> Rejection | None:
        """Another category: the one told last, or else the next one to tell."""
        state = self._state
        has = set(self._categories)
        known = [want for want in state.told if want.role == "category"]
        if not has or any(state.fit.is_near(self._item, want.value) for want in known):
            return None
        known.sort(key=lambda want: (want not in state.wish.wants, -state.told_last(want)))
        left = [want for want in state.left if want.role == "category"]
        left = [] if state.wish.wants else left[:1]
        lacks = [w for w in (*known, *left) if w.value not in has and state.is_common(w)]
        if not lacks:
            return None
        rule = "reject_category" if lacks[0] in known else "reject_category_new"
        others = state.strange_categories(self._item)
        slots = {**self._slots, **state.kind_slots(lacks[0].value), **state.its_slots(others)}
        return Rejection(state.grammar.say(rule, **slots), lacks[0])

    def _era(self) -> Rejection | None:
        """Older or newer, unless what the person liked or asked for in the history is as old.

        A time that was not asked for is no reason beside other wishes, nor for a few years.
        """
        state, year = self._state, self._item.year
        wanted = state.aim.year
        grammar = state.grammar
        if (
            any(map(grammar.was_said, OF_TIME))
            or year is None
            or wanted is None
            or abs(year - wanted) < _YEARS_APART
        ):
            return None
        told = any(want.role == "era" for want in state.told)
        if not told and (state.wish.wants or abs(year - wanted) < _LONG_APART):
            return None
        older = year < wanted
        years = [item.year for item in state.liked if item.year is not None]
        if any(each <= year + _YEARS_APART if older else each >= year - 1 for each in years):
            return None
        if ("old" if older else "new") in state.wish.times or _has_era(state):
            return None
        aged = "reject_aged" if year < _OLD and grammar.happens(0.4) else "reject_older"
        return Rejection(grammar.say(aged if older else "reject_newer", **self._slots))

    def _people(self) -> Rejection | None:
        """Without a person that the user has asked for; known only if the item has others."""
        state = self._state
        domain = state.catalogue.domain_of(self._item)
        asked = [want for want in state.told if want.role in ("cast", "maker")]
        if any(state.is_met(want, (self._item,)) for want in asked):
            return None
        for want in state.told:
            if want.role not in ("cast", "maker"):
                continue
            people = [n for each in domain.of_kind(want.role) for n in each.of(self._item)]
            everybody = " ".join(
                n for a in domain.of_kind("cast", "maker") for n in a.of(self._item)
            )
            if people and want.value not in everybody:
                rule = "reject_cast" if want.role == "cast" else "reject_maker"
                slots = {**self._slots, "value": want.value}
                return Rejection(state.grammar.say(rule, **slots), want)
        return None

    def _unlike(self) -> Rejection | None:
        state = self._state
        has = set(self._categories)
        if any(state.fit.is_like(self._item, liked) for liked in state.liked):
            return None
        for want in state.wish.wants:
            liked = state.catalogue.named(want.value) if want.role == "like" else None
            if liked is None or not has:
                continue
            others = set(spoken_categories(liked, state.catalogue.domain_of(liked)))
            if others and len(has & others) <= 1:
                slots = {**self._slots, "liked": want.value}
                return Rejection(state.grammar.say("reject_unlike", **slots), want)
        return None

    def _unknown(self) -> Rejection | None:
        """Little known, which a person who is not open to the new minds."""
        is_open = self._state.context.person.traits.openness != "low"
        if is_open or not self._state.catalogue.little_known(self._item.id):
            return None
        return self._plain("reject_unknown")

    def _close(self) -> Rejection | None:
        """It has something of what is wanted, and still is not it."""
        if not any(self._state.is_met(want, (self._item,)) for want in self._state.told):
            return None
        return self._plain("reject_close")

    def _mood(self) -> Rejection | None:
        """Not in the mood for its category, if that is none that the user wants."""
        state = self._state
        has = state.strange_categories(self._item)
        if any(want.role in _PARTICULAR for want in state.wish.wants):
            return None
        if any(state.is_met(want, (self._item,)) for want in state.told):
            return None
        if not has or len(has) < len(self._categories) or state.grammar.was_said("reject_mood"):
            return None
        return Rejection(state.grammar.say("reject_mood", **self._slots, **state.its_slots(has)))


def _has_era(state: UserState) -> bool:
    return any(want.role == "era" for want in state.wish.wants)
