"""Recordings and earlier campaigns, rated: what is kept, found again, and verified."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from recjury.campaign import (
    Change,
    Config,
    Finished,
    catalogues_of,
    dry_run,
    judge,
    recorded,
    run,
    to_judge_again,
    verify,
    what_if,
)
from recjury.corpora import Reading, Recording, read_recordings
from recjury.errors import UserError
from recjury.results import ratings
from recjury.store import Store
from tests.campaign.campaigns import Counting, honest

MODEL: dict[str, Any] = {"model": {"name": "scripted", "price_in": 1, "price_out": 1}}
CORE: dict[str, Any] = {"evaluators": ["outcome", {"kind": "core", "debate": {"max_rounds": 2}}]}


def row(id_: str, system: str = "A", text: str = "Try Heat (1995).", **more: Any) -> dict[str, Any]:
    said = [
        {"role": "user", "content": "A heist\x1f {{ cut }} {# x #} {% raw %} film?"},
        {"role": "bot", "content": text},
    ]
    return {"id": id_, "system": system, "interaction": said, "targets": ["Heat (1995)"], **more}


ROWS = [row("1"), row("1", "B", "Try Alien (1979)."), row("2"), row("2", "B", "What do you like?")]


def read(path: Path, rows: list[dict[str, Any]]) -> tuple[Recording, ...]:
    path.write_text("\n".join(map(json.dumps, rows)))
    return read_recordings([path], Reading(catalogue="sample")).recordings


def rate(path: Path, rows: list[dict[str, Any]], **settings: Any) -> tuple[Finished, Counting]:
    """Judge rows into a store's file; also what the model was asked."""
    recordings = read(path.with_suffix(".jsonl"), rows)
    given = {"name": "logs", "scenarios": [], "recordings": catalogues_of(recordings)}
    model = Counting(honest)
    with Store(path) as store:
        config = Config.model_validate(given | settings)
        work = judge(config, recorded(recordings), store, open_provider=model)
        return asyncio.run(work), model


def scores(path: Path, campaign: str = "logs") -> dict[tuple[str, str, str], float]:
    """What has a score."""
    with Store(path, readonly=True) as store:
        frame = ratings(store, campaign)
    keys = ["system", "scenario", "evaluator", "metric", "score"]
    return {
        (system, scenario, f"{evaluator}.{metric}"): score
        for system, scenario, evaluator, metric, score in frame[keys]
        .dropna()
        .itertuples(index=False)
    }


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "s.db"


def test_recordings_are_rated_without_a_model(store: Path) -> None:
    finished, _ = rate(store, ROWS)
    assert (finished.planned, finished.left, finished.sent) == (4, 0, 0)
    found = scores(store)
    assert found["A", "1", "outcome.success"] == 1
    assert found["B", "1", "outcome.success"] == 0
    assert found["A", "1", "counted.effectiveness"] == 4
    assert 0 < found["B", "1", "counted.overall"] < found["A", "1", "counted.overall"] < 100


def test_recordings_are_rated_by_a_model(store: Path) -> None:
    finished, model = rate(store, ROWS, **MODEL, **CORE)
    assert finished.left == 0
    assert {request.purpose for request in model.requests} == {"judge", "debate"}
    assert ("A", "1", "core.overall") in scores(store)


def test_a_second_time_nothing_is_asked(store: Path) -> None:
    rate(store, ROWS, **MODEL, **CORE)
    finished, model = rate(store, ROWS, **MODEL, **CORE)
    assert (finished.left_before, model.requests) == (0, [])


def test_what_is_rated_is_verified(store: Path) -> None:
    """Case 13: control characters and marks of templates in the data alter nothing."""
    rate(store, ROWS, **MODEL, evaluators=["counted", *CORE["evaluators"]])
    with Store(store, readonly=True) as opened:
        found = asyncio.run(verify(opened, "logs"))
    assert (found.equal, found.differing, found.changed) == (12, {}, 0)


def test_a_changed_recording_is_a_new_version(store: Path) -> None:
    rate(store, ROWS)
    finished, _ = rate(store, [row("1", text="Try Alien (1979)."), *ROWS[1:]])
    assert finished.left_before == 1
    assert scores(store)["A", "1", "outcome.success"] == 0


def test_a_recording_that_is_gone_is_not_shown(store: Path) -> None:
    rate(store, ROWS)
    rate(store, ROWS[:3])
    assert {key[:2] for key in scores(store)} >= {("A", "1"), ("A", "2"), ("B", "1")}
    assert ("B", "2", "outcome.success") not in scores(store)


def test_one_corpus_has_one_catalogue(tmp_path: Path) -> None:
    rows = [row("1"), {**row("2"), "catalogue": "other"}]
    with pytest.raises(UserError, match=r"one catalogue.*'other'"):
        catalogues_of(read(tmp_path / "logs.jsonl", rows))


def test_an_unknown_catalogue_is_a_mistake(tmp_path: Path) -> None:
    rows = [{**row("1"), "catalogue": "sampel"}]
    with pytest.raises(UserError, match="did you mean sample"):
        recorded(read(tmp_path / "logs.jsonl", rows))


def demo(path: Path) -> Config:
    config = Config.model_validate(
        {"name": "demo", "systems": ["popular"], "scenarios": [{"corpus": "sample", "limit": 3}]}
    )
    with Store(path) as opened:
        asyncio.run(run(config, opened))
    return config


def judge_demo(path: Path, **settings: Any) -> tuple[Finished, Counting]:
    def make(given: dict[str, Any]) -> Config:
        return Config.model_validate(settings | given)

    model = Counting(honest)
    with Store(path) as opened:
        config, conversations = to_judge_again(opened, "demo", make)
        return asyncio.run(judge(config, conversations, opened, open_provider=model)), model


def test_an_earlier_campaign_is_rated_by_other_evaluators(store: Path) -> None:
    demo(store)
    before = scores(store, "demo")
    finished, model = judge_demo(store, **MODEL, **CORE)
    assert (finished.planned, finished.left_before, finished.left) == (3, 3, 0)
    assert {request.purpose for request in model.requests} == {"judge", "debate"}
    after = scores(store, "demo")
    assert before.items() <= after.items()
    assert {key[2] for key in after} >= {"core.overall", "counted.overall", "outcome.success"}


def test_both_are_verified(store: Path) -> None:
    demo(store)
    judge_demo(store, **MODEL, **CORE)
    with Store(store, readonly=True) as opened:
        found = asyncio.run(verify(opened, "demo"))
    assert (found.equal, found.differing, found.changed) == (9, {}, 0)


def test_only_the_newest_versions_are_rated_again(store: Path) -> None:
    demo(store)
    longer = {"kind": "popular", "length": 2}
    scenarios = [{"corpus": "sample", "limit": 2}]
    config = Config.model_validate({"name": "demo", "systems": [longer], "scenarios": scenarios})
    with Store(store) as opened:
        asyncio.run(run(config, opened))
        rows = to_judge_again(opened, "demo", Config.model_validate)[1].rows
    assert len(rows) == 2
    assert len({each.version for each in rows}) == 1


def test_a_dry_run_says_what_judging_costs(store: Path) -> None:
    recordings = read(store.with_suffix(".jsonl"), ROWS)
    given = {"name": "logs", "scenarios": [], "recordings": catalogues_of(recordings)}
    config = Config.model_validate(given | MODEL | CORE)
    found = asyncio.run(dry_run(config, None, conversations=recorded(recordings)))
    assert found.trials == 4
    assert set(found.purposes) == {"judge", "debate"}
    assert found.dollars
    rate(store, ROWS, **MODEL, **CORE)
    with Store(store, readonly=True) as opened:
        left = asyncio.run(dry_run(config, opened, conversations=recorded(recordings)))
    assert left.trials == 0


def test_what_if_of_a_counted_debate(store: Path) -> None:
    demo(store)
    with Store(store) as opened:
        evaluation = next(e for e in opened.evaluations("demo") if e.name == "counted")
        both = asyncio.run(what_if(opened, evaluation.conversation, {"linguist": Change(score=0)}))
    assert both.after.statements[2].score == 0
    assert (both.after.verdict.score or 0) < (both.before.verdict.score or 0)
