"""Models without a model: `ScriptedModel` says what was written, `TypicalModel` what is typical."""

import asyncio
import json
import random
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from recjury.llm.identity import with_code
from recjury.llm.models import TYPICAL_TOKENS, Model
from recjury.llm.remedies import Dialect
from recjury.records import Completion, EmbeddingShape, ObjectShape, OddsShape, RatingShape, Request

_ENTRIES = 3  # of a list of objects: such as the particles of a turn
_VECTOR = "AACAPw=="  # of one dimension
_WORD = "word "  # 5 characters, a bit more than a token

Script = Callable[[Request, str], str | Completion]
"""The reply to a request, whose answer must carry the code (the second argument)."""


class ScriptedModel:
    """Says replies in order, or what a function makes of the request.

    It is strict: when no reply is left, it raises AssertionError. A function may raise
    AttemptError.
    """

    def __init__(self, replies: Iterable[str | Completion] | Script, *, delay: float = 0.0):
        """`delay` is how long an answer takes, in seconds."""
        self._say = replies if callable(replies) else None
        self._replies = iter(() if callable(replies) else replies)
        self._delay = delay
        self.requests: list[Request] = []
        """What was asked, with codes."""

    async def ask(
        self,
        calls: Sequence[str],
        request: Request,
        code: str,
        dialect: Dialect,  # noqa: ARG002 (of the protocol)
    ) -> Sequence[Completion]:
        """One reply for each call. Raises AssertionError if none is left."""
        filled = with_code(request, code)
        self.requests.append(filled)
        await asyncio.sleep(self._delay)
        try:
            texts = [self._say(filled, code) if self._say else next(self._replies) for _ in calls]
        except StopIteration:
            raise AssertionError(f"no reply is left for {request.purpose!r}") from None
        return [
            Completion(said, tokens_in=0, tokens_out=0) if isinstance(said, str) else said
            for said in texts
        ]

    async def aclose(self) -> None:
        """Nothing is open."""


class TypicalModel:
    """Answers any shape with a typical length, for dry runs.

    What it says is drawn from the call's identity: equal requests get equal replies and are shared,
    different ones get different replies, as in a run.
    """

    def __init__(self, model: Model, names: Sequence[str] = ()):
        """`names` are of items: a typical system names two of them in a reply."""
        self._model, self._names, self._random = model, names, random.Random()
        self.calls: Counter[str] = Counter()
        """How many calls there were, by purpose."""

    async def ask(
        self,
        calls: Sequence[str],
        request: Request,
        code: str,
        dialect: Dialect,  # noqa: ARG002 (of the protocol)
    ) -> Sequence[Completion]:
        """One completion for each call."""
        self.calls[request.purpose] += len(calls)
        # the tokens of a prompt with several replies count once
        letters = sum(len(message.text) for message in request.messages)
        return [
            self._completion(call, request, code, 0 if number else letters // 4)
            for number, call in enumerate(calls)
        ]

    async def aclose(self) -> None:
        """Nothing is open."""

    def _completion(self, call: str, request: Request, code: str, tokens_in: int) -> Completion:
        self._random.seed(call)
        tokens = TYPICAL_TOKENS.get(request.purpose, 150)
        text = self._words(request.purpose, tokens)
        logprobs: tuple[dict[str, Any], ...] = ()
        match request.shape:
            case RatingShape(low, high, wants_logprobs):
                before, score = (
                    f'{text}<rating code="{code}">',
                    str(self._random.randint(low, high)),
                )
                text = f"{before}{score}</rating>"
                logprobs = (_token(before), _token(score)) if wants_logprobs else ()
            case ObjectShape(schema):
                example = _example(json.loads(schema), text, self._random)
                text = json.dumps(example | {"code": code})
            case OddsShape(choices):
                text, logprobs = choices[0], (_token(*choices),)
            case EmbeddingShape():
                text = _VECTOR
            case None:
                pass
        cost = self._model.cost(tokens_in, tokens)
        return Completion(
            text, logprobs=logprobs, tokens_in=tokens_in, tokens_out=tokens, cost=cost
        )

    def _words(self, purpose: str, tokens: int) -> str:
        text = f"{self._random.getrandbits(40):x} " + _WORD * (tokens * 4 // len(_WORD))
        if purpose == "system" and self._names:
            text += " and ".join(self._random.sample(self._names, min(2, len(self._names))))
        return text


def _token(*likely: str) -> dict[str, Any]:
    """A token, and others that are as likely, as endpoints write log-probabilities."""
    tops = [{"token": each, "logprob": -1.0} for each in likely]
    return tops[0] | {"top_logprobs": tops}


def _example(schema: dict[str, Any], text: str, draw: random.Random) -> dict[str, Any]:
    """An object of a JSON schema, without its code. Texts are `text`, lists of texts are empty."""

    def value(spec: dict[str, Any]) -> object:
        if "$ref" in spec:
            return value(schema["$defs"][spec["$ref"].rpartition("/")[2]])
        if options := spec.get("anyOf"):
            return value(options[0])
        if choices := spec.get("enum"):
            return draw.choice(choices)
        match spec.get("type"):
            case "number" | "integer":
                return draw.randint(int(spec.get("minimum", 0)), int(spec.get("maximum", 100)))
            case "object":
                return {name: value(each) for name, each in spec.get("properties", {}).items()}
            case "array":
                of_objects = "$ref" in spec.get("items", {})
                return [value(spec["items"]) for _ in range(_ENTRIES)] if of_objects else []
            case "boolean":
                return draw.choice([True, False])
            case _:
                return spec.get("const", text)

    return {name: value(spec) for name, spec in schema["properties"].items() if name != "code"}
