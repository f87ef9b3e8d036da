"""Evaluators ask in batches: all calls that do not wait for each other go in one."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from recjury.campaign import (
    CampaignConfig,
    EvaluationConfig,
    RunResult,
    judge_files,
    run_campaign,
)
from recjury.campaign.progress import Progress
from recjury.cli.async_work import describe
from recjury.llm import GatewayUsage
from recjury.store import Store
from tests.batch_judging import PER_LOG, made_up_log
from tests.batch_server import BatchEndpoint
from tests.campaign import player
from tests.scripted_server import Body

LOGS = 10
ROLES = 3
"""The debaters who have a rating of such a conversation; the fourth abstains."""


@pytest.fixture
def endpoint() -> Iterator[BatchEndpoint]:
    with BatchEndpoint(_said) as running:
        yield running


def _said(body: Body) -> str:
    said = player.play(body)
    assert isinstance(said, str)
    return said


def judge(
    endpoint: BatchEndpoint, folder: Path, core: object = "core", **more: object
) -> RunResult:
    """Judge the made-up conversations with `core`, in batches unless `core` says otherwise."""
    path = folder / "logs.jsonl"
    path.write_text("".join(map(made_up_log, range(LOGS))), "utf-8")
    at = {"base_url": endpoint.url, "name": "scripted", "price_in": 1, "price_out": 2}
    slow = {**at, "provider": "openai-batch", "wait": 0.5, "poll": 0.1}
    given = {"models": {"main": slow, "plain": at}, "evaluators": [core], **more}
    config = EvaluationConfig.model_validate(given)
    work = judge_files([path], config, f"sqlite:///{folder}/store.db")
    return asyncio.run(work)


def test_debates_of_four_rounds_take_four_batches(endpoint: BatchEndpoint, tmp_path: Path) -> None:
    judge(endpoint, tmp_path)
    assert endpoint.sizes == [PER_LOG * LOGS, *[ROLES * LOGS] * 4]
    assert endpoint.plain == 0
    before = list(endpoint.sizes)
    judge(endpoint, tmp_path)
    assert endpoint.sizes == before


def test_debates_can_go_over_the_ordinary_endpoint(endpoint: BatchEndpoint, tmp_path: Path) -> None:
    judge(endpoint, tmp_path, {"kind": "core", "debate": {"model": "plain"}})
    assert endpoint.sizes == [PER_LOG * LOGS]
    assert endpoint.plain == 4 * ROLES * LOGS


def test_replies_are_reused_both_ways(endpoint: BatchEndpoint, tmp_path: Path) -> None:
    plain = {"judges": {"models": ["plain"]}, "debate": {"model": "plain"}}
    judge(endpoint, tmp_path, {"kind": "core", **plain})
    asked = endpoint.plain
    judge(endpoint, tmp_path)
    assert (endpoint.plain, endpoint.sizes) == (asked, [])


def test_few_calls_at_once_do_not_make_small_batches(
    endpoint: BatchEndpoint, tmp_path: Path
) -> None:
    judge(endpoint, tmp_path, {"kind": "core", "debate": {"kind": "off"}}, concurrency=1)
    assert endpoint.sizes == [PER_LOG * LOGS]


def test_a_budget_is_kept(endpoint: BatchEndpoint, tmp_path: Path) -> None:
    alone = {"kind": "core", "debate": {"kind": "off"}}
    result = judge(endpoint, tmp_path, alone, budget={"tokens": 60})
    assert result.held_back is not None
    assert 0 < sum(endpoint.sizes) <= PER_LOG
    whole = judge(endpoint, tmp_path, alone, budget={"dollars": 0.5})
    assert whole.held_back is None
    assert sum(endpoint.sizes) == PER_LOG * LOGS
    assert set(endpoint.processed.values()) == {1}


@pytest.mark.slow
def test_conversations_are_played_at_once_and_judged_in_batches(
    endpoint: BatchEndpoint, tmp_path: Path
) -> None:
    at = {"base_url": endpoint.url, "name": "scripted"}
    slow = {**at, "provider": "openai-batch", "wait": 2, "poll": 0.1}
    judging = {"judges": {"models": ["slow"]}, "debate": {"model": "slow"}}
    config = CampaignConfig.model_validate(
        {
            "scenarios": [{"corpus": "sample", "limit": 3}],
            "systems": ["retrieval"],
            "models": {"main": at, "slow": slow},
            "evaluators": [{"kind": "core", **judging}],
        }
    )
    result = asyncio.run(run_campaign(config, f"sqlite:///{tmp_path}/store.db"))
    assert (result.done, result.failed) == (3, 0)
    assert endpoint.plain > 3
    assert len(endpoint.sizes) == 5


def test_prices_are_stored_with_the_run(endpoint: BatchEndpoint, tmp_path: Path) -> None:
    judge(endpoint, tmp_path)
    with Store.open(f"sqlite:///{tmp_path}/store.db") as store:
        [campaign] = store.campaigns()
        setup = store.campaign(campaign.id).setup
    assert setup.prices["main"] == {"in": 1, "out": 2, "cached": None}
    assert json.loads(json.dumps(setup.config))["models"]["main"]["provider"] == "openai-batch"


def test_the_progress_line_names_the_batch() -> None:
    progress = Progress()
    progress.conversations.planned = 5
    progress.usage = GatewayUsage(deferred=[lambda: "batch 2 of 3: 812 of 1,000 done", lambda: ""])
    assert describe(progress).endswith(" · batch 2 of 3: 812 of 1,000 done")
