"""The speakers are AutoGen agents: recjury's own roles, and agents that take a role's seat."""

import asyncio
import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Annotated

from autogen_agentchat.agents import BaseChatAgent
from autogen_agentchat.base import ChatAgent, Response
from autogen_agentchat.messages import BaseChatMessage, TextMessage
from autogen_core import CancellationToken
from pydantic import BaseModel, BeforeValidator, Field, StringConstraints

from recjury.debate.roles import RolePrompts
from recjury.keys import one_line
from recjury.llm import Ask, AttemptError, Dialect, Remedy
from recjury.llm.identity import with_code
from recjury.records import Completion, Request, Statement

_STATEMENT = "recjury.statement"
"""The metadata of a message that carries a statement."""


def _is_number(value: object) -> object:
    if isinstance(value, bool):  # pydantic would take it for 1 or 0
        raise ValueError("a number is wanted")
    return value


_LONGEST = 10_000
"""Characters of a statement: 150 words are asked for."""


class Said(BaseModel):
    """The form of a statement."""

    statement: Annotated[
        str, StringConstraints(strip_whitespace=True, min_length=1, max_length=_LONGEST)
    ]
    score: Annotated[float, BeforeValidator(_is_number), Field(ge=0, le=100)]


class Debater(BaseChatAgent):
    """Speaks for a role of a debate. It also sits in a group chat, and answers each time.

    It hears the messages of other debaters, which carry their statements, and no others. What it
    has said itself is in `statements`. A subclass has `statement`.
    """

    def __init__(self, role: str):
        """`role` as it stands in statements."""
        super().__init__(_name(role), f"The {role} of a debate about a recommender.")
        self.role, self.statements = role, list[Statement]()
        self._heard: list[Statement] = []

    async def statement(self, number: int, heard: Sequence[Statement]) -> Statement:
        """The role's statement in a round, after all that it has heard."""
        raise NotImplementedError

    @property
    def produced_message_types(self) -> Sequence[type[BaseChatMessage]]:
        """Plain text, with role, round and score as metadata."""
        return (TextMessage,)

    async def state(self, said: Sequence[Statement]) -> Statement:
        """The role's statement after those of all completed rounds."""
        await self.on_messages([_message(each) for each in said], CancellationToken())
        return self.statements[-1]

    async def on_messages(
        self,
        messages: Sequence[BaseChatMessage],
        cancellation_token: CancellationToken,  # noqa: ARG002
    ) -> Response:
        """Hear what was said, and answer it."""
        self._heard += [said for message in messages if (said := _statement_of(message))]
        number = 1 + sum(said.role == self.role for said in self._heard)
        said = await self.statement(number, self._heard)
        self.statements.append(said)
        self._heard.append(said)
        return Response(chat_message=_message(said))

    async def on_reset(self, cancellation_token: CancellationToken) -> None:  # noqa: ARG002
        """Forget what was said."""
        self._heard.clear()
        self.statements.clear()


class RoleAgent(Debater):
    """A debater who asks a model what to say."""

    def __init__(
        self,
        role: str,
        prompts: RolePrompts,
        ask: Ask,
        *,
        model: str = "main",
        temperature: float = 0.0,
    ):
        """`prompts` has the log and its ratings; `ask` sends what the role is asked to `model`."""
        super().__init__(role)
        self._prompts, self._ask, self._model, self._temperature = prompts, ask, model, temperature

    async def statement(self, number: int, heard: Sequence[Statement]) -> Statement:
        """What the model says for the role, or the reason why there is no score."""
        prompt = self._prompts.prompt(self.role, number, heard)
        answer = await self._ask.object(
            prompt, Said, model=self._model, purpose="debate", temperature=self._temperature
        )
        return Statement(
            role=self.role,
            round=number,
            speaker=self._model,
            text=answer.value.statement if answer.value else "",
            score=answer.value.score if answer.value else None,
            status=answer.status,
            reason=answer.reason,
            calls=answer.calls,
        )


class AgentProvider:
    """A model whose every reply is said by a fresh agent.

    The prompt has all that was said, so the agent needs no memory of earlier rounds, and its
    statement is a call: kept, found again, asked for again, and read as any other.
    """

    def __init__(self, make_agent: Callable[[], ChatAgent], *, timeout: float = 600.0):
        """`make_agent` returns a new agent each time, which has `timeout` seconds to reply."""
        self._make_agent, self._timeout = make_agent, timeout

    async def ask(
        self,
        calls: Sequence[str],
        request: Request,
        code: str,
        dialect: Dialect,  # noqa: ARG002
    ) -> Sequence[Completion]:
        """One reply for the first of `calls`. Raises AttemptError for what the agent raises.

        What `make_agent` raises stops the run; an agent that fails is asked again.
        """
        prompt = with_code(request, code).messages
        messages = [TextMessage(content=each.text, source=each.role) for each in prompt]
        try:
            agent = self._make_agent()
        except Exception as error:
            reason = f"no agent was made: {one_line(error)}"
            raise AttemptError(Remedy("stop", reason)) from error
        try:
            async with asyncio.timeout(self._timeout) as limit:
                response = await agent.on_messages(messages, CancellationToken())
        except Exception as error:
            reason = f"the agent raised {one_line(error)}"
            if limit.expired():
                reason = f"the agent did not reply within {self._timeout:g} s"
            raise AttemptError(Remedy("again", reason)) from error
        return [Completion(response.chat_message.to_text(), call=calls[0])]

    async def aclose(self) -> None:
        """Nothing is open."""


def _name(role: str) -> str:
    """A role as AutoGen wants names: an identifier."""
    return re.sub(r"\W|^(?=\d)", "_", role)


@lru_cache(256)  # all roles hear the same statements
def _message(said: Statement) -> TextMessage:
    """A statement as a message: others read its text, a debater all of it."""
    score = "" if said.score is None else f" My score: {said.score:g}."
    return TextMessage(
        content=f"{said.text}{score}",
        source=_name(said.role),
        metadata={_STATEMENT: said.model_dump_json()},
    )


def _statement_of(message: BaseChatMessage) -> Statement | None:
    stated = message.metadata.get(_STATEMENT)
    return Statement.model_validate_json(stated) if stated else None
