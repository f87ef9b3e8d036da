"""`Ask`: the only way from a prompt to an answer. It belongs to one unit of work."""

import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from pydantic import BaseModel, ValidationError

from recjury.errors import CallFailed, Unreadable
from recjury.llm.answers import Answer, Score, mean, together, without_value
from recjury.llm.gateway import Gateway
from recjury.llm.reading import check_choices, expected_in, object_in, odds_in, rating_in
from recjury.records import (
    CODE,
    CUT,
    Completion,
    EmbeddingShape,
    Message,
    ObjectShape,
    OddsShape,
    RatingShape,
    Request,
    Shape,
    Status,
    Unit,
)
from recjury.tasks import gather

if TYPE_CHECKING:
    from recjury.llm.embeddings import Vectors

T = TypeVar("T")
B = TypeVar("B", bound=BaseModel)
Prompt = str | Sequence[Message]

_LAST_DIGIT = 9  # a number of two digits is two words of most models
_RATING_FORM = (
    f'\n\nEnd your reply with <rating code="{CODE}">N</rating>, '
    "where N is a whole number from {low} to {high}."
)
_OBJECT_FORM = (
    "\n\nReply with one JSON object that fits this JSON Schema, and add a key "
    f'"code" with the value "{CODE}": {{schema}}'
)
_NOTE = (
    "\n\nYour last reply could not be used: {problem}. Reply again, in full, in the form asked for."
)


_PROBE = "Reply with the word Yes alone."
"""Shows whether an endpoint sends log-probabilities; equal for all, so that it is sent once."""
_WITHOUT = "the model {!r} sends no log-probabilities, which are needed here: name another model"
_MORE_ROOM = 4  # times as many tokens for a reply that was cut off


class Odds(NamedTuple):
    """The choices' shares, which sum to 1, and the probability that they had together."""

    shares: dict[str, float]
    mass: float


class Ask:
    """Asks the models of a gateway for one unit of work."""

    def __init__(self, gateway: Gateway, unit: Unit, *, sample: int = 0, tries: int = 0):
        """`sample` is the unit's repeat or judging.

        `tries` counts how often the unit was finished with something unreadable. Each allows as
        many attempts again, stored ones included.
        """
        self._gateway, self.unit, self._sample = gateway, unit, sample
        self._attempts = gateway.attempts * (tries + 1)
        self.calls: list[str] = []
        """The ids of all replies so far."""

    async def text(
        self,
        prompt: Prompt,
        *,
        model: str,
        purpose: str = "",
        temperature: float = 0.0,
        max_tokens: int | None = None,
        read: Callable[[Completion], str] | None = None,
    ) -> Answer[str]:
        """What the model says; a reply that the limit cut off counts as it is.

        `read` may change it, or raise Unreadable to have it asked again.
        """
        request = self._request(prompt, purpose, None, temperature)._replace(max_tokens=max_tokens)
        return (await self._answers(request, model, read or _said))[0]

    async def rating(
        self,
        prompt: Prompt,
        scale: tuple[int, int],
        *,
        model: str,
        purpose: str = "",
        samples: int = 1,
        odds: bool = False,
        temperature: float = 0.0,
    ) -> Answer[Score]:
        """The mean of the samples that can be read; with `odds`, of the scale's expected values.

        A prompt without the code's mark gets a line that asks for the form. If the endpoint sends
        no log-probabilities for `odds`, or if the scale has numbers of more than one digit, the
        answer is not applicable.
        """
        low, high = scale
        if odds and not 0 <= low <= high <= _LAST_DIGIT:
            reason = f"odds are of scales from 0 to {_LAST_DIGIT}, not of {low} to {high}"
            return Answer(None, Status.NOT_APPLICABLE, reason)
        shape = RatingShape(low, high, odds)
        request = self._request(
            _with_form(prompt, _RATING_FORM.format(low=low, high=high)), purpose, shape, temperature
        )

        def read(reply: Completion) -> Score:
            score, rationale = rating_in(reply, low, high)
            if odds:
                return Score(expected_in(reply, low, high), rationale)
            return Score(score, rationale)

        draw = self._with_logprobs if odds else self._answers
        return together(await draw(request, model, read, samples), allow_missing=True).mapped(mean)

    async def object(
        self,
        prompt: Prompt,
        schema: type[B],
        *,
        model: str,
        purpose: str = "",
        temperature: float = 0.0,
    ) -> Answer[B]:
        """An object of the given form; its key `code` is the call's, and in no schema."""
        plain = schema.model_json_schema()
        coded = plain | {
            "properties": plain["properties"] | {"code": {"type": "string"}},
            "required": [*plain.get("required", ()), "code"],
        }
        form = _OBJECT_FORM.format(schema=json.dumps(plain))
        request = self._request(
            _with_form(prompt, form), purpose, ObjectShape(json.dumps(coded)), temperature
        )

        def read(reply: Completion) -> B:
            try:
                return schema.model_validate(object_in(reply))
            except ValidationError as error:
                keys = ", ".join(".".join(map(str, each["loc"])) for each in error.errors()[:3])
                raise Unreadable(f"its object does not fit the form at: {keys}") from None

        return (await self._answers(request, model, read))[0]

    async def odds(
        self, prompt: Prompt, choices: tuple[str, ...], *, model: str, purpose: str = ""
    ) -> Answer[Odds]:
        """How likely the reply begins with each choice, by its log-probabilities.

        If the endpoint sends none, the answer is not applicable. Raises ValueError for choices that
        log-probabilities cannot tell apart.
        """
        check_choices(choices)
        request = self._request(prompt, purpose, OddsShape(choices), 0.0)._replace(max_tokens=8)

        def read(reply: Completion) -> Odds:
            return Odds(*odds_in(reply, choices))

        return (await self._with_logprobs(request, model, read))[0]

    async def embeddings(
        self, texts: Sequence[str], *, model: str, purpose: str = "embedding"
    ) -> "Answer[Vectors]":
        """The vectors of some texts, [texts, dimensions], each kept and found again as a call."""
        import numpy as np

        from recjury.llm.embeddings import to_vector

        async def one(text: str) -> "Vectors":
            request = Request(_messages(text), purpose, EmbeddingShape())
            (kept,) = await self._gateway.draws(request, model, self.unit)
            return to_vector(kept.text)

        try:
            return Answer(np.stack(await gather(map(one, texts))), Status.OK)
        except CallFailed as failure:
            return without_value(failure)

    def _request(
        self, prompt: Prompt, purpose: str, shape: Shape | None, temperature: float
    ) -> Request:
        return Request(_messages(prompt), purpose, shape, temperature, sample=self._sample)

    async def _answers(
        self, request: Request, model: str, read: Callable[[Completion], T], samples: int = 1
    ) -> list[Answer[T]]:
        """Drawn together; what cannot be read is asked again, each for itself."""
        try:
            firsts = await self._gateway.draws(request, model, self.unit, samples)
        except CallFailed as failure:
            return [without_value(failure)]
        answers = await gather(
            self._read(request._replace(draw=draw), model, read, first)
            for draw, first in enumerate(firsts)
        )
        self.calls += (call for answer in answers for call in answer.calls)
        return answers

    async def _with_logprobs(
        self, request: Request, model: str, read: Callable[[Completion], T], samples: int = 1
    ) -> list[Answer[T]]:
        """As `_answers`, unless the endpoint sends no log-probabilities."""
        line = self._gateway.line(model)
        if not line.sends_logprobs and "no logprobs" not in line.dialect:
            probe = Request(_messages(_PROBE), "choice", OddsShape(("Yes",)), max_tokens=8)
            (said,) = await self._answers(probe, model, lambda reply: bool(reply.logprobs))
            if said.status is Status.CALL_FAILED:
                return [Answer(None, said.status, said.reason)]
            line.sends_logprobs = bool(said.value)
            line.dialect |= set() if said.value else {"no logprobs"}
        if "no logprobs" in line.dialect:
            return [Answer(None, Status.NOT_APPLICABLE, _WITHOUT.format(model))]
        return await self._answers(request, model, read, samples)

    def _again(self, request: Request, model: str, problem: str, reply: Completion) -> Request:
        """The request with a note that quotes nothing of the reply, and room for one cut off."""
        *before, last = request.messages
        parts = (*last.parts, _NOTE.format(problem=problem))
        again = request._replace(messages=(*before, Message(last.role, parts)))
        limit = request.max_tokens or self._gateway.models[model].max_tokens
        if limit and reply.finish == "length":
            return again._replace(max_tokens=_MORE_ROOM * limit)
        return again

    async def _read(
        self, request: Request, model: str, read: Callable[[Completion], T], reply: Completion
    ) -> Answer[T]:
        calls: tuple[str, ...] = (reply.call,)
        for attempt in range(1, self._attempts + 1):
            try:
                return Answer(read(reply), Status.OK, "", calls)
            except Unreadable as problem:
                reason = str(problem)
            if attempt == self._attempts:
                break
            again = self._again(request, model, reason, reply)._replace(attempt=attempt)
            try:
                (reply,) = await self._gateway.draws(again, model, self.unit)
            except CallFailed as failure:
                return without_value(failure, calls)
            calls += (reply.call,)
        return Answer(None, Status.UNREADABLE, reason, calls)


def _messages(prompt: Prompt) -> tuple[Message, ...]:
    """A text is one message, and none of its characters is a mark."""
    if isinstance(prompt, str):
        return (Message("user", (prompt.replace(CODE, " ").replace(CUT, " "),)),)
    return tuple(prompt)


def _with_form(prompt: Prompt, form: str) -> Sequence[Message]:
    """The prompt; if it has no mark for the code, with a last part that asks for the form."""
    *before, last = _messages(prompt)
    if any(CODE in part for part in last.parts):
        return (*before, last)
    return (*before, Message(last.role, (*last.parts, form)))


def _said(reply: Completion) -> str:
    if not reply.text.strip():
        raise Unreadable("it says nothing")
    return reply.text
