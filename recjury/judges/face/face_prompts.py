"""The definition of each aspect, and the prompts made from it (FACE, sections 2 and 3.1)."""

from collections.abc import Mapping
from typing import NamedTuple

from recjury.judges.face.instructions import Instruction
from recjury.prompts import Pack, fence, load_pack, turns_block
from recjury.records import (
    Aspect,
    ConversationLog,
    DialogueAct,
    Level,
    Message,
    Particle,
    Record,
    Speaker,
)

PACK = "face"
NO_ANSWER = "(The conversation ends here.)"


class AspectGuide(Record):
    """How one aspect is rated: the question, and the meaning of each whole score."""

    title: str
    question: str
    anchors: Mapping[int, str]


class FacePrompts:
    """The prompts of FACE and of the methods compared with it, from one pack."""

    def __init__(self, pack: Pack | None = None):
        """Read `pack`, by default the package's own; it must have all seven aspects."""
        self.pack = pack or load_pack(PACK)
        guides: Mapping[str, object] = self.pack.manifest["aspects"]
        self.guides = {aspect: AspectGuide.model_validate(guides[aspect]) for aspect in Aspect}
        self._systems = {
            aspect: Message("system", self.pack.render("system", guide=guide))
            for aspect, guide in self.guides.items()
        }

    @property
    def identity(self) -> str:
        """Name, version and content hash of the pack, as stored with ratings."""
        return f"{self.pack.id}/{self.pack.version}+{self.pack.digest}"

    def initial(self, aspect: Aspect) -> tuple[Instruction, ...]:
        """The instructions of the package, in our own words; optimisation starts from them."""
        guide = self.guides[aspect]
        texts: list[str] = self.pack.manifest["instructions"]
        return tuple(
            Instruction(
                text=text.format(aspect=guide.title, question=guide.question),
                iteration=number,
                rank=number + 1,
                index=number,
                filename=f"initial_{number}",
            )
            for number, text in enumerate(texts)
        )

    def system(self, aspect: Aspect) -> Message:
        """The system message: the role of the rater, the aspect, and the meaning of each score."""
        return self._systems[aspect]

    def decompose(self, log: ConversationLog, turn: int) -> tuple[Message, ...]:
        """The prompt that decomposes the system turn at index `turn`."""
        acts = ", ".join(f'"{act}"' for act in DialogueAct)
        asked = self.pack.render("decompose", acts=acts, **situation(log, turn)._asdict())
        return (Message("user", asked),)

    def score(
        self,
        aspect: Aspect,
        shown: "Situation",
        number: int,
        particle: Particle,
        instruction: str,
    ) -> tuple[Message, ...]:
        """The prompt for one particle under one instruction.

        `number` distinguishes identical particles of one turn.
        """
        feedback = None if particle.feedback is None else fence(particle.feedback)
        asked = self.pack.render(
            "score",
            **shown._asdict(),
            number=number,
            particle=particle,
            words=fence(particle.mention),
            feedback=feedback,
            instruction=fence(instruction),
            low=aspect.low,
            high=aspect.high,
        )
        return self.system(aspect), Message("user", asked)

    def direct(
        self, aspect: Aspect, log: ConversationLog, turn: int | None, *, with_reasons: bool
    ) -> tuple[Message, ...]:
        """The prompt that rates a whole turn or dialogue with one request.

        With `with_reasons`, it shows two rated examples and asks for reasons before the score.
        """
        kind = "turn" if aspect.level is Level.TURN else "dialogue"
        shown: Mapping[str, str]
        if turn is None:
            shown = {"conversation": turns_block("conversation", log.interaction)}
        else:
            shown = situation(log, turn)._asdict()
        task = "Think step by step before you do." if with_reasons else "Do not explain."
        asked = self.pack.render(
            f"direct_{kind}", **shown, task=task, low=aspect.low, high=aspect.high
        )
        if with_reasons:
            value = {"best": aspect.high, "worst": aspect.low}
            examples = [
                {"turn": "", "next": "", **given, "value": value[given["score"]]}
                for given in self.pack.manifest["examples"][kind]
            ]
            asked = (*self.pack.render("examples", examples=examples), "\n\n", *asked)
        return self.system(aspect), Message("user", asked)


class Situation(NamedTuple):
    """The part of a prompt about a system turn, fenced: the turns before, its text, the answer."""

    conversation: str
    turn: str
    answer: str


def situation(log: ConversationLog, turn: int) -> Situation:
    """The situation of the system turn at index `turn` of the interaction."""
    before = (*log.scenario.history, *log.interaction[:turn])
    answer = answer_to(log, turn)
    return Situation(
        turns_block("conversation", before),
        fence(log.interaction[turn].text),
        NO_ANSWER if answer is None else fence(answer),
    )


def answer_to(log: ConversationLog, turn: int) -> str | None:
    """The user's text after the turn at index `turn`; None if the log ends with that turn."""
    following = log.interaction[turn + 1 : turn + 2]
    return following[0].text if following and following[0].speaker is Speaker.USER else None
