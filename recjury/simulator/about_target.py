"""What the rule user says once it has been told of what it wants."""

from recjury.records import is_target
from recjury.simulator.read_turn import named_before
from recjury.simulator.user_state import UserState

_TOLD_WORDS = 12


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
        if self._speaks_of_hit():
            return [self._acknowledgement(), self._more()]
        return [self._titled("back")]

    def _first_look(self) -> list[str]:
        """It likes the sound of the target, and asks what it is, or more if it has just heard."""
        state = self._state
        wants = state.wish.wants[:1] if not state.said else ()
        liked = self._titled("likes")
        if wants and wants[0].role == "topic":
            liked = self._titled("likes_topic", topic=wants[0].value) or liked
        elif wants:
            liked = self._titled("likes_wish", thing=state.thing(wants, by_name=True)) or liked
        described = self._speaks_of_hit() and state.heard.words > _TOLD_WORDS
        described = described and len(state.heard.named) == 1
        return [liked, self._more() if described else self._ask_about()]

    def _acknowledgement(self) -> str:
        asked = {"direction", "other"} & set(self._state.heard.questions)
        return (self._say("would") if asked else "") or self._say("told_enough")

    def _more(self) -> str:
        state = self._state
        story = state.tells_stories and state.grammar.happens(0.4)
        return self._say("more_story" if story else "more", **state.words())

    def _ask_about(self) -> str:
        state = self._state
        story = state.tells_stories and state.grammar.happens(0.5)
        return self._say("ask_story" if story else "ask_about", **state.words())

    def accept(self) -> list[str]:
        """Take the target, content or not with what was said about it."""
        rule = "accept" if self._was_told_much() else "accept_blind"
        if not self._turns_since_told():
            rule = "accept_now"
        return [self._titled(rule)]

    def _titled(self, rule: str, **slots: str) -> str:
        """A sentence about the hit, with its title if that may be said."""
        slots |= self._state.words()
        title = self._hit_title()
        text = self._say(rule, hit=title, **slots) if title else ""
        return text or self._say(f"{rule}_nameless", **slots)

    def _hit_title(self) -> str:
        hit = self._context.hit
        if hit is None or self._plain or not self._context.system_named_hit:
            return ""
        known = hit.id is not None and hit.id in self._state.catalogue
        return self._state.catalogue.item(hit.id).title if known and hit.id else hit.name

    def _turns_since_told(self) -> int:
        """The number of the user's turns since it was first told of the hit."""
        state, hit = self._state, self._context.hit
        assert hit is not None
        for number, turn in enumerate(state.system_turns):
            named = hit.id in named_before((turn,), state.catalogue)
            if named or (self._context.shows_list and is_target(hit, turn.items)):
                return len(state.system_turns) - number - 1
        return 0

    def _speaks_of_hit(self) -> bool:
        """Whether the system's last turn is about the hit: it names it first, or names nothing."""
        hit = self._context.hit
        named = self._state.heard.named
        return hit is not None and (not named or named[0] == hit.id)

    def _was_told_much(self) -> bool:
        hit = self._context.hit
        assert hit is not None
        return any(
            len(turn.text.split()) > _TOLD_WORDS
            and named_before((turn,), self._state.catalogue) == {hit.id}
            for turn in self._state.system_turns
        )
