"""The prompts of G-Eval: for the steps of the evaluation, and for the form."""

from collections.abc import Iterator
from typing import Literal

from recjury.judges.face.face_prompts import NO_ANSWER, FacePrompts, answer_to
from recjury.judges.fitting import fewer_turns
from recjury.llm import Prompt
from recjury.prompts import Pack, fence, load_pack, turns_block, with_code
from recjury.records import Aspect, ConversationLog, Level, Message

PACK = "g-eval"
Method = Literal["logprobs", "samples"]

_WHAT = {
    Level.TURN: "one turn of the system, the one in <rated_turn>,",
    Level.DIALOGUE: "the system over the whole conversation",
}


class GEvalPrompts:
    """The prompts, with FACE's aspects and scales."""

    def __init__(self, pack: Pack | None = None, face: FacePrompts | None = None):
        """Read the packs, by default the package's own."""
        self._pack = pack or load_pack(PACK)
        self._face = face or FacePrompts()
        self._system = Message("system", self._pack.render("system"))

    @property
    def identity(self) -> str:
        """Name, version and content hash of both packs."""
        return f"{self._pack.identity()} {self._face.identity}"

    def title(self, aspect: Aspect) -> str:
        """What the form calls an aspect."""
        return self._face.guides[aspect].title

    def steps(self, aspect: Aspect) -> tuple[Message, ...]:
        """The prompt that asks for the steps of the evaluation."""
        asked = self._pack.render("steps", criterion=self._criterion(aspect))
        return (self._system, Message("user", asked))

    def form(
        self, aspect: Aspect, steps: str, log: ConversationLog, turn: int | None, method: Method
    ) -> Iterator[Prompt]:
        """The prompt with the form, and then with fewer and fewer of the oldest turns."""
        before = log.interaction if turn is None else log.interaction[:turn]
        turns = before if turn is None else (*log.scenario.history, *before)
        guide = self._face.guides[aspect]
        shown = {
            "criterion": self._criterion(aspect),
            "steps": fence(steps),
            "low": aspect.low,
            "high": aspect.high,
        }
        if turn is not None:
            answer = answer_to(log, turn)
            shown["turn"] = fence(log.interaction[turn].text)
            shown["answer"] = NO_ANSWER if answer is None else fence(answer)
        for most in fewer_turns(max(1, len(turns))):
            conversation = turns_block("conversation", turns[-most:])
            asked = (
                *self._pack.render(f"rate_{aspect.level}", conversation=conversation, **shown),
                "\n\n",
                *self._pack.render(f"form_{method}", guide=guide),
            )
            messages: tuple[Message, ...] = (self._system, Message("user", asked))
            if method == "samples":
                messages = with_code(messages, (conversation,))
            yield Prompt(messages, max(0, len(turns) - most))

    def _criterion(self, aspect: Aspect) -> str:
        rendered = self._pack.render(
            "criterion",
            what=_WHAT[aspect.level],
            guide=self._face.guides[aspect],
            low=aspect.low,
            high=aspect.high,
        )
        return "".join(rendered)
