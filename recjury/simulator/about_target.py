"""What the rule user says once it has been told of what it wants."""

from functools import cached_property
from typing import Literal

from recjury.knowledge import fold
from recjury.records import Item, is_target
from recjury.simulator.read_turn import ReadTurn, Topic, answers, hear_turn, named_before
from recjury.simulator.user_state import UserState

Past = Literal["known", "chosen", "named", "told", ""]

_TOLD_WORDS = 12
_DESCRIBED = ("chosen", "told")  # what the history has told of already
_NAMELESS = {
    "likes_known": "likes",
    "likes_chosen": "likes",
    "likes_named": "likes",
    "likes_told": "likes",
    "likes_known_listed": "likes",
    "likes_chosen_listed": "likes",
    "likes_named_listed": "likes",
    "likes_listed": "likes",
    "accept_known": "accept",
    "accept_listed": "accept_now",
    "back_known": "back",
    "still_known": "back",
}
# Questions that make no sense once the system has told the topic.
_ABOUT: tuple[tuple[str, Topic], ...] = (
    ("more_fit", "fit"),
    ("more_people", "people"),
    ("more_age", "age"),
)


class AboutTarget:
    """Asks about the item that the user is content with, and takes it."""

    def __init__(self, state: UserState, *, plain: bool = False):
        """`plain` says nothing by name."""
        self._state = state
        self._context = state.context
        self._say = state.grammar.say
        self._plain = plain

    def introduce(self) -> list[str]:
        """Ask about the target; after that, ask more, or come back to it."""
        since = self._turns_since_told()
        if since == 0:
            return self._first_look()
        other = self._other_version()
        if other is not None:
            said = self._say("other_version", hit=self._hit_title(), year=str(other.year))
            if said:
                return [said]
        heard = self._state.heard
        if self._past == "known":
            return self._of_known(heard)
        if not self._answers(heard):
            return [self._titled("back_garbled" if self._is_nonsense(heard) else "back")]
        return [self._acknowledgement(), self._more()]

    def _first_look(self) -> list[str]:
        """It likes the sound of the target, and asks what it is, or more if it has just heard."""
        state, heard, past = self._state, self._state.heard, self._past
        asked = state.wish.question if past and not state.said else ""
        if asked and answers(asked, heard) and self._speaks_of_hit(heard):
            return [self._say("told_enough"), self._more()]
        if asked and self._hit_title() in asked:
            return [self._say("question_again", question=asked)]
        liked = self._welcome()
        if past == "known":
            return [liked, self._say("ask_known", **state.words())]
        described = self._speaks_of_hit(heard) and heard.words > _TOLD_WORDS
        described = described and len(heard.named) == 1 and not heard.garbled
        if self._is_named and "done" in heard.questions and state.grammar.happens(0.5):
            rule = "none_done" if len(heard.named) > 1 else "not_done"
            liked = liked if past else f"{self._say(rule, **state.words())} {liked}"
        return [liked, self._more() if described or past in _DESCRIBED else self._ask_about()]

    def _welcome(self) -> str:
        """What it says of the target first, by what it knows of it and where it found it."""
        state, past = self._state, self._past
        if past and (self._is_named or past != "told"):
            listed = "" if self._is_named else "_listed"
            return self._titled(f"likes_{past}{listed}")
        wants = state.lead if not state.said else ()
        rule = "likes" if self._is_named else "likes_listed"
        if wants and wants[0].role != "clause":
            thing = state.thing(wants, by_name=True)
            wished = "likes_wish" if self._is_named else "likes_listed_wish"
            return self._titled(wished, thing=thing) or self._titled(rule)
        return self._titled(rule)

    def _of_known(self, heard: ReadTurn) -> list[str]:
        """It compares what is said with a target that it knows."""
        if self._answers(heard):
            return [self._say("told_known"), self._say("ask_known", **self._state.words())]
        if not heard.named:
            return [self._titled("still_known")]
        several = len(heard.named) > 1
        those, there = ("those", "those") if several else ("that one", "that")
        return [self._titled("back_known", those=those, those_there=there)]

    def _acknowledgement(self) -> str:
        closing = self._state.heard.closing
        return (self._say(closing) if closing else "") or self._say("told_enough")

    def _more(self) -> str:
        """A question that what was told so far does not answer."""
        state = self._state
        told = {topic for heard in self._heard_since() for topic in heard.topics}
        rules = [rule for rule, topic in _ABOUT if topic not in told]
        rules += ["more", "more"]
        rules += ["more_story", "more_story"] if state.tells_stories else []
        return self._say(state.grammar.choice(rules), **state.words()) or self._say(
            "more", **state.words()
        )

    def _ask_about(self) -> str:
        state = self._state
        story = state.tells_stories and state.grammar.happens(0.5)
        return self._say("ask_story" if story else "ask_about", **state.words())

    def accept(self) -> list[str]:
        """Take the target, content or not with what was said about it since it was asked for."""
        if self._past == "known":
            return [self._titled("accept_known")]
        if not self._turns_since_told():
            return [self._titled("accept_now" if self._is_named else "accept_listed")]
        told = any(self._answers(heard) for heard in self._heard_since()[1:])
        return [self._titled("accept" if told else "accept_blind")]

    def _titled(self, rule: str, **slots: str) -> str:
        """A sentence about the hit, with its title if that may be said."""
        slots |= self._state.words()
        title = self._hit_title()
        text = self._say(rule, hit=title, **slots) if title else ""
        return text or self._untitled(rule, **slots)

    def _untitled(self, rule: str, **slots: str) -> str:
        return self._say(f"{_NAMELESS.get(rule, rule)}_nameless", **slots)

    def _hit_title(self) -> str:
        hit = self._context.hit
        if hit is None or self._plain or not self._context.system_named_hit:
            return ""
        known = hit.id is not None and hit.id in self._state.catalogue
        return self._state.catalogue.item(hit.id).title if known and hit.id else hit.name

    @property
    def _is_named(self) -> bool:
        """Whether the system's text names the hit, which else stands in its list."""
        hit = self._context.hit
        return hit is not None and hit.id in self._state.heard.named

    @cached_property
    def _past(self) -> Past:
        """What the history tells of the hit; "" if it did not come up."""
        hit, wish = self._context.hit, self._state.wish
        id_ = hit.id if hit is not None else None
        if id_ in wish.items.chosen:
            return "chosen"
        if id_ not in wish.items.unseen and (self._is_liked() or id_ in wish.items.seen):
            return "known"
        if id_ in wish.items.named:
            return "named"
        return "told" if id_ in wish.mentioned else ""

    def _is_liked(self) -> bool:
        """Whether the person said in the history that it likes the hit, or one of that title."""
        title = fold(self._hit_title())
        return any(title == fold(item.title) for item in self._state.liked)

    def _turns_since_told(self) -> int:
        """The number of the user's turns since it was first told of the hit."""
        state, hit = self._state, self._context.hit
        assert hit is not None
        for number, turn in enumerate(state.system_turns):
            named = hit.id in named_before((turn,), state.catalogue)
            if named or (self._context.shows_list and is_target(hit, turn.items)):
                return len(state.system_turns) - number - 1
        return 0

    def _heard_since(self) -> list[ReadTurn]:
        """What was understood of the turns since the hit was told, with that turn."""
        state = self._state
        turns = state.system_turns[-1 - self._turns_since_told() :]
        return [hear_turn(turn.text, (), state.catalogue, state.domain) for turn in turns]

    def _speaks_of_hit(self, heard: ReadTurn) -> bool:
        """Whether a turn of the system is about the hit: it names it first, or names nothing."""
        hit = self._context.hit
        return hit is not None and (not heard.named or heard.named[0] == hit.id)

    def _answers(self, heard: ReadTurn) -> bool:
        """Whether a turn tells something about the hit that makes sense."""
        asks = heard.asks_only and not heard.named
        return self._speaks_of_hit(heard) and not asks and not self._is_nonsense(heard)

    def _is_nonsense(self, heard: ReadTurn) -> bool:
        return bool(heard.garbled) and self._speaks_of_hit(heard)

    def _other_version(self) -> Item | None:
        """An item of the same title and another year that the system took for the hit."""
        hit, state = self._context.hit, self._state
        title = self._hit_title()
        if hit is None or not title or hit.id in state.heard.named:
            return None
        named = (state.catalogue.item(id_) for id_ in state.heard.named)
        return next((item for item in named if item.title == title and item.year), None)
