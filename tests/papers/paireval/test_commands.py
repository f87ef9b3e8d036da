"""PairEval's analyses from end to end over HTTP."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from recjury import judge
from recjury.records import ConversationLog, Ending
from tests.cli.front_door import Ended, recjury
from tests.endpoint import ScriptedEndpoint, completion
from tests.judges.cases import a_log
from tests.judges.paireval import player
from tests.judges.paireval.sets import write_folder

ONE = ["sets=dailydialog-grade"]
SETS = ["sets=[dailydialog-grade, fed-turn]"]


class Commands:
    """Runs `recjury analyse paireval.NAME` against an endpoint, with a store of its own."""

    def __init__(
        self,
        folder: Path,
        endpoint: ScriptedEndpoint,
        monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str],
    ):
        self.endpoint = endpoint
        self.folder = folder
        self.store = f"sqlite:///{folder}/store.db"
        self._patch, self._capsys = monkeypatch, capsys
        self.config = folder / "models.yaml"
        text = (
            f'model: {{base_url: "{endpoint.url}", name: scripted, retries: 0}}\n'
            f'models: {{tuned: {{base_url: "{endpoint.url}", name: scripted, retries: 0, '
            "extra: {user: tuned}}}\n"
        )
        self.config.write_text(text, "utf-8")

    def run(self, name: str, *settings: str, more: Sequence[object] = ()) -> Ended:
        given = [part for each in settings for part in ("--set", each)]
        files = ["--config", self.config, "--store", self.store, "--data", self.folder / "data"]
        named = ["analyse", f"paireval.{name}", *given]
        return recjury(self._patch, self._capsys, *named, *files, *more)

    def found(self, name: str, *settings: str, more: Sequence[object] = ()) -> Any:
        ended = self.run(name, *settings, more=[*more, "--json"])
        assert ended.code == 0, ended.err
        return json.loads(ended.out)

    def rows(self, name: str, *settings: str) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = self.found(name, *settings)["tables"]["correlations"]
        return rows


@pytest.fixture
def commands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Commands]:
    write_folder(tmp_path / "data" / "dialogue-eval")
    with ScriptedEndpoint(player.play) as endpoint:
        yield Commands(tmp_path, endpoint, monkeypatch, capsys)


def test_number_and_kind_of_examples(commands: Commands) -> None:
    found = commands.found("table3", *SETS, "draws=2")
    rows = found["tables"]["correlations"]
    assert [(row["set"], row["kind"], row["number"]) for row in rows] == [
        (name, kind, number)
        for name in ("dailydialog-grade", "fed-turn")
        for kind in ("random", "test")
        for number in (1, 2, 3)
    ]
    assert all(row["spearman"] > 0.9 for row in rows)
    assert (found["notes"], found["problems"]) == ([], {})
    sent = len(commands.endpoint.bodies)
    assert commands.found("table3", *SETS, "draws=2") == found
    assert len(commands.endpoint.bodies) == sent  # all calls are in the store


def test_a_dry_run_only_counts(commands: Commands) -> None:
    found = commands.found("table3", *SETS, "draws=2", more=["--dry-run"])
    (asked,) = [each for each in found["breakdown"] if each["kind"] == "paireval/turn"]
    assert (asked["model"], asked["once"]) == ("main", 2 * 2 * (8 + 8) * 3 * 2)
    assert found["once"]["prompt_tokens"] > 500 * asked["once"]
    shown = commands.run("table4", *SETS, "models=tuned", more=["--dry-run"])
    assert f"tuned: paireval/turn {2 * 2 * 28} {3 * 2 * 2 * 28}" in " ".join(shown.out.split())
    assert commands.endpoint.bodies == []


def test_table_has_direct_and_compared_scores(commands: Commands) -> None:
    asked = commands.found("table1", *SETS, "draws=2", more=["--dry-run"])
    calls = {each["kind"]: each["once"] for each in asked["breakdown"]}
    assert (calls["paireval/turn alone"], calls["paireval/turn"]) == (16, 2 * 2 * 3 * 16)
    rows = commands.rows("table1", *SETS, "draws=2")
    assert [(row["set"], row["kind"], row["number"], row["draws"]) for row in rows] == [
        (name, kind, number, draws)
        for name in ("dailydialog-grade", "fed-turn")
        for kind, number, draws in (("direct", 0, 1), ("random", 3, 2))
    ]
    assert all(row["n"] > 0 and row["unscored"] == 0 for row in rows)


def test_spread_of_several_models(commands: Commands) -> None:
    rows = commands.rows("table2", *ONE, "models=[main, tuned]")
    assert [(row["judge"], row["draws"]) for row in rows] == [("main", 15), ("tuned", 15)]
    assert all(row["pearson_sd"] is not None for row in rows)


def test_with_and_without_hard_negatives(commands: Commands) -> None:
    rows = commands.rows("table6", *ONE, "models=[main, tuned]")
    assert [(row["judge"], row["kind"]) for row in rows] == [
        ("main", "random"),
        ("main", "test"),
        ("tuned", "random"),
        ("tuned", "test"),
    ]


def test_published_rows_stand_beside(commands: Commands) -> None:
    shown = commands.run("table6", *ONE, "draws=1")
    assert "fits neither N of table 3" in shown.err
    (hard, *_) = commands.found("table6", *ONE, "draws=1")["tables"]["published_6"]
    assert (hard["from"], hard["hard_negatives"]) == ("random", "no")
    assert hard["dailydialog-grade"] == "36.9; 39.6"


def test_exhaustive_comparison(commands: Commands) -> None:
    (row,) = commands.rows("table4", *ONE)
    assert (row["kind"], row["number"], row["spearman"]) == ("exhaustive", 7, pytest.approx(1))
    assert len(commands.endpoint.bodies) == 8 * 7


def test_position_bias(commands: Commands) -> None:
    found = commands.found("table5", *ONE, "draws=2")["tables"]
    assert [row["position"] for row in found["correlations"]] == ["first", "second", "both"]
    (bias,) = found["position_bias"]
    assert 0.5 < bias["first"] < 0.6


@pytest.mark.parametrize("form", ["direct=false", "direct=true"])
def test_robustness(commands: Commands, form: str) -> None:
    rows = commands.found("table7", form)["tables"]["robustness"]
    # Of six pairs one is of two equal replies; of one the worse version has fewer points.
    assert [(row["attack"], row["n"], row["accuracy"]) for row in rows] == [
        ("dullness", 3, 1),
        ("repetition", 2, 1),
        ("mean over attacks", None, 1),
    ]
    only = commands.found("table7", form, "attacks=dullness", "limit=1")["tables"]["robustness"]
    assert only[0]["n"] == 1


def test_scatter_plots(commands: Commands) -> None:
    out = commands.folder / "plots"
    commands.found("figure3", *SETS, more=["--out", out])
    assert sorted(path.name for path in out.glob("*.svg")) == [
        "dailydialog-grade-main.svg",
        "fed-turn-main.svg",
    ]


def test_adversarial_replies_are_written_in_the_form_of_the_published_ones(
    commands: Commands,
) -> None:
    from recjury.corpora.dialogues import read_adversarial_file

    out = commands.folder / "adversaries.jsonl"
    found = commands.found("adversaries", "number=3", "replies=2", more=["--out", out])
    assert found["tables"]["written"] == [{"contexts": 3, "replies": 6}]
    rows = list(read_adversarial_file(out))
    assert [row.adversarial for row in rows] == [("One that does not fit.", "Nor this.")] * 3
    assert all(row.context and row.positives[0].startswith("Turn") for row in rows)


def _conversations() -> list[ConversationLog]:
    found = []
    for number in range(4):
        for system, worth in (("best", 3), ("middling", 1), ("worst", 0)):
            log = a_log(f"{system} {number} worth {worth}", f"and more, worth {worth}")
            scenario = log.scenario.model_copy(update={"record": str(number)})
            found.append(
                log.model_copy(
                    update={"system": system, "scenario": scenario, "ending": Ending.RECORDED}
                )
            )
    return found


def test_a_tournament_over_stored_conversations(commands: Commands) -> None:
    pytest.importorskip("evalica")
    judge(_conversations(), evaluators=["outcome"], store=commands.store)
    few = commands.found("tournament", "comparisons=4", "at_once=1")["tables"]
    assert few["comparisons"][0]["matches"] == 4
    assert len(few["next"]) == 1
    sent = len(commands.endpoint.bodies)
    assert sent == 8
    every = commands.found("tournament", "at_once=1")["tables"]
    assert [each["system"] for each in every["standings"]] == ["best", "middling", "worst"]
    (made,) = every["comparisons"]
    assert (made["matches"], made["left"], every["next"]) == (12, 0, [])
    assert len(commands.endpoint.bodies) == 24  # the first four were in the store
    turns = commands.run("tournament", "level=turn", "comparisons=3")
    assert turns.code == 0
    assert "3 comparisons, " in turns.out + turns.err


@pytest.mark.parametrize(
    ("arguments", "said_of_it"),
    [
        (["table3", "sets=unknown"], "unknown set 'unknown'"),
        (["table3", "models=other"], "no model 'other'"),
        (["table3", "sets=fed-turn", "number=100"], "100 comparison examples"),
        (["table7", "attacks=none"], "there is no pair of none"),
        (["table3", "draw=3"], "draws"),
    ],
)
def test_what_is_wrong_is_one_line(
    commands: Commands, arguments: list[str], said_of_it: str
) -> None:
    ended = commands.run(*arguments)
    assert ended.code == 2
    assert said_of_it in ended.err
    assert len(ended.err.strip().splitlines()) == 1


def test_an_endpoint_without_log_probabilities_ends_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_folder(tmp_path / "data" / "dialogue-eval")
    with ScriptedEndpoint(lambda _: completion("A")) as endpoint:
        ended = Commands(tmp_path, endpoint, monkeypatch, capsys).run("table3", *ONE)
    assert ended.code == 2
    assert "`logprobs` and `top_logprobs`" in ended.err


def test_a_tournament_needs_conversations(commands: Commands) -> None:
    ended = commands.run("tournament")
    assert ended.code == 2
    assert "there is no store" in ended.err
