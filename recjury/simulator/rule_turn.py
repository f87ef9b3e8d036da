"""Composes one turn of the rule user."""

from recjury.simulator.about_target import AboutTarget
from recjury.simulator.agenda import Want, is_about, time_phrases
from recjury.simulator.grammar import phrases
from recjury.simulator.reactions import Reacting
from recjury.simulator.read_turn import answers
from recjury.simulator.rejection import OF_TIME, Rejecting
from recjury.simulator.user_state import UserState

_SENTENCES = {"low": 2, "medium": 3, "high": 4}
_PLAIN_SENTENCES = 2
_PATIENT_ROUNDS = {"low": 2, "medium": 3, "high": 5}
_OFTEN_TOLD = 2
_QUOTED = ("ask", "clause")


class RuleTurn:
    """One turn of the rule user."""

    def __init__(self, state: UserState, *, plain: bool = False):
        """`plain` says nothing by name."""
        self._state = state
        self._context = state.context
        self._say = state.grammar.say
        self._traits = state.context.person.traits
        self._plain = plain
        self._reacting = Reacting(state, plain=plain)
        self._dated = False  # whether this turn says that a suggestion is too old or too new

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

    # --- opening and leaving ---------------------------------------------------------------------

    def _open(self) -> list[str]:
        state = self._state
        wants = tuple(want for want in self._wanted_first() if want.role != "clause")
        rule = "open" if wants else "open_vague"
        asked = self._say(rule, thing=state.thing(wants) if wants else "", **state.words())
        greeting = "" if self._context.scenario.history else self._say("greeting")
        return [greeting, asked, self._condition()]

    def _wanted_first(self) -> tuple[Want, ...]:
        """The history's wish, or else the first want of the agenda."""
        wants = self._state.lead or self._state.left[:1]
        return tuple(wants)

    def _leave(self) -> list[str]:
        parts = [self._say("leave")]
        offered = self._reacting.offered()
        named = offered is not None and offered.id in self._state.heard.named
        if self._context.behaviour != "giving_up" and offered is not None and named:
            asked = self._state.asked_item
            name = "that one" if self._plain else offered.title
            told = self._say("reject_after_told", item=name) if asked == offered else ""
            if told:
                return [told, *parts]
            parts = [Rejecting(self._state, offered, name).reject().text, *parts]
        return parts

    # --- reacting --------------------------------------------------------------------------------

    def _react(self) -> list[str]:
        """React to what was said, say what is wanted, and perhaps ask for more."""
        state = self._state
        behaved = self._behave()
        if behaved:
            return behaved
        reaction = self._reacting.react()
        parts, told = reaction.parts, reaction.told
        is_of, said = state.grammar.is_of, " ".join(parts)
        self._dated = any(is_of(rule, said) for rule in OF_TIME)
        if not state.said:
            wish = [] if reaction.asks else self._first_wish(told)
            parts = [self._settled(), *parts, *wish, self._condition()]
        elif told is None and not reaction.asks:
            parts = [*parts, self._ignored() or self._tell_more()]
        if not reaction.asks:
            parts = [*parts, self._tail(parts)]
        spoken = [part for part in parts if part]
        most = _SENTENCES[self._traits.verbosity]
        if self._traits.language == "low":
            most = min(most, _PLAIN_SENTENCES)
        return self._toned(spoken[:most])

    def _settled(self) -> str:
        """It has chosen something in the history, and looks on from there."""
        if not self._state.wish.items.settled:
            return ""
        offered = self._reacting.offered()
        chosen = offered is not None and offered.id in self._state.wish.items.chosen
        return "" if chosen else self._say("settled", **self._state.words())

    # --- wants -----------------------------------------------------------------------------------

    def _first_wish(self, told: Want | None) -> list[str]:
        """The history's wish, unless the reaction has just said it, or its question again."""
        state = self._state
        question = state.wish.question
        unanswered = question and not answers(question, state.heard)
        if unanswered and not state.heard.questions and state.may_say(Want("ask", question)):
            asked = self._say("question_again", question=question)
            if asked:
                return [asked]
        if not state.lead:
            return [] if told is not None else [self._tell_more()]
        if told in state.wish.wants:
            return []
        lead = state.lead[0]
        if lead.role == "clause":
            return [self._say("clause", clause=lead.value)]
        if state.is_met(lead):
            return [self._met(lead)]
        thing = state.thing(self._pair(lead), by_name=True)
        asked = "" if lead.role == "like" else thing
        return [self._say("wish", thing=thing, told=asked, **state.words())]

    def _met(self, want: Want) -> str:
        """The suggestions have what is wanted: the user says so, and wants others like that."""
        state = self._state
        them = "those" if len(state.suggested) > 1 else "that one"
        thing = state.thing((want,), by_name=True)
        return self._say("wish_met", thing=thing, them=them)

    def _pair(self, first: Want) -> tuple[Want, ...]:
        """The want, now and then with another one of the history that goes with it."""
        state = self._state
        others = [
            want
            for want in state.wish.wants
            if want.role not in {first.role, *_QUOTED} and state.fit.go_together(first, want)
        ]
        if first.role == "category":
            others = [want for want in state.wish.wants if is_about(want)] or others
        if first.role not in _QUOTED and others and state.grammar.happens(0.6):
            return (first, others[0])
        return (first,)

    def _ignored(self) -> str:
        """A complaint about a category that was told twice and that suggestions lack."""
        state = self._state
        want = state.missed
        offered = self._reacting.offered()
        if want is None or offered is None or not state.grammar.happens(0.5):
            return ""
        slots = state.its_slots(state.strange_categories(offered))
        return self._say("ignored", thing=state.thing((want,), by_name=True), **slots)

    def _tell_more(self) -> str:
        """The next want; without one, the wish again in other words, or a vague remark."""
        state = self._state
        nexts = [want for want in state.unasked if want.role != "era" or not self._dated]
        if nexts and (len(state.said) < _OFTEN_TOLD or state.grammar.happens(0.75)):
            return self._add(nexts[0])
        known = [want for want in state.wish.wants if want.role not in ("clause", "other")]
        known = known or [want for want in state.told if want.role not in ("clause", "other")]
        known = [want for want in known if not state.is_met(want)]
        if known and state.grammar.happens(0.4):
            said = self._say("wish_again", thing=state.thing((known[0],)))
            if said:
                return said
        return self._say("vague", **state.words())

    def _add(self, want: Want) -> str:
        state = self._state
        if want.role == "ask":
            return self._say("wish", thing=want.value, told=want.value, **state.words())
        if want.role == "category":
            return self._add_category(want)
        years = [item.year for item in state.suggested if item.year is not None]
        times = time_phrases(want.value, years) if want.role == "era" else []
        if times and (len(state.said) > 1 or state.grammar.happens(0.5)):
            return self._say("add_time", value=state.grammar.choice(times))
        return self._say(f"add_{want.role}", value=want.value, **state.words())

    def _add_category(self, want: Want) -> str:
        state = self._state
        feels = phrases().feels.get(want.value, [])
        own = not state.wish.wants or want.value in state.tells_kinds
        if feels and own and state.grammar.happens(0.5):
            return self._say("add_feel", value=state.grammar.choice(feels))
        told = any(each.role == "category" for each in state.told)
        rule = "add_category_more" if told or not own else "add_category"
        if not state.goes_with_wish(want.value):
            rule = "add_category_other"
        return self._say(rule, **state.kind_slots(want.value))

    def _tail(self, parts: list[str]) -> str:
        """Impatience, or a question for something else, or nothing."""
        state = self._state
        late = len(state.system_turns) >= _PATIENT_ROUNDS[self._traits.patience]
        if late and state.grammar.happens(0.5):
            return self._say("impatient")
        asks = any(part.endswith("?") for part in parts if part)
        if not asks and self._reacting.offered() is not None and state.grammar.happens(0.4):
            return self._say("else", **state.words())
        return ""

    def _toned(self, parts: list[str]) -> list[str]:
        grammar = self._state.grammar
        chance = {"low": 0.25, "medium": 0.12, "high": 0.25}[self._traits.mood]
        if not parts or not grammar.happens(chance):
            return parts
        rule = {"low": "cool", "medium": "hm", "high": "warm"}[self._traits.mood]
        return [self._say(rule), *parts]

    # --- behaviours and conditions ---------------------------------------------------------------

    def _behave(self) -> list[str]:
        state = self._state
        told = tuple(want for want in state.told if want.role != "clause")[:1]
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
