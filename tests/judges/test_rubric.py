"""`rubric`: the example, levels, judges, and what a bad file is told."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
import yaml

from recjury.corpora import Context
from recjury.errors import UserError
from recjury.judges import Rubric
from recjury.judges.rubric import read_rubric
from recjury.mistakes import made
from recjury.records import ConversationLog, Rating, Request, Status, Turn, ratings_of
from recjury.results import ratings
from recjury.store import Store
from tests.campaign.campaigns import config, play
from tests.cli.conftest import Recjury, honest, recjury
from tests.logs import ALIEN, CATALOGUE, HEAT, LOG, ask_of, log_of, said
from tests.scripted_endpoint import ScriptedEndpoint

__all__ = ["recjury"]
EXAMPLES = Path(__file__).parents[2] / "examples"
FIT = {
    "name": "Good fit",
    "definition": "Does it fit?",
    "scale": [0, 1],
    "anchors": {0: "No.", 1: "Yes."},
}


def rate(log: ConversationLog, **settings: Any) -> tuple[list[Rating], list[str]]:
    """The ratings, and the prompts."""
    judges = settings.get("judges", ("main",))
    ask, model = ask_of(lambda request, code: f'<rating code="{code}">1</rating>', aliases=judges)
    evaluator = made(Rubric, settings).prepared(Context({"sample": CATALOGUE}))
    found = ratings_of(asyncio.run(evaluator.rate(log, ask)))
    assert {rating.metric for rating in found} == {each.name for each in evaluator.metrics}
    return found, [said(request) for request in model.requests]


def test_the_example_is_rated_by_both_models(
    recjury: Recjury, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "examples").mkdir()
    (tmp_path / "examples" / "rubric.yaml").write_text((EXAMPLES / "rubric.yaml").read_text())
    monkeypatch.setenv("OPENAI_API_KEY", "a key")
    with ScriptedEndpoint(honest) as endpoint:
        example = (EXAMPLES / "own_rubric.yaml").read_text()
        here = example.replace("https://api.openai.com/v1", endpoint.url)
        (tmp_path / "examples" / "mine.yaml").write_text(here)
        done = recjury("run", "examples/mine.yaml", "--limit", "1")
        assert done.code == 0, done.err
        assert recjury("store", "verify").code == 0
    with Store(tmp_path / "recjury.db", readonly=True) as store:
        frame = ratings(store, "mine")
    frame = frame[frame["kind"] == "rubric"]
    assert set(frame["status"]) == {Status.OK}
    raters = frame.groupby(["evaluator", "metric"], observed=True)["rater"].agg(set).to_dict()
    assert raters == {
        ("rubric", "honesty_about_limits"): {"main", "second"},
        ("rubric", "length"): {"main", "second"},
        ("short", "trust"): {"main"},
    }
    assert set(frame["turn"][frame["metric"] == "length"]) >= {0, 2}


def test_each_system_turn_is_rated_with_its_own_list() -> None:
    by_turn = FIT | {"level": "turn", "inputs": ["list"]}
    found, prompts = rate(LOG, criteria=[by_turn])
    assert [rating.turn for rating in found] == [0, 2]
    lists = [prompt.partition("<recommendation_list>")[2] for prompt in prompts]
    assert ["Alien" in each for each in lists] == [True, False]
    assert ["Heat" in each for each in lists] == [False, True]


def test_what_is_lacking_has_no_score() -> None:
    silent = Turn(speaker="system", failure="it hung")
    talk = log_of(Turn(speaker="system", text="This.", items=(ALIEN,)), silent)
    turns, _ = rate(talk, criteria=[FIT | {"level": "turn"}])
    assert [rating.status for rating in turns] == [Status.OK, Status.NOT_APPLICABLE]
    without = log_of(Turn(speaker="system", text="Hm."))
    (rating,), prompts = rate(without, criteria=[FIT | {"inputs": ["list"]}])
    assert (rating.status, prompts) == (Status.NOT_APPLICABLE, [])


def test_all_inputs_samples_and_judges() -> None:
    log = log_of(Turn(speaker="system", text="<b>", items=(ALIEN, HEAT)))
    both = {"judges": ["main", "second"], "samples": 3, "temperature": 1}
    found, prompts = rate(log, criteria=[FIT | {"inputs": ["list", "target"]}], **both)
    assert [rating.rater for rating in found] == ["main", "second"]
    assert [len(rating.calls) for rating in found] == [3, 3]
    assert "these numbers are among it: 2" in prompts[0]
    assert "&lt;b&gt;" in prompts[0]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"defintion": "x"}, r":5: 0.defintion: .*did you mean definition"),
        ({"scale": [1, 0]}, "lowest to the highest"),
        ({"scale": [0, 3]}, "2 has no anchor"),
        ({"anchors": {0: "No.", 7: "Yes."}}, "anchor 7 is not on the scale"),
        ({"level": "word"}, r":\d+: 0.level: .*turn"),
        ({"inputs": ["lists"]}, "0.inputs.0"),
    ],
)
def test_a_mistake_has_file_and_line(tmp_path: Path, change: dict[str, Any], says: str) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(yaml.safe_dump([FIT | change], sort_keys=True))
    with pytest.raises(UserError, match=says) as error:
        read_rubric(file)
    assert str(error.value).startswith(f"{file}:")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({}, "either"),
        ({"criteria": [FIT, FIT]}, "good_fit"),
        ({"file": "nowhere.yaml"}, "nowhere.yaml"),
        ({"criteria": [FIT], "judges": ["main", "main"]}, "once"),
    ],
)
def test_what_a_rubric_must_have(settings: dict[str, Any], says: str) -> None:
    with pytest.raises(UserError, match=says):
        made(Rubric, settings)


def test_a_changed_file_is_another_evaluator(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    campaign = config(systems=["popular"], evaluators=[{"kind": "rubric", "file": str(file)}])
    prompts: list[str] = []

    def script(request: Request, code: str) -> str:
        prompts.append(said(request))
        return f'<rating code="{code}">1</rating>'

    def judged() -> int:
        before = sum("Good fit" in prompt for prompt in prompts)
        play(tmp_path / "s.db", campaign, script)
        return sum("Good fit" in prompt for prompt in prompts) - before

    file.write_text(yaml.safe_dump([FIT]))
    assert (judged(), judged()) == (2, 0)
    file.write_text(yaml.safe_dump([FIT | {"definition": "Does it fit the wish?"}]))
    assert judged() == 2
