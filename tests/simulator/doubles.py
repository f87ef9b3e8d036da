"""Users, systems and models that do as they are told."""

from collections.abc import Callable, Sequence

from pydantic import PrivateAttr

from recjury.corpora import Catalogue, Item
from recjury.errors import SystemFailed
from recjury.llm import Ask, Gateway, Model, Provider, ScriptedModel
from recjury.records import Completion, Conversation, ItemRef, Request, Scenario, Turn, Unit
from recjury.simulator import SimulatedUser, Situation

MATRIX = Item(
    id="m",
    name="The Matrix",
    year=1999,
    attributes={"genre": ("action", "science fiction"), "actor": ("Keanu Reeves", "Hugo Weaving")},
    description="A hacker learns what the world is made of.",
)
SPEED = Item(
    id="s",
    name="Speed",
    year=1994,
    attributes={"genre": ("action",), "actor": ("Keanu Reeves", "Sandra Bullock")},
)
CUBE = Item(id="c", name="Cube", year=1997, attributes={"genre": ("science fiction",)})
CATALOGUE = Catalogue([MATRIX, SPEED, CUBE])


def user_says(text: str) -> Turn:
    return Turn(speaker="user", text=text)


def system_says(text: str, *items: ItemRef) -> Turn:
    return Turn(speaker="system", text=text, items=items)


def scenario(
    *targets: ItemRef, history: Sequence[Turn] = (user_says("Hello."),), wishes: Sequence[str] = ()
) -> Scenario:
    return Scenario(
        id="1",
        corpus="test",
        history=tuple(history),
        targets=targets or (MATRIX.ref,),
        wishes=tuple(wishes),
    )


class ScriptedUser(SimulatedUser):
    """Says what a function makes of the situation, and rewrites by another one."""

    name: str = "scripted"
    _say: Callable[[Situation], str] = PrivateAttr()
    _rewrite: Callable[[str], str] = PrivateAttr()
    _catalogue: Catalogue = PrivateAttr()
    _situations: list[Situation] = PrivateAttr(default_factory=list)
    _rewritten: list[list[str]] = PrivateAttr(default_factory=list)

    def __init__(
        self,
        say: Callable[[Situation], str] = lambda _: "Something else?",
        rewrite: Callable[[str], str] = lambda _: "Something else?",
        catalogue: Catalogue = CATALOGUE,
    ):
        super().__init__(kind="scripted")
        self._say, self._rewrite, self._catalogue = say, rewrite, catalogue

    @property
    def situations(self) -> list[Situation]:
        return self._situations

    @property
    def rewritten(self) -> list[list[str]]:
        return self._rewritten

    def catalogue(self, scenario: Scenario) -> Catalogue:
        return self._catalogue

    async def speak(self, situation: Situation, ask: Ask) -> Turn:
        self._situations.append(situation)
        calls = (f"said {len(self._situations)}",)
        return Turn(speaker="user", text=self._say(situation), calls=calls)

    async def rewrite(self, situation: Situation, text: str, leaks: list[str], ask: Ask) -> Turn:
        self._rewritten.append(leaks)
        return Turn(speaker="user", text=self._rewrite(text), calls=("again",))


class ScriptedSystem:
    """Gives its turns in order, and then the last one again."""

    name = "scripted"

    def __init__(self, *turns: Turn, opens: bool = True):
        self._turns, self._opens = turns, opens
        self.heard: list[Conversation] = []
        self.ended: list[Conversation] = []

    async def start(self, conversation: Conversation) -> None:
        if not self._opens:
            raise SystemFailed("no session could be opened")

    async def turn(self, conversation: Conversation, ask: Ask) -> Turn:
        self.heard.append(conversation)
        return self._turns[min(len(self.heard), len(self._turns)) - 1]

    async def end(self, conversation: Conversation) -> None:
        self.ended.append(conversation)


class _Recorder:
    """Keeps calls in a dictionary."""

    def __init__(self) -> None:
        self._kept: dict[str, Completion] = {}

    async def recall(self, calls: Sequence[str]) -> dict[str, Completion]:
        return {call: self._kept[call] for call in calls if call in self._kept}

    async def record(
        self, done: Sequence[Completion], request: Request, model: str, unit: Unit
    ) -> dict[str, Completion]:
        return {each.call: self._kept.setdefault(each.call, each) for each in done}


def ask_of(provider: Provider | None = None) -> Ask:
    """An Ask whose model `main` is the provider; without one, nothing may be asked."""
    answers = provider or ScriptedModel([])
    return Ask(Gateway({"main": Model(name="m")}, _Recorder(), lambda _: answers), Unit())
