"""Recordings judged in batches, one command after another."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli.conftest import Recjury
from tests.llm.batch_server import BatchServer, Line, answered
from tests.replies import reply_to
from tests.scripted_endpoint import prompt_of


@pytest.fixture
def server() -> Iterator[BatchServer]:
    with BatchServer() as found:
        yield found


def finish(server: BatchServer) -> None:
    def say(lines: list[Line]) -> list[Line | str]:
        return [answered(line, reply_to(prompt_of(line["body"]))) for line in lines]

    server.finish(say)


def write(path: Path, server: BatchServer, **changes: Any) -> None:
    model = {"provider": "openai-batch", "name": "m", "base_url": server.url}
    core = {"kind": "core", "debate": {"max_rounds": 2}}
    path.write_text(yaml.safe_dump({"model": model, "evaluators": [core]} | changes))


def test_the_same_command_goes_on_until_all_is_rated(
    recjury: Recjury, tmp_path: Path, server: BatchServer
) -> None:
    said = [{"role": "user", "content": "A film?"}, {"role": "bot", "content": "Heat (1995)."}]
    rows = [{"id": str(number), "system": "A", "interaction": said} for number in range(3)]
    (tmp_path / "chats.jsonl").write_text("\n".join(map(json.dumps, rows)))
    write(tmp_path / "judges.yaml", server)
    judge = ("judge", "chats.jsonl", "--catalogue", "sample", "--config", "judges.yaml")
    assert "conversations are left" in recjury(*judge, "--dry-run").out
    assert server.sent == []
    first = recjury(*judge)
    assert first.code == 3
    assert "calls wait in 1 batch; the same command goes on" in first.out
    assert recjury(*judge).code == 3
    assert len(server.sent) == 1
    for _ in range(2):
        finish(server)
        assert recjury(*judge).code == 3
    finish(server)
    assert recjury(*judge).code == 0
    purposes = [{"rating code" in prompt_of(line["body"]) for line in sent} for sent in server.sent]
    assert purposes == [{True}, {False}, {False}]  # ratings, and two rounds of a debate
    assert recjury("store", "verify").code == 0
    sent = len(server.sent)
    assert recjury(*judge).code == 0
    assert len(server.sent) == sent


def test_whoever_talks_is_not_answered_in_batches(
    recjury: Recjury, tmp_path: Path, server: BatchServer
) -> None:
    write(tmp_path / "c.yaml", server, systems=["popular"])
    assert recjury("run", "c.yaml").is_mistake("openai-batch is for judging", "c.yaml:")
