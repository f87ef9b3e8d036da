"""The program, called as a user calls it, in an empty folder."""

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from recjury.cli import main
from tests.replies import reply_to
from tests.scripted_endpoint import Body, Reply, ScriptedEndpoint, completion, prompt_of


class Done(NamedTuple):
    """What a command left: its exit code and what it printed."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    def is_mistake(self, *words: str) -> bool:
        """Whether it ended with one line, with these words, about what the user can mend."""
        is_one_line = self.code == 2 and len(self.err.splitlines()) == 1
        return is_one_line and all(word in self.err for word in words)


Recjury = Callable[..., Done]


@pytest.fixture
def recjury(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Recjury:
    """Calls the program in the folder `tmp_path`."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str) -> Done:
        monkeypatch.setattr(sys, "argv", ["recjury", *arguments])
        try:
            main()
            code = 0
        except SystemExit as ended:
            code = int(ended.code or 0)
        return Done(code, *capsys.readouterr())

    return call


def honest(body: Body) -> Reply:
    return Reply(completion(reply_to(prompt_of(body)), tokens=(700, 50)))


@pytest.fixture
def endpoint() -> Iterator[ScriptedEndpoint]:
    with ScriptedEndpoint(honest) as server:
        yield server


def campaign(path: Path, url: str, **changes: Any) -> None:
    """Write a campaign file."""
    values = {
        "scenarios": [{"corpus": "sample", "limit": 2}],
        "systems": ["popular", {"kind": "chatcrs", "list_source": "from_text"}],
        "evaluators": ["outcome", {"kind": "core", "debate": {"max_rounds": 2}}],
        "model": {"name": "m", "base_url": url, "price_in": 1, "price_out": 1, "patience": 0.2},
    }
    path.write_text(yaml.safe_dump(values | changes))
