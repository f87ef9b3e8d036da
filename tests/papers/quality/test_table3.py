"""The analyses of dialogue quality: a tenth of USS rated through an endpoint, and compared."""

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from recjury.campaign.config import EvaluationConfig
from recjury.corpora.uss import read_uss
from recjury.errors import ConfigError
from recjury.fine_tuning import LoraPlan, TuningReport
from recjury.fine_tuning.tuning import REPORT
from recjury.judges.dialogue_quality.subjects import split_uss
from recjury.papers.quality.training import DIALOGUES, dialogue_digest
from recjury.papers.quality.uss_table import read_quality_table
from recjury.records import JSON
from tests.answers import in_form
from tests.cli.front_door import Ended, recjury
from tests.endpoint import Body, Fault, ScriptedEndpoint, completion, prompt

_GOOD = "That was lovely, thank you"


def _uss(folder: Path, sessions: int = 60) -> Path:
    """Sessions whose last line says how the user found them."""
    draw = random.Random(0)
    blocks = []
    for number in range(sessions):
        rating = draw.choice([2, 3, 4, 5])
        said = _GOOD if rating > 3 else "No, not that"
        blocks.append(
            f"USER\tI want film number {number}, please\t\t3,3,3\n"
            f"SYSTEM\tTake film number {number}\t\t\n"
            f"USER\t{said} {number}\t\t{rating},{rating},{rating}\n"
            f"USER\tOVERALL\t\t{rating},{rating},{rating}\n"
        )
    (folder / "uss").mkdir()
    (folder / "uss" / "ReDial.txt").write_text("\n".join(blocks))
    return folder


def _judge(body: Body) -> dict[str, object]:
    """Finds 4 in what was good and 2 in the rest, by its last dialogue."""
    shown = prompt(body).rpartition("<conversation>")[2]
    best, other = ("4", "5") if _GOOD in shown else ("2", "1")
    answer: dict[str, Any] = completion(best)
    tops = [{"token": best, "logprob": -0.1}, {"token": other, "logprob": -2.4}]
    answer["choices"][0]["logprobs"] = {
        "content": [{"token": best, "logprob": -0.1, "top_logprobs": tops}]
    }
    return answer


@pytest.fixture
def endpoint() -> Iterator[ScriptedEndpoint]:
    with ScriptedEndpoint(_judge) as served:
        yield served


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return _uss(tmp_path)


class _Front:
    """The command over one data folder and store."""

    def __init__(
        self,
        monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str],
        data: Path,
        url: str,
    ):
        self._patch, self._capsys, self._data, self._url = monkeypatch, capsys, data, url

    def __call__(
        self, *more: object, entries: list[object] | None = None, name: str = "quality.table3"
    ) -> Ended:
        file = self._data / "quality.yaml"
        patience = {"retries": 0, "patience": 0, "outage_patience": 0}
        model = {"base_url": self._url, "name": "scripted", "price_in": 1, "price_out": 2}
        model |= patience
        given = {"model": model, "attempts": 1}
        if entries is not None:
            given["evaluators"] = entries
        file.write_text(yaml.safe_dump(given))
        return recjury(
            self._patch,
            self._capsys,
            *("analyse", name, "--config", file, "--data", self._data),
            *("--store", f"sqlite:///{self._data / 'q.db'}", *more),
        )


@pytest.fixture
def front(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    data: Path,
    endpoint: ScriptedEndpoint,
) -> _Front:
    return _Front(monkeypatch, capsys, data, endpoint.url)


ENTRIES: list[object] = [
    {"kind": "dialogue-quality", "name": "zero", "level": "both"},
    {
        "kind": "dialogue-quality",
        "name": "random-1",
        "level": "dialogue",
        "examples": {"k": 1, "select": "random", "runs": 2},
    },
    "outcome",
]


def _rows(ended: Ended) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads(ended.out)["tables"]["table3"]
    return rows


def test_the_figures_are_those_of_the_scores(front: _Front, endpoint: ScriptedEndpoint) -> None:
    ended = front("--json", entries=ENTRIES)
    assert ended.code == 0, ended.err
    rows = {(row["evaluator"], row["level"]): row for row in _rows(ended)}
    assert set(rows) == {("zero", "dialogue"), ("zero", "turn"), ("random-1", "dialogue")}
    whole = rows["zero", "dialogue"]
    assert (whole["n"], whole["accuracy"], whole["macro_f1"]) == (6, 1.0, 1.0)
    assert whole["spearman"]["value"] > 0.7
    assert rows["zero", "turn"]["n"] == 12
    assert rows["random-1", "dialogue"]["n"] == 6
    theirs = json.loads(ended.out)["tables"]
    assert theirs["published_2"][0]["ReDial"] == "0.09; 0.11"
    assert [len(theirs[f"published_{n}"]) for n in (2, 3, 4)] == [7, 12, 2]
    assert len(endpoint.bodies) == 6 + 12 + 2 * 6


def test_what_is_stored_is_not_asked_again(front: _Front, endpoint: ScriptedEndpoint) -> None:
    first = front("--json", "--set", "limit=2", entries=ENTRIES[:1])
    asked = len(endpoint.bodies)
    again = front("--json", "--set", "limit=2", entries=ENTRIES[:1])
    assert again.out == first.out
    assert len(endpoint.bodies) == asked == 2 + 4
    front("--json", entries=ENTRIES[:1])
    assert len(endpoint.bodies) == 6 + 12


def test_examples_are_of_other_dialogues(
    front: _Front, endpoint: ScriptedEndpoint, data: Path
) -> None:
    front(entries=ENTRIES[1:2])
    tested = split_uss(read_uss(data / "uss", "ReDial")).test
    names = {each.turns[0].text for each in tested}
    for body in endpoint.bodies:
        examples = prompt(body).rpartition("</example>")[0]
        assert "<example>" in examples
        assert not any(f">{name}<" in examples for name in names)


def test_a_dry_run_asks_nothing(front: _Front, endpoint: ScriptedEndpoint, data: Path) -> None:
    ended = front("--dry-run", "--json", entries=ENTRIES)
    found = json.loads(ended.out)
    calls = {each["kind"]: each["once"] for each in found["breakdown"] if each["kind"] != "check"}
    assert calls == {"dialogue-quality/dialogue": 6 + 12, "dialogue-quality/turn": 12}
    assert found["cost"] > 0
    assert not endpoint.bodies
    assert not (data / "q.db").exists()


def test_without_entries_the_model_is_asked_as_it_is(front: _Front) -> None:
    ended = front()
    assert ended.code == 0, ended.err
    assert "dialogue-quality" in ended.out
    assert "non-defect F1" in " ".join(ended.out.split())


@pytest.mark.parametrize(
    ("more", "entries", "message"),
    [
        (("--set", "evaluators=zer"), ENTRIES, "no evaluator 'zer' of the kind dialogue-quality"),
        (("--set", "subset=JDDC"), ENTRIES, "no subset 'JDDC'"),
        (("--set", "subset=CCPE"), ENTRIES, "CCPE.txt"),
    ],
)
def test_what_is_wrong_is_one_line(
    front: _Front, more: tuple[str, ...], entries: list[object], message: str
) -> None:
    ended = front(*more, entries=entries)
    assert ended.code == 2
    assert message in ended.err
    assert ended.err.count("\n") == 1


def test_fewer_examples_than_wanted_are_one_line(front: _Front, data: Path) -> None:
    path = data / "uss" / "ReDial.txt"
    path.write_text("\n\n".join(path.read_text().split("\n\n")[:4]) + "\n")
    entries: list[object] = [
        {"kind": "dialogue-quality", "examples": {"k": 20, "select": "random"}}
    ]
    ended = front("--dry-run", entries=entries)
    assert (ended.code, ended.err.count("\n")) == (2, 1)
    assert "20 examples are wanted, and ReDial has" in ended.err


def test_calls_that_fail_are_said_and_made_again(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], data: Path
) -> None:
    broken = [True]

    def script(body: Body) -> dict[str, object] | Fault:
        if broken[0] and _GOOD in prompt(body):
            return Fault("status", 500, "no")
        return _judge(body)

    with ScriptedEndpoint(script) as endpoint:
        front = _Front(monkeypatch, capsys, data, endpoint.url)
        ended = front("--json")
        assert ended.code == 3
        assert "calls failed: run the same command again" in ended.err
        assert any("without a score" in note for note in json.loads(ended.out)["notes"])
        lost = _rows(ended)[0]
        broken[0] = False
        ended = front("--json")
    assert ended.code == 0, ended.err
    assert lost["n"] < _rows(ended)[0]["n"] == 6


def test_an_endpoint_without_log_probabilities_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], data: Path
) -> None:
    with ScriptedEndpoint(lambda _: "4") as endpoint:
        ended = _Front(monkeypatch, capsys, data, endpoint.url)()
    assert ended.code == 2
    assert "sends no log-probabilities" in ended.err
    assert "`top_logprobs`" in ended.err


def test_an_adapter_that_has_learned_what_is_tested_is_refused(data: Path) -> None:
    sessions = read_uss(data / "uss", "ReDial")
    adapter = data / "adapter"
    (adapter / "recjury").mkdir(parents=True)
    learned: list[JSON] = [dialogue_digest(each) for each in split_uss(sessions, 3).train]
    report = TuningReport(
        folder=str(adapter),
        model="m",
        weights="w",
        plan=LoraPlan(),
        examples=1,
        shortened=0,
        left_out=0,
        losses=(1.0,),
        trained=1,
        all_parameters=2,
        seconds=1.0,
        notes={DIALOGUES: learned},
    )
    (adapter / REPORT).write_text(report.model_dump_json())
    model = {"provider": "transformers", "model": "m", "adapter": str(adapter)}
    config = EvaluationConfig.model_validate(
        {"model": model, "evaluators": [{"kind": "dialogue-quality", "level": "dialogue"}]}
    )
    assert len(read_quality_table(config, data, "ReDial", seed=3).split.test) == 6
    with pytest.raises(ConfigError, match=r"has learned [1-6] of the 6 tested dialogues: give the"):
        read_quality_table(config, data, "ReDial", seed=4)


def test_models_are_compared_without_examples(front: _Front, endpoint: ScriptedEndpoint) -> None:
    ended = front("--json", name="quality.table1", entries=ENTRIES)
    assert ended.code == 0, ended.err
    rows = {row["model"]: row for row in json.loads(ended.out)["tables"]["table1"]}
    assert (rows["main"]["data"], rows["main"]["n"]) == ("USS, ReDial", 6)
    assert rows["main"]["spearman"]["value"] > 0.7
    assert rows["Falcon-40b-instruct"]["spearman"] == 0.41
    assert "not public" in rows["Alpaca-7b"]["data"]
    assert len(endpoint.bodies) == 6, "the entries of the file are not asked"
    refused = front("--set", "models=other", name="quality.table1")
    assert refused.code == 2
    assert "no model 'other'" in refused.err


def _explains(body: Body) -> dict[str, object]:
    """Rates what was good 4, and the rest 2; its reasons are always those for a 2."""
    asked = prompt(body)
    if "<reasons>" in asked:
        assert "film number" not in asked, "the conversation is not shown"
        return completion(in_form("<rating>2</rating>", asked))
    rating = 4 if _GOOD in asked.rpartition("<conversation>")[2] else 2
    return completion(in_form(f"The user dislikes it.\n<rating>{rating}</rating>", asked))


def test_scores_are_held_against_their_reasons(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], data: Path
) -> None:
    kind = {"kind": "dialogue-quality", "level": "dialogue", "method": "generation"}
    entries: list[object] = [*ENTRIES, {**kind, "name": "analysis", "order": "analysis-first"}]
    with ScriptedEndpoint(_explains) as endpoint:
        front = _Front(monkeypatch, capsys, data, endpoint.url)
        planned = front("--json", "--dry-run", name="quality.reasons", entries=entries)
        ended = front("--json", name="quality.reasons", entries=entries)
        assert ended.code == 0, ended.err
        asked = len(endpoint.bodies)
        again = front("--json", name="quality.reasons", entries=entries)
        assert again.out == ended.out
        assert len(endpoint.bodies) == asked == 6 + 1, "equal reasons are read once"
        found = {each["kind"]: each["once"] for each in json.loads(planned.out)["breakdown"]}
        assert found["dialogue-quality-reason/dialogue"] == 6
    (row,) = json.loads(ended.out)["tables"]["reasons"]
    good = sum(each.overall[0] > 3 for each in split_uss(read_uss(data / "uss", "ReDial")).test)
    assert 0 < good < 6
    assert (row["evaluator"], row["order"], row["n"]) == ("analysis", "analysis-first", 6)
    assert row["equal"] == pytest.approx(1 - good / 6)
    assert (row["lower"], row["higher"]) == (pytest.approx(good / 6), 0)
    assert row["gap"] == pytest.approx(2 * good / 6)
    assert row["named"] == 0
    assert row["spearman"] is None, "what is read never varies"


def test_without_reasons_it_says_which_evaluators_write_them(front: _Front) -> None:
    ended = front(name="quality.reasons", entries=ENTRIES)
    assert (ended.code, ended.err.count("\n")) == (2, 1)
    assert "method: generation" in ended.err
