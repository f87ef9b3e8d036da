"""The twelve guidelines of the judges, and the prompts made from them (CoRE 4.1, appendix A)."""

from typing import Literal

from recjury.prompts import Pack, items_block, load_pack, turns_block, wishes_block
from recjury.records import (
    FACTOR_SCALE,
    ConversationLog,
    Dimension,
    Factor,
    Message,
    Record,
)

PACK = "core-judges"


class Guide(Record):
    """How one factor is rated.

    `anchors` say what a score means, best first; `between` allows the whole numbers that they
    leave out. `inputs` are shown besides the conversation: the session-level recommendation
    list, the target items.
    """

    dimension: Dimension
    definition: str
    anchors: dict[int, str]
    steps: tuple[str, ...]
    inputs: tuple[Literal["list", "target"], ...]
    between: bool


class Rubric:
    """A prompt pack of factor guidelines, typed; renders what a judge is asked."""

    def __init__(self, pack: Pack | None = None):
        """Read the guidelines of `pack`, by default of the one that ships: all twelve."""
        self._pack = pack or load_pack(PACK)
        guides: dict[str, object] = self._pack.manifest["factors"]
        self.guides = {factor: Guide.model_validate(guides[factor]) for factor in Factor}
        self._system = Message("system", self._pack.render("system"))

    @property
    def identity(self) -> str:
        """Name, version and content hash of the pack, as ratings carry it."""
        return f"{self._pack.id}/{self._pack.version}+{self._pack.digest}"

    def lacks(self, factor: Factor, log: ConversationLog) -> str:
        """What `log` lacks to be rated on `factor`, in words; empty if nothing."""
        inputs = self.guides[factor].inputs
        if not any(turn.failure is None for turn in log.system_turns):
            return "the system gave no usable answer in the interaction"
        if "list" in inputs and not log.session_list():
            return "the log has no recommendation list"
        if "target" in inputs and not log.scenario.targets:
            return "the log has no target item"
        return ""

    def messages(self, factor: Factor, log: ConversationLog) -> tuple[Message, ...]:
        """The prompt for one rating, cut so that the store keeps recurring parts once."""
        guide = self.guides[factor]
        shown = log.session_list() if "list" in guide.inputs else None
        wanted = log.scenario.targets if "target" in guide.inputs else None
        low, high = FACTOR_SCALE
        question = self._pack.render(
            "judge",
            factor=str(factor),
            guide=guide,
            history=turns_block("history", log.scenario.history),
            interaction=turns_block("interaction", log.interaction),
            items=None if shown is None else items_block("recommendation_list", shown),
            targets=None if wanted is None else items_block("target", wanted),
            wishes=wishes_block(log.scenario.wishes) if log.scenario.wishes else None,
            low=low,
            high=high,
        )
        return (self._system, Message("user", question))
