"""How far a model repeats itself is measured, stored and shown."""

import asyncio
import itertools
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from recjury.cli.noise_floor import KIND, described, measure_noise
from recjury.errors import StoreError
from recjury.llm.model_kinds import read_model
from recjury.llm.vllm.provider import running_servers
from recjury.store import Measurement, Store
from tests.cli.front_door import recjury
from tests.endpoint import ScriptedEndpoint
from tests.llm.doubles import spec_of
from tests.llm.vllm.fake_vllm import FakeVllm


def odds(*values: float) -> dict[str, Any]:
    """The log-probabilities of a body, of one token each."""
    return {"content": [{"token": "ok", "logprob": value, "top_logprobs": []} for value in values]}


def test_equal_replies_have_no_noise() -> None:
    with ScriptedEndpoint(lambda body: "Well understood.") as endpoint:
        rows = asyncio.run(measure_noise(spec_of(endpoint), 3, others=4))
        asked = len(endpoint.bodies)
    assert [(row.cold, row.others, row.distinct, row.same) for row in rows] == [
        (False, 0, 1, 1.0),
        (False, 4, 1, 1.0),
    ]
    assert rows[0].parting is rows[0].spread is None
    assert asked == 1 + 3 + 3 * 5


def test_differences_are_counted_and_measured() -> None:
    numbers = itertools.count()

    def script(body: dict[str, Any]) -> dict[str, Any]:
        number = next(numbers)
        text = "It was good." if number % 4 else "It was fine."
        said = {"role": "assistant", "content": text}
        logprobs = odds(-0.5, -1.0 - 0.125 * (number % 4))
        return {"choices": [{"message": said, "finish_reason": "stop", "logprobs": logprobs}]}

    with ScriptedEndpoint(script) as endpoint:
        alone, _ = asyncio.run(measure_noise(spec_of(endpoint), 4, others=1))
    assert (alone.distinct, alone.same, alone.parting) == (2, 0.75, len("It was "))
    assert alone.spread == pytest.approx(0.375)
    assert described(alone)[:8] == ["warm", "alone", "4", "2", "0.75", "0.75", "7", "3.8e-01"]


def test_on_vllm_a_cold_request_has_a_salt_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    fake = FakeVllm(tmp_path / "fake")

    async def measure() -> None:
        async with running_servers():
            rows = await measure_noise(read_model(fake.spec()), 2, others=3)
        assert [(row.cold, row.others) for row in rows] == [
            (True, 0),
            (False, 0),
            (True, 3),
            (False, 3),
        ]

    asyncio.run(measure())
    assert len(fake.seen("started")) == 1
    bodies = [call["body"] for call in fake.seen("call")]
    salts = [body["cache_salt"] for body in bodies if "cache_salt" in body]
    assert len(salts) == len(set(salts)) == 4
    assert len(bodies) == 1 + 2 + 2 + 2 * 4 + 2 * 4


def test_the_doctor_shows_and_stores_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file, store = tmp_path / "campaign.yaml", f"sqlite:///{tmp_path}/run.db"
    with ScriptedEndpoint(lambda body: "Well understood.") as endpoint:
        file.write_text(
            "scenarios: [sample]\nsystems: [retrieval]\n"
            f"model: {{base_url: {endpoint.url}, name: scripted}}\n",
            "utf-8",
        )
        ended = recjury(monkeypatch, capsys, "doctor", file, "--repeat", 2, "--store", store)
    assert ended.code == 0
    assert "share of the most frequent" in ended.out
    assert "among 44 others" in ended.out
    with Store.open(store) as kept:
        (found,) = kept.measurements(KIND)
    rows = found.body["rows"]
    assert isinstance(rows, list)
    assert [row["others"] for row in rows] == [0, 44]
    assert found.subject.endswith("(scripted)")


def test_repeating_needs_a_campaign_file(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ended = recjury(monkeypatch, capsys, "doctor", "--repeat", 2)
    assert ended.code == 2
    assert "needs a campaign file" in ended.err


def test_an_altered_measurement_is_refused(tmp_path: Path) -> None:
    with Store.open(f"sqlite:///{tmp_path}/run.db") as store:
        store.save_measurement(
            Measurement(kind=KIND, subject="m", measured_at=1.5, body={"rows": []})
        )
        assert store.measurements(KIND)[0].body == {"rows": []}
        assert store.measurements("other") == ()
    with sqlite3.connect(tmp_path / "run.db") as connection:
        connection.execute("UPDATE measurement SET measured_at = 2.5")
    altered = pytest.raises(StoreError, match="measurement 1 in the store was changed")
    with Store.open(f"sqlite:///{tmp_path}/run.db") as store, altered:
        store.measurements(KIND)
