"""The prompts of the LLM-based user, from the pack `core-simulator`."""

from collections.abc import Iterator, Sequence

from recjury.knowledge import Catalogue
from recjury.prompts import (
    Pack,
    fence,
    fence_line,
    items_block,
    load_pack,
    turns_block,
    wishes_block,
)
from recjury.records import (
    LIST_LENGTH,
    Condition,
    ConversationLog,
    Item,
    ItemRef,
    Message,
    Person,
    Scenario,
    Speaker,
    UserContext,
)

PACK = "core-simulator"
ACTS_PACK = "core-simulator-acts"
PERSUASIVENESS_PACK = "core-persuasiveness"
PERSON_PACK = "core-persuasiveness-person"

_VALUES = 6  # of one attribute
_PLOT = 500


class UserPrompts:
    """Renders the pack with the attributes of a catalogue."""

    def __init__(self, pack: Pack, catalogue: Catalogue, *, declares: bool = False):
        """`catalogue` has the attributes of the targets; `pack` asks for utterances.

        With `declares`, the acts of an utterance are asked for, too.
        """
        self._declares = declares
        self.pack = pack
        self._catalogue = catalogue

    def turn(self, context: UserContext) -> tuple[Message, ...]:
        """The messages that ask for the next utterance."""
        scenario, person = context.scenario, context.person
        role = self.pack.render(
            "role",
            wanted=self._wanted(scenario),
            history=turns_block("history", scenario.history),
            **self._mind(scenario, person),
        )
        heard = context.interaction[-1] if context.interaction else None
        shown = heard.items if heard is not None and heard.speaker is Speaker.SYSTEM else ()
        items = items_block("list", shown[:LIST_LENGTH]) if shown and context.shows_list else ""
        notes = self.pack.manifest["list"]
        knows_targets = person.knows == "targets"
        withheld = sorted({each.value for each in context.barred}) if knows_targets else []
        turn = self.pack.render(
            "turn",
            interaction=turns_block("interaction", context.interaction),
            list_note=notes["shown"] if items else "" if context.shows_list else notes["hidden"],
            items=items,
            hit=fence_line(context.hit.name) if context.hit else None,
            told=[fence_line(each.name) for each in context.speakable] if knows_targets else [],
            situation=self._situation(context),
            naming=self._naming(context),
            withheld_note=self.pack.manifest["withheld"],
            withheld=[fence_line(value) for value in withheld],
        )
        return Message("system", role), Message("user", (*turn, *self._acts(scenario)))

    def rewrite(
        self, context: UserContext, utterance: str, leaks: Sequence[str]
    ) -> tuple[Message, ...]:
        """The messages that ask for an utterance again, without its leaks."""
        again = self.pack.render(
            "rewrite",
            utterance=fence(utterance),
            leaks="\n".join(f"- {fence_line(leak)}" for leak in leaks),
        )
        asked = Message("user", (*again, *self._acts(context.scenario)))
        return (*self.turn(context), Message("assistant", (utterance,)), asked)

    def _acts(self, scenario: Scenario) -> tuple[str, ...]:
        """The request to declare what an utterance does; nothing without `declares`."""
        if not self._declares:
            return ()
        pack = load_pack(ACTS_PACK)
        domain = self._catalogue.wanted_domain(scenario)
        names = [each.name for each in domain.attributes]
        names += ["decade"] if domain.of_kind("era") else []
        declared = pack.render("declare", acts=pack.manifest["acts"], attributes=", ".join(names))
        return tuple(f"\n\n{part}" for part in declared)

    def persuasiveness(self, log: ConversationLog) -> tuple[Message, ...]:
        """The messages that ask for the rating after the conversation."""
        pack = self.persuasiveness_pack(log)
        blocks = {
            "history": turns_block("history", log.scenario.history),
            "interaction": turns_block("interaction", log.interaction),
            "items": items_block("recommended", log.session_list()),
        }
        if log.person is None:
            targets, anchors = self._targets(log.scenario), pack.manifest["anchors"]
            parts = pack.render("persuasiveness", anchors=anchors, targets=targets, **blocks)
        else:
            parts = pack.render(
                "persuasiveness",
                wanted=self._wanted(log.scenario),
                anchors=pack.manifest["anchors"][log.person.knows],
                **self._mind(log.scenario, log.person),
                **blocks,
            )
        return (Message("user", parts),)

    def persuasiveness_pack(self, log: ConversationLog) -> Pack:
        """The pack that asks for the rating: one for the plain user, one for all others."""
        return load_pack(PERSUASIVENESS_PACK if log.person is None else PERSON_PACK)

    def _mind(self, scenario: Scenario, person: Person) -> dict[str, object]:
        """What the user knows, what it is like, and the condition it is in."""
        knows_targets, told = person.knows == "targets", self.pack.manifest.get("traits", {})
        traits = person.traits.model_dump()
        lines = [told[name][degree] for name, degree in traits.items() if degree != "medium"]
        condition = person.condition
        wishes = [f"{wish.kind}: {wish.value}" for wish in person.wishes]
        return {
            "wishes": "" if knows_targets else wishes_block(wishes),
            "targets": self._targets(scenario) if knows_targets else "",
            "person": [*map(fence_line, filter(None, [person.about])), *lines],
            "condition": self.pack.manifest["condition"][condition.name] if condition else "",
            "in_mind": self._in_mind(condition) if condition else "",
        }

    def _in_mind(self, condition: Condition) -> str:
        if condition.item is not None:
            return self._described(condition.item)
        wish = condition.attribute
        return "" if wish is None else fence_line(f"{wish.kind}: {wish.value}")

    def _wanted(self, scenario: Scenario) -> str:
        item = self._catalogue.wanted_domain(scenario).item
        return f"{'an' if item[0] in 'aeiou' else 'a'} {item}"

    def _situation(self, context: UserContext) -> str:
        situation = self.pack.manifest["situation"]
        if context.hit is not None:
            return str(situation["introduce" if context.introduce else "closing"])
        if not context.interaction:
            return str(situation["open"])
        if context.behaviour is not None:
            return str(self.pack.manifest["behaviour"][context.behaviour])
        return str(situation["leaving" if context.last else "answer"])

    def _naming(self, context: UserContext) -> str:
        naming = self.pack.manifest["naming"]
        if context.person.knows == "wishes":
            return str(naming["wishes"])
        return str(naming["told" if context.speakable else "never"])

    def _targets(self, scenario: Scenario) -> str:
        return "\n".join(self._described(target) for target in scenario.targets)

    def _described(self, target: ItemRef) -> str:
        known = target.id is not None and target.id in self._catalogue
        item = self._catalogue.item(target.id) if known and target.id else None
        facts = (("title", target.name), *(self._facts(item) if item else ()))
        lines = (f"{name}: {fence_line(value)}" for name, value in facts if value)
        return "\n".join(("<item>", *lines, "</item>"))

    def _facts(self, item: Item) -> Iterator[tuple[str, str]]:
        for attribute in self._catalogue.domain_of(item).attributes:
            values = attribute.of(item)[:_VALUES]
            yield attribute.words if len(values) > 1 else attribute.word, ", ".join(values)
        yield "plot", item.plot[:_PLOT]
