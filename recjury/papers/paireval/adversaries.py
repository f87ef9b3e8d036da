"""Adversarial replies written by a model, where no person has written any.

Park et al. (2024, section 4.3.4) leave that to future work. The result has the form of
DailyDialog++ (Sai et al., 2020), and training reads both alike.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict

from recjury.errors import ParseError
from recjury.judges.paireval.examples import draw, one_response_each
from recjury.judges.paireval.prompts import Contender
from recjury.llm import SupportsComplete, gather, read_object, read_reply
from recjury.prompts import CODE, load_pack, turns_block
from recjury.records import (
    JSON,
    ChatRequest,
    ExpectedCalls,
    Message,
    ObjectForm,
    Reply,
    Turn,
    digest,
)

PACK = "paireval-negatives"
PURPOSE = "paireval/adversaries"
REPLIES = 5
_TEMPERATURE = 0.7
_LONGEST = 500  # characters of a reply, where the server can hold the model to a form
_AT_ONCE = 256
_TOKENS = (400, 30)  # of a prompt, and of one reply in the answer, on average


class Adversaries(NamedTuple):
    """A context, the reply that came there, and replies that look fitting and are not.

    Without replies, `reason` says why.
    """

    id: str
    contender: Contender
    replies: tuple[str, ...]
    reason: str = ""

    def as_json(self) -> dict[str, JSON]:
        """The line of a file in the form of DailyDialog++."""
        return {
            "id": self.id,
            "context": [turn.text for turn in self.contender.turns],
            "positives": [self.contender.text],
            "adversarial": list(self.replies),
            "random": [],
        }


class _Object(BaseModel):
    model_config = ConfigDict(extra="ignore")

    replies: list[str]


def expected_writing(
    model: str, contexts: int, attempts: int, *, replies: int = REPLIES
) -> ExpectedCalls:
    """The calls that write `replies` to each of some contexts: one for each context."""
    prompt, reply = _TOKENS
    return ExpectedCalls(model, PURPOSE, contexts, attempts * contexts, prompt, reply * replies)


class AdversaryWriter:
    """Writes adversarial replies with one model; `model` is the alias of a model."""

    def __init__(
        self,
        gateway: SupportsComplete,
        model: str,
        *,
        replies: int = REPLIES,
    ):
        """Ask for `replies` in one request."""
        self._gateway = gateway
        self._model = model
        self._count = replies
        self._pack = load_pack(PACK)

    def messages(self, contender: Contender) -> tuple[Message, ...]:
        """The prompt for one context."""
        conversation = turns_block("conversation", contender.turns)
        asked = self._pack.render(
            "adversary",
            conversation=conversation,
            count=self._count,
            faults=self._pack.manifest["faults"],
        )
        return (Message("user", asked),)

    async def write(self, contenders: Sequence[Contender]) -> list[Adversaries]:
        """The replies for each context, in order. A reply that equals the real one, or is given
        twice, is left out."""
        work = (self._one(f"made-{n}", each) for n, each in enumerate(contenders))
        return await gather(work, at_once=_AT_ONCE)

    async def _one(self, name: str, contender: Contender) -> Adversaries:
        messages = self.messages(contender)
        request = ChatRequest(
            model=self._model,
            messages=messages,
            purpose=PURPOSE,
            temperature=_TEMPERATURE,
            form=self._form(),
        )

        def read(reply: Reply) -> tuple[str, ...]:
            given = read_object(reply, _Object, messages).value.replies
            texts = dict.fromkeys(text.strip() for text in given)
            found = tuple(text for text in texts if text and text != (contender.text or "").strip())
            if not found:
                raise ParseError("the list of replies is empty")
            return found[: self._count]

        answer = await read_reply(self._gateway, request, read)
        return Adversaries(name, contender, answer.value or (), answer.reason)

    def _form(self) -> ObjectForm:
        text = {"type": "string", "minLength": 1, "maxLength": _LONGEST}
        fields: dict[str, object] = {
            "code": {"const": CODE},
            "replies": {"type": "array", "items": text, "maxItems": self._count, "minItems": 1},
            "end": {"const": CODE},
        }
        closed = {"required": [*fields], "additionalProperties": False}
        return ObjectForm({"type": "object", "properties": fields, **closed})


def asked_for(contenders: Sequence[Contender], *, replies: int = REPLIES) -> dict[str, JSON]:
    """Everything but the model that can change the replies to these contexts."""
    shown: list[JSON] = [[turn.text for turn in each.turns] for each in contenders]
    return {
        "prompts": load_pack(PACK).identity(),
        "replies": replies,
        "temperature": _TEMPERATURE,
        "contexts": digest(shown),
    }


def contexts(dialogues: Iterable[Sequence[Turn]], number: int, seed: int) -> tuple[Contender, ...]:
    """`number` contexts with their real replies, of dialogues drawn with `seed`, one of each.

    All of them if there are fewer.
    """
    found = one_response_each(dialogues, seed)
    return draw(found, min(number, len(found)), seed)
