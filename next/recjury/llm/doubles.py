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
from recjury.records import Completion, ObjectShape, OddsShape, RatingShape, Request

_WORD = "word "  # 5 characters, a bit more than a token

Script = Callable[[Request, str], str]
"""The reply to a request, whose answer must carry the code (the second argument)."""


class ScriptedModel:
    """Says the replies in order, or what a function makes of the request; strict when it runs out."""

    def __init__(self, replies: Iterable[str] | Script, *, delay: float = 0.0):
        """`delay` is how long an answer takes, in seconds."""
        self._say = replies if callable(replies) else None
        self._replies = iter(() if callable(replies) else replies)
        self._delay = delay
        self.requests: list[Request] = []

    async def ask(
        self, calls: Sequence[str], request: Request, code: str, dialect: Dialect
    ) -> Sequence[Completion]:
        """One reply for each call. Raises AssertionError if none is left."""
        filled = with_code(request, code)
        self.requests.append(filled)
        await asyncio.sleep(self._delay)
        try:
            texts = [self._say(filled, code) if self._say else next(self._replies) for _ in calls]
        except StopIteration:
            raise AssertionError(f"no reply is left for {request.purpose!r}") from None
        return [Completion(text, tokens_in=0, tokens_out=0) for text in texts]

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

    async def ask(
        self, calls: Sequence[str], request: Request, code: str, dialect: Dialect
    ) -> Sequence[Completion]:
        """One completion for each call."""
        self.calls[request.purpose] += len(calls)
        return [self._completion(call, request, code) for call in calls]

    async def aclose(self) -> None:
        """Nothing is open."""

    def _completion(self, call: str, request: Request, code: str) -> Completion:
        tokens = TYPICAL_TOKENS.get(request.purpose, 150)
        self._random.seed(call)
        text = f"{self._random.getrandbits(40):x} " + _WORD * (tokens * 4 // len(_WORD))
        if request.purpose == "system" and self._names:
            text += " and ".join(self._random.sample(self._names, 2))
        logprobs: tuple[dict[str, Any], ...] = ()
        match request.shape:
            case RatingShape(low, high):
                text += f'<rating code="{code}">{self._random.randint(low, high)}</rating>'
            case ObjectShape(schema):
                text = json.dumps(self._example(json.loads(schema), text) | {"code": code})
            case OddsShape(choices):
                text, tops = choices[0], [{"token": c, "logprob": -1.0} for c in choices]
                logprobs = ({"top_logprobs": tops},)
            case None:
                pass
        tokens_in = sum(len(message.text) for message in request.messages) // 4
        cost = self._model.cost(tokens_in, tokens)
        return Completion(
            text, logprobs=logprobs, tokens_in=tokens_in, tokens_out=tokens, cost=cost
        )

    def _example(self, schema: dict[str, Any], text: str) -> dict[str, Any]:
        def value(spec: dict[str, Any]) -> object:
            if spec.get("type") in ("number", "integer"):
                low, high = int(spec.get("minimum", 0)), int(spec.get("maximum", 100))
                return self._random.randint(low, high)
            return [] if spec.get("type") == "array" else text

        return {name: value(spec) for name, spec in schema["properties"].items() if name != "code"}
