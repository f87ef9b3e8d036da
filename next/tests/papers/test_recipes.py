"""The papers' tables: from a scripted campaign as by hand, and beside what is published."""

import asyncio
from collections import defaultdict
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import pytest
from pydantic import TypeAdapter
from scipy import stats

from recjury.agreement import Labels, labels_of
from recjury.campaign import Config, read_config, run
from recjury.errors import UserError
from recjury.judges import EVALUATORS
from recjury.llm import Model, ScriptedModel
from recjury.papers.published import published
from recjury.papers.recipes import Data, judge_file, listed, recipes, shown
from recjury.records import DEBATE, ratings_of
from recjury.store import Store
from tests.campaign.campaigns import said
from tests.replies import reply_to

JUDGES = ("one", "two")
Scores = dict[tuple[str, str, str, str], float]
"""Scores by system, conversation, judge and factor."""


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A campaign of two systems over twelve scenarios, with two judges and a debate."""
    config = Config.model_validate(
        {
            "name": "core",
            "scenarios": [{"corpus": "sample", "limit": 12}],
            "systems": ["popular", "retrieval"],
            "users": [{"kind": "llm", "model": "one"}],
            "evaluators": ["outcome", {"kind": "core", "judges": JUDGES}],
            "models": {name: {"name": name, "price_in": 0, "price_out": 0} for name in JUDGES},
        }
    )

    def opened(model: Model) -> ScriptedModel:
        return ScriptedModel(lambda request, _: reply_to(said(request), salt=model.name))

    file = tmp_path_factory.mktemp("core") / "core.db"
    with Store(file) as store:
        asyncio.run(run(config, store, open_provider=opened))
    return file


@pytest.fixture(scope="module")
def by_hand(path: Path) -> Scores:
    """The judges' scores, read finding by finding."""
    found: Scores = {}
    with Store(path, readonly=True) as store:
        systems = {row.id: row.system for row in store.conversations("core")}
        for row in store.evaluations("core"):
            for each in ratings_of(store.findings(row.id)):
                if each.rater in JUDGES and each.score is not None and each.rater != DEBATE:
                    key = (systems[row.conversation], row.conversation, each.rater, each.metric)
                    found[key] = each.score
    return found


@pytest.fixture(scope="module")
def people(by_hand: Scores) -> Labels:
    """Two people; their labels of a factor follow judge "one", and are off by one at times."""
    rows = []
    for (system, id_, judge, factor), score in by_hand.items():
        if judge == "one":
            other = max(0.0, score - (len(id_ + factor) + int(id_[0], 16)) % 2)
            for rater, given in (("a", score), ("b", other)):
                rows.append((id_, -1, factor, rater, given, "core", system, id_))
    return labels_of("people", rows)


def test_table_8_is_rho_and_tau_by_factor_and_judge(
    path: Path, by_hand: Scores, people: Labels
) -> None:
    found = shown("core.table8", Data(str(path), labels=people, resamples=100))
    rows = {(row["factor"], row["judge"]): row for row in found.data["rows"]}
    labels: dict[tuple[str, str], list[float]] = defaultdict(list)
    for row in people.frame.to_dict("records"):
        labels[row["conversation"], row["metric"]].append(row["score"])
    compared = 0
    for factor in {key[3] for key in by_hand}:
        for judge in JUDGES:
            pairs = [
                (score, fmean(labels[id_, factor]))
                for (_, id_, rater, metric), score in by_hand.items()
                if (rater, metric) == (judge, factor) and (id_, factor) in labels
            ]
            if len(pairs) < 10 or min(len(set(side)) for side in zip(*pairs, strict=True)) < 2:
                continue
            x, y = zip(*pairs, strict=True)
            row = rows[factor, judge]
            assert row["rho"] == pytest.approx(stats.spearmanr(x, y).statistic)
            assert row["tau"] == pytest.approx(stats.kendalltau(x, y).statistic)
            assert row["n"] == len(pairs)
            compared += 1
    assert compared >= 16
    assert {"factor": "coherence", "judge": "GPT-4o-mini", "spearman": 0.642, "kendall": 0.564} in (
        found.data["published"]
    )


def test_tables_21_to_23_are_means_and_deviations(path: Path, by_hand: Scores) -> None:
    found = shown("core.tables21-23", Data(str(path)))
    groups: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    for (system, _, judge, factor), score in by_hand.items():
        groups[system, judge, factor].append(score)
    rows = {(row["system"], row["rater"], row["metric"]): row for row in found.data["rows"]}
    assert rows.keys() == groups.keys()
    for key, scores in groups.items():
        assert rows[key]["mean"] == pytest.approx(fmean(scores))
        assert rows[key]["std"] == pytest.approx(stdev(scores))
    assert any("0.12" in note for note in found.notes)


def test_figure_6_is_the_mean_of_66_correlations(path: Path, by_hand: Scores) -> None:
    found = shown("core.figures6-7", Data(str(path)))
    row = next(row for row in found.data["raters"] if row["rater"] == "one")
    columns: dict[str, dict[str, float]] = defaultdict(dict)
    for (_, id_, judge, factor), score in by_hand.items():
        if judge == "one":
            columns[factor][id_] = score
    values = []
    for first in columns:
        for second in columns:
            both = sorted(columns[first].keys() & columns[second].keys())
            if first < second and len(both) >= 10:
                sides = [[columns[name][id_] for id_ in both] for name in (first, second)]
                if all(len(set(side)) > 1 for side in sides):
                    values.append(abs(stats.pearsonr(*sides).statistic))
    assert row["mean |r|"] == pytest.approx(fmean(values))
    assert row["pairs"] == len(values)
    assert row["below .2"] == sum(value < 0.2 for value in values)


def test_shares_and_agreement_are_of_the_labels_alone() -> None:
    rows = [
        (f"d{n}", -1, "overall", rater, n % 3, "set", "s", "c") for n in range(9) for rater in "ab"
    ]
    data = Data(labels=labels_of("set", rows))
    (row,) = shown("face.table5", data).data["rows"]
    assert row["alpha"] == row["interval alpha"] == 1
    assert [row["share"] for row in shown("face.figure2", data).data["rows"]] == [1 / 3] * 3


@pytest.mark.parametrize("name", recipes())
def test_each_recipe_names_what_there_is(name: str, tmp_path: Path) -> None:
    chosen = recipes()[name]
    if chosen.published:
        assert len(published(name.partition(".")[0], chosen.published)) >= 2
    if not chosen.judge:
        return
    file = tmp_path / "judges.yaml"
    file.write_text(judge_file(name, 2).replace("face-instructions", "initial"))
    config = read_config(file, {"recordings": {"x": ""}, "scenarios": [], "systems": []})
    names = set()
    for part in config.evaluators:
        made = TypeAdapter(EVALUATORS[part["kind"]]).validate_python({"name": part["kind"], **part})
        names |= {f"{made.name.partition('#')[0]}.{each.name}" for each in made.metrics}
    assert {pair.partition("=")[0] for pair in chosen.pair} <= names


def test_draws_have_a_mean_and_a_deviation(tmp_path: Path) -> None:
    rows, scores = [], ["conversation,turn,metric,score"]
    for number in range(12):
        rows.append((f"d{number}", 0, "reply_quality", "p", number % 5, "set", "s", f"d{number}"))
        for seed, shift in enumerate((0, 3)):
            scores.append(f"d{number},0,paireval#{seed}.turn,{number % 5 + number * shift % 4}")
    file = tmp_path / "scores.csv"
    file.write_text("\n".join(scores))
    found = shown("paireval.table2", Data(str(file), labels=labels_of("set", rows), resamples=100))
    (row,) = found.data["draws"]
    one = stats.pearsonr([n % 5 for n in range(12)], [n % 5 + n * 3 % 4 for n in range(12)])
    assert row["metric"] == "paireval.turn"
    assert row["draws"] == 2
    assert row["pearson"] == pytest.approx((1 + one.statistic) / 2)
    assert row["pearson sd"] == pytest.approx(stdev([1.0, float(one.statistic)]))


@pytest.mark.parametrize(
    ("name", "data", "names"),
    [
        ("core.table8", Data("core.db"), "annotate"),
        ("face.table1", Data("none.db", labels=labels_of("x", [])), "recjury judge --labels"),
        ("face.figure2", Data(), "--labels crsarena-eval"),
        ("core.table7", Data(), "core.table8"),
    ],
)
def test_what_is_missing_is_said_with_its_command(name: str, data: Data, names: str) -> None:
    with pytest.raises(UserError, match=names):
        shown(name, data)


def test_all_are_listed_with_their_costs() -> None:
    told: Any = listed().data
    assert told["face.table1"]["cost"] == [72, 331, 5520]
    assert len(told) == len(recipes()) >= 20
