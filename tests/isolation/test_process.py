"""What a system in a process of its own can see, and what becomes of the process."""

import asyncio
import gc
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path
from typing import Any

import pytest

from recjury.agents import System, SystemContext, python_system, read_entry
from recjury.agents.python_system import PythonSystem
from recjury.campaign import CampaignConfig
from recjury.campaign.campaign_store import campaign_setup
from recjury.corpora import open_corpus
from recjury.corpora.corpus import WithoutSplits
from recjury.corpora.folder import sample_folder
from recjury.errors import ConfigError, SystemFailed
from recjury.isolation import launch, pool
from recjury.isolation.launch import closes_files
from recjury.isolation.process import WatchedProcess
from recjury.records import SystemReply
from tests.agents.conversations import talk
from tests.isolation import kept_apart
from tests.isolation.leftovers import MARK, running, wait_until_gone

AROUND = SystemContext(open_corpus("sample"))


def made(kind: str, context: SystemContext = AROUND, **keys: Any) -> System:
    return entry(kind, **keys).prepared(context)


def entry(kind: str, **keys: Any) -> PythonSystem:
    return PythonSystem(name="mine", path=f"{kept_apart.__name__}:{kind}", **keys)


def asked(system: System, *texts: str) -> list[str]:
    """What it replies to texts that are said at once, or why it does not; it is closed then."""

    async def together() -> list[SystemReply | BaseException]:
        replies = await asyncio.gather(
            *(system.respond(talk(text)) for text in texts), return_exceptions=True
        )
        await system.aclose()
        return replies

    replies = asyncio.run(together())
    return [each.text if isinstance(each, SystemReply) else str(each) for each in replies]


@pytest.fixture
def mark(monkeypatch: pytest.MonkeyPatch) -> str:
    """A mark in the environment of recjury, and of systems that are given it."""
    mark = uuid.uuid4().hex
    monkeypatch.setenv(MARK, mark)
    monkeypatch.setattr(pool, "_SECONDS_TO_CLOSE", 0.05)
    return mark


@pytest.fixture
def secrets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A corpus whose test dialogues have secrets, beside a store and a key that are secret, too."""
    folder = tmp_path / "films"
    shutil.copytree(sample_folder(), folder)
    lines = (folder / "dialogues.jsonl").read_text("utf-8").splitlines()
    dialogues = [json.loads(line) for line in lines]
    for dialogue in dialogues:
        if dialogue["split"] == "test":
            for turn in dialogue["turns"]:
                turn["text"] = f"secret-{uuid.uuid4().hex}"
    text = "".join(f"{json.dumps(dialogue)}\n" for dialogue in dialogues)
    (folder / "dialogues.jsonl").write_text(text, "utf-8")
    (tmp_path / "runs.db").write_text(f"secret-{uuid.uuid4().hex}", "utf-8")
    monkeypatch.setenv("MY_KEY", f"secret-{uuid.uuid4().hex}")
    return folder


def test_a_snooping_system_finds_no_target_no_key_and_no_store(secrets: Path) -> None:
    corpus = open_corpus(str(secrets))
    assert "secret-" in str(corpus.scenarios("test").scenarios)
    if not closes_files():
        pytest.skip("this kernel has no Landlock")
    places = {"places": [str(secrets.parent), str(Path.home() / ".ssh")]}
    [reply] = asked(made("Snooping", SystemContext(corpus), options=places), "Hello")
    assert reply.startswith("saw 0 in "), reply
    assert int(reply.split()[-1]) > 20
    system = made("Snooping", SystemContext(corpus), options=places, isolate="thread")
    assert not asked(system, "Hello")[0].startswith("saw 0 in ")


def test_what_is_declared_can_be_read(secrets: Path) -> None:
    key = str(secrets.parent / "runs.db")
    system = made("Snooping", reads=[key], options={"places": [key]}, environment=["MY_KEY"])
    assert asked(system, "Hello")[0].startswith("saw 2 in ")


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"reads": ["/no/such/folder"]}, "reads: /no/such/folder does not exist"),
        ({"environment": ["NO_SUCH_NAME"]}, "environment: NO_SUCH_NAME is not set"),
        ({"options": {"places": lambda: 0}}, "cannot be sent to another process .*isolate: thread"),
    ],
)
def test_what_cannot_be_given_is_one_line(keys: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        made("Snooping", **keys)


def test_it_learns_from_the_splits_that_are_not_played() -> None:
    number = len(AROUND.corpus.examples("train"))
    replies = asked(made("Learning"), "Hello", "more", "scenarios")
    assert replies[0] == f"{number} of ('train', 'valid', 'test')"
    assert "raised DataError: examples can only be read while the system is made" in replies[1]
    assert "sees no scenarios" in replies[2]
    played = SystemContext(WithoutSplits(AROUND.corpus, {"test"}))
    with pytest.raises(ConfigError, match="no system may learn from it"):
        made("Learning", played, options={"split": "test"})


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ("exit", "^mine cannot be made: its process exited with code 4$"),
        ("many words", "kept_apart:fragile cannot be made: ValueError: no words$"),
        ("hang", r"^mine was not made within 0\.5 s$"),
    ],
)
def test_one_that_cannot_be_made_is_refused(
    how: str, message: str, mark: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if how == "hang":
        monkeypatch.setattr(pool, "_SECONDS_TO_START", 0.5)
    with pytest.raises(ConfigError, match=message):
        made("fragile", options={"how": how}, environment=[MARK])
    wait_until_gone(mark)


def test_turns_that_were_open_beside_a_fatal_one_are_answered(mark: str) -> None:
    system = made("Telling", environment=[MARK])
    first, fatal, second, variables = asked(system, "wait", "die", "wait", "variables")
    assert fatal == "mine: its process exited with code 9"
    assert first.isdigit()
    assert second.isdigit()
    assert MARK in variables
    assert "RECJURY_DATA" not in variables
    wait_until_gone(mark)


def test_there_are_as_many_processes_as_wanted(mark: str) -> None:
    system = made("Telling", processes=2, environment=[MARK])
    assert len(set(asked(system, "wait", "wait", "wait", "wait"))) == 2
    wait_until_gone(mark)


def test_it_is_another_system_if_its_code_changes_while_it_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = Path(kept_apart.__file__).read_text("utf-8")
    module = tmp_path / "changing.py"
    module.write_text(source, "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(pool, "_SECONDS_TO_CLOSE", 0.05)
    system = PythonSystem(name="mine", path="changing:Telling").prepared(AROUND)
    module.write_text(f"{source}\n# changed\n", "utf-8")

    async def twice() -> None:
        for text in ("die", "Hello"):
            with pytest.raises(SystemFailed) as caught:
                await system.respond(talk(text))
        await system.aclose()
        assert str(caught.value) == "mine was not made again: it has changed since the run began"

    asyncio.run(twice())


def test_one_that_nobody_closes_is_stopped(mark: str) -> None:
    system = made("Telling", environment=[MARK])
    assert running(mark)
    del system
    gc.collect()
    wait_until_gone(mark)


ASKING = '{"examples": "train"}'
DEEP = "[" * 900 + "]" * 900
NO_ANSWER = "its process sent what is not an answer$"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"id": 0, "settings": 5}', "^mine has no settings$"),
        (f'{{"id": 0, "settings": {{"a": {DEEP}}}}}', f"^mine cannot be made: {NO_ANSWER}"),
    ],
)
def test_what_it_forges_while_it_is_made_is_one_line(content: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        made("Sending", options={"content": content})


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (f'{{"id": 1, "failed": {DEEP}}}', NO_ANSWER),
        ('{"id": 1, "answer": [MANY0]}', NO_ANSWER),
        (f'{{"id": 1, "answer": {{"text": "", "{"x" * 10**6}": 1}}}}', r"x\.\.\.$"),
        (ASKING, NO_ANSWER),
    ],
)
def test_what_it_forges_instead_of_a_reply_fails_its_turn(content: str, message: str) -> None:
    [reply] = asked(made("Sending", options={"content": content, "made": True}), "Hello")
    assert re.search(f"^mine: .*{message}", reply), reply[:1000]
    assert len(reply) < 1000


def test_examples_are_sent_one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    answered: list[int] = []
    examples = launch._examples

    def counted(*about: Any) -> bytes:
        answer = examples(*about)
        answered.append(len(answer))
        return answer

    monkeypatch.setattr(launch, "_examples", counted)
    asking = entry("Sending", options={"content": ASKING})
    maker, module = python_system._MAKER, kept_apart.__name__
    process = WatchedProcess(asking.launch(maker, "mine", AROUND.corpus, module, list_length=1))
    before = -1
    while before < len(answered) or not answered:
        before = len(answered)
        time.sleep(0.5)
    process.stop()
    assert sum(answered) < 2_000_000  # more than a channel holds


def test_one_that_is_made_again_cannot_forge_its_settings(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    options = {"content": '{"id": 0, "settings": 5}', "file": str(file)}
    system = made("Sending", reads=[str(file)], options=options)

    async def twice() -> list[str]:
        said = []
        for _ in range(2):
            with pytest.raises(SystemFailed) as caught:
                await system.respond(talk("Hello"))
            said.append(str(caught.value))
            file.write_text("x", "utf-8")
        await system.aclose()
        return said

    assert asyncio.run(twice()) == [
        "mine: its process sent what is not an answer",
        "mine was not made again: mine has no settings",
    ]


RECJURY = """
import asyncio, sys
from tests.isolation.test_bad_systems import made
from tests.agents.conversations import talk

async def main():
    system = made("Bad", sys.argv[1])
    await system.respond(talk("children"))
    print("ready", flush=True)
    await system.respond(talk(sys.argv[2]))

asyncio.run(main())
"""


@pytest.mark.parametrize("signal_number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("busy", ["spin", "ignore_everything"])
def test_it_ends_with_recjury_and_its_children_do_too(
    mark: str, signal_number: int, busy: str
) -> None:
    command = [sys.executable, "-c", RECJURY, mark, busy]
    environment = {name: value for name, value in os.environ.items() if name != MARK}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment
    ) as recjury:
        assert recjury.stdout is not None
        assert recjury.stdout.readline() == b"ready\n"
        assert len(running(mark)) > 2
        recjury.send_signal(signal_number)
    wait_until_gone(mark)


def test_the_record_says_where_its_code_ran() -> None:
    own = {"kind": "python", "name": "own", "path": f"{kept_apart.__name__}:Telling"}
    config = CampaignConfig.model_validate(
        {
            "name": "x",
            "scenarios": [{"corpus": "sample"}],
            "systems": ["retrieval", own, {**own, "name": "near", "isolate": "thread"}],
        }
    )
    said = campaign_setup(config).isolation
    assert said.keys() == {"own", "near"}
    assert said["own"].startswith("process: ")
    assert "Landlock" in said["own"] or closes_files()
    assert said["near"].startswith("thread (isolate: thread): it can reach the memory")
    assert read_entry(kept_apart.Telling(AROUND.corpus, name="x")).isolation.startswith(  # type: ignore[arg-type]
        "thread (an object)"
    )
    in_main = PythonSystem(name="x", path="__main__:Mine")
    assert in_main.isolation.startswith("thread (a class of __main__)")


def test_it_is_the_same_system_in_a_thread_and_in_a_process(mark: str) -> None:
    near, apart = made("Snooping", isolate="thread"), made("Snooping")
    assert near.settings == apart.settings
    asyncio.run(apart.aclose())
