"""The prompts of the LLM-based user, from the pack `core-simulator`."""

from collections.abc import Sequence

from recjury.knowledge import Catalogue
from recjury.prompts import (
    Pack,
    fence,
    fence_line,
    items_block,
    load_pack,
    turns_block,
    with_code,
)
from recjury.records import (
    LIST_LENGTH,
    ConversationLog,
    Item,
    ItemRef,
    Message,
    Scenario,
    Speaker,
    UserContext,
)

PACK = "core-simulator"
PERSUASIVENESS_PACK = "core-persuasiveness"

_PEOPLE = 5
_PLOT = 500


class UserPrompts:
    """Renders the pack with the attributes of a catalogue."""

    def __init__(self, pack: Pack, catalogue: Catalogue):
        """`catalogue` has the attributes of the targets; `pack` asks for utterances."""
        self.pack = pack
        self.persuasiveness_pack = load_pack(PERSUASIVENESS_PACK)
        self._catalogue = catalogue

    def turn(self, context: UserContext) -> tuple[Message, ...]:
        """The messages that ask for the next utterance."""
        role = self.pack.render(
            "role",
            targets=self._targets(context.scenario),
            history=turns_block("history", context.scenario.history),
        )
        heard = context.interaction[-1] if context.interaction else None
        shown = heard.items if heard is not None and heard.speaker is Speaker.SYSTEM else ()
        turn = self.pack.render(
            "turn",
            interaction=turns_block("interaction", context.interaction),
            items=items_block("list", shown[:LIST_LENGTH]) if shown else "",
            hit=fence_line(context.hit.name) if context.hit else None,
            situation=self._situation(context),
            naming=self._naming(context),
        )
        return Message("system", role), Message("user", turn)

    def rewrite(
        self, context: UserContext, utterance: str, leaks: Sequence[str]
    ) -> tuple[Message, ...]:
        """The messages that ask for an utterance again, without its leaks."""
        again = self.pack.render(
            "rewrite",
            utterance=fence(utterance),
            leaks="\n".join(f"- {fence_line(leak)}" for leak in leaks),
        )
        return (*self.turn(context), Message("assistant", (utterance,)), Message("user", again))

    def persuasiveness(self, log: ConversationLog) -> tuple[Message, ...]:
        """The messages that ask for the rating after the conversation."""
        parts = self.persuasiveness_pack.render(
            "persuasiveness",
            anchors=self.persuasiveness_pack.manifest["anchors"],
            targets=self._targets(log.scenario),
            history=turns_block("history", log.scenario.history),
            interaction=turns_block("interaction", log.interaction),
            items=items_block("recommended", log.session_list()),
        )
        return with_code((Message("user", parts),))

    def _situation(self, context: UserContext) -> str:
        key = "open" if not context.interaction else "answer"
        if context.hit is not None:
            key = "introduce" if context.introduce else "closing"
        return str(self.pack.manifest["situation"][key])

    def _naming(self, context: UserContext) -> str:
        naming = self.pack.manifest["naming"]
        if context.hit is None:
            return str(naming["never"])
        if context.system_named_hit:
            return str(naming["hit"])
        return f"{naming['hidden']} {naming['never']}"

    def _targets(self, scenario: Scenario) -> str:
        return "\n".join(self._target(target) for target in scenario.targets)

    def _target(self, target: ItemRef) -> str:
        known = target.id is not None and target.id in self._catalogue
        item = self._catalogue.item(target.id) if known and target.id else None
        facts = (("title", target.name), *(_facts(item) if item else ()))
        lines = (f"{name}: {fence_line(value)}" for name, value in facts if value)
        return "\n".join(("<item>", *lines, "</item>"))


def _facts(item: Item) -> tuple[tuple[str, str], ...]:
    return (
        ("year", str(item.year or "")),
        ("genres", ", ".join(item.genres)),
        ("directors", ", ".join(item.directors[:_PEOPLE])),
        ("actors", ", ".join(dict.fromkeys(item.actors[: 2 * _PEOPLE]))),
        ("writers", ", ".join(item.writers[:_PEOPLE])),
        ("plot", item.plot[:_PLOT]),
    )
