"""The papers' tables: from a scripted campaign as by hand, and beside what is published."""

import asyncio
import json
from collections import defaultdict
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import pytest
from pydantic import TypeAdapter
from scipy import stats

from recjury.agreement import Labels, labels_of, open_labels
from recjury.campaign import Config, read_config, run
from recjury.errors import UserError
from recjury.judges import EVALUATORS
from recjury.llm import Model, ScriptedModel
from recjury.papers import draw
from recjury.papers.recipes import judge_file, published, recipes, show
from recjury.records import DEBATE, Request, ratings_of
from recjury.results import Resampling, statements
from recjury.store import Store
from tests.campaign.campaigns import config as campaign
from tests.campaign.campaigns import play, said
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
    """Two people; their labels of a factor follow judge "one", and are off by one at times.

    Their overall score is 25 times the mean of the first one's labels.
    """
    rows: list[tuple[Any, ...]] = []
    whole: dict[tuple[str, str], list[float]] = defaultdict(list)
    for (system, id_, judge, factor), score in by_hand.items():
        if judge == "one":
            other = max(0.0, score - (len(id_ + factor) + int(id_[0], 16)) % 2)
            for rater, given in (("a", score), ("b", other)):
                rows.append((id_, -1, factor, rater, given, "core", system, id_))
            whole[id_, system].append(score)
    for (id_, system), scores in whole.items():
        rows.append((id_, -1, "overall", "a", 25 * fmean(scores), "core", system, id_))
    return labels_of("people", rows)


def test_table_8_is_rho_and_tau_by_factor_and_judge(
    path: Path, by_hand: Scores, people: Labels
) -> None:
    found = show("core.table8", str(path), people, resampling=Resampling(100))
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


def test_table_9_is_rho_of_the_verdict_and_of_the_mean_of_factors(
    path: Path, by_hand: Scores, people: Labels
) -> None:
    found = show("core.table9", str(path), people, resampling=Resampling(100))
    rows = {row["metric"]: row for row in found.data["rows"]}
    overall = people.frame[people.frame["metric"] == "overall"]
    labels = dict(zip(overall["conversation"], overall["score"], strict=True))
    factors: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for (_, id_, _, factor), score in by_hand.items():
        factors[id_][factor].append(score)
    means = {id_: fmean(map(fmean, own.values())) for id_, own in factors.items()}
    verdicts = {}
    with Store(path, readonly=True) as store:
        for row in store.evaluations("core"):
            for each in ratings_of(store.findings(row.id)):
                if each.rater == DEBATE and each.score is not None:
                    verdicts[row.conversation] = each.score
    for metric, values in (("core.overall", verdicts), ("core.mean", means)):
        x, y = zip(*((value, labels[id_]) for id_, value in values.items()), strict=True)
        assert rows[metric]["n"] == len(x) == 24
        assert rows[metric]["rho"] == pytest.approx(stats.spearmanr(x, y).statistic)
        assert rows[metric]["tau"] == pytest.approx(stats.kendalltau(x, y).statistic)


def test_figures_7_and_8_are_means_by_system(
    path: Path, by_hand: Scores, people: Labels, tmp_path: Path
) -> None:
    """People agree best with judge "one", so its scores are drawn; and the roles' last scores."""
    found = show("core.figures7-8", str(path), people, resampling=Resampling(100))
    means = {(row["system"], row["metric"]): row["mean"] for row in found.data["means"]}
    own = [
        s
        for (system, _, judge, factor), s in by_hand.items()
        if (system, judge, factor) == ("popular", "one", "coherence")
    ]
    assert means["popular", "coherence"] == pytest.approx(fmean(own))
    with Store(path, readonly=True) as store:
        said = statements(store, "core")
    last = said[said["round"] == said.groupby("conversation")["round"].transform("max")]
    for system, of in last.groupby("system", observed=True):
        assert means[str(system), "all roles"] == pytest.approx(float(of["score"].mean()))
    draw(found, tmp_path / "roles.svg")
    picture = (tmp_path / "roles.svg").read_text()
    assert all(name in picture for name in ("popular", "coherence", "all roles"))


def test_figure_6_and_shares_are_drawn(path: Path, people: Labels, tmp_path: Path) -> None:
    draw(show("core.figure6", str(path), people), tmp_path / "matrices.svg")
    picture = (tmp_path / "matrices.svg").read_text()
    assert all(name in picture for name in (*JUDGES, "mean of judges", "people", "coherence"))
    draw(show("face.figure2", labels=people), tmp_path / "shares.svg")
    picture = (tmp_path / "shares.svg").read_text()
    assert all(name in picture for name in ("retrieval", "naturalness"))
    with pytest.raises(UserError, match=r"\.png"):
        draw(show("face.figure2", labels=people), tmp_path / "shares.gif")


def test_tables_21_to_23_are_means_and_deviations(path: Path, by_hand: Scores) -> None:
    found = show("core.tables21-23", str(path))
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
    found = show("core.figure6", str(path))
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
    labels = labels_of("set", rows)
    (row,) = show("face.table5", labels=labels).data["rows"]
    assert row["alpha"] == row["alpha_interval"] == 1
    assert [row["share"] for row in show("face.figure2", labels=labels).data["rows"]] == [1 / 3] * 3


def test_accuracy_is_the_share_of_originals_that_score_higher(tmp_path: Path) -> None:
    """Three pairs of ten score alike or the wrong way round; equal replies are no pair."""
    rows = [
        {
            "id": f"{attack}-{n}",
            "attack": attack,
            "history": ["Hi"],
            "original": "Yes",
            "perturbed": p,
        }
        for attack in ("dullness", "repetition")
        for n, p in enumerate(["No"] * 10 + ["Yes"])
    ]
    (tmp_path / "pairs.jsonl").write_text("\n".join(map(json.dumps, rows)))
    labels = open_labels(f"response-pairs:{tmp_path / 'pairs.jsonl'}")
    assert len(labels.recordings) == 40
    lines = ["conversation,turn,system,metric,score"]
    for row in rows:
        number = int(str(row["id"]).partition("-")[2])
        worse = {0: 0.9, 1: 0.8, 2: 0.8}.get(number, 0.1) if row["attack"] == "dullness" else 0.1
        for system, score in (("original", 0.8), ("perturbed", worse)):
            lines.append(f"{row['id']},0,{system},paireval.turn,{score}")
    (tmp_path / "scores.csv").write_text("\n".join(lines))
    found = show("paireval.table7", str(tmp_path / "scores.csv"), labels).data
    accuracy = {row["subset"]: (row["accuracy"], row["pairs"]) for row in found["rows"]}
    assert accuracy == {"dullness": (0.7, 10), "repetition": (1.0, 10)}
    assert found["means"]["paireval.turn"] == pytest.approx(0.85)


def test_reasons_are_held_against_scores(tmp_path: Path) -> None:
    """The judge that rates first says another rating in its reasons; the other says its score."""
    orders = ("rating-first", "analysis-first")
    judges = [
        {"kind": "dialogue-quality", "name": order, "level": "dialogue", "method": "generation"}
        | {"order": order}
        for order in orders
    ]

    def reply(request: Request, code: str) -> str:
        rating = f'<rating code="{code}">3</rating>'
        is_first = "After it, explain" in said(request)
        return f"{rating} A rating of 5." if is_first else f"A rating of 3. {rating}"

    play(tmp_path / "s.db", campaign(evaluators=judges), reply)
    found = show("quality.section5.5", str(tmp_path / "s.db"), labels_of("uss", []))
    rows = {row["evaluator"]: row for row in found.data["rows"]}
    assert [rows[order]["equal"] for order in orders] == [0, 1]
    assert all(row["named"] == 1 for row in rows.values())


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
    found = show("paireval.table2", str(file), labels_of("set", rows), resampling=Resampling(100))
    (row,) = found.data["draws"]
    one = stats.pearsonr([n % 5 for n in range(12)], [n % 5 + n * 3 % 4 for n in range(12)])
    assert row["metric"] == "paireval.turn"
    assert row["draws"] == 2
    assert row["pearson"] == pytest.approx((1 + one.statistic) / 2)
    assert row["pearson sd"] == pytest.approx(stdev([1.0, float(one.statistic)]))


@pytest.mark.parametrize(
    ("name", "source", "labels", "names"),
    [
        ("core.table8", "core.db", None, "annotate"),
        ("face.table1", "none.db", labels_of("x", []), "recjury judge --labels"),
        ("face.figure2", "", None, "--labels crsarena-eval"),
        ("core.table7", "", None, "core.table8"),
    ],
)
def test_what_is_missing_is_said_with_its_command(
    name: str, source: str, labels: Labels | None, names: str
) -> None:
    with pytest.raises(UserError, match=names):
        show(name, source, labels)


def test_all_are_listed_with_their_costs() -> None:
    assert "$72, $331, $5,520" in recipes()["face.table1"].about
    assert len(recipes()) >= 20
