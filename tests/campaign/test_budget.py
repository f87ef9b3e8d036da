"""What a budget covers is finished: trials open only as far as the money goes."""

import asyncio
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from recjury.campaign import CampaignConfig, RunResult, run_campaign
from recjury.store import Spent, Store
from tests.answers import without_code
from tests.campaign import player
from tests.cli.front_door import recjury
from tests.endpoint import Answer, Body, Script, ScriptedEndpoint, completion, prompt

Usage = Callable[[Body, str], dict[str, Any] | None]


def _reported(body: Body, said: str) -> dict[str, Any]:
    return {"prompt_tokens": len(prompt(body)) // 4, "completion_tokens": len(said) // 4}


def _cached(body: Body, said: str) -> dict[str, Any]:
    usage = _reported(body, said)
    return usage | {"prompt_tokens_details": {"cached_tokens": usage["prompt_tokens"] * 3 // 4}}


def _little(body: Body, said: str) -> dict[str, Any]:
    return {"prompt_tokens": 10, "completion_tokens": 5}


def _thoughtful(body: Body, said: str) -> dict[str, Any]:
    """As a model that thinks: several times what is expected, and never the same."""
    roll = int(hashlib.sha256(without_code(prompt(body)).encode()).hexdigest(), 16)
    return _reported(body, said) | {"completion_tokens": 500 + roll % 2500}


def _missing(body: Body, said: str) -> None:
    return None


def _playing(usage: Usage) -> Script:
    def play(body: Body) -> Answer:
        said = player.play(body)
        assert isinstance(said, str)
        return {**completion(said), "usage": usage(body, said)}

    return play


def _config(url: str, budget: dict[str, float] | None, drawn: int) -> CampaignConfig:
    prices = {"price_in": 2.0, "price_out": 10.0, "price_cached": 0.5}
    return CampaignConfig.model_validate(
        {
            "scenarios": [{"corpus": "sample", "limit": drawn}],
            "systems": ["retrieval"],
            "repeats": 3,
            "model": {"base_url": url, "name": "scripted", **prices},
            "budget": budget,
        }
    )


def _run(
    url: str, path: Path, budget: dict[str, float] | None, drawn: int
) -> tuple[RunResult, Spent]:
    store = f"sqlite:///{path}"
    result = asyncio.run(run_campaign(_config(url, budget, drawn), store))
    with Store.open(store, create=False) as kept:
        return result, kept.spent(result.campaign)


def _whole(path: Path, result: RunResult) -> list[bool]:
    """Of each conversation that was begun, whether it has a finished debate."""
    with Store.open(f"sqlite:///{path}", create=False) as kept:
        by_unit = kept.spent_by_unit(result.conversations)
        return [
            any({"rate", "debate"} <= set(done.stages) for done in each.evaluations)
            for each in kept.results(result.campaign)
            if each.conversation in by_unit
        ]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("usage", "unit", "drawn"),
    [
        (_missing, "dollars", 33),
        (_cached, "dollars", 8),
        (_little, "tokens", 8),
        (_thoughtful, "tokens", 8),
    ],
)
def test_half_the_money_makes_half_of_the_trials_whole(
    usage: Usage, unit: str, drawn: int, tmp_path: Path
) -> None:
    trials, in_tokens = 3 * drawn, unit == "tokens"
    with ScriptedEndpoint(_playing(usage)) as endpoint:
        amount = _run(endpoint.url, tmp_path / "all.db", None, drawn)[1].amount(in_tokens=in_tokens)
        limit = int(amount / 2) if in_tokens else amount / 2
        result, spent = _run(endpoint.url, tmp_path / "half.db", {unit: limit}, drawn)
        half = _whole(tmp_path / "half.db", result)
        taken = spent.amount(in_tokens=in_tokens)
        trial, call = amount / trials, taken / spent.calls
        assert all(half), "what was begun is finished"
        assert len(half) >= trials * 45 / 99
        assert taken <= limit + 2 * call, "the last call may be larger than most"
        assert limit - taken <= 1.5 * trial
        held = result.held_back
        assert held is not None
        assert (held.whole, held.not_begun, held.broken_off) == (
            len(half),
            trials - len(half),
            0,
        )
        assert held.needed == pytest.approx(amount - taken, rel=0.15)
        raised = held.spent + 1.1 * held.needed
        rest = {unit: int(raised) if in_tokens else raised}
        result, spent = _run(endpoint.url, tmp_path / "half.db", rest, drawn)
    assert (result.done, result.failed, result.held_back) == (trials, 0, None)
    assert all(_whole(tmp_path / "half.db", result))
    assert spent.amount(in_tokens=in_tokens) == pytest.approx(amount), "nothing was paid twice"


def _large(body: Body, said: str) -> dict[str, Any]:
    """As a model that thinks much more than a reply is expected to have."""
    return {"prompt_tokens": len(prompt(body)) // 4, "completion_tokens": 20_000}


@pytest.mark.parametrize("limit", [100_000, 300_000])
def test_large_replies_exceed_a_budget_by_at_most_one_call(limit: int, tmp_path: Path) -> None:
    largest: list[int] = []

    async def play(body: Body) -> Answer:
        await asyncio.sleep(0.02)  # so that many calls are open at once
        said = player.play(body)
        assert isinstance(said, str)
        largest.append(20_000 + len(prompt(body)) // 4)
        return {**completion(said), "usage": _large(body, said)}

    with ScriptedEndpoint(play) as endpoint:
        result, spent = _run(endpoint.url, tmp_path / "s.db", {"tokens": limit}, 1)
    assert limit <= spent.amount(in_tokens=True) < limit + max(largest)
    assert result.held_back is not None


@pytest.mark.parametrize("trials", [1.9, 2.5, 3.5])
def test_of_a_small_budget_no_more_than_a_trial_is_left(trials: float, tmp_path: Path) -> None:
    with ScriptedEndpoint(_playing(_reported)) as endpoint:
        every = _run(endpoint.url, tmp_path / "all.db", None, 2)[1].amount(in_tokens=True)
        limit = int(trials * every / 6)
        result, spent = _run(endpoint.url, tmp_path / "s.db", {"tokens": limit}, 2)
    assert limit - spent.amount(in_tokens=True) <= 1.15 * every / 6
    held = result.held_back
    assert held is not None
    assert (held.whole >= int(trials), held.broken_off) == (True, 0)


def test_a_budget_for_nothing_is_told_with_what_would_be_needed(tmp_path: Path) -> None:
    with ScriptedEndpoint(_playing(_reported)) as endpoint:
        result, spent = _run(endpoint.url, tmp_path / "s.db", {"tokens": 2000}, 2)
    held = result.held_back
    assert held is not None
    assert (held.whole, held.not_begun, held.broken_off) == (0, 5, 1)
    assert "budget of 2,000 tokens: " in held.text
    assert "0 of 6 conversations are whole, 5 not begun and 1 broken off" in held.text
    assert "raise the budget to about" in held.text
    assert spent.prompt_tokens + spent.completion_tokens < 2000 + 5000


def test_what_is_left_is_shown_by_status_and_in_the_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    place = f"sqlite:///{tmp_path}/s.db"
    with ScriptedEndpoint(_playing(_reported)) as endpoint:
        _, spent = _run(endpoint.url, tmp_path / "s.db", {"tokens": 2000}, 2)
    taken = spent.prompt_tokens + spent.completion_tokens
    use = f"{taken:,} tokens of the budget of 2,000 tokens is spent"
    shown = recjury(monkeypatch, capsys, "status", "--store", place)
    assert "left to do: " in shown.err
    assert use in shown.err
    found = recjury(monkeypatch, capsys, "status", "--json", "--store", place).out
    (campaign,) = json.loads(found)["campaigns"]
    assert campaign["budget"] == {"limit": 2000, "spent": taken, "unit": "tokens"}
    page = tmp_path / "page.html"
    recjury(monkeypatch, capsys, "report", "--out", page, "--store", place)
    assert use in page.read_text("utf-8")
