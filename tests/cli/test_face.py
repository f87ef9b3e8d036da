"""`recjury face`, as a shell sees it."""

import json
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


def test_the_table_has_stable_keys(command: Command, labels: Path, tmp_path: Path) -> None:
    runs = _runs(tmp_path / "runs", 0, 0.4, 2)
    ended = command("face", "table", "--runs", runs, "--labels", labels, "--json")
    assert ended.code == 0
    table = json.loads(ended.out)
    assert list(table) == ["redial", "opendialkg"]
    assert table["redial"]["understanding"] == {
        "pearson": pytest.approx(0.944911182523068),
        "spearman": pytest.approx(1),
        "n": 3,
    }
    assert table["opendialkg"]["understanding"] == {"pearson": None, "spearman": None, "n": 0}
    assert ended.err == ""


def test_problems_are_told_with_their_place(command: Command, labels: Path, tmp_path: Path) -> None:
    runs = _runs(tmp_path / "runs", *[7] * 3)
    file = tmp_path / "problems.txt"
    ended = command("face", "table", "--runs", runs, "--labels", labels, "--problems", file)
    assert ended.code == 0
    assert "out of range: 3\n" in ended.err
    assert "kbrd_redial_2, turn 1, understanding: particle 0, itr1: the score 7" in ended.err
    assert len(file.read_text().splitlines()) == 3


def test_what_cannot_be_used_is_one_line(command: Command, labels: Path, tmp_path: Path) -> None:
    ended = command("face", "table", "--runs", tmp_path / "none", "--labels", labels)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.count("\n") == 1
    assert "there is no such folder" in ended.err


@pytest.fixture
def config(tmp_path: Path) -> Iterator[Path]:
    """A campaign file whose model takes turns apart and rates every particle 1."""

    def script(body: Body) -> str:
        if "particles" in str(body["messages"]) and "<instructions>" not in str(body["messages"]):
            return json.dumps({"particles": [{"act": "others", "mention": "Bye!"}]})
        return "Hm. <rating>1</rating>"

    with ScriptedEndpoint(script) as endpoint:
        yield _config(tmp_path, endpoint)


def _config(folder: Path, endpoint: ScriptedEndpoint) -> Path:
    path = folder / "campaign.yaml"
    path.write_text(
        "scenarios: [sample]\nsystems: [retrieval]\n"
        f"model: {{base_url: '{endpoint.url}', name: scripted, retries: 0}}\n"
    )
    return path


def test_score_and_explain(command: Command, labels: Path, config: Path, tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path}/face.db"
    scoring = ("face", "score", labels, "--config", config, "--store", store)
    files = ("--runs", tmp_path / "scores", "--run-file", tmp_path / "run.json")
    chosen = ("--aspect", "understanding", "--aspect", "relevance", "--limit", 2)
    ended = command(*scoring, *chosen, *files, "--json")
    assert ended.code == 0, ended
    shown = json.loads(ended.out)
    assert (shown["planned"], shown["done"], shown["failed"]) == (2, 2, 0)
    assert shown["coverage"]["understanding"] == {
        "places": 2,
        "scored_places": 2,
        "particles": 4,
        "scored_particles": 4,
        "samples": 4 * 4 * 5,
        "read_samples": 4 * 4 * 5,
    }
    # The words that the model gave are in one of the two turns only.
    assert shown["problems"] == {"particle not in the turn": 2}
    assert "kbrd_redial_0, turn 1: particle 0: 'Bye!' is not in the turn" in ended.err

    (campaign,) = json.loads(command("status", "--store", store, "--json").out)["campaigns"]
    assert (campaign["done"], campaign["left"]) == (2, 0)

    for runs in (tmp_path / "scores", tmp_path / "run.json"):
        table = command("face", "table", "--runs", runs, "--labels", labels, "--json")
        found = json.loads(table.out)["redial"]["relevance"]
        assert found == {"pearson": None, "spearman": None, "n": 4}

    explaining = ("face", "explain", "kbrd_redial_1", "--store", store)
    data = json.loads(command(*explaining, "--json").out)
    assert list(data) == ["relevance", "understanding"]
    assert data["understanding"]["score"] == 1
    turn = data["understanding"]["turns"][0]
    assert (turn["turn"], turn["score"], turn["pull"]) == (1, 1, 0)
    assert turn["particles"][0]["by"]["itr0"]["samples"] == [1] * 5
    told = command(*explaining, "--aspect", "understanding", "--turn", 3)
    assert "understanding 1.000 (mean of all here 1.000): kbrd_redial_1, turn 3" in " ".join(
        told.out.split()
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--aspect", "fluency"), "'fluency' is no aspect: expected relevance, "),
        (("--rules", "--particles", "x.json"), "keep one"),
        (("--instructions", "none"), "holds no instructions"),
        (("--particles", "none.json"), "cannot be read"),
        (("--runs", "{config}"), "{config} is no folder"),
        (("--run-file", "{folder}"), "{folder}: cannot be written: it is a folder"),
        (("--run-file", "{labels}"), "{labels} would be written over, and is read"),
        (("--run-file", "{folder}/../{folder.name}/campaign.yaml"), "would be written over"),
        (
            ("--runs", "{folder}/x", "--run-file", "{folder}/x/relevance.jsonl"),
            "--runs writes, too",
        ),
        (("--evaluator", "llm-direct", "--runs", "x"), "llm-direct has neither particles"),
        (("--evaluator", "llm-cot-icl", "--rules"), "leave out --rules"),
    ],
)
def test_what_cannot_be_scored_is_one_line_and_leaves_no_store(
    command: Command,
    labels: Path,
    config: Path,
    tmp_path: Path,
    arguments: tuple[str, ...],
    said: str,
) -> None:
    store = ("--store", f"sqlite:///{tmp_path}/face.db")
    there = {"labels": labels, "config": config, "folder": tmp_path}
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    given = (each.format(**there) for each in arguments)
    ended = command("face", "score", labels, "--config", config, *store, *given)
    assert (ended.code, ended.err.count("\n")) == (2, 1), ended
    assert said.format(**there) in ended.err
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_an_aspect_that_is_named_twice_is_scored_once(
    command: Command, labels: Path, config: Path, tmp_path: Path
) -> None:
    scoring = ("face", "score", labels, "--config", config, "--store", f"{tmp_path}/face.db")
    ended = command(*scoring, *("--aspect", "relevance") * 2, "--limit", 1, "--json")
    assert json.loads(ended.out)["coverage"]["relevance"]["places"] == 2
    assert "(0 reused" in ended.err


def test_a_table_whose_problems_cannot_be_written_is_one_line(
    command: Command, labels: Path, tmp_path: Path
) -> None:
    runs = _runs(tmp_path / "runs", 7)
    for place, why in ((tmp_path, "it is a folder"), (labels / "x", f"{labels} is no folder")):
        ended = command("face", "table", "--runs", runs, "--labels", labels, "--problems", place)
        assert (ended.code, ended.out, ended.err) == (
            2,
            "",
            f"recjury: {place}: cannot be written: {why}\n",
        )


def test_explain_says_what_is_not_there(command: Command, labels: Path, tmp_path: Path) -> None:
    ended = command("face", "explain", "x", "--store", f"sqlite:///{tmp_path}/none.db")
    assert (ended.code, ended.err.count("\n")) == (2, 1)
    ended = command("face", "explain", "x", "--runs", tmp_path)
    assert "--runs needs --particles and --labels" in ended.err
    ended = command("face", "explain", "x", "--particles", labels)
    assert (ended.code, ended.err) == (2, "recjury: --particles and --labels go with --runs\n")
    files = ("--runs", tmp_path, "--particles", labels, "--labels", labels)
    ended = command("face", "explain", "x", *files, "--campaign", "3f2a")
    assert "--campaign is for what is in a store" in ended.err


@pytest.fixture
def scored(command: Command, labels: Path, config: Path, tmp_path: Path) -> tuple[object, ...]:
    """`recjury face explain` of a store where two of three conversations have relevance."""
    store = ("--store", f"sqlite:///{tmp_path}/face.db")
    ended = command(
        "face", "score", labels, "--config", config, *store, "--limit", 2, "--aspect", "relevance"
    )
    assert ended.code == 0, ended
    return ("face", "explain", *store)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("x",), "no id begins with 'x'; conversations with scores: kbrd_redial_0, kbrd_redial_1"),
        (("kbrd",), "2 conversations begin with 'kbrd' (kbrd_redial_0, kbrd_redial_1): give more"),
        (
            ("kbrd_redial_1", "--aspect", "efficiency"),
            "kbrd_redial_1 is not scored on efficiency, but on relevance",
        ),
        (
            ("kbrd_redial_1", "--aspect", "relevance", "--turn", 2),
            "kbrd_redial_1 is not scored on relevance in turn 2, but in 1, 3",
        ),
        (("kbrd_redial_1", "--turn", 99), "kbrd_redial_1 is not scored in turn 99, but in 1, 3"),
        (("kbrd_redial_1", "--aspect", "fluency"), "'fluency' is no aspect"),
    ],
)
def test_what_is_not_scored_is_one_line_that_says_what_is(
    command: Command, scored: tuple[object, ...], arguments: tuple[object, ...], said: str
) -> None:
    for form in ((), ("--json",)):
        ended = command(*scored, *arguments, *form)
        assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1), ended
        assert said in ended.err


def test_what_has_no_score_in_files_is_told(command: Command, labels: Path, tmp_path: Path) -> None:
    """Of three conversations one has a score, and one a particle that no reply scored."""
    runs = _runs(tmp_path / "runs", 1, None)
    turn = {"conv_id": "kbrd_redial_2", "turn_ind": 1, "assistant_utterance": "Bye!"}
    given = write_lines(tmp_path / "particles.json", [{**turn, "particles": []}])
    files = ("--runs", runs, "--particles", given, "--labels", labels)
    for name, said in (
        ("kbrd_redial_1", "kbrd_redial_1 has no score; conversations with scores: kbrd_redial_0"),
        ("kbrd_redial_2", "kbrd_redial_2 has no score; conversations with scores: kbrd_redial_0"),
        ("kbrd_redial_0", "kbrd_redial_0 has scores, and there are no particles of it"),
    ):
        ended = command("face", "explain", name, *files)
        assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1), ended
        assert said in ended.err


def test_each_conversation_is_explained_on_what_it_is_scored_on(
    command: Command, scored: tuple[object, ...], labels: Path, config: Path
) -> None:
    """Not on what others in the store are."""
    more = ("--limit", 1, "--aspect", "efficiency")
    assert command("face", "score", labels, "--config", config, *scored[2:], *more).code == 0
    assert list(json.loads(command(*scored, "kbrd_redial_0", "--json").out)) == [
        "relevance",
        "efficiency",
    ]
    assert list(json.loads(command(*scored, "kbrd_redial_1", "--json").out)) == ["relevance"]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--rules",), "no sample of any particle could be read"),
        ((), "was not decomposed: no JSON object was given"),
        (("--evaluator", "llm-direct"), "no <rating> from 0 to 2 was given"),
    ],
)
def test_a_run_that_scores_nothing_says_so(
    command: Command, labels: Path, tmp_path: Path, more: tuple[str, ...], said: str
) -> None:
    with ScriptedEndpoint(lambda body: "I would rather not.") as endpoint:
        scoring = ("face", "score", labels, "--config", _config(tmp_path, endpoint))
        store = ("--store", f"sqlite:///{tmp_path}/face.db", "--aspect", "relevance")
        for _ in range(2):
            ended = command(*scoring, *store, *more)
            assert ended.code == 3, ended
            assert ended.err.endswith("nothing could be scored: no score of relevance came of it\n")
            assert said in ended.err


def test_a_run_whose_calls_fail_says_why(command: Command, labels: Path, tmp_path: Path) -> None:
    with ScriptedEndpoint(lambda body: Fault("status", text="on fire")) as endpoint:
        scoring = ("face", "score", labels, "--config", _config(tmp_path, endpoint), "--rules")
        store = ("--store", f"sqlite:///{tmp_path}/face.db")
        ended = command(*scoring, *store, "--aspect", "efficiency", "--json")
    assert ended.code == 3
    assert json.loads(ended.out)["failed"] == 3
    assert "3 of 3 conversations failed:\n  3 x face/efficiency: " in ended.err
    assert "on fire" in ended.err
    assert ended.err.endswith("nothing could be scored: no score of efficiency came of it\n")


def test_a_run_that_scores_some_tells_how_much(
    command: Command, labels: Path, tmp_path: Path
) -> None:
    def script(body: Body) -> str:
        return "<rating>1</rating>" if "It is slow" in particle(body) else "Hm."

    def particle(body: Body) -> str:
        return str(body["messages"]).rpartition("<words>")[2]

    with ScriptedEndpoint(script) as endpoint:
        scoring = ("face", "score", labels, "--config", _config(tmp_path, endpoint), "--rules")
        store = ("--store", f"sqlite:///{tmp_path}/face.db", "--aspect", "relevance")
        ended = command(*scoring, *store)
        assert ended.code == 0, ended
        assert "3 of 6" in ended.out
        assert "nothing could be scored" not in ended.err
        file = ("--limit", 1, "--run-file", tmp_path / "run.json")
        assert command(*scoring, *store, *file).code == 0
    assert [each["conv_id"] for each in json.loads((tmp_path / "run.json").read_text())] == [
        "kbrd_redial_0"
    ]


def test_scores_are_explained_by_their_own_particles_and_by_the_newest_run(
    command: Command, labels: Path, config: Path, tmp_path: Path
) -> None:
    """One conversation, scored on two aspects with particles by the model, on one by rule."""
    scoring = ("face", "score", labels, "--config", config, "--store", f"{tmp_path}/face.db")
    by_model = (*scoring, "--limit", 1, "--aspect", "relevance", "--aspect", "efficiency")
    by_rule = (*scoring, "--limit", 1, "--aspect", "relevance", "--rules")

    def explained() -> dict[str, list[str]]:
        ended = command("face", "explain", "kbrd", "--store", f"{tmp_path}/face.db", "--json")
        return {
            aspect: [each["mention"] for turn in found["turns"] for each in turn["particles"]]
            for aspect, found in json.loads(ended.out).items()
        }

    model, rule = ["Bye!", "Bye!"], ["Try Heat (1995).", "It is slow.", "Bye!"]
    assert command(*by_model).code == 0
    assert command(*by_rule).code == 0
    assert explained() == {"relevance": rule, "efficiency": model}
    assert command(*by_model).code == 0
    assert explained() == {"relevance": model, "efficiency": model}
