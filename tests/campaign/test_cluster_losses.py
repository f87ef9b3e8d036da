"""What is left of a run if its Ray cluster goes away, or the command is killed."""

import asyncio
import os
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from recjury.campaign import Cluster, read_config, run
from recjury.errors import Stop
from recjury.store import Store

pytestmark = pytest.mark.filterwarnings("ignore")  # Ray's own

SLOW = """
import asyncio
from pathlib import Path

async def talk(conversation):
    Path(__file__).with_name("begun").touch()
    await asyncio.sleep({seconds})
    return "Heat (1995)"
"""


def begin(folder: Path, seconds: float) -> Path:
    """A campaign file with three conversations with a slow system."""
    (folder / "slow.py").write_text(SLOW.format(seconds=seconds))
    path = folder / "c.yaml"
    path.write_text("scenarios: {corpus: sample, limit: 3}\nsystems: ['slow:talk']\n")
    return path


def wait_until_it_plays(folder: Path) -> None:
    while not (folder / "begun").exists():
        time.sleep(0.1)


@pytest.mark.anyio
async def test_a_cluster_that_goes_away_is_one_line(tmp_path: Path) -> None:
    cluster_utils = pytest.importorskip("ray.cluster_utils")
    nodes = cluster_utils.Cluster(
        initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False}
    )
    campaign = read_config(begin(tmp_path, seconds=60))
    with Store(tmp_path / "s.db") as store:
        executor = Cluster(str(tmp_path / "s.db"), nodes.address, workers=1)
        work = asyncio.create_task(run(campaign, store, executor=executor))
        await asyncio.to_thread(wait_until_it_plays, tmp_path)
        nodes.head_node.kill_gcs_server()
        nodes.head_node.kill_raylet()
        with pytest.raises(Stop, match="goes away") as error:
            await work
        assert store.runs("c")[0].state == "stopped"
    assert "\n" not in str(error.value)
    nodes.shutdown()


def test_a_command_that_is_killed_leaves_no_process(tmp_path: Path) -> None:
    path, mark = tmp_path / "s.db", {"RECJURY_TEST": str(tmp_path)}
    command = [sys.executable, "-m", "recjury", "run", str(begin(tmp_path, seconds=0.3))]
    command += ["--store", str(path), "--executor", "ray", "--workers", "1"]

    def left() -> list[psutil.Process]:
        return [each for each in psutil.process_iter() if mark.items() <= environ(each).items()]

    with subprocess.Popen(command, env=os.environ | mark, stderr=subprocess.DEVNULL) as process:
        wait_until_it_plays(tmp_path)
        assert len(left()) > 3
        process.kill()
    psutil.wait_procs(left(), timeout=60)
    assert left() == []
    done = subprocess.run(command, env=os.environ | mark, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert left() == []
    with Store(path, readonly=True) as store:
        assert store.counts("c").conversations == {"done": 3}


def environ(process: psutil.Process) -> dict[str, str]:
    try:
        return process.environ()
    except psutil.Error:
        return {}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
