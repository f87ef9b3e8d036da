"""An endpoint that is a system under test, through the openai SDK."""

import asyncio
from pathlib import Path
from typing import Any

from recjury.campaign import Config, run
from recjury.records import ConversationLog
from recjury.results import ratings
from recjury.store import Store
from tests.replies import reply_to
from tests.scripted_endpoint import Body, Reply, ScriptedEndpoint, completion, prompt_of


def is_system(body: Body) -> bool:
    return bool(body["model"] == "agent")


def played(path: Path, says: Reply, **settings: Any) -> tuple[ConversationLog, list[Body]]:
    """The log of one conversation with an endpoint that always says the same."""

    def answer(body: Body) -> Reply:
        return says if is_system(body) else Reply(completion(reply_to(prompt_of(body))))

    with ScriptedEndpoint(answer) as server, Store(path / "s.db") as store:
        common = {"base_url": server.url, "price_in": 0, "price_out": 0}
        config = Config.model_validate(
            {
                "scenarios": [{"corpus": "sample", "limit": 1}],
                "systems": [{"kind": "openai", "model": "agent", **settings}],
                "evaluators": ["outcome"],
                "models": {"main": {"name": "m", **common}, "agent": {"name": "agent", **common}},
            }
        )
        asyncio.run(run(config, store))
        (id_,) = ratings(store, "campaign")["conversation"].unique()
        ((_, log),) = store.logs([id_])
        return log, [asked.body for asked in server.asked if is_system(asked.body)]


def test_it_gets_the_conversation_and_its_list_is_what_it_names(tmp_path: Path) -> None:
    log, bodies = played(tmp_path, Reply(completion("Try Heat (1995).")), instructions="Be brief.")
    assert bodies[0]["messages"][0] == {"role": "system", "content": "Be brief."}
    assert bodies[0]["messages"][-1]["content"] == log.scenario.history[-1].text
    assert [item.name for item in log.session_list] == ["Heat (1995)"]


def test_a_tool_call_that_nobody_runs_fails_the_conversation(tmp_path: Path) -> None:
    """An agent without its tools would be rated as one that says nothing."""
    call = {"id": "1", "type": "function", "function": {"name": "search", "arguments": "{}"}}
    calls_a_tool = completion(None, finish="tool_calls", tool_calls=[call])
    log, bodies = played(tmp_path, Reply(calls_a_tool))
    assert log.failed
    assert "tool" in log.interaction[-1].failure
    assert len(bodies) == 1, "what nobody runs is not asked again"
