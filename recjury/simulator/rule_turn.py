"""Composes one turn of the rule user: chooses what it does, and the rules that say so."""

from collections.abc import Sequence

from recjury.records import Act, Utterance
from recjury.simulator.about_hit import AboutHit
from recjury.simulator.offers import Offers
from recjury.simulator.turn_writer import Spoken, TurnWriter, utterance
from recjury.simulator.wants import Want

_SENTENCES = {"low": 2, "medium": 3, "high": 4}
_QUOTED = 0.6  # how often own words stand for a wish that was read in them
_PATIENT_ROUNDS = {"low": 2, "medium": 3, "high": 5}


class RuleTurn:
    """One turn of the rule user."""

    def __init__(self, writer: TurnWriter):
        """`writer` knows the user's mind."""
        self._say = writer.say
        self._writer = writer
        self._mind = writer.mind
        self._context = writer.mind.context
        self._offers = Offers(writer)

    def compose(self) -> Utterance:
        """The utterance."""
        context = self._context
        if context.hit is not None:
            about = AboutHit(self._writer, context.hit)
            return utterance(about.introduce() if context.introduce else about.close())
        if not context.interaction:
            return utterance(self._open())
        if context.behaviour == "giving_up" or context.last:
            return utterance(self._leave())
        return utterance(self._behave() or self._react())

    def _open(self) -> list[Spoken]:
        greeting = [] if self._context.scenario.history else self._say("greeting")
        wants = (*self._mind.wished_before, *self._mind.left)[:1]
        rule = "open" if wants else "open_vague"
        return [*greeting, *self._say(rule, wants=wants), *self._condition()]

    def _leave(self) -> list[Spoken]:
        turned_down = [] if self._context.behaviour == "giving_up" else self._offers.turn_down()
        polite = self._mind.traits.mood != "low" and self._writer.happens(0.4)
        return [*turned_down[:1], *self._say("leave_thanks" if polite else "leave")]

    # --- reacting --------------------------------------------------------------------------------

    def _react(self) -> list[Spoken]:
        """React to what was said, say what is wanted, and perhaps ask for more.

        A turn has one complaint at most, and nothing comes after a question but an answer.
        """
        mind, first = self._mind, not self._mind.user_turns
        spoken = self._complaint() or self._offers.react()
        if not _does(spoken, Act.ASK):
            wished = _wishes(spoken)
            if first:
                spoken += [] if wished else self._first_wish()
            elif mind.last_turn.asked:
                spoken += self._answer()
            elif not wished:
                spoken += self._passed_over(spoken) or self._next_wish()
            spoken += [] if first or _does(spoken, Act.ASK) else self._tail(spoken)
        spoken += self._condition() if first else []
        return [*self._tone(), *spoken[: _SENTENCES[mind.traits.verbosity]]]

    def _complaint(self) -> list[Spoken]:
        """About a turn that makes no sense, comes twice, or gives nothing to go on with."""
        turn = self._mind.last_turn
        if turn.broken:
            again = self._say("say_again") if self._mind.user_turns else self._first_wish()
            return [*self._say("garbled"), *again]
        if turn.repeated:
            return self._say("repeats")
        complained = any(act.act is Act.COMPLAIN for act in self._mind.said.acts)
        if turn.only_titles and not complained:
            return self._say("only_titles")
        if not turn.asks and not self._mind.offered:
            return self._say("which_one")
        return []

    def _first_wish(self) -> list[Spoken]:
        """The wish of the history, or the person's own words, or else the agenda."""
        mind, quote = self._mind, self._mind.past.quote
        may_quote = quote is not None and mind.may_quote(quote.text)
        wishes = mind.wished_before[:1]
        if wishes and not (may_quote and self._writer.happens(_QUOTED)):
            if mind.offered and all(mind.has(item, wishes[0]) for item in mind.offered):
                them = "those" if len(mind.offered) > 1 else "that one"
                return self._say("wish_met", wants=wishes, them=them)
            return self._say("wish", wants=wishes)
        if quote is not None and may_quote:
            rule = "quote_ask" if quote.act is Act.ASK else "quote_wish"
            return self._say(rule, quote=quote.text)
        return self._answer() if mind.last_turn.asked else self._next_wish()

    def _answer(self) -> list[Spoken]:
        """Say what is wanted of the attribute that the system asks about."""
        mind, asked = self._mind, self._mind.last_turn.asked
        answered = sum(act.act is Act.WISH for act in mind.said.acts)
        if mind.traits.question_tolerance == "low" and answered and self._writer.happens(0.5):
            return self._say("too_many_questions")
        for attribute in asked:
            kinds = {"decade"} if attribute.kind == "era" else {attribute.name}
            for want in mind.left:
                if want.attribute and want.attribute.kind in kinds:
                    return self._say(self._rule("answer", want), wants=(want,))
        return self._say("indifferent", word=asked[0].word)

    def _rule(self, prefix: str, want: Want) -> str:
        if want.is_category:
            return f"{prefix}_kind"
        if self._mind.is_name(want):
            return f"{prefix}_person"
        is_time = want.attribute is not None and want.attribute.kind == "decade"
        return f"{prefix}_era" if is_time else f"{prefix}_other"

    def _next_wish(self) -> list[Spoken]:
        """The next want; without one, an old one in other words, or a vague remark."""
        mind = self._mind
        if mind.unasked:
            want = mind.unasked[0]
            rule = self._rule("add", want)
            more = rule == "add_kind" and any(each.is_category for each in mind.told)
            return self._say("add_kind_more" if more else rule, wants=(want,))
        if mind.unmet and self._writer.happens(0.4):
            return self._say("wish_again", wants=mind.unmet[:1])
        return self._say("vague")

    def _passed_over(self, spoken: Sequence[Spoken]) -> list[Spoken]:
        """A complaint about a category that was told in an earlier turn and that offers lack."""
        mind = self._mind
        missed = [want for want in mind.unmet if want.is_category and mind.offered]
        if not missed or len(mind.user_turns) < 2 or _does(spoken, Act.COMPLAIN):
            return []
        return self._say("passed_over", wants=missed[:1])

    def _tail(self, spoken: Sequence[Spoken]) -> list[Spoken]:
        """Impatience with what is not what was asked for, or a question for something else."""
        mind = self._mind
        late = len(mind.system_turns) >= _PATIENT_ROUNDS[mind.traits.patience]
        wronged = late and mind.offered and mind.unmet and not _does(spoken, Act.COMPLAIN)
        if wronged and self._writer.happens(0.3):
            return self._say("impatient")
        asks = any(each.text.endswith("?") for each in spoken)
        return self._say("else") if not asks and mind.offered and self._writer.happens(0.4) else []

    def _tone(self) -> list[Spoken]:
        chance = 0.12 if self._mind.traits.mood == "medium" else 0.25
        return self._say("plain_tone") if self._writer.happens(chance) else []

    # --- behaviours and conditions ---------------------------------------------------------------

    def _behave(self) -> list[Spoken]:
        kinds = [want for want in self._mind.told if want.is_category and want.attribute]
        values = [want.attribute for want in kinds[:1] if want.attribute]
        match self._context.behaviour:
            case "rejection_without_reason":
                return self._say("refuse_bare")
            case "off_topic":
                return self._say("off_topic")
            case "change_of_mind" if kinds:
                changed = self._say("change_of_mind", wants=kinds[:1], refused=values)
                return [*changed, *self._next_wish()]
            case "change_of_mind":
                return [*self._say("change_vague"), *self._next_wish()]
            case "contradiction" if kinds:
                return self._say("contradiction", wants=kinds[:1], refused=values)
            case "contradiction":
                return self._say("contradiction_vague")
            case _:
                return []

    def _condition(self) -> list[Spoken]:
        """What is on the user's mind before it begins, under a condition."""
        condition = self._context.person.condition
        if condition is None:
            return []
        item = condition.item.name if condition.item is not None else ""
        match condition.name:
            case "reference_dependence":
                return self._say("reference", reference=item)
            case "decoy":
                return self._say("decoy", decoy=item)
            case "priming":
                primed = condition.attribute.value if condition.attribute else ""
                return self._say("priming", primed=primed)


def _does(spoken: Sequence[Spoken], act: Act) -> bool:
    return any(each.act is act for sentence in spoken for each in sentence.acts)


def _wishes(spoken: Sequence[Spoken]) -> bool:
    return any(each.wish for one in spoken for each in one.acts if each.act is Act.WISH)
