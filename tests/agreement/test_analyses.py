"""The analyses, on a stored campaign whose judges have planted habits."""

import asyncio
import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from recjury.agreement import ANALYSES, Labels, Study, labels_of
from recjury.campaign import Config, run
from recjury.errors import UserError
from recjury.llm import Model, ScriptedModel
from recjury.records import Request
from recjury.results import Resampling, StoredCampaign, ratings
from recjury.store import Store
from tests.agreement.honest import honest
from tests.campaign.campaigns import config, play, said
from tests.cli.conftest import Recjury, recjury
from tests.replies import reply_to

__all__ = ["recjury"]

HABITS = ["judge.length", "judge.self_preference", "judge.position", "judge.turns"]

_RATING = re.compile(r'(<rating code="\w+">)\d+')


def judged(prompt: str, model: str) -> str:
    """A judge's reply: one loves long replies, one the system that runs on it, one is honest."""
    reply = reply_to(prompt, salt=model)
    if "<rating" not in prompt or "<interaction" not in prompt:
        return reply
    words = len(prompt.partition("<interaction")[2].partition("</interaction")[0].split())
    score = {"long": min(4, words // 120), "own": 4 if "Ahem" in prompt else 1}.get(model)
    return reply if score is None else _RATING.sub(rf"\g<1>{score}", reply)


def speaks(model: str) -> Any:
    def say(request: Request, code: str) -> str:
        prompt = said(request)
        if request.purpose == "system":
            return f"Ahem. {reply_to(prompt)}" + " and so on" * (len(prompt) % 23)
        return judged(prompt, model)

    return say


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """Two systems over 14 scenarios, three judges, a debate of two rounds, rated twice."""
    config = Config.model_validate(
        {
            "name": "planted",
            "scenarios": [{"corpus": "sample", "limit": 14}],
            "systems": ["popular", {"kind": "chatcrs", "model": "own"}],
            "evaluators": [
                "outcome",
                {
                    "kind": "core",
                    "judges": ["honest", "long", "own"],
                    "judgings": 2,
                    "temperature": 0.5,
                    "debate": {"max_rounds": 2},
                },
            ],
            "users": [{"kind": "llm", "model": "honest"}],
            "models": {
                name: {"name": name, "price_in": 0, "price_out": 0}
                for name in ("honest", "long", "own")
            },
        }
    )

    def opened(model: Model) -> ScriptedModel:
        return ScriptedModel(speaks(model.name))

    with Store(tmp_path_factory.mktemp("planted") / "s.db") as kept:
        asyncio.run(run(config, kept, open_provider=opened))
        yield kept


def people(store: Store) -> Labels:
    """People who agree with the honest judge, and give 25 times the mean factor overall."""
    frame = ratings(store, "planted")
    rows = frame[(frame["rater"] == "honest") & (frame["judging"] == 0) & frame["score"].notna()]
    rows = rows[rows["system"] == "popular"]
    labels = [
        (str(r.scenario), -1, str(r.metric), "1", r.score, "set", "popular", str(r.scenario))
        for r in rows.itertuples()
    ]
    overall = rows.groupby("scenario", observed=True)["score"].mean()
    labels += [
        (str(id_), -1, "overall", "1", 25 * score, "set", "popular", str(id_))
        for id_, score in overall.items()
    ]
    return labels_of("people", labels)


def study(store: Store, labels: Labels | None = None) -> Study:
    return Study(StoredCampaign(store, "planted"), labels, Resampling(200))


def test_a_judge_that_loves_length_is_found(store: Store) -> None:
    flagged = ANALYSES["judge.length"].run(study(store)).data["flagged"]
    assert flagged == ["long"]


def test_a_judge_that_prefers_its_own_system_is_found(store: Store) -> None:
    found = ANALYSES["judge.self_preference"].run(study(store)).data
    assert found["flagged"] == ["own"]


def test_repeats_are_compared(store: Store) -> None:
    """The judge of length gives its scores again; one score for all cannot be told from chance."""
    found = ANALYSES["judge.retest"].run(study(store)).data
    assert all(0 <= row["equal"] <= 1 for row in found["rows"])
    assert "long" in found["flagged"]
    assert "own" not in found["flagged"]


def test_coupling_is_the_mean_of_pairwise_correlations(store: Store) -> None:
    rated = study(store).factors()
    rated = rated[rated["rater"] == "honest"]
    wide = rated.pivot_table("score", ["system", "scenario"], "metric", observed=True)
    matrix = np.corrcoef(wide.dropna(axis=1, how="all").to_numpy().T)
    expected = np.nanmean(np.abs(matrix[np.triu_indices(len(matrix), 1)]))
    rows = ANALYSES["core.rq1"].run(study(store)).data["raters"]
    (honest,) = [row for row in rows if row["rater"] == "honest"]
    assert honest["mean |r|"] == pytest.approx(expected)
    assert {row["rater"] for row in rows} >= {"honest", "long", "own", "mean of judges"}


def test_judges_are_held_against_people(store: Store) -> None:
    found = ANALYSES["core.rq2"].run(study(store, people(store))).data
    means = found["mean_rho"]
    assert max(means, key=lambda name: means[name]) in ("honest", "routed")
    overall = ANALYSES["core.rq3"].run(study(store, people(store))).data["rows"]
    assert {row["metric"] for row in overall} >= {"core.overall", "core.mean", "outcome.recall@10"}


class Partial(Study):
    """One judge has rated half of the scenarios alone."""

    def factors(self) -> pd.DataFrame:
        rated = super().factors()
        lacking = sorted(set(rated["scenario"].astype(str)))[:7]
        return rated[(rated["rater"] != "long") | ~rated["scenario"].astype(str).isin(lacking)]


def test_a_mean_of_judges_is_of_what_all_have_rated(store: Store) -> None:
    partial = Partial(StoredCampaign(store, "planted"), people(store), Resampling(50))
    coupled = {row["rater"]: row for row in ANALYSES["core.rq1"].run(partial).data["raters"]}
    assert [coupled[name]["conversations"] for name in ("own", "long", "mean of judges")] == [
        28,
        14,
        14,
    ]
    rows = ANALYSES["core.rq2"].run(partial).data["rows"]
    assert {row["n"] for row in rows if row["judge"] == "own"} == {14}
    assert {row["n"] for row in rows if row["judge"] == "mean of judges"} == {7}


def test_systems_by_judge_equal_a_groupby(store: Store) -> None:
    rows = pd.DataFrame(ANALYSES["core.rq4"].run(study(store)).data["rows"])
    own = rows[(rows["rater"] == "own") & (rows["system"] == "chatcrs")]
    assert set(own["mean"]) == {4.0}
    assert set(own["size"]) == {14}


def test_the_debate_is_held_against_its_beginning(store: Store) -> None:
    rows = ANALYSES["debate.value"].run(study(store)).data["rows"]
    assert [row["beside"] for row in rows] == ["round 1", "factors"]
    assert all(row["n"] == 28 for row in rows)


def test_widths_shrink_with_scenarios(store: Store) -> None:
    row = ANALYSES["judge.samples"].run(study(store)).data["rows"][0]
    assert row["n = 10"] > row["n = 100"] > row["n = 1000"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("core.rq2", "labels"),
        ("judge.position", "paireval"),
        ("judge.turns", "face"),
        ("offline.table", "offline"),
    ],
)
def test_what_is_missing_is_said(store: Store, name: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        ANALYSES[name].run(study(store))


def test_an_honest_judge_is_seldom_flagged() -> None:
    """In 5 % of seeds; of 100, 12 are more than that by chance (p < .01)."""
    flagged = Counter(
        name
        for seed in range(100)
        for names, study in ((HABITS, honest(seed)), (["judge.retest"], honest(seed, spread=0)))
        for name in names
        if ANALYSES[name].run(study).data["flagged"]
    )
    assert all(number < 12 for number in flagged.values())


def test_what_differs_by_place_and_turn_is_found() -> None:
    study = honest(0)
    rated = study.campaign.ratings
    rated["score"] += rated["turn"].clip(lower=0) * 0.3
    rated.loc[rated["evaluator"] == "first", "score"] += 1
    assert ANALYSES["judge.turns"].run(study).data["flagged"] == ["face.relevance"]
    assert ANALYSES["judge.position"].run(study).data["flagged"] == ["first"]


def test_parts_of_a_score_add_up(tmp_path: Path) -> None:
    """Half of the particles are greetings, which are rated 0; the others are rated 2."""

    def reply(request: Request, code: str) -> str:
        prompt = said(request)
        if "into particles" in prompt:
            acts = ("greeting", "recommendation")
            parts = [{"act": act, "mention": act, "feedback": None} for act in acts]
            return json.dumps({"particles": parts, "code": code})
        return f'<rating code="{code}">{0 if "<act>greeting</act>" in prompt else 2}</rating>'

    face = {"kind": "face", "aspects": ["understanding"], "samples": 1}
    path = tmp_path / "s.db"
    play(path, config(systems=["popular", "retrieval"], evaluators=[face]), reply)
    with Store(path, readonly=True) as kept:
        found = ANALYSES["face.explain"].run(Study(StoredCampaign(kept, "small"))).data
    assert {row["system"] for row in found["systems"]} == {"popular", "retrieval"}
    for part in ("turn", "act", "instruction", "particles"):
        for row in found["systems"]:
            own = [each for each in found[part] if each["system"] == row["system"]]
            total = sum(each["contribution"] for each in own)
            assert total == pytest.approx(row["contribution"]) == pytest.approx(0)
            assert sum(each["scores"] for each in own) == row["scores"]
    acts = {(row["act"], row["contribution"]) for row in found["act"]}
    assert acts == {("greeting", -0.5), ("recommendation", 0.5)}


def test_the_command_lists_and_asks(recjury: Recjury) -> None:
    assert set(recjury("analyse", "--json").json["analyses"]) > set(ANALYSES)
    assert recjury("demo", "--limit", "12").code == 0
    assert recjury("analyse", "core.rq1", "--json").json["raters"]
    assert "did you mean core.rq" in recjury("analyse", "core.rq").err
