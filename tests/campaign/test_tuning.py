"""A campaign that runs in another process is looked at, and its limits are changed."""

import asyncio
import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import psutil
import pytest
from sqlalchemy import select

from recjury.campaign.tuning import apply_settings, follow_settings, parse_settings
from recjury.errors import ConfigError, StoreError
from recjury.llm import EndpointSpec, Gateway
from recjury.records import JSON
from recjury.store import Store, Worker
from recjury.store.tables import table_of
from recjury.store.workers import WishRow
from tests.campaign import player
from tests.endpoint import Answer, Body, ScriptedEndpoint
from tests.llm.doubles import MemoryRecorder

CAMPAIGN = """
scenarios: [{{corpus: sample, limit: 2}}]
systems: [chatcrs]
model: {{base_url: "{url}", name: scripted}}
evaluators: [outcome, core]
concurrency: 1
limits: {{simulator: 3}}
"""
ROOT = Path(__file__).parents[2]


def recjury(folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """`recjury ARGUMENTS` in a process of its own."""
    command = [sys.executable, "-m", "recjury", *arguments, "--store", f"sqlite:///{folder}/s.db"]
    return subprocess.run(
        command, capture_output=True, text=True, cwd=ROOT, timeout=120, check=False
    )


def until(condition: Callable[[], bool], seconds: float = 60) -> None:
    """Wait until the condition holds."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it never came to that"
        time.sleep(0.05)


class SlowJudges:
    """The scripted model, which counts how many judge calls are open at one time."""

    def __init__(self) -> None:
        self.open = 0
        self.most_open = 0

    async def answer(self, body: Body) -> Answer:
        """What `player.play` says, after 0.4 s."""
        judges = player.kind(body) == "judge"
        self.open += judges
        self.most_open = max(self.most_open, self.open)
        try:
            await asyncio.sleep(0.4)
            return player.play(body)
        finally:
            self.open -= judges


@pytest.mark.slow
def test_who_may_not_write_is_told_so_before_anything_else(tmp_path: Path) -> None:
    with Store.open(str(tmp_path / "runs.db")):
        pass
    with (
        Store.open(str(tmp_path / "runs.db"), read_only=True) as store,
        pytest.raises(StoreError, match="readonly database: it must be writable"),
    ):
        store.running("one").ask({}, patience=0)


def test_a_running_campaign_is_followed_and_tuned(tmp_path: Path) -> None:
    judges = SlowJudges()
    with ScriptedEndpoint(judges.answer) as endpoint:
        campaign = tmp_path / "campaign.yaml"
        campaign.write_text(CAMPAIGN.format(url=endpoint.url), "utf-8")
        store = ["--store", f"sqlite:///{tmp_path}/s.db"]
        command = [sys.executable, "-m", "recjury", "run", str(campaign), "--json", *store]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "cwd": ROOT}
        run = subprocess.Popen(command, **pipes)  # type: ignore[call-overload]
        follow = None
        try:
            until(lambda: len(endpoint.bodies) > 2)
            command = [sys.executable, "-m", "recjury", "status", "--follow", "--every", "0.3"]
            follow = subprocess.Popen([*command, "--json", *store], **pipes)  # type: ignore[call-overload]
            assert endpoint.most_in_flight == 1
            found = json.loads(recjury(tmp_path, "status", "--json").stdout)["campaigns"]
            name = found[0]["campaign"]
            wrong = recjury(tmp_path, "tune", name, "concurrency=0")
            assert (wrong.returncode, wrong.stdout) == (2, "")
            assert "concurrency must be from 1 to 4096" in wrong.stderr
            tuned = recjury(tmp_path, "tune", name[:4], "concurrency=16", "judges=6")
            assert (tuned.returncode, tuned.stderr) == (
                0,
                f"campaign {name}: changed: concurrency=16, judges=6\n",
            )
            until(lambda: endpoint.most_in_flight > 1)
            printed, _ = run.communicate(timeout=120)
            assert run.returncode == 0, printed
            assert judges.most_open <= 6
            looks = [json.loads(line) for line in follow.communicate(timeout=30)[0].splitlines()]
        finally:
            for process in (run, follow):
                if process is not None and process.poll() is None:
                    process.kill()
                    process.communicate()
        states = [look["running"] for look in looks if look["running"]]
        assert states[0]["limits"] == {"simulator": 3}
        assert {each["concurrency"] for each in states} == {1, 16}
        assert states[-1]["limits"] == {"judges": 6, "simulator": 3}
        assert states[-1]["models"]["main"]["endpoint"].startswith(endpoint.url)
        assert looks[-1]["running"] is None
        assert looks[-1]["conversations"]["done"] == 2
        assert looks[0]["calls"] < looks[-1]["calls"]
        ended = recjury(tmp_path, "tune", name, "concurrency=8")
        assert ended.returncode == 2
        assert ended.stderr.startswith(f"recjury: campaign {name} is not running")
        assert ended.stderr.count("\n") == 1
        assert recjury(tmp_path, "status", "--follow").returncode == 2
        assert {path.name for path in tmp_path.iterdir()} <= {
            "campaign.yaml", "s.db", "s.db-wal", "s.db-shm",
        }  # fmt: skip


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["concurrency"], "'concurrency' is not NAME=NUMBER with one of: concurrency, simulator"),
        (["judge=3"], "'judge=3' is not NAME=NUMBER"),
        (["other.concurrency=3"], "main.concurrency"),
        (["judges=-1"], "judges must be from 1 to 4096, or none, got '-1'"),
        (["concurrency=none"], "concurrency must be from 1 to 4096, got 'none'"),
        (["concurrency=5000"], "got '5000'"),
        ([], "nothing to change"),
    ],
)
def test_a_wrong_setting_is_told_in_one_line(given: list[str], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_settings(given, ["main"])
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_settings_are_read() -> None:
    given = ["concurrency=20", "judges=none", "main.concurrency=4"]
    assert parse_settings(given, ["main"]) == {
        "concurrency": 20,
        "judges": None,
        "main.concurrency": 4,
    }


def gateway_of(**fields: object) -> Gateway:
    """A gateway with one model, which is never asked."""
    spec = {"base_url": "http://127.0.0.1:9/v1", "name": "m", **fields}
    return Gateway({"main": EndpointSpec.model_validate(spec)}, MemoryRecorder(), concurrency=64)


def most_of(gateway: Gateway) -> int:
    """The most that may be learned of the model."""
    return gateway._of("main").slots.concurrency.most


@pytest.mark.parametrize(
    ("asked", "most"),
    [
        (["concurrency=200 main.concurrency=16"], 16),
        (["main.concurrency=16", "concurrency=100"], 16),
        (["main.concurrency=16", "concurrency=8", "concurrency=100"], 16),
        (["main.concurrency=16", "concurrency=8"], 8),
        (["main.concurrency=200"], 64),
        (["main.concurrency=16", "main.concurrency=200 concurrency=100"], 100),
    ],
)
def test_a_models_most_stays_when_the_total_changes(asked: list[str], most: int) -> None:
    gateway = gateway_of()
    for each in asked:
        apply_settings(gateway, parse_settings(each.split(), ["main"]))
    assert most_of(gateway) == most


def test_a_fixed_number_is_replaced_and_stays() -> None:
    gateway = gateway_of(concurrency=4)
    gateway.tune(concurrency=100)
    assert most_of(gateway) == 4
    gateway.tune(models={"main": 6})
    gateway.tune(concurrency=50)
    assert most_of(gateway) == 6


@pytest.fixture(name="store")
def _store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(f"sqlite:///{tmp_path}/s.db") as store:
        yield store


@pytest.fixture(name="worker")
def _worker(store: Store) -> Iterator[Worker]:
    """This process, as one that runs a campaign."""
    with store.working("one") as worker:
        yield worker


def wishes_in(store: Store) -> int:
    """How many wishes there are."""
    return store.read(lambda connection: len(connection.execute(select(table_of(WishRow))).all()))


def ask(
    store: Store, worker: Worker, gateway: Gateway | None, *wishes: Mapping[str, JSON]
) -> list[str]:
    """What the running process answers to each wish; "" if it does what is asked for."""

    def answer(wish: Mapping[str, JSON]) -> str:
        try:
            store.running("one").ask(wish, 10)
        except StoreError as error:
            return str(error)
        return ""

    async def run() -> list[str]:
        following = asyncio.ensure_future(follow_settings(worker, gateway))
        answers = [await asyncio.to_thread(answer, wish) for wish in wishes]
        assert not following.done()
        following.cancel()
        await asyncio.gather(following, return_exceptions=True)
        return answers

    return asyncio.run(run())


def test_a_refused_change_is_answered_and_the_next_one_is_done(
    store: Store, worker: Worker
) -> None:
    gateway = gateway_of()
    wishes = {"concurrency": 8, "other.concurrency": 5}, {"main.concurrency": 3}
    refused, done = ask(store, worker, gateway, *wishes)
    assert refused == ("campaign one: not changed: no model is called 'other': the models are main")
    assert done == ""
    assert most_of(gateway) == 3
    assert gateway.state["concurrency"] == 64
    assert wishes_in(store) == 0


def test_a_run_without_models_answers(store: Store, worker: Worker) -> None:
    (answer,) = ask(store, worker, None, {"concurrency": 8})
    assert answer == (
        "campaign one: not changed: this run asks no models, so there is nothing to limit"
    )
    assert wishes_in(store) == 0


def test_what_is_not_taken_is_taken_back(store: Store, worker: Worker) -> None:
    with pytest.raises(StoreError, match="did not look within 0 seconds"):
        store.running("one").ask({"concurrency": 8}, 0)
    assert wishes_in(store) == 0
    assert list(worker.take_wishes()) == []


def test_a_run_that_ends_first_has_changed_nothing(store: Store) -> None:
    failed: list[str] = []

    def work() -> None:
        try:
            store.running("one").ask({"concurrency": 8}, 30)
        except StoreError as error:
            failed.append(str(error))

    with store.working("one"):
        asking = threading.Thread(target=work)
        asking.start()
        until(lambda: wishes_in(store) == 1, 10)
    asking.join(10)
    assert failed == ["campaign one: not changed: its run has ended"]
    assert wishes_in(store) == 0


def test_all_processes_of_a_campaign_are_asked_and_shown_as_one(store: Store) -> None:
    gateways = gateway_of(), gateway_of()

    async def run() -> JSON:
        with store.working("one") as first, store.working("one") as second:
            following = [
                asyncio.ensure_future(follow_settings(worker, gateway))
                for worker, gateway in zip((first, second), gateways, strict=True)
            ]
            await asyncio.to_thread(store.running("one").ask, {"main.concurrency": 3}, 10)
            for worker, gateway in zip((first, second), gateways, strict=True):
                await worker.beat(gateway.state)
            state = store.running("one").state
            for each in following:
                each.cancel()
            await asyncio.gather(*following, return_exceptions=True)
        return state

    state = asyncio.run(run())
    assert [most_of(each) for each in gateways] == [3, 3]
    assert isinstance(state, dict)
    assert state["concurrency"] == 128
    assert store.running("one").state is None


_KILLED = """
import sys
from recjury.store import Store

with Store.open(sys.argv[1]) as store, store.working("one"):
    print("working", flush=True)
    store.running("one").ask({"concurrency": 1}, 60)
"""


def test_what_a_killed_run_left_is_not_for_the_next_one(tmp_path: Path) -> None:
    path = f"sqlite:///{tmp_path}/s.db"
    command = [sys.executable, "-c", _KILLED, path]
    with (
        Store.open(path) as store,
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process,
    ):
        assert process.stdout is not None
        assert process.stdout.readline() == "working\n"
        until(lambda: wishes_in(store) == 1, 10)
        assert store.running("one").is_running
        process.kill()
        # This process, its parent, has not asked about it yet.
        until(lambda: psutil.Process(process.pid).status() == psutil.STATUS_ZOMBIE, 10)
        assert not store.running("one").is_running
        with store.working("one"):
            assert wishes_in(store) == 0
