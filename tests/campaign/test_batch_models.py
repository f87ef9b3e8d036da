"""Models that answer in batches may judge, not play; trials open as batches have room."""

import asyncio
from pathlib import Path

import pytest

from recjury.campaign import CampaignConfig
from recjury.campaign.batch_models import check_players
from recjury.campaign.config_file import read_config
from recjury.campaign.open_trials import OpenTrials
from recjury.errors import ConfigError
from recjury.llm import Gateway, NullRecorder
from recjury.llm.batch.spec import BatchModelSpec

SLOW = "{provider: openai-batch, base_url: 'http://127.0.0.1:1/v1', name: m}"
FAST = "{base_url: 'http://127.0.0.1:1/v1', name: m}"


def config(folder: Path, more: str) -> CampaignConfig:
    """A campaign file, read."""
    path = folder / "campaign.yaml"
    path.write_text(f"scenarios: [{{corpus: sample, limit: 2}}]\n{more}", "utf-8")
    return read_config(path)


def test_a_user_in_batches_is_refused(tmp_path: Path) -> None:
    found = config(tmp_path, f"systems: [retrieval]\nmodel: {SLOW}\n")
    with pytest.raises(ConfigError) as refused:
        check_players(found)
    said = str(refused.value)
    assert said.startswith("simulator.model names the model 'main', which answers in batches")
    assert "at least 5 of them, one after the other, each up to 24h" in said
    assert "\n" not in said


def test_a_system_in_batches_is_refused(tmp_path: Path) -> None:
    more = f"systems: [chatcrs]\nsimulator: {{kind: rule}}\nmodel: {SLOW}\n"
    with pytest.raises(ConfigError, match="answers in batches"):
        check_players(config(tmp_path, more))


def test_judges_in_batches_are_accepted(tmp_path: Path) -> None:
    more = (
        f"systems: [retrieval]\nmodel: {FAST}\nmodels: {{slow: {SLOW}}}\n"
        "evaluators: [{kind: core, judges: {models: [slow]}}]\n"
    )
    found = config(tmp_path, more)
    assert ("judges.models", "slow") in found.evaluators[0].aliases
    check_players(found)


@pytest.mark.parametrize("key", ["batch_size: 60000", "window: ''", "discount: 1", "wait: 0"])
def test_wrong_settings_are_named(tmp_path: Path, key: str) -> None:
    slow = SLOW.replace("}", f", {key}}}")
    with pytest.raises(ConfigError, match=f"model.{key.partition(':')[0]}"):
        config(tmp_path, f"systems: [retrieval]\nmodel: {slow}\n")


async def _gateway(**fields: int) -> Gateway:
    spec = BatchModelSpec(base_url="http://127.0.0.1:1/v1", name="m", **fields)
    return Gateway({"m": spec}, NullRecorder())


def test_trials_open_as_far_as_batches_have_room() -> None:
    async def run() -> tuple[int, int]:
        async with await _gateway(batch_size=5, batches=2) as gateway:
            window = OpenTrials(gateway, concurrency=2)
            most, least = window.at_once(100), OpenTrials(None, concurrency=2).at_once(100)
            async with window.opened(), window.opened(), window.opened(), window.opened():
                with window.playing(), window.playing(), window.playing(), window.playing():
                    fifth = asyncio.ensure_future(window.opened().__aenter__())
                    await asyncio.sleep(0.2)
                    assert not fifth.done(), "four are playing"
                await asyncio.wait_for(fifth, 5)
            return most, least

    assert asyncio.run(run()) == (10, 4)
