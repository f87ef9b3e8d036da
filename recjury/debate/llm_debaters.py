"""Debaters played by models: one AutoGen agent for each statement; its calls use the gateway.

Importing this module imports autogen-agentchat: import it late.
"""

import functools
from collections.abc import Iterator, Mapping, Sequence

from autogen_agentchat.agents import AssistantAgent
from autogen_agentchat.messages import TextMessage
from autogen_core import CancellationToken

from recjury.debate.autogen_client import GatewayClient
from recjury.debate.rated_log import RatedLog
from recjury.debate.role_answer import ANSWER_SCHEMA, answer_form, parse_answer
from recjury.debate.roles import DebatePrompts
from recjury.debate.rounds import EDITED
from recjury.debate.rule_debaters import RULE
from recjury.debate.rules import RULES
from recjury.errors import ConfigError
from recjury.llm import Attempt, Gateway, PlannedCall, attempt_limit, read_attempts
from recjury.records import (
    JSON,
    OVERALL_SCALE,
    ChatRequest,
    ConversationLog,
    Message,
    ObjectForm,
    Rating,
    Reply,
    Role,
    Statement,
)

_STATEMENT = "Words of a typical length stand here for what the role will say about it. " * 10


class LlmDebaters:
    """The four roles played by models.

    In every round, a role's prompt contains everything it needs, so each statement, and each
    attempt at one, has its own agent. Only the transcript is carried from round to round, so a
    resumed debate asks the same as the first one.
    """

    def __init__(
        self,
        gateway: Gateway,
        models: Mapping[Role, str],
        prompts: DebatePrompts | None = None,
        *,
        temperature: float = 0.0,
    ):
        """`models` gives each role the alias of the model that plays it.

        Raises ConfigError for the aliases "rule" and "edited", which name the speakers of
        statements that no model made.
        """
        for taken in {RULE, EDITED}.intersection(models.values()):
            raise ConfigError(f"a model that debates cannot be called {taken!r}: rename it")
        self._gateway = gateway
        self._models = {role: models[role] for role in Role}
        self._prompts = prompts or DebatePrompts()
        self._temperature = temperature

    @property
    def protocol(self) -> str:
        """The prompt pack's name, version and hash, and the rules of the debate."""
        return f"{self._prompts.identity}{RULES}"

    @property
    def settings(self) -> Mapping[str, JSON]:
        """Everything that can change the statements: models, prompts, temperature."""
        return {
            "debaters": "llm",
            "models": {str(role): model for role, model in self._models.items()},
            "protocol": self.protocol,
            "temperature": self._temperature,
        }

    def plan(
        self, log: ConversationLog, ratings: Sequence[Rating], rounds: int
    ) -> Iterator[PlannedCall]:
        """The calls of a debate that goes on for all `rounds`; what is said before is assumed."""
        statements: list[Statement] = []
        for number in range(1, rounds + 1):
            for role in Role:
                turn = self._prompts.turn(role, number, log, ratings, statements)
                messages = (self._prompts.system(role), turn)
                request = ChatRequest(
                    model=self._models[role],
                    messages=messages,
                    purpose=f"debate/{role}/{number}",
                    temperature=self._temperature,
                    schema=ANSWER_SCHEMA,
                    form=answer_form(),
                )
                yield PlannedCall(request, "debate")
            statements += [
                Statement(
                    role=role,
                    round=number,
                    speaker=self._models[role],
                    text=_STATEMENT,
                    score=OVERALL_SCALE[0],
                )
                for role in Role
            ]

    def speaker(self, role: Role) -> str:
        """The alias of the model that plays `role`."""
        return self._models[role]

    async def speak(
        self, role: Role, number: int, rated: RatedLog, said: Sequence[Statement]
    ) -> Statement:
        """The model's statement for `role`; without a reply that can be parsed, it has no score.

        Raises ProviderError, which concerns the endpoint and not this debate alone.
        """
        turn = self._prompts.turn(role, number, rated.log, rated.ratings, said)
        form = answer_form()

        async def send(attempt: Attempt) -> Reply:
            (message,) = attempt.noted((turn,))
            return await self._send(role, f"debate/{role}/{number}", message, attempt, form)

        read = functools.partial(parse_answer, asked=(turn,))
        answer = await read_attempts(send, read, attempt_limit(self._gateway))
        repaired = ""
        if answer.value is not None:
            text, score, repaired = answer.value
        else:  # the text is the last reply, unchanged, for the reader
            text, score = "" if answer.reply is None else answer.reply.text, None
        return Statement(
            role=role,
            round=number,
            speaker=self._models[role],
            text=text,
            score=score,
            status=answer.status,
            reason=answer.reason,
            calls=answer.calls,
            repaired=repaired,
        )

    async def _send(
        self, role: Role, purpose: str, message: Message, attempt: Attempt, form: ObjectForm
    ) -> Reply:
        """The reply of an agent of its own, so that it sees this message and no earlier attempt."""
        client = GatewayClient(
            self._gateway,
            self._models[role],
            purpose=purpose,
            temperature=self._temperature,
            schema=ANSWER_SCHEMA,
            form=form,
            attempt=attempt,
        )
        agent = AssistantAgent(
            name=str(role).replace(" ", "_"),
            model_client=client,
            system_message=client.register(self._prompts.system(role)),
        )
        said = TextMessage(content=client.register(message), source="user")
        await agent.on_messages([said], CancellationToken())
        return client.replies[-1]
