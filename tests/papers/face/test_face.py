"""FACE scored over HTTP, and its analyses, as a shell sees them."""

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.cli.front_door import Ended, recjury
from tests.corpora.arena import dialogue, scores, write, write_lines
from tests.endpoint import Body, Fault, ScriptedEndpoint

Command = Callable[..., Ended]


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """`recjury` with these arguments."""
    return lambda *arguments: recjury(monkeypatch, capsys, *arguments)


@pytest.fixture
def labels(tmp_path: Path) -> Path:
    """Three dialogues, labelled 0, 1, 2 on understanding."""
    every = [dialogue(f"kbrd_redial_{n}", understanding=n) for n in range(3)]
    return write(tmp_path / "labels.json", every)


def _runs(folder: Path, *given: object) -> Path:
    rows = [scores(f"kbrd_redial_{n}", {1: [{"itr1": score}]}) for n, score in enumerate(given)]
    write_lines(folder / "understanding.jsonl", rows)
    return folder


def _table(command: Command, labels: Path, *arguments: object) -> Ended:
    return command("analyse", "face.table1", "--labels", f"crsarena-eval:{labels}", *arguments)


def _rows(ended: Ended) -> dict[tuple[str, str], dict[str, object]]:
    """By subset and aspect."""
    assert ended.code == 0, ended
    rows = json.loads(ended.out)["tables"]["table1"]
    return {(row["subset"], row["aspect"]): row for row in rows}


def test_the_table_has_stable_keys(command: Command, labels: Path, tmp_path: Path) -> None:
    runs = _runs(tmp_path / "runs", 0, 0.4, 2)
    ended = _table(command, labels, "--set", f"runs={runs}", "--json")
    rows = _rows(ended)
    assert list(rows) == [("redial", "understanding"), ("opendialkg", "understanding")]
    assert rows["redial", "understanding"] == {
        "subset": "redial",
        "aspect": "understanding",
        "pearson": pytest.approx(0.944911182523068),
        "spearman": pytest.approx(1),
        "n": 3,
        "labelled": 3,
        "without_label": 0,
    }
    empty = rows["opendialkg", "understanding"]
    assert (empty["pearson"], empty["spearman"], empty["n"]) == (None, None, 0)
    assert ended.err == ""


def test_problems_are_told_with_their_place(command: Command, labels: Path, tmp_path: Path) -> None:
    runs = _runs(tmp_path / "runs", *[7] * 3)
    file = tmp_path / "problems.txt"
    ended = _table(command, labels, "--set", f"runs={runs}", "--out", file)
    assert ended.code == 0
    assert "out of range: 3 (" in ended.err
    assert "kbrd_redial_2, turn 1, understanding: particle 0, itr1: the score 7" in ended.err
    assert len(file.read_text().splitlines()) == 3


def test_what_cannot_be_used_is_one_line(command: Command, labels: Path, tmp_path: Path) -> None:
    for given, said in (
        (("--set", f"runs={tmp_path / 'none'}"), "there is no such folder"),
        (("--labels", "csv:x.csv"), "FACE's analyses need --labels crsarena-eval:FILE"),
    ):
        ended = _table(command, labels, *given)
        assert (ended.code, ended.out) == (2, "")
        assert ended.err.count("\n") == 1
        assert said in ended.err
    assert "needs --labels" in command("analyse", "face.table1").err


def _replied(body: Body) -> str:
    """Every turn is one particle "Bye!", and every particle is rated 1."""
    if "particles" in str(body["messages"]) and "<instructions>" not in str(body["messages"]):
        return json.dumps({"particles": [{"act": "others", "mention": "Bye!"}]})
    return "Hm. <rating>1</rating>"


@pytest.fixture
def endpoint() -> Iterator[ScriptedEndpoint]:
    """A model that takes turns apart and rates every particle 1."""
    with ScriptedEndpoint(_replied) as endpoint:
        yield endpoint


def _judging(folder: Path, endpoint: ScriptedEndpoint, **face: object) -> tuple[object, ...]:
    """`recjury judge` of the labelled dialogues by FACE with these settings."""
    evaluator = json.dumps({"kind": "face", **face})
    path = folder / "judging.yaml"
    path.write_text(
        f"model: {{base_url: '{endpoint.url}', name: scripted, retries: 0}}\n"
        f"evaluators: [{evaluator}]\n"
    )
    store = f"sqlite:///{folder}/face.db"
    return ("judge", folder / "labels.json", "--config", path, "--store", store)


def test_scores_of_a_store_are_explained_and_held_against_labels(
    command: Command, labels: Path, endpoint: ScriptedEndpoint, tmp_path: Path
) -> None:
    judging = _judging(tmp_path, endpoint, aspects=["understanding", "relevance"])
    ended = command(*judging, "--limit", 2, "--json")
    assert ended.code == 0, ended
    counts = json.loads(ended.out)["evaluations"]["face"]
    assert (counts["planned"], counts["done"], counts["failed"]) == (2, 2, 0)

    store, out = ("--store", judging[-1]), tmp_path / "scores"
    table = _table(command, labels, *store, "--out", out, "--json")
    found = _rows(table)
    row = found["redial", "relevance"]
    assert (row["pearson"], row["spearman"], row["n"]) == (None, None, 4)
    # The words that the model gave are in one of the two turns only.
    assert any("particle not in the turn: 2" in note for note in json.loads(table.out)["notes"])
    problems = (out / "problems.txt").read_text("utf-8")
    assert "kbrd_redial_0, turn 1: particle 0: 'Bye!' is not in the turn" in problems
    (tmp_path / "runs").mkdir()
    for name in ("relevance", "understanding"):
        shutil.copy(out / f"{name}.jsonl", tmp_path / "runs")
    for runs in (tmp_path / "runs", out / "run.json"):
        assert _rows(_table(command, labels, "--set", f"runs={runs}", "--json")) == found

    explaining = ("analyse", "face.explain", "--set", "conversation=kbrd_redial_1", *store)
    sampled = tmp_path / "samples.csv"
    data = json.loads(command(*explaining, "--json", "--out", str(sampled)).out)["tables"]
    assert [row["aspect"] for row in data["scores"]] == ["relevance", "understanding"]
    (turn,) = (
        row for row in data["turns"] if row["aspect"] == "understanding" and row["turn"] == 1
    )
    assert (turn["score"], turn["contribution"]) == (1, 0)
    samples = sampled.read_text("utf-8").splitlines()
    assert samples[1].startswith("relevance,1,0,itr0,1.0,1 1 1 1 1,")
    one = command(*explaining, "--set", "aspects=understanding", "--set", "turn=3", "--json")
    (score,) = json.loads(one.out)["tables"]["scores"]
    assert (score["turn"], score["score"], score["reference"]) == (3, 1, 1)


@pytest.mark.parametrize(
    ("face", "said"),
    [
        ({"aspects": ["fluency"]}, "fluency"),
        ({"aspects": []}, "aspects"),
        ({"rules": True, "particles": "x.json"}, "keep one"),
        ({"instructions": "none"}, "holds no instructions"),
        ({"particles": "none.json"}, "cannot be read"),
        ({"model": "strict"}, "names the model 'strict', which is not under `models` (main)"),
    ],
)
def test_what_cannot_be_scored_is_one_line_and_leaves_no_store(
    command: Command,
    labels: Path,
    endpoint: ScriptedEndpoint,
    tmp_path: Path,
    face: dict[str, object],
    said: str,
) -> None:
    ended = command(*_judging(tmp_path, endpoint, **face))
    assert (ended.code, ended.err.count("\n")) == (2, 1), ended
    assert said in ended.err
    assert not (tmp_path / "face.db").exists()


@pytest.mark.usefixtures("labels")
def test_an_aspect_that_is_named_twice_is_scored_once(
    command: Command, endpoint: ScriptedEndpoint, tmp_path: Path
) -> None:
    judging = _judging(tmp_path, endpoint, aspects=["relevance"] * 2, rules=True, samples=1)
    assert command(*judging, "--limit", 1, "--json").code == 0
    bodies = [str(body) for body in endpoint.bodies if "instructions" in str(body)]
    assert len(set(bodies)) == len(bodies)


def test_a_store_without_scores_has_no_table(
    command: Command, labels: Path, endpoint: ScriptedEndpoint, tmp_path: Path
) -> None:
    judging = _judging(tmp_path, endpoint)
    judging[3].write_text("evaluators: [outcome]\n")  # type: ignore[attr-defined]  # a Path
    assert command(*judging).code == 0
    ended = _table(command, labels, "--store", judging[-1])
    assert (ended.code, ended.out) == (2, "")
    assert "run `recjury judge FILE --evaluator face` first" in ended.err


def test_files_that_cannot_be_written_are_one_line(
    command: Command, labels: Path, tmp_path: Path
) -> None:
    runs = _runs(tmp_path / "runs", 7)
    for place, why in (
        (labels / "x", f"{labels} is not a folder"),
        (tmp_path / "x.svg", "none of the files has this ending"),
    ):
        ended = _table(command, labels, "--set", f"runs={runs}", "--out", place)
        assert ended.code == 2
        assert why in ended.err


def test_explain_says_what_is_not_there(command: Command, labels: Path, tmp_path: Path) -> None:
    explaining = ("analyse", "face.explain", "--set", "conversation=x")
    ended = command(*explaining, "--store", f"sqlite:///{tmp_path}/none.db")
    assert (ended.code, ended.err.count("\n")) == (2, 1)
    ended = command(*explaining, "--set", f"runs={tmp_path}")
    assert "runs need particles, and --labels" in ended.err
    ended = command(*explaining, "--set", f"particles={labels}")
    assert (ended.code, ended.err) == (2, "recjury: particles go with runs\n")
    files = ("--set", f"runs={tmp_path}", "--set", f"particles={labels}")
    ended = command(*explaining, *files, "--campaign", "3f2a")
    assert "--campaign is for the scores of a store" in ended.err
    assert "conversation: is missing" in command("analyse", "face.explain").err


@pytest.fixture
def scored(
    command: Command,
    labels: Path,
    endpoint: ScriptedEndpoint,
    tmp_path: Path,
) -> tuple[object, ...]:
    """An explanation from a store where two of three conversations have relevance."""
    judging = _judging(tmp_path, endpoint, aspects=["relevance"])
    ended = command(*judging, "--limit", 2)
    assert ended.code == 0, ended
    return ("analyse", "face.explain", *judging[-2:])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("x",), "no id begins with 'x'; conversations with scores: kbrd_redial_0, kbrd_redial_1"),
        (("kbrd",), "2 conversations begin with 'kbrd' (kbrd_redial_0, kbrd_redial_1): give more"),
        (
            ("kbrd_redial_1", "aspects=efficiency"),
            "kbrd_redial_1 is not scored on efficiency, but on relevance",
        ),
        (
            ("kbrd_redial_1", "aspects=relevance", "turn=2"),
            "kbrd_redial_1 is not scored on relevance in turn 2, but in 1, 3",
        ),
        (("kbrd_redial_1", "turn=99"), "kbrd_redial_1 is not scored in turn 99, but in 1, 3"),
        (("kbrd_redial_1", "aspects=fluency"), "'fluency' is not an aspect"),
    ],
)
def test_what_is_not_scored_is_one_line_that_says_what_is(
    command: Command, scored: tuple[object, ...], arguments: tuple[str, ...], said: str
) -> None:
    name, *settings = arguments
    given = [part for each in (f"conversation={name}", *settings) for part in ("--set", each)]
    for form in ((), ("--json",)):
        ended = command(*scored, *given, *form)
        assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1), ended
        assert said in ended.err


def test_what_has_no_score_in_files_is_told(command: Command, labels: Path, tmp_path: Path) -> None:
    """Of three conversations one has a score, and one a particle that no reply scored."""
    runs = _runs(tmp_path / "runs", 1, None)
    turn = {"conv_id": "kbrd_redial_2", "turn_ind": 1, "assistant_utterance": "Bye!"}
    given = write_lines(tmp_path / "particles.json", [{**turn, "particles": []}])
    files = ("--set", f"runs={runs}", "--set", f"particles={given}")
    for name, said in (
        ("kbrd_redial_1", "kbrd_redial_1 has no score; conversations with scores: kbrd_redial_0"),
        ("kbrd_redial_2", "kbrd_redial_2 has no score; conversations with scores: kbrd_redial_0"),
        ("kbrd_redial_0", "kbrd_redial_0 has scores but no particles"),
    ):
        ended = command(
            "analyse", "face.explain", "--set", f"conversation={name}", *files,
            "--labels", f"crsarena-eval:{labels}",
        )  # fmt: skip
        assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1), ended
        assert said in ended.err


def test_each_conversation_is_explained_on_what_it_is_scored_on(
    command: Command, scored: tuple[object, ...], endpoint: ScriptedEndpoint, tmp_path: Path
) -> None:
    """Not on what others in the store are."""
    judging = _judging(tmp_path, endpoint, aspects=["efficiency"])
    assert command(*judging, "--limit", 1).code == 0

    def aspects(name: str) -> list[str]:
        ended = command(*scored, "--set", f"conversation={name}", "--json")
        return [row["aspect"] for row in json.loads(ended.out)["tables"]["scores"]]

    assert aspects("kbrd_redial_0") == ["relevance", "efficiency"]
    assert aspects("kbrd_redial_1") == ["relevance"]


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        (True, "no sample of any particle could be read"),
        (False, "was not decomposed: no JSON object with its code was given"),
    ],
)
def test_what_could_not_be_scored_is_told_with_the_reason(
    command: Command, labels: Path, tmp_path: Path, rules: bool, said: str
) -> None:
    with ScriptedEndpoint(lambda body: "I would rather not.") as mute:
        judging = _judging(tmp_path, mute, aspects=["relevance"], rules=rules)
        command(*judging)
    ended = _table(command, labels, "--store", judging[-1])
    assert ended.code == 0, ended
    assert said in ended.err


@pytest.mark.usefixtures("labels")
def test_a_run_whose_calls_fail_says_why(command: Command, tmp_path: Path) -> None:
    with ScriptedEndpoint(lambda body: Fault("status", text="on fire")) as burning:
        judging = _judging(tmp_path, burning, aspects=["efficiency", "relevance"], rules=True)
        ended, told = command(*judging, "--json"), command(*judging)
    assert (ended.code, told.code) == (3, 3)
    assert json.loads(ended.out)["evaluations"]["face"]["failed"] == 3
    assert "on fire" in str(json.loads(ended.out)["failures"])
    assert "3 of 3 evaluations by face failed" in told.err
    assert "on fire" in told.err


def test_scores_are_explained_by_their_own_particles_and_by_the_newest_run(
    command: Command, labels: Path, endpoint: ScriptedEndpoint, tmp_path: Path
) -> None:
    """One conversation, scored on two aspects with particles by the model, on one by rule."""

    def judged(**face: object) -> None:
        assert command(*_judging(tmp_path, endpoint, **face), "--limit", 1).code == 0

    def explained() -> dict[str, list[str]]:
        ended = command(
            "analyse", "face.explain", "--set", "conversation=kbrd", "--set", "top=9",
            "--store", f"{tmp_path}/face.db", "--json",
        )  # fmt: skip
        mentions: dict[str, list[str]] = {}
        for row in json.loads(ended.out)["tables"]["particles"]:
            mentions.setdefault(row["aspect"], []).append(row["mention"])
        return mentions

    both = ["relevance", "efficiency"]
    model, rule = ["Bye!", "Bye!"], ["Try Heat (1995).", "It is slow.", "Bye!"]
    judged(aspects=both)
    judged(aspects=["relevance"], rules=True)
    assert explained() == {"relevance": rule, "efficiency": model}
    judged(aspects=both)
    assert explained() == {"relevance": model, "efficiency": model}


def test_one_command_rates_the_labelled_dialogues_and_is_shown_beside_another_run(
    command: Command, labels: Path, tmp_path: Path
) -> None:
    file, out = tmp_path / "mine.yaml", tmp_path / "mine"
    arena = ("--labels", f"crsarena-eval:{labels}")
    with ScriptedEndpoint(lambda body: f"<rating>{len(str(body)) % 3}</rating>") as endpoint:
        file.write_text(
            f"model: {{base_url: '{endpoint.url}', name: scripted, price_in: 1, price_out: 1}}\n"
            "evaluators: [outcome, {kind: llm-direct, aspects: [understanding]}]\n"
        )
        measured = ("--set", "pairs=outcome.rounds=understanding")
        given = ("--config", file, "--store", f"sqlite:///{tmp_path}/s.db", *measured)
        planned = json.loads(_table(command, labels, *given, "--dry-run", "--json").out)
        assert endpoint.bodies == []
        ended = _table(command, labels, *given, "--out", out, "--json")
        assert ended.code == 0, ended.err
        asked = len(endpoint.bodies)
        assert _table(command, labels, *given, "--json").out == ended.out
        assert len(endpoint.bodies) == asked, "what the store has is not asked for again"
    assert f"about {planned['once']['calls']:,} calls, about $" in ended.err
    found = json.loads(ended.out)["tables"]
    assert found["table1"] == [], "FACE has scored nothing"
    rated = {(row["evaluator"], row["subset"]): row["n"] for row in found["evaluators"]}
    assert (rated["llm-direct", "redial"], rated["outcome", "redial"]) == (3, 3)
    runs = _runs(tmp_path / "runs", 0, 2, 1)
    shown = command("align", out / "llm-direct.json", runs, *arena)
    assert shown.code == 0, shown.err
    assert "llm-direct.understanding" in shown.out
    assert "runs.understanding" in shown.out
    both = command("align", out / "llm-direct.json", out / "llm-direct.json", *arena)
    assert (both.code, both.err.count("\n")) == (2, 1)


def test_scores_of_files_and_models_to_ask_are_not_both_given(
    command: Command, labels: Path, tmp_path: Path
) -> None:
    file = tmp_path / "none.yaml"
    file.write_text("evaluators: []\n")
    runs = ("--set", f"runs={_runs(tmp_path / 'runs', 0)}")
    for more, said in ((runs, "give one"), ((), "names no evaluators")):
        ended = _table(command, labels, "--config", file, *more)
        assert (ended.code, ended.err.count("\n")) == (2, 1)
        assert said in ended.err
