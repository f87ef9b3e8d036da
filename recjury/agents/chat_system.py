"""Systems that are language models: the conversation as messages, and what the model says next."""

from typing import Literal, NamedTuple

from recjury.agents.system import System
from recjury.errors import ConfigError, SystemFailed
from recjury.llm import (
    MAIN_MODEL,
    Gateway,
    ModelSpec,
    attempt_limit,
    finished_text,
    read_reply,
)
from recjury.records import JSON, ChatRequest, Conversation, ExpectedCalls, Message, Speaker

ANSWERS = 2
"""How often a run asks a system under test for one answer."""

ROLES: dict[Speaker, Literal["user", "assistant"]] = {
    Speaker.USER: "user",
    Speaker.SYSTEM: "assistant",
}


class SpokenAnswer(NamedTuple):
    """What a model says to the user, and the identities of the calls behind it."""

    text: str
    calls: tuple[str, ...]


class ChatSystem(System):
    """A system whose text is written by a model of the campaign, at temperature 0."""

    model: str = MAIN_MODEL

    @property
    def aliases(self) -> list[tuple[str, str]]:
        """Its model."""
        return [(f"system {self.name}", self.model)]

    def expected(self, answers: int) -> list[ExpectedCalls]:
        """One or two calls for each answer."""
        return [ExpectedCalls(self.model, "system", answers, ANSWERS * answers, 700, 120)]

    def _prepare(self) -> None:
        """Raise ConfigError for an unknown model, and for one that writes no text."""
        gateway = self._context.gateway
        if gateway is None:
            raise ConfigError(f"system {self.name}: {self.kind} needs a model")
        if self.model not in gateway.models:
            known = ", ".join(sorted(gateway.models)) or "none"
            raise ConfigError(f"no model {self.model!r} for {self.name}: there are {known}")
        if gateway.models[self.model].embedding:
            raise ConfigError(
                f"model {self.model!r} makes embeddings: {self.name} needs a model that writes text"
            )

    @property
    def _gateway(self) -> Gateway:
        """The way to the models that `_prepare` has found."""
        assert self._context.gateway is not None
        return self._context.gateway

    @property
    def _spec(self) -> ModelSpec:
        return self._gateway.models[self.model]

    @property
    def _chat_settings(self) -> dict[str, JSON]:
        """The part of the settings that all systems of this kind have."""
        spec = self._spec
        return {
            **self._common_settings,
            "model": spec.name,
            "base_url": spec.address,
            "temperature": 0.0 if spec.temperature is None else spec.temperature,
            "max_tokens": spec.max_tokens,
            "extra": dict(spec.reply_options),
        }

    async def _ask(self, conversation: Conversation, *instructions: str) -> SpokenAnswer:
        """What the model says to the user, without its thoughts.

        The messages are the turns with text, after `instructions`, if they are not empty. A reply
        that was cut off or says nothing is asked for once more in a run: with the same messages, as
        a system under test is shown nothing but the conversation, and with twice the limit of
        tokens if it was cut off. Raises SystemFailed if that one cannot be used either, and what
        the gateway raises for a failed call.
        """
        system = (Message("system", instructions),) if any(instructions) else ()
        turns = (turn for turn in conversation.turns if turn.text.strip())
        messages = (*system, *(Message(ROLES[turn.speaker], (turn.text,)) for turn in turns))
        request = ChatRequest(self.model, messages, f"system/{self.kind}", temperature=0.0)
        limit = attempt_limit(self._gateway).at_most(ANSWERS)
        answer = await read_reply(
            self._gateway, request, finished_text, attempts=limit, noted=False
        )
        if answer.failure is not None:
            raise answer.failure
        if answer.value is None:
            raise SystemFailed(f"{self.name}: {answer.reason}")
        return SpokenAnswer(answer.value, answer.calls)
