"""How the rule user reacts to what the system has just said."""

import re
from typing import NamedTuple

from recjury.knowledge.spoken_wishes import SpokenWish
from recjury.records import Item, is_target
from recjury.simulator.agenda import Want
from recjury.simulator.grammar import phrases
from recjury.simulator.read_turn import Question
from recjury.simulator.rejection import OF_TIME, Rejecting, Rejection
from recjury.simulator.user_state import CURIOUS, UserState

_ASKS_FIRST = {"low": 0.0, "medium": 0.12, "high": 0.5}
_LONGEST_QUOTE = 6
_SHORT_TURN = 3
# Kinds of which nobody is in doubt.
_CLEAR_KINDS = ("musical", "western", "horror", "animated", "comedy", "documentary", "drama")
# Ways to reject that sound strange after "I have not seen it".
_OF_KNOWN = (
    "reject_seen",
    "reject_history",
    "reject_liked",
    "reject_disliked",
    "reject_chosen",
    "reject_unlike",
    "reject_unconvinced",
    "reject_close",
    "reject_came_up",
)
_ROLES = ("category", "era", "cast", "maker", "other")


class Reaction(NamedTuple):
    """What is said about the system's turn, and the want that it tells, if any.

    `asks` tells that it is a question about a suggestion: nothing else is said then.
    """

    parts: list[str]
    told: Want | None = None
    asks: bool = False


class Reacting:
    """Reacts to one turn of the system."""

    def __init__(self, state: UserState, *, plain: bool = False):
        """`plain` says nothing by name."""
        self._state = state
        self._context = state.context
        self._say = state.grammar.say
        self._happens = state.grammar.happens
        self._traits = state.context.person.traits
        self._plain = plain

    def react(self) -> Reaction:
        """Repetition and nonsense first; then the suggestion; then questions."""
        heard = self._state.heard
        offered = self.offered()
        complaint = self._complaint()
        if heard.repeated and complaint and not heard.questions:
            return Reaction([complaint])
        curious = "" if complaint else self._curious(offered)
        if curious:
            return Reaction([curious], asks=True)
        if offered is not None and not heard.named and heard.words > _SHORT_TURN:
            complaint = complaint or self._unnamed()
        if offered is not None and (heard.named or not complaint) and not heard.repeated:
            found = self._rejection(offered)
            answer = [] if complaint else self._short_answer(found)
            return Reaction([complaint, *answer, found.text], found.told)
        if heard.questions:
            answered = self._answers(heard.questions)
            return answered._replace(parts=[complaint, *answered.parts])
        return Reaction([complaint or self._say("confused", **self._state.words())])

    def offered(self) -> Item | None:
        """The suggestion to speak of: the first one named, or else the first of a shown list."""
        state = self._state
        heard = state.heard
        listed = (
            [item.id for item in state.system_turns[-1].items] if self._context.shows_list else []
        )
        new = [id_ for id_ in heard.named if id_ not in state.named_earlier]
        for id_ in (*new, *heard.named, *(() if heard.questions else listed[:1])):
            if id_ is not None and id_ in state.catalogue:
                item = state.catalogue.item(id_)
                if not is_target(item.ref, self._context.scenario.targets):
                    return item
        return None

    # --- what is wrong with the turn -------------------------------------------------------------

    def _complaint(self) -> str:
        """Said of a turn that ignores the user, makes no sense, or is the same line again."""
        heard, state = self._state.heard, self._state
        if heard.repeated and (not state.grammar.was_said("repeats") or self._happens(0.5)):
            return self._say("repeats")
        asked = state.asked_item
        if asked is not None and asked.id not in heard.named and not self._plain:
            return self._say("curious_ignored", asked=asked.title)
        if heard.garbled and self._happens(0.8 if not state.grammar.was_said("garbled") else 0.35):
            quotes = 1 < len(heard.garbled.split()) <= _LONGEST_QUOTE
            quoted = self._say("garbled_quote", quote=heard.garbled.lower()) if quotes else ""
            return quoted or self._say("garbled")
        doubt = self._doubt()
        if doubt:
            return doubt
        said = state.grammar.was_said("template")
        if heard.template and self._happens(0.3 if said else 0.75):
            return self._say("template")
        return ""

    def _unnamed(self) -> str:
        """Said, mostly, when a text with a list names nothing."""
        return self._say("confused", **self._state.words()) if self._happens(0.6) else ""

    def _doubt(self) -> str:
        """Said of a well-known item that is called what it is not ("Jaws is a musical")."""
        state = self._state
        items = state.suggested if len(state.heard.named) == 1 else []
        if not items or self._plain or state.catalogue.little_known(items[0].id) is not False:
            return ""
        has, told = state.fit.categories(items[0]), state.heard.told
        spoken = SpokenWish(told)
        for category in _CLEAR_KINDS if has else ():
            found = re.search(rf"\b{category}\b", told, re.IGNORECASE)
            wrong = found is not None and category not in has and not spoken.refuses(found.start())
            if wrong and self._happens(0.6):
                slots = state.kind_slots(category)
                return self._say("doubt", item=items[0].title, a_kind=slots["a_kind"])
        return ""

    # --- suggestions -----------------------------------------------------------------------------

    def _curious(self, offered: Item | None) -> str:
        """A question about a suggestion, once in a conversation."""
        grammar, heard = self._state.grammar, self._state.heard
        if offered is None or offered.id not in heard.named or self._plain:
            return ""
        state = self._state
        known = offered.id in state.wish.mentioned or offered.id in state.named_earlier
        other = state.catalogue.domain_of(offered) != state.domain
        if known or other or state.has_done(offered):
            return ""
        wishes = not state.said and (state.wish.wants or state.wish.question)
        if self._is_out_of_place(offered):
            return ""
        rule = "curious" if state.catalogue.little_known(offered.id) else "curious_known"
        if wishes or any(map(grammar.was_said, CURIOUS)):
            return ""
        several = len(heard.named) > 1 and "more" in heard.questions
        likely = 0.7 if self._traits.openness == "high" else _ASKS_FIRST[self._traits.openness]
        if not grammar.happens(max(likely, 0.3) if several and likely else likely):
            return ""
        return self._say("pick" if several else rule, item=offered.title)

    def _is_out_of_place(self, offered: Item) -> bool:
        """Whether the suggestion has nothing of what was asked for, so that one is not curious."""
        state = self._state
        if any(state.is_met(want, (offered,)) for want in state.told):
            return False
        year, wanted = offered.year, state.aim.year
        too_old = any(map(state.grammar.was_said, OF_TIME)) and None not in (year, wanted)
        return bool(state.wish.wants) or (too_old and (year or 0) < (wanted or 0))

    def _rejection(self, offered: Item) -> Rejection:
        state = self._state
        asked = state.asked_item
        if asked is not None and asked.id in state.heard.named and not self._plain:
            text = self._say("reject_after_told", item=asked.title)
            if text:
                return Rejection(text)
        several = len(state.heard.named) > 1
        known = any(id_ in state.wish.mentioned for id_ in state.heard.named)
        again = bool(state.said) and state.grammar.is_of("reject_several", state.said[-1])
        if several and not again and not known and state.grammar.happens(0.35):
            text = self._say("reject_several")
            if text:
                return Rejection(text)
        named = offered.id in state.heard.named
        nameless = self._plain or (named and not several and state.grammar.happens(0.2))
        name = "that one" if nameless else offered.title
        return Rejecting(state, offered, name).reject()

    def _short_answer(self, found: Rejection) -> list[str]:
        """The answer to a closing question about the suggestion, now and then."""
        state = self._state
        questions = state.heard.questions
        words = state.words()
        several = len(state.heard.named) > 1
        is_of = state.grammar.is_of
        if "done" in questions and not self._tells_it_knows(found.text) and self._happens(0.55):
            named = [state.catalogue.item(id_) for id_ in state.heard.named]
            if any(state.has_done(each) or each.id in state.wish.mentioned for each in named):
                return []
            return [self._say("none_done" if several else "not_done", **words)]
        has_reason = not any(is_of(r, found.text) for r in ("reject_unconvinced", "reject_several"))
        if has_reason and "direction" in questions and not several and self._happens(0.4):
            would = state.heard.closing == "would"
            return [self._say("refusal_would" if would else "refusal")]
        if has_reason and "more" in questions and not several and self._happens(0.4):
            return [self._say("no_more")]
        return []

    def _tells_it_knows(self, text: str) -> bool:
        """Whether a rejection speaks of items as of something known."""
        return any(self._state.grammar.is_of(rule, text) for rule in _OF_KNOWN)

    # --- answers ---------------------------------------------------------------------------------

    def _answers(self, questions: tuple[Question, ...]) -> Reaction:
        parts: list[str] = []
        if "well" in questions:
            parts.append(self._say("answer_well"))
        if self._traits.question_tolerance == "low" and len(self._state.system_turns) > 1:
            parts.append(self._say("too_many_questions"))
        kinds = [kind for kind in questions if kind in _ROLES]
        if kinds:
            left = {want.role for want in self._state.left} if self._state.said else set()
            answer, want = self._answer(next((kind for kind in kinds if kind in left), kinds[0]))
            return Reaction([*parts, answer], want)
        if "liked" in questions:
            parts.append(self._answer_liked())
        elif "done" in questions or "direction" in questions:
            parts.append(self._say("refusal"))
        return Reaction(parts)

    def _answer(self, kind: Question) -> tuple[str, Want | None]:
        """Tell a want of this kind; without one, that it does not matter."""
        state = self._state
        told, left = (
            [want for want in wants if want.role == kind] for wants in (state.told, state.left)
        )
        options = [*told, *left] if not state.said else [*left, *told]
        if options:
            want = options[0]
            slots = state.kind_slots(want.value) if kind == "category" else {"value": want.value}
            feels = phrases().feels.get(want.value, []) if kind == "category" else []
            if feels and want not in state.told and state.grammar.happens(0.3):
                return self._say("answer_feel", value=state.grammar.choice(feels)), want
            return self._say(f"answer_{kind}", **slots), want
        word = next((a.word for a in state.domain.attributes if a.kind == kind), "")
        rule = "indifferent" if kind == "other" else f"indifferent_{kind}"
        return self._say(rule, word=word) or self._say("indifferent"), None

    def _answer_liked(self) -> str:
        liked = [want.value for want in self._state.wish.wants if want.role == "like"]
        return self._say("answer_liked", liked=liked[0]) if liked else self._say("indifferent")
