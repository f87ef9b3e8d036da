"""Debaters played by models: one AutoGen agent for each statement; its calls use the gateway.

Importing this module imports autogen-agentchat: import it late.
"""

from collections.abc import Mapping, Sequence

from autogen_agentchat.agents import AssistantAgent
from autogen_agentchat.messages import TextMessage
from autogen_core import CancellationToken

from recjury.debate.role_answer import ANSWER_SCHEMA, parse_answer
from recjury.debate.roles import DebatePrompts
from recjury.debate.rounds import EDITED
from recjury.debate.rule_debaters import RULE
from recjury.errors import ConfigError, ParseError, UnitFailed
from recjury.llm import Gateway
from recjury.llm.autogen_client import GatewayClient
from recjury.prompts import Pack
from recjury.records import (
    JSON,
    ConversationLog,
    Message,
    Rating,
    Role,
    Statement,
    Status,
)

ATTEMPTS = 2


class LlmDebaters:
    """The four roles played by models.

    In every round, a role's prompt contains everything it needs, so each statement has its own
    agent. Only the transcript is carried from round to round, so a resumed debate asks the same
    as the first one.
    """

    def __init__(
        self,
        gateway: Gateway,
        models: Mapping[Role, str],
        *,
        pack: Pack | None = None,
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
        self._prompts = DebatePrompts(pack)
        self._temperature = temperature

    @property
    def protocol(self) -> str:
        """The prompt pack's name, version and hash."""
        return self._prompts.identity

    @property
    def settings(self) -> Mapping[str, JSON]:
        """Everything that can change the statements: models, prompts, temperature."""
        return {
            "debaters": "llm",
            "models": {str(role): model for role, model in self._models.items()},
            "protocol": self.protocol,
            "temperature": self._temperature,
        }

    def speaker(self, role: Role) -> str:
        """The alias of the model that plays `role`."""
        return self._models[role]

    async def speak(
        self,
        role: Role,
        number: int,
        log: ConversationLog,
        ratings: Sequence[Rating],
        said: Sequence[Statement],
    ) -> Statement:
        """The model's statement for `role`; without a reply that can be parsed, it has no score.

        Raises ProviderError, which concerns the endpoint and not this debate alone.
        """
        client = GatewayClient(
            self._gateway,
            self._models[role],
            purpose=f"debate/{role}/{number}",
            temperature=self._temperature,
            schema=ANSWER_SCHEMA,
        )
        agent = AssistantAgent(
            name=str(role).replace(" ", "_"),
            model_client=client,
            system_message=client.register(self._prompts.system(role)),
        )
        message = self._prompts.turn(role, number, log, ratings, said)
        problem = ""
        for _ in range(ATTEMPTS):
            try:
                await _send(agent, client, message)
                answer = parse_answer(client.replies[-1])
            except ParseError as error:
                problem = str(error)
                message = self._prompts.repair(problem)
            except UnitFailed as error:
                return self._unscored(role, number, client, Status.CALL_FAILED, str(error))
            else:
                return Statement(
                    role=role,
                    round=number,
                    speaker=self._models[role],
                    text=answer.statement,
                    score=answer.score,
                    calls=_calls(client),
                )
        return self._unscored(role, number, client, Status.UNREADABLE, problem)

    def _unscored(
        self, role: Role, number: int, client: GatewayClient, status: Status, reason: str
    ) -> Statement:
        """A statement without a score; its text is the last reply, unchanged, for the reader."""
        return Statement(
            role=role,
            round=number,
            speaker=self._models[role],
            text=client.replies[-1].text if client.replies else "",
            score=None,
            status=status,
            reason=reason,
            calls=_calls(client),
        )


async def _send(agent: AssistantAgent, client: GatewayClient, message: Message) -> None:
    """Have `agent` answer `message`; the reply is the client's last."""
    said = TextMessage(content=client.register(message), source="user")
    await agent.on_messages([said], CancellationToken())


def _calls(client: GatewayClient) -> tuple[str, ...]:
    return tuple(reply.call for reply in client.replies)
