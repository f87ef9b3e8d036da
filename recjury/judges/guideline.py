"""How a criterion is rated, the prompt of the judge, and what a log needs to be rated."""

from typing import Literal, Protocol

from recjury.prompts import (
    ItemFacts,
    Pack,
    items_block,
    list_block,
    load_pack,
    places_of,
    turns_block,
    wishes_block,
)
from recjury.records import JSON, ConversationLog, Message, Metric, Need

PACK = "core-judges"
NO_LIST = "the log has no recommendation list"
FILLED_NAMES = "the system fills the names of its list into its text, so they cannot differ"
LINKED_LIST = "the list was made of the names in the text, so it cannot differ from the text"
NOTHING_LINKED = "no item was found in what the system said"
NO_TARGETS = "the log has no target item"

Input = Literal["list", "target"]


class Guideline(Protocol):
    """How one criterion is rated.

    `anchors` say what a score means, best first; with `between`, whole numbers between them are
    allowed too. `inputs` are needed and shown besides the conversation: the session-level
    recommendation list, the target items. A pack with `lists: all` shows the list beside every one.
    """

    @property
    def definition(self) -> str:
        """The question to the judge."""

    @property
    def anchors(self) -> dict[int, str]:
        """The meaning of each score."""

    @property
    def steps(self) -> tuple[str, ...]:
        """The steps by which a judge finds a score."""

    @property
    def inputs(self) -> tuple[Input, ...]:
        """What the judge sees besides the conversation."""

    @property
    def between(self) -> bool:
        """Whether whole numbers without an anchor may be given."""


class JudgePrompts:
    """The prompts of judges, from one pack."""

    def __init__(
        self, pack: Pack | None = None, *, facts: ItemFacts | None = None, language: str = ""
    ):
        """Read `pack`, by default the package's own.

        `facts` gives what is known of an item, for packs whose lists show it. `language` is the
        language to write in, by default that of the conversation.
        """
        self.pack = pack or load_pack(PACK)
        self._facts = facts if self.pack.manifest.get("annotated") else None
        self._language = language
        self._system = Message("system", self.pack.render("system"))

    @property
    def identity(self) -> str:
        """Name, version and content hash of the pack, and the language, as stored with ratings."""
        return self.pack.identity(self._language)

    @property
    def data(self) -> dict[str, JSON]:
        """What of the corpus the prompts show besides the log."""
        return {} if self._facts is None else {"catalogue": self._facts.digest}

    def messages(
        self, name: str, guide: Guideline, log: ConversationLog, scale: tuple[int, int]
    ) -> tuple[Message, ...]:
        """The prompt for one rating, in parts, so that the store keeps repeated parts once."""
        sees_list = "list" in guide.inputs or self.pack.lists == "all"
        shown = log.session_list() if sees_list else None
        wanted = log.scenario.targets if "target" in guide.inputs else None
        low, high = scale
        question = self.pack.render(
            "judge",
            factor=name,
            guide=guide,
            history=turns_block("history", log.scenario.history),
            interaction=turns_block("interaction", log.interaction),
            items=list_block(log, self._facts) if shown else None,
            facts=self._facts is not None,
            places=places_of(wanted, shown) if wanted and shown else "",
            language=self._language,
            targets=None if wanted is None else items_block("target", wanted, self._facts),
            wishes=wishes_block(log.scenario.wishes) if log.scenario.wishes else None,
            low=low,
            high=high,
        )
        return self._system, Message("user", question)


def lacks(guide: Guideline, log: ConversationLog) -> str:
    """What `log` lacks to be rated by `guide`, in words; empty if it lacks nothing."""
    if not any(turn.failure is None for turn in log.system_turns):
        return "the system gave no usable answer in the interaction"
    if "list" in guide.inputs and not log.session_list():
        return no_list(log)
    if "target" in guide.inputs and not log.scenario.targets:
        return NO_TARGETS
    return ""


def no_list(log: ConversationLog) -> str:
    """Why a log has no list, in words."""
    return NOTHING_LINKED if log.items_linked else NO_LIST


def unmet(metric: Metric, log: ConversationLog) -> str:
    """What `log` lacks to be rated on `metric`, in words; empty if it lacks nothing."""
    if Need.LIST in metric.needs and not log.session_list():
        return no_list(log)
    if Need.TARGETS in metric.needs and not log.scenario.targets:
        return NO_TARGETS
    return ""
