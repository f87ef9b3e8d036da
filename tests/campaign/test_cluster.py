"""A run on a real Ray cluster of two nodes on this machine, over a real endpoint."""

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from recjury.agents import neural
from recjury.campaign import (
    Cluster,
    Config,
    Finished,
    judge,
    run,
    to_judge,
    to_judge_again,
)
from recjury.corpora import Recording
from recjury.errors import Stop, UserError
from recjury.store import Store
from tests.campaign.campaigns import contents
from tests.replies import reply_to
from tests.scripted_endpoint import Body, Reply, ScriptedEndpoint, completion, prompt_of

pytestmark = pytest.mark.filterwarnings("ignore")  # Ray's own

OWN = """
import os
from pathlib import Path

def talk(conversation):
    lost = Path(__file__).with_name("lost")
    if len(conversation.turns) > 3 and not lost.exists():
        lost.touch()
        os.kill(os.getpid(), 9)
    return "Try Heat (1995)."
"""

NEURAL = """
import os
from pathlib import Path

from recjury.agents.neural.kbrd import KBRD

def note(name, text):
    with Path(__file__).with_name(name).open("a") as file:
        file.write(f"{text} ")

class Mine(KBRD):
    def load(self, folder):
        note("loaded", os.getpid())
        super().load(folder)

    def answer(self, conversations):
        lost = Path(__file__).with_name("host lost")
        if any(len(each.turns) > 3 for each in conversations) and lost.is_file():
            lost.unlink()
            os.kill(os.getpid(), 9)
        note("answered", len(conversations))
        return super().answer(conversations)
"""


def honest(body: Body) -> Reply:
    return Reply(completion(reply_to(prompt_of(body)), tokens=(700, 50)))


@pytest.fixture
def endpoint() -> Iterator[ScriptedEndpoint]:
    with ScriptedEndpoint(honest) as server:
        yield server


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    os.environ["RAY_worker_niceness"] = "0"  # noqa: SIM112 (so it is spelt)
    cluster_utils = pytest.importorskip("ray.cluster_utils")
    nodes = cluster_utils.Cluster(
        initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False}
    )
    nodes.add_node(num_cpus=2)
    yield nodes
    nodes.shutdown()


def config(url: str, folder: Path, **changes: Any) -> Config:
    (folder / "lossy.py").write_text(OWN)
    values: dict[str, Any] = {
        "name": "small",
        "folder": str(folder),
        "scenarios": [{"corpus": "sample", "limit": 6}],
        "systems": ["popular", "lossy:talk"],
        "evaluators": ["outcome", {"kind": "core", "debate": {"max_rounds": 2}}],
        "model": {"name": "m", "base_url": url, "price_in": 1000.0, "price_out": 1000.0},
    }
    return Config.model_validate(values | changes)


def play(path: Path, campaign: Config, executor: Cluster | None = None) -> Finished:
    with Store(path) as store:
        return asyncio.run(run(campaign, store, executor=executor))


def test_a_cluster_that_loses_a_worker_plays_what_one_process_plays(
    tmp_path: Path, endpoint: ScriptedEndpoint, cluster: Any
) -> None:
    campaign = config(endpoint.url, tmp_path)
    path = tmp_path / "ray.db"
    done = play(path, campaign, Cluster(str(path), cluster.address))
    assert (done.planned, done.left) == (12, 0)
    assert (tmp_path / "lost").exists(), "a worker was lost"
    assert done.sent
    play(tmp_path / "one.db", campaign)
    assert contents(path) == contents(tmp_path / "one.db")
    again = play(path, campaign, Cluster(str(path), cluster.address))
    assert (again.left_before, again.sent) == (0, 0)


def test_a_neural_system_is_loaded_once_for_all_workers(
    tmp_path: Path, endpoint: ScriptedEndpoint, cluster: Any
) -> None:
    """It is lost once: then another process loads it, and answers what was open."""
    (tmp_path / "host_neural.py").write_text(NEURAL)
    shipped = Path(neural.__file__).with_name("weights") / "kbrd"
    systems = ["unicrs", {"kind": "host_neural:Mine", "weights": str(shipped)}]
    campaign = config(endpoint.url, tmp_path, systems=systems, evaluators=["outcome"])
    play(tmp_path / "one.db", campaign)
    for name in ("loaded", "answered"):
        (tmp_path / name).unlink()
    (tmp_path / "host lost").touch()
    path = tmp_path / "ray.db"
    assert play(path, campaign, Cluster(str(path), cluster.address, workers=2)).left == 0
    assert contents(path) == contents(tmp_path / "one.db")
    assert not (tmp_path / "host lost").exists()
    assert len(set((tmp_path / "loaded").read_text().split())) == 3  # here, there, and again
    assert max(map(int, (tmp_path / "answered").read_text().split())) > 1


def test_recorded_and_earlier_conversations_are_judged(
    tmp_path: Path, endpoint: ScriptedEndpoint, cluster: Any
) -> None:
    said = [{"speaker": "user", "text": "Hi."}, {"speaker": "system", "text": "Try Heat (1995)."}]
    values = {"interaction": said, "corpus": "films", "catalogue": "sample"}
    rows = [
        Recording.model_validate({**values, "id": id_, "system": system})
        for id_ in "123"
        for system in "AB"
    ]
    core = config(endpoint.url, tmp_path)

    def make(given: dict[str, Any]) -> Config:
        return Config.model_validate(core.stored() | given)

    def rated(path: Path, executor: Cluster | None) -> int:
        with Store(path) as store:
            logs = to_judge("logs", rows, lambda given: make({**given, "evaluators": ["outcome"]}))
            done = asyncio.run(judge(*logs, store, executor=executor))
            again = to_judge_again(store, "logs", make)
            asyncio.run(judge(*again, store, executor=executor))
            return done.left_before

    path = tmp_path / "ray.db"
    assert rated(path, Cluster(str(path), cluster.address, workers=1)) == 6
    rated(tmp_path / "one.db", None)
    assert contents(path)["calls"]
    assert contents(path) == contents(tmp_path / "one.db")


def test_a_budget_is_one_for_all_workers(
    tmp_path: Path, endpoint: ScriptedEndpoint, cluster: Any
) -> None:
    """A call costs 75 cents; 32 may be open when the last dollar is spent."""
    campaign = config(endpoint.url, tmp_path, systems=["popular"], budget=30.0)
    with pytest.raises(Stop, match=r"\$30"):
        play(tmp_path / "s.db", campaign, Cluster(str(tmp_path / "s.db"), cluster.address))
    with Store(tmp_path / "s.db", readonly=True) as store:
        assert 20 < store.spent("small").dollars <= 31


def test_a_node_that_goes_away_costs_what_was_open(
    tmp_path: Path, endpoint: ScriptedEndpoint, cluster: Any
) -> None:
    extra = cluster.add_node(num_cpus=1)
    (tmp_path / "lost").touch()
    (tmp_path / "slow.py").write_text(
        "import time\n\ndef talk(conversation):\n    time.sleep(0.2)\n    return 'Heat (1995)'\n"
    )
    campaign = config(endpoint.url, tmp_path, systems=["slow:talk"], evaluators=["outcome"])
    path = tmp_path / "s.db"

    async def both() -> Finished:
        with Store(path) as store:
            work = asyncio.create_task(
                run(campaign, store, executor=Cluster(str(path), cluster.address, workers=4))
            )
            while not (store.counts("small").conversations.get("done") or work.done()):  # noqa: ASYNC110
                await asyncio.sleep(0.1)
            await asyncio.to_thread(cluster.remove_node, extra)
            return await work

    assert asyncio.run(both()).left == 0
    play(tmp_path / "one.db", campaign)
    assert contents(path) == contents(tmp_path / "one.db")


@pytest.mark.parametrize("address", ["127.0.0.1:1", "nowhere"])
def test_a_cluster_that_is_not_there_is_one_line(
    tmp_path: Path, endpoint: ScriptedEndpoint, address: str
) -> None:
    with pytest.raises(UserError, match="does not answer"):
        play(
            tmp_path / "s.db",
            config(endpoint.url, tmp_path),
            Cluster(str(tmp_path / "s.db"), address),
        )


def test_what_a_worker_lacks_is_one_line(
    tmp_path: Path, endpoint: ScriptedEndpoint, cluster: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Here a key that only the command has."""
    model = {"name": "m", "base_url": endpoint.url, "key_env": "ONLY_HERE", "price_in": 0}
    monkeypatch.setenv("ONLY_HERE", "a key")
    campaign = config(endpoint.url, tmp_path, model=model | {"price_out": 0})
    with pytest.raises(UserError, match="ONLY_HERE"):
        play(tmp_path / "s.db", campaign, Cluster(str(tmp_path / "s.db"), cluster.address, 1))


@pytest.mark.parametrize(
    ("code", "problem"),
    [
        ("", "No module named 'only_here'"),
        ("path.write_text(path.read_text() + '#')", "only_here over sample is of other code"),
    ],
)
def test_own_code_that_a_worker_lacks_is_one_line(
    tmp_path: Path,
    endpoint: ScriptedEndpoint,
    cluster: Any,
    monkeypatch: pytest.MonkeyPatch,
    code: str,
    problem: str,
) -> None:
    """Its folder is known to the command alone, or it is another one with each import."""
    folder = tmp_path / "folder"
    folder.mkdir()
    module = (folder if code else tmp_path) / "only_here.py"
    module.write_text(
        f"from pathlib import Path\n\npath = Path(__file__)\n{code}\n"
        "def only_here(conversation):\n    return 'Heat (1995)'\n"
    )
    monkeypatch.syspath_prepend(str(module.parent))
    campaign = config(endpoint.url, folder, systems=["only_here:only_here"])
    with pytest.raises(UserError, match=problem) as error:
        play(tmp_path / "s.db", campaign, Cluster(str(tmp_path / "s.db"), cluster.address, 1))
    assert "\n" not in str(error.value)
