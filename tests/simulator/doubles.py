"""Catalogues, scenarios, users and systems that do as they are told."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from recjury.knowledge import Catalogue, split_year
from recjury.records import (
    JSON,
    Conversation,
    ConversationLog,
    Item,
    ItemRef,
    Rating,
    Scenario,
    Speaker,
    Status,
    SystemReply,
    Turn,
    UserContext,
    Utterance,
)


def film(name: str, **attributes: object) -> Item:
    """An item whose id is its name in lower case."""
    title, year = split_year(name)
    fields = {"id": name.lower(), "name": name, "title": title, "year": year, **attributes}
    return Item.model_validate(fields)


def catalogue(*films: Item | str) -> Catalogue:
    """A catalogue of these films, given as items or by name."""
    return Catalogue("test", [one if isinstance(one, Item) else film(one) for one in films])


def user_turn(text: str) -> Turn:
    return Turn(speaker=Speaker.USER, text=text)


def system_turn(text: str, *items: ItemRef) -> Turn:
    return Turn(speaker=Speaker.SYSTEM, text=text, items=items)


def scenario(
    targets: Iterable[ItemRef],
    *,
    history: Sequence[Turn] = (user_turn("Can you help me?"),),
    record: str = "1_1",
) -> Scenario:
    return Scenario(
        corpus="test/test", record=record, history=tuple(history), targets=tuple(targets)
    )


Answer = SystemReply | Exception | object


class ScriptedSystem:
    """Gives its answers in order; raises those that are exceptions. Strict when it runs out."""

    name = "scripted"
    settings: Mapping[str, JSON] = {}

    def __init__(self, *answers: Answer):
        self._answers = list(answers)
        self.seen: list[Conversation] = []

    async def respond(self, conversation: Conversation) -> SystemReply:
        self.seen.append(conversation)
        answer = self._answers[len(self.seen) - 1]
        if isinstance(answer, Exception):
            raise answer
        return answer  # type: ignore[return-value]  # systems may answer with anything

    async def aclose(self) -> None:
        """Nothing to release."""


class EndlessSystem:
    """Says the same and recommends nothing; keeps what it saw last."""

    name = "endless"
    settings: Mapping[str, JSON] = {}

    def __init__(self, text: str = "Tell me more."):
        self._text = text
        self.seen: tuple[Turn, ...] = ()

    async def respond(self, conversation: Conversation) -> SystemReply:
        self.seen = conversation.turns
        return SystemReply(text=self._text)

    async def aclose(self) -> None:
        """Nothing to release."""


class ScriptedUser:
    """Says what a function of the context says; rewrites by another one."""

    name = "scripted"
    settings: Mapping[str, JSON] = {}

    def __init__(
        self,
        say: Callable[[UserContext], str] = lambda context: "I see.",
        rewrite: Callable[[UserContext, str], str] = lambda context, said: "I see.",
    ):
        self._say = say
        self._rewrite = rewrite
        self.moments: list[UserContext] = []
        self.rewritten: list[tuple[str, ...]] = []

    async def speak(self, context: UserContext) -> Utterance:
        self.moments.append(context)
        return Utterance(text=self._say(context), calls=(f"said-{len(self.moments)}",))

    async def rewrite(
        self, context: UserContext, utterance: str, leaks: Sequence[str]
    ) -> Utterance:
        self.rewritten.append(tuple(leaks))
        text = self._rewrite(context, utterance)
        return Utterance(text=text, calls=(f"rewritten-{len(self.rewritten)}",))

    async def persuasiveness(self, log: ConversationLog) -> Rating:
        return Rating(
            evaluator="scripted",
            factor="Persuasiveness",
            score=None,
            status=Status.NOT_MEASURED,
            reason="scripted",
        )
