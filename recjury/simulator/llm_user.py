"""The simulated user played by a model (CoRE, section 6.4, after Wang et al. 2023a)."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field

from recjury.corpora import Context
from recjury.corpora.corpus import with_article
from recjury.errors import CallFailed, Refused, UnitFailed, UserError
from recjury.files import nearest, shipped
from recjury.llm import Answer, Ask
from recjury.llm.prompts import block, fence, fence_line, items_block, pack, turns_block
from recjury.records import (
    ItemRef,
    Message,
    ModelName,
    PackName,
    Scenario,
    Status,
    Turn,
    shipped_in,
)
from recjury.simulator.leak_guard import LeakGuard
from recjury.simulator.user import SimulatedUser, Situation
from recjury.simulator.utterance import read_utterance

_TOKENS = 300  # of an utterance
_VALUES = 6  # of one attribute
_DESCRIPTION = 500  # characters


def personas() -> Mapping[str, str]:
    """The texts of the personas that ship, by name."""
    texts: Mapping[str, str] = shipped(Path(__file__).with_name("personas.yaml"))
    return texts


def _persona(given: str) -> str:
    """The text of a persona that ships; another text stands for itself."""
    text = given.strip()
    if not text or text in personas():
        return personas().get(text, "")
    if text.isascii() and " " not in text:  # a text in some languages has no spaces
        known = ", ".join(personas())
        near = nearest(text, personas())
        raise ValueError(f"there is no persona {text!r}{near}: write a text, or one of {known}")
    return given


class LlmUser(SimulatedUser):
    """A model in the role of a person who looks for the targets, or for what meets the wishes.

    `persona` is a text that the model is told, or the name of one that ships. `prompts` is `core`,
    `core-paper`, or a folder. A user who `knows` the targets describes them without naming them
    (CoRE); one who knows the wishes is not shown the targets.
    """

    kind: Literal["llm"] = "llm"
    name: str = "llm"
    model: ModelName = "main"
    persona: Annotated[str, AfterValidator(_persona)] = ""
    knows: Literal["targets", "wishes"] = "targets"
    prompts: Annotated[PackName, AfterValidator(shipped_in("simulator", "core", "core-paper"))] = (
        "simulator/core"
    )
    temperature: float = Field(default=0.7, ge=0, le=2)

    def prepared(self, context: Context) -> Self:
        """The user with what it may know of items. Raises UserError."""
        if self.knows not in pack(self.prompts).manifest.get("knows", ()):
            raise UserError(
                f"the user {self.name}: {self.prompts} is not for `knows: {self.knows}`"
            )
        return super().prepared(context)

    def lacks(self, scenario: Scenario) -> str:
        """Why the user cannot play a scenario, or nothing."""
        if scenario.targets if self.knows == "targets" else scenario.wishes:
            return ""
        other = "wishes" if self.knows == "targets" else "targets"
        return f"scenario {scenario.id} has no {self.knows}: set `knows` of this user to {other}"

    def guard(self, scenario: Scenario) -> LeakGuard:
        """The guard over the targets; one that lets all pass if the user does not know them."""
        if self.knows == "wishes":
            return LeakGuard()
        return super().guard(scenario)

    async def speak(self, situation: Situation, ask: Ask) -> Turn:
        """The next utterance. Raises UnitFailed if there is none, or UserError."""
        answer = await self._say(self._turn(situation), ask)
        if answer.value is None:
            raise _failure(answer)
        return Turn(speaker="user", text=answer.value, calls=answer.calls)

    async def rewrite(self, situation: Situation, text: str, leaks: list[str], ask: Ask) -> Turn:
        """The utterance in other words; empty if no reply can be read. Raises CallFailed."""
        lines = "\n".join(f"- {fence_line(leak)}" for leak in leaks)
        again = pack(self.prompts).render("rewrite", utterance=fence(text), leaks=lines)
        prompt = [*self._turn(situation), Message("assistant", (text,)), Message("user", again)]
        answer = await self._say(prompt, ask)
        if answer.status is Status.CALL_FAILED:
            raise _failure(answer)
        return Turn(speaker="user", text=answer.value or "", calls=answer.calls)

    async def _say(self, prompt: list[Message], ask: Ask) -> Answer[str]:
        return await ask.text(
            prompt,
            model=self.model,
            purpose="user",
            temperature=self.temperature,
            max_tokens=_TOKENS,
            read=read_utterance,
        )

    def _turn(self, situation: Situation) -> list[Message]:
        return [
            Message("system", self._role(situation.scenario)),
            Message("user", self._request(situation)),
        ]

    def _role(self, scenario: Scenario) -> tuple[str, ...]:
        if lacking := self.lacks(scenario):
            raise UserError(lacking)
        knows_targets = self.knows == "targets"
        targets = "\n".join(self._described(scenario, target) for target in scenario.targets)
        return pack(self.prompts).render(
            "role",
            wanted=with_article(self._item_word(scenario)),
            persona=self.persona.strip(),
            targets=targets if knows_targets else "",
            wishes="\n".join(f"- {fence_line(wish)}" for wish in scenario.wishes),
            knows=self.knows,
            history=turns_block("history", scenario.history),
        )

    def _request(self, situation: Situation) -> tuple[str, ...]:
        words, shown = pack(self.prompts).manifest, situation.shown
        naming = self._naming(situation)
        list_key = "hidden" if shown is None else "shown" if shown else "none"
        return pack(self.prompts).render(
            "turn",
            interaction=turns_block("interaction", situation.interaction),
            has_interaction=bool(situation.interaction),
            list_note=words["list"][list_key],
            items=items_block("list", shown) if shown else "",
            found=fence_line(situation.found.name) if situation.found else "",
            told=[fence_line(each.name) for each in situation.may_name if naming == "told"],
            situation=words["situation"][_moment(situation)],
            naming=words["naming"][naming],
            withheld_note=words["withheld"],
            withheld=[fence_line(value) for value in situation.withheld],
        )

    def _naming(self, situation: Situation) -> str:
        """The key of what the user may name, in the pack's manifest."""
        if self.knows == "wishes":
            return "wishes"
        return "told" if situation.may_name else "never"

    def _described(self, scenario: Scenario, target: ItemRef) -> str:
        """What the user knows of a target, one attribute a line."""
        item, rows = self.catalogue(scenario).items.get(target.id), [("title", target.name)]
        if item is not None:
            rows += [(name, ", ".join(all_[:_VALUES])) for name, all_ in item.attributes.items()]
            rows.append(("description", item.description[:_DESCRIPTION]))
        return block("item", (f"{name}: {fence_line(value)}" for name, value in rows if value))

    def _item_word(self, scenario: Scenario) -> str:
        domain = self.domain(scenario)
        return domain.item if domain else scenario.domain


def _moment(situation: Situation) -> str:
    """The key of what the user is to do now, in the pack's manifest."""
    if situation.found is not None:
        return "closing" if situation.last else "introduce"
    if situation.last:
        return "leaving"
    return "answer" if situation.turns else "open"


def _failure(answer: Answer[str]) -> UnitFailed:
    if answer.status is Status.UNREADABLE:
        tries = len(answer.calls)
        return UnitFailed(
            f"the simulated user said nothing usable in {tries} tries: {answer.reason}"
        )
    kind = Refused if answer.status is Status.REFUSED else CallFailed
    return kind(f"the simulated user could not be asked: {answer.reason}")
