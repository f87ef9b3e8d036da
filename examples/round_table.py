"""CoRE's four roles in a group chat of AutoGen, in turn instead of at the same time.

Run `python -m examples.round_table`. A script speaks in place of a model.
"""

import asyncio
import json

from autogen_agentchat.conditions import MaxMessageTermination
from autogen_agentchat.teams import RoundRobinGroupChat

from recjury.debate import RolePrompts, roles_of
from recjury.debate.agents import RoleAgent
from recjury.llm import Ask, Gateway, Model, ScriptedModel
from recjury.llm.prompts import pack
from recjury.records import ConversationLog, Rating, Request, Scenario, Statement, Turn, Unit
from recjury.store import Store

LOG = ConversationLog(
    scenario=Scenario(id="s1"),
    interaction=(Turn(speaker="system", text="You may like Heat."),),
    ending="recorded",
)
FACTORS = ("coherence", "novelty", "naturalness", "proactiveness")


def reply(request: Request, code: str) -> str:
    heard = sum("<statement by=" in line for line in request.messages[-1].text.splitlines())
    return json.dumps({"statement": f"I heard {heard}.", "score": 50 + heard, "code": code})


async def debate() -> list[Statement]:
    """Two statements of each role."""
    ratings = [Rating(metric=name, rater="main", score=3) for name in FACTORS]
    words = pack("debate/core")
    gateway = Gateway({"main": Model(name="m")}, Store(), lambda _: ScriptedModel(reply))
    ask = Ask(gateway, Unit("round table"))
    agents = [RoleAgent(role, RolePrompts(words, LOG, ratings), ask) for role in roles_of(words)]
    await RoundRobinGroupChat(list(agents), termination_condition=MaxMessageTermination(8)).run()
    return [said for agent in agents for said in agent.statements]


if __name__ == "__main__":
    for said in asyncio.run(debate()):
        print(f"{said.role}, {said.round}: {said.text} {said.score:g}")  # noqa: T201
