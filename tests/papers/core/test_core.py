"""CoRE's questions, asked of simulated judges and raters whose truth is known."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from recjury.judges.core.evaluator import CoreEvaluator
from recjury.papers.core.judge_weights import judge_weights
from recjury.papers.published import published
from recjury.records import Factor, Rating, Status, metric_id
from recjury.store import Store
from tests.agreement.annotation.tasks import key_of, saved
from tests.cli.front_door import Command
from tests.report.filling import Played, evaluator, fill

IDS = [metric_id(factor) for factor in Factor]
RECORDS, SYSTEMS = 30, "abcd"


def _truth(record: int, system: str) -> np.ndarray:
    """Twelve true scores of a conversation, 0 to 4, nearly independent of each other."""
    rng = np.random.default_rng([record, ord(system)])
    return np.asarray(rng.integers(0, 5, 12), dtype=float)


class _ByTwoJudges(Played):
    """One judge is right on even factors, the other on odd ones; both else say one thing.

    What "halo" says of the factors it does not see is one general impression.
    """

    def ratings(self) -> tuple[Rating, ...]:
        truth = _truth(int(self.record), self.system)
        impression = float(round(truth.mean()))
        given = [
            (judge, factor, truth[place] if place % 2 == right else impression)
            for judge, right in (("even", 0), ("odd", 1))
            for place, factor in enumerate(Factor)
        ]
        means = [
            ("mean", factor, (given[place][2] + given[place + 12][2]) / 2)
            for place, factor in enumerate(Factor)
        ]
        return tuple(
            Rating(evaluator=judge, factor=factor, score=float(score), status=Status.SCORED, high=4)
            for judge, factor, score in (*given, *means)
        )


def _annotated(command: Command, folder: Path) -> str:
    """A store, and labels.json: people who see the truth with an error of a tenth of answers."""
    url = f"sqlite:///{folder / 'runs.db'}"
    with Store.open(url) as store:
        played = [
            _ByTwoJudges(
                system, str(n), scores=[(float(_truth(n, system).mean() * 25),) * 4], hit_at=3
            )
            for n in range(RECORDS)
            for system in SYSTEMS
        ]
        fill(store, played, evaluators=(evaluator("core"), evaluator("outcome")))
    ended = command("annotate", "export", "task", "--store", url, "--raters", "2")
    assert ended.code == 0, ended.err
    key = key_of(Path("task"))
    rng = np.random.default_rng(7)
    files = []
    for rater in key.task.raters:
        given = []
        for name, question in key.task.asked(rater):
            log = key.logs[name]
            truth = _truth(int(log.scenario.record), log.system)
            score = int(truth.mean() * 25) if question == "overall" else truth[IDS.index(question)]
            if rng.random() < 0.1:
                score = rng.integers(0, 101 if question == "overall" else 5)
            given.append((name, question, int(score)))
        files.append(saved(key, rater, given, Path(f"{rater}.json")))
    ended = command("annotate", "import", "task/key.json", *files)
    assert ended.code == 0, ended.err
    return url


def _tables(command: Command, name: str, *arguments: object) -> dict[str, list[dict[str, Any]]]:
    ended = command("analyse", name, *arguments, "--json")
    assert ended.code == 0, ended.err
    tables: dict[str, list[dict[str, Any]]] = json.loads(ended.out)["tables"]
    return tables


def _by(rows: list[dict[str, Any]], key: str) -> dict[str, dict[str, Any]]:
    return {row[key]: row for row in rows}


@pytest.mark.slow
def test_the_truth_of_simulated_raters_is_found(command: Command, tmp_path: Path) -> None:
    url = _annotated(command, tmp_path)
    labels = ("--labels", "annotations:labels.json", "--store", url)
    asked = (*labels, "--set", "resamples=100")
    # RQ1: people's factors are independent, half of each judge's are one impression.
    tables = _tables(command, "core.rq1", *asked)
    coupling = _by(tables["coupling"], "who")
    people, judge = coupling["people"], coupling["even"]
    assert people["pairs"] == 66
    assert people["below_0.2"] > 60
    assert abs(people["mean"]["value"]) < 0.05
    assert judge["at_least_0.5"] == 15
    assert judge["halo"] > people["halo"] + 0.2
    assert len(tables["correlations"]) == 66 * 4, "of people and three judges"
    assert coupling["GPT-4o-mini (paper)"]["mean"] == 0.29
    named = _by(tables["pairs"], "pair")
    assert len(named) == 8, "the seven of at least .5, and the one near 0"
    assert named["coherence, recoverability"]["paper, people"] == 0.78
    assert named["semantic_relevance, coherence"]["paper, GLM-4-Air"] == 0.27
    r = {(row["who"], row["first"], row["second"]): row["r"] for row in tables["correlations"]}
    assert named["coherence, explainability"]["odd"] == r["odd", "coherence", "explainability"]
    ended = command("analyse", "core.rq1", *asked, "--out", "figure6.svg")
    assert ended.code == 0, ended.err
    drawn = Path("figure6.svg").read_text("utf-8")
    assert all(f">{title}<" in drawn for title in ("people", "even", "odd", "mean"))
    # RQ2: each factor's judge is the one who saw it, also on records it was not chosen on.
    tables = _tables(command, "core.rq2", *asked)
    factors = _by(tables["factors"], "factor")
    assert [factors[name]["best"] for name in IDS] == ["even", "odd"] * 6
    for name in IDS:
        row = factors[name]
        rho = row[row["best"]]["value"]
        assert rho > 0.8
        assert row["best judge, held out"]["value"] == pytest.approx(rho, abs=0.08)
        assert row["weights, held out"]["value"] > row["mean"]["value"]
        assert row["ceiling"] == pytest.approx(0.81, abs=0.15)
    weights = _by(tables["weights"], "factor")
    assert [weights[name]["even"] > 0.6 for name in IDS] == [True, False] * 6
    assert all(own["even"] + own["odd"] == pytest.approx(1) for own in weights.values())
    assert {"even", "odd", "mean", "mean (paper)", "weights, held out"} < {
        row["judge"] for row in tables["coefficients"]
    }
    assert factors["coherence"]["paper, LLaMa-3-8B"] == 0.698
    # RQ3: the verdict is the truth, and Recall is the same everywhere.
    overall = _by(_tables(command, "core.rq3", *asked)["overall"], "score")
    assert overall["core.overall"]["spearman"]["value"] > 0.7
    assert overall["mean of factors (mean)"]["spearman"]["value"] > 0.5
    assert overall["outcome.recall@10"]["spearman"]["value"] is None
    assert overall["CoRE (Multi-Agent) (paper)"]["spearman"] == 0.718
    # RQ4: the scores of the judges that were chosen, here the truth.
    truth = [_truth(n, "a")[1] for n in range(RECORDS)]
    tables = _tables(command, "core.rq4", *asked)
    means = {
        row["score"]: row
        for row in tables["means"]
        if (row["system"], row["judge"], row["corpus"]) == ("a", "odd", "sample/test")
    }
    assert means[IDS[1]]["mean"] == pytest.approx(np.mean(truth))
    assert means[IDS[1]]["sd"] == pytest.approx(np.std(truth, ddof=1))
    assert means[IDS[1]]["n"] == RECORDS
    shown = f"{np.mean(truth):.2f} ({np.std(truth, ddof=1):.2f})"
    chosen = _by(tables["systems"], "score")[IDS[1]]
    assert (chosen["judge"], chosen["a"]) == ("odd", shown)
    verdicts = [_truth(n, "a").mean() * 25 for n in range(RECORDS)]
    roles = _by(tables["roles"], "score")
    assert set(roles) == {"Common User", "Domain Expert", "Linguist", "HCI Expert", "overall"}
    shown = f"{np.mean(verdicts):.2f} ({np.std(verdicts, ddof=1):.2f})"
    assert roles["HCI Expert"]["a"] == roles["overall"]["a"] == shown
    (paper,) = (
        row
        for row in tables["paper"]
        if (row["judge"], row["system"], row["corpus"], row["score"])
        == ("LLaMa-3-8B", "BARCOR", "redial", "groundness")
    )
    assert (paper["mean"], paper["sd"]) == (2.31, 1.24)
    ended = command("analyse", "core.rq4", *asked, "--out", "figures")
    assert {path.name for path in Path("figures").glob("*.svg")} == {"figure7.svg", "figure8.svg"}
    best = _by(_tables(command, "core.routing", *asked, "--out", "routing.yaml")["best"], "factor")
    assert best["novelty"]["judge"] == factors["novelty"]["best"]
    config = CoreEvaluator.model_validate(
        {"judges": {"kind": "llm", "models": ["even"], "routing": "routing.yaml"}}
    )
    assert config.judges.routing == dict(zip(Factor, ["even", "odd"] * 6, strict=True))


def test_without_people_judges_and_systems_are_shown(command: Command, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'runs.db'}"
    with Store.open(url) as store:
        fill(store, [_ByTwoJudges(s, str(n)) for s in "ab" for n in range(9)])
    coupling = _by(_tables(command, "core.rq1", "--store", url)["coupling"], "who")
    assert {who for who in coupling if "paper" not in who} == {"even", "odd", "mean"}
    means = _tables(command, "core.rq4", "--store", url)["means"]
    (own,) = (
        row for row in means if (row["judge"], row["system"], row["score"]) == ("mean", "b", IDS[0])
    )
    mean = np.mean([_truth(n, "b")[0] for n in range(9)])
    assert own["mean"] != pytest.approx(mean)  # of both judges' mean


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["core.routing"], "core.routing needs --labels"),
        (["core.rq1", "--set", "people_only=true"], "people_only needs --labels"),
        (["core.rq2", "--labels", "csv:labels.csv"], "labels of a store's conversations"),
    ],
)
def test_what_cannot_be_answered_is_one_line(
    command: Command, tmp_path: Path, arguments: list[str], message: str
) -> None:
    url = f"sqlite:///{tmp_path / 'runs.db'}"
    with Store.open(url) as store:
        fill(store, [Played("a", "1")])
    Path("labels.csv").write_text("conversation,aspect,label\n1,novelty,3\n", "utf-8")
    ended = command("analyse", *arguments, "--store", url)
    assert (ended.code, ended.err.count("\n")) == (2, 1)
    assert message in ended.err


def test_what_is_missing_is_said_with_the_command_that_makes_it(
    command: Command, tmp_path: Path
) -> None:
    url = f"sqlite:///{tmp_path / 'runs.db'}"
    with Store.open(url) as store:
        fill(store, [Played(system, str(n), scores=()) for n in range(3) for system in "ab"])
    ended = command("analyse", "core.rq4", "--store", url)
    assert ended.code == 0, ended.err
    said = " ".join((ended.out + ended.err).split())
    assert "no debate was held" in said
    assert "`recjury judge --campaign ID --config FILE`" in said
    assert "without --labels" in said
    assert "3 records are too few for an interval" in said


def test_a_store_without_factors_is_one_line(command: Command, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'runs.db'}"
    with Store.open(url) as store:
        fill(store, [Played("a", "1")], evaluators=(evaluator("outcome"),))
    ended = command("analyse", "core.rq1", "--store", url)
    assert (ended.code, "no factor was rated here: `recjury judge" in ended.err) == (2, True)


def test_weights_are_shrunk_to_equal_ones() -> None:
    rng = np.random.default_rng(3)
    people = rng.normal(size=200)
    scores = np.column_stack([people, rng.normal(size=200), -people])
    assert judge_weights(scores, people, prior=0) == pytest.approx([1, 0, 0], abs=1e-6)
    assert judge_weights(scores, people, prior=1e9) == pytest.approx([1 / 3] * 3, abs=1e-3)
    some = judge_weights(scores, people, prior=200)
    assert some.sum() == pytest.approx(1)
    assert 1 / 3 < some[0] < 1
    assert judge_weights(np.ones((5, 2)), np.ones(5), prior=1) == pytest.approx([0.5, 0.5])


def test_a_routing_file_that_is_none_is_said(tmp_path: Path) -> None:
    for text, message in (("Charm: a", "Coherence"), ("[1, 2", "is not YAML"), (None, "be read")):
        path = tmp_path / f"{len(message)}.yaml"
        if text is not None:
            path.write_text(text, "utf-8")
        with pytest.raises(ValueError, match=message):
            CoreEvaluator.model_validate({"judges": {"routing": str(path)}})


def test_the_published_figures_are_whole() -> None:
    paper = published("core")
    assert set(paper["factors"]) == set(IDS)
    assert paper["factors"]["coherence"]["LLaMa-3-8B"] == {"spearman": 0.698, "kendall": 0.617}
    people = paper["coupling"]["people"]
    high = [r for r in people["pairs"].values() if r >= 0.5]
    assert len(high) == people["at_least_0.5"] == 7
    assert people["pairs"]["semantic_relevance, coherence"] == 0.007
    assert paper["overall"]["CoRE (Multi-Agent)"]["spearman"] == 0.718
    for systems in paper["systems"].values():
        assert set(systems) == {"BARCOR", "CHATCRS", "KBRD", "UniCRS"}
        assert all(set(own) == {"opendialkg", "redial"} for own in systems.values())
        assert all(set(each) == set(IDS) for own in systems.values() for each in own.values())
    better = [
        name
        for name, own in paper["factors"].items()
        if own["mean"]["spearman"] > max(v["spearman"] for k, v in own.items() if k != "mean")
    ]
    assert len(better) == 6, "the slip that the file notes"

    impossible = [
        (judge, system, corpus, factor)
        for judge, systems in paper["systems"].items()
        for system, corpora in systems.items()
        for corpus, factors in corpora.items()
        for factor, own in factors.items()
        if own["sd"] > np.sqrt((own["mean"] + 0.005) * (4.005 - own["mean"])) + 0.005
    ]
    assert impossible == [("GPT-4o-mini", "KBRD", "opendialkg", "proactiveness")], "noted, too"
    diversity = paper["systems"]["GPT-4o-mini"]
    assert diversity["CHATCRS"]["redial"]["diversity"]["mean"] < 3.38, "of BARCOR: noted, too"
    assert len(paper["slips"]) == 11
