"""Composes one turn of the rule user."""

from recjury.records import Item, is_target
from recjury.simulator.about_target import AboutTarget
from recjury.simulator.agenda import Want
from recjury.simulator.grammar import phrases
from recjury.simulator.read_turn import Question
from recjury.simulator.rejection import Rejecting, Rejection
from recjury.simulator.user_state import UserState

_SENTENCES = {"low": 2, "medium": 3, "high": 4}
_PATIENT_ROUNDS = {"low": 2, "medium": 3, "high": 5}


class RuleTurn:
    """One turn of the rule user."""

    def __init__(self, state: UserState, *, plain: bool = False):
        """`plain` says nothing by name."""
        self._state = state
        self._context = state.context
        self._say = state.grammar.say
        self._traits = state.context.person.traits
        self._plain = plain

    def compose(self) -> str:
        """The utterance."""
        context = self._context
        if context.hit is not None:
            target = AboutTarget(self._state, plain=self._plain)
            parts = target.introduce() if context.introduce else target.accept()
        elif not context.interaction:
            parts = self._open()
        elif context.behaviour == "giving_up" or context.last:
            parts = self._leave()
        else:
            parts = self._react()
        return " ".join(part for part in parts if part)

    # --- opening ---------------------------------------------------------------------------------

    def _open(self) -> list[str]:
        state = self._state
        wants = tuple(want for want in self._wanted_first() if want.role != "topic")
        rule = "open" if wants else "open_vague"
        asked = self._say(rule, thing=state.thing(wants) if wants else "", **state.words())
        greeting = "" if self._context.scenario.history else self._say("greeting")
        return [greeting, asked, self._condition()]

    def _wanted_first(self) -> tuple[Want, ...]:
        """The history's wish, or else the first want of the agenda."""
        wants = self._state.wish.wants[:1] or self._state.left[:1]
        return tuple(wants)

    def _leave(self) -> list[str]:
        parts = [self._say("leave")]
        offered = self._offered()
        if self._context.behaviour != "giving_up" and offered is not None:
            parts = [self._rejection(offered).text, *parts]
        return parts

    # --- reacting --------------------------------------------------------------------------------

    def _react(self) -> list[str]:
        """React to what was said, say what is wanted, and perhaps ask for more."""
        state = self._state
        behaved = self._behave()
        if behaved:
            return behaved
        parts, told = self._reaction()
        if not state.said:
            parts += self._first_wish(told)
            parts += [self._condition()]
        elif told is None:
            parts += [self._tell_more()]
        parts += [self._tail(parts)]
        spoken = [part for part in parts if part]
        return self._toned(spoken[: _SENTENCES[self._traits.verbosity]])

    def _reaction(self) -> tuple[list[str], Want | None]:
        heard = self._state.heard
        offered = self._offered()
        if heard.repeated:
            repeated = self._say("repeats")
            if repeated:
                return [repeated], None
        curious = self._curious(offered) if offered is not None else ""
        if curious:
            return [curious], None
        if offered is not None:
            found = self._rejection(offered)
            return [*self._short_answer(offered), found.text], found.told
        if heard.questions:
            return self._answers(heard.questions)
        return [self._say("confused", **self._state.words())], None

    def _curious(self, offered: Item) -> str:
        """An open person's question about a suggestion, once in a conversation."""
        grammar, new = self._state.grammar, offered.id not in self._state.wish.mentioned
        likely = self._traits.openness == "high" and new and grammar.happens(0.7)
        if not likely or self._plain or grammar.was_said("curious"):
            return ""
        return self._say("curious", item=offered.title)

    def _offered(self) -> Item | None:
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

    def _rejection(self, offered: Item) -> Rejection:
        state = self._state
        several = len(state.heard.named) > 1
        again = bool(state.said) and state.grammar.is_of("reject_several", state.said[-1])
        if several and not again and state.grammar.happens(0.3):
            text = self._say("reject_several")
            if text:
                return Rejection(text)
        nameless = self._plain or (not several and state.grammar.happens(0.25))
        name = "that one" if nameless else offered.title
        return Rejecting(state, offered, name).reject()

    def _short_answer(self, offered: Item) -> list[str]:
        """The answer to a closing question about the suggestion, now and then."""
        state = self._state
        questions = state.heard.questions
        words = state.words()
        several = len(state.heard.named) > 1
        if "done" in questions and state.grammar.happens(0.6):
            if several:
                return [self._say("none_done", **words)]
            return [] if state.has_done(offered) else [self._say("not_done", **words)]
        if "direction" in questions and not several and state.grammar.happens(0.5):
            return [self._say("refusal")]
        if "more" in questions and state.grammar.happens(0.5):
            return [self._say("no_more")]
        return []

    def _answers(self, questions: tuple[Question, ...]) -> tuple[list[str], Want | None]:
        parts: list[str] = []
        if "well" in questions:
            parts.append(self._say("answer_well"))
        if self._traits.question_tolerance == "low" and len(self._state.system_turns) > 1:
            parts.append(self._say("too_many_questions"))
        for kind in questions:
            if kind in ("category", "era", "cast", "maker", "other"):
                answer, want = self._answer(kind)
                return [*parts, answer], want
        if "liked" in questions:
            parts.append(self._answer_liked())
        elif "done" in questions or "direction" in questions:
            parts.append(self._say("refusal"))
        return parts, None

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

    # --- wants -----------------------------------------------------------------------------------

    def _first_wish(self, told: Want | None) -> list[str]:
        """The history's wish, unless the reaction has just said it."""
        state = self._state
        wants = state.wish.wants
        if not wants:
            return [] if told is not None else [self._tell_more()]
        if told in wants:
            return []
        if wants[0].role == "topic":
            return [self._say("topic", topic=wants[0].value)]
        thing = state.thing(self._pair(wants[0]), by_name=True)
        return [self._say("wish", thing=thing, **state.words())]

    def _pair(self, first: Want) -> tuple[Want, ...]:
        """The want, now and then with another one of the history that goes with it."""
        roles = {first.role, "ask"}
        others = [want for want in self._state.wish.wants[1:] if want.role not in roles]
        if first.role != "ask" and others and self._state.grammar.happens(0.4):
            return (first, others[0])
        return (first,)

    def _tell_more(self) -> str:
        """The next want; without one, the wish again in other words, or a vague remark."""
        state = self._state
        if state.left:
            return self._add(state.left[0])
        known = [want for want in state.told if want.role not in ("ask", "topic")]
        if known and state.grammar.happens(0.4):
            first = state.grammar.choice(range(len(known)))
            chosen = (known[first],)
            said = self._say("wish_again", thing=state.thing(chosen))
            if said:
                return said
        return self._say("vague", **state.words())

    def _add(self, want: Want) -> str:
        state = self._state
        if want.role == "ask":
            return self._say("wish", thing=want.value, **state.words())
        if want.role == "category":
            feels = phrases().feels.get(want.value, [])
            if feels and state.grammar.happens(0.4):
                return self._say("add_feel", value=state.grammar.choice(feels))
            return self._say("add_category", **state.kind_slots(want.value))
        return self._say(f"add_{want.role}", value=want.value, **state.words())

    def _tail(self, parts: list[str]) -> str:
        """Impatience, or a question for something else, or nothing."""
        state = self._state
        late = len(state.system_turns) >= _PATIENT_ROUNDS[self._traits.patience]
        if late and state.grammar.happens(0.5):
            things = [want for want in state.told if want.role != "topic"]
            thing = state.thing((things[0],)) if things else ""
            return self._say("impatient", thing=thing)
        asks = any(part.endswith("?") for part in parts if part)
        if not asks and state.grammar.happens(0.45):
            return self._say("else", **state.words())
        return ""

    def _toned(self, parts: list[str]) -> list[str]:
        grammar = self._state.grammar
        chance = {"low": 0.25, "medium": 0.15, "high": 0.25}[self._traits.mood]
        rule = {"low": "cool", "medium": "hm", "high": "warm"}[self._traits.mood]
        if parts and grammar.happens(chance):
            return [self._say(rule), *parts]
        return parts

    # --- behaviours and conditions ---------------------------------------------------------------

    def _behave(self) -> list[str]:
        state = self._state
        told = tuple(want for want in state.told if want.role != "topic")[:1]
        match self._context.behaviour:
            case "rejection_without_reason":
                return [self._say("reject_bare")]
            case "off_topic":
                return [self._say("off_topic")]
            case "change_of_mind":
                thing = state.thing(told) if told else ""
                changed = self._say("change_of_mind", thing=thing) or self._say("change_vague")
                return [changed, self._tell_more()]
            case "contradiction":
                known = [want for want in state.told if want.role == "category"]
                slots = state.kind_slots(known[0].value) if known else {}
                return [self._say("contradiction", **slots) or self._say("contradiction_vague")]
            case _:
                return []

    def _condition(self) -> str:
        """What is on the user's mind before it begins, under a condition."""
        condition = self._context.person.condition
        if condition is None:
            return ""
        item = condition.item.name if condition.item is not None else ""
        match condition.name:
            case "reference_dependence":
                return self._say("reference", reference=item)
            case "decoy":
                return self._say("decoy", decoy=item)
            case "priming":
                primed = condition.attribute.value if condition.attribute else ""
                return self._say("priming", primed=primed)
