"""How many workers there are, what each may do at once, and how the driver waits for them."""

import asyncio
import socket
import time

import pytest

from recjury.campaign import CampaignConfig, Progress, Retry
from recjury.cluster import Cluster, Job, driver, run_on_cluster
from recjury.cluster.worker import CampaignWorker, most_workers, with_its_part
from recjury.errors import ConfigError
from recjury.store import Selection


def _config(**limits: int) -> CampaignConfig:
    model = {"base_url": "http://127.0.0.1:1/v1", "name": "m", "requests_per_minute": 90}
    return CampaignConfig.model_validate(
        {
            "scenarios": ["sample"],
            "systems": ["retrieval"],
            "model": model,
            "models": {"judge": {**model, "concurrency": 7}},
            "concurrency": 64,
            "limits": limits,
        }
    )


def test_limits_of_workers_are_together_those_of_the_file() -> None:
    config = _config(judges=5)
    parts = [with_its_part(config, 3, number) for number in range(3)]
    assert [each.concurrency for each in parts] == [22, 21, 21]
    assert [each.limits.judges for each in parts] == [2, 2, 1]
    assert {each.limits.simulator for each in parts} == {None}
    models = [each.all_models for each in parts]
    assert [each["judge"].concurrency for each in models] == [3, 2, 2]
    for alias in ("main", "judge"):
        assert [each[alias].requests_per_minute for each in models] == [30, 30, 30]


def test_there_are_not_more_workers_than_parts_of_a_limit() -> None:
    assert most_workers(_config()) == 7
    assert most_workers(_config(judges=2)) == 2
    job = Job(_config(judges=2), "none.db", None, Retry.NONE, Selection(), ".")
    with pytest.raises(ConfigError, match=r"^--workers 3: the smallest limit of the file is 2$"):
        asyncio.run(run_on_cluster(job, Cluster(workers=3), Progress()))


def test_a_node_with_other_code_is_refused() -> None:
    job = Job(_config(), "none.db", None, Retry.NONE, Selection(), folder="not/there", code="0123")
    assert "has other code of recjury" in str(CampaignWorker(job).run())


def test_workers_that_have_ended_do_not_hurry_the_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "BEAT_SECONDS", 0.05)

    async def looks() -> int:
        ended, running = (asyncio.get_running_loop().create_future() for _ in range(2))
        ended.set_result(None)
        count, began = 0, time.monotonic()
        async for _ in driver.until_all_end([ended, running]):
            count += 1
            if time.monotonic() - began > 0.5 and not running.done():
                running.set_result(None)
        return count

    assert asyncio.run(looks()) <= 11


def test_a_cluster_that_drops_what_is_sent_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "_ANSWER_SECONDS", 0.2)

    async def answers() -> list[bool]:
        with socket.socket() as full:  # it takes one connection, and drops all others
            full.bind(("127.0.0.1", 0))
            full.listen(0)
            address = f"127.0.0.1:{full.getsockname()[1]}"
            with socket.create_connection(full.getsockname()):
                return [await driver.answers(address) for _ in range(2)]

    assert asyncio.run(asyncio.wait_for(answers(), 60))[-1] is False
