"""Whether systems are in people's order, by labels and by votes."""

import csv
import itertools
import json
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from scipy import stats

from recjury.agreement.label_forms import read_labels
from recjury.agreement.score_files import read_scores
from recjury.agreement.system_agreement import system_agreement, vote_agreement
from recjury.corpora.crsarena_votes import Vote, read_votes
from recjury.errors import DataError
from recjury.records import ScoreTarget
from recjury.stats.ranking import Match, strengths
from tests.cli.front_door import Command

QUALITY = {"good": 3.0, "fair": 2.0, "poor": 1.0, "awful": 0.0}


def _write(path: Path, heading: str, rows: list[tuple[object, ...]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([tuple(heading.split(",")), *rows])
    return path


def _files(folder: Path, systems: int = 4, each: int = 30) -> tuple[Path, Path]:
    rng = np.random.default_rng(5)
    labels: list[tuple[object, ...]] = []
    scores: list[tuple[object, ...]] = []
    for system, quality in list(QUALITY.items())[:systems]:
        for number in range(each):
            name = f"{system}-{number}"
            labels += [
                (name, "quality", round(quality + rng.normal(0, 0.6)), rater, system)
                for rater in "xy"
            ]
            scores.append((name, "m.quality", quality + rng.normal(0, 1.0)))
    return (
        _write(folder / "scores.csv", "conversation,metric,score", scores),
        _write(folder / "labels.csv", "conversation,aspect,label,rater,system", labels),
    )


def test_planted_systems_are_found_in_their_order(command: Command, tmp_path: Path) -> None:
    scores, labels = _files(tmp_path)
    ended = command("align", scores, "--labels", f"csv:{labels}", "--systems", "--json",
                    "--resamples", "300", "--plot", "plots")  # fmt: skip
    assert ended.code == 0, ended.err
    own = json.loads(ended.out)["all"]["quality"]["systems"]
    assert own["systems"] == 4
    assert own["spearman"]["value"] == pytest.approx(1)
    assert own["kendall"]["value"] == pytest.approx(1)
    assert own["pearson"]["value"] > 0.95
    assert own["spearman"]["low"] > 0.5
    (plot,) = Path("plots").iterdir()
    assert plot.name == "all-quality-m.quality.svg"
    drawn = ElementTree.fromstring(plot.read_text("utf-8"))
    texts = ["".join(each.itertext()) for each in drawn.iter("{http://www.w3.org/2000/svg}text")]
    for part in ("Spearman's rho; one person: 0", "length", "system_mean"):
        assert any(text.startswith(part) for text in texts)
    shown = command("align", scores, "--labels", f"csv:{labels}", "--systems", "--resamples", "100")
    assert "r of means" in shown.out


def test_it_is_scipys_correlation_of_the_means(tmp_path: Path) -> None:
    scores, labels = _files(tmp_path, each=4)
    given, people = read_scores(scores).scores["m.quality"], read_labels(f"csv:{labels}")
    found = system_agreement(given, people, "quality", "all", resamples=50)
    assert found is not None
    means = [
        [
            np.mean([value for place, value in own.items() if place.conversation.startswith(name)])
            for name in QUALITY
        ]
        for own in (given, people.labels["quality"])
    ]
    assert found.pearson.value == pytest.approx(stats.pearsonr(*means).statistic)
    assert found.kendall.value == pytest.approx(stats.kendalltau(*means).statistic)


def test_two_systems_have_no_rank_correlation(command: Command, tmp_path: Path) -> None:
    scores, labels = _files(tmp_path, systems=2)
    ended = command("align", scores, "--labels", f"csv:{labels}", "--systems")
    assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)
    assert "a rank correlation of systems needs 3 of them" in ended.err


def _voted(rng: np.random.Generator, users: int) -> list[Vote]:
    """Votes whose log-odds are the differences of the planted qualities."""
    names = [f"{name}_redial" for name in QUALITY]
    found = []
    for user in range(users):
        one, other = rng.choice(4, 2, replace=False)
        gap = list(QUALITY.values())[one] - list(QUALITY.values())[other]
        won = rng.random() < 1 / (1 + np.exp(-gap))
        found.append(Vote("closed", str(user), names[one], names[other], float(won)))
    return found


def test_strengths_from_votes_are_those_that_were_planted() -> None:
    votes = _voted(np.random.default_rng(1), 6_000)
    names = [f"{name}_redial" for name in QUALITY]
    matches = [Match(each.one, each.other, each.score, each.user) for each in votes]
    expected = np.array(list(QUALITY.values()))
    assert strengths(names, matches) == pytest.approx(expected - expected.mean(), abs=0.15)
    scores = {
        "m": {
            ScoreTarget(f"{name}_redial_{user}"): quality + (user % 5) / 3
            for name, quality in QUALITY.items()
            for user in range(20)
        }
    }
    found = vote_agreement(scores, votes[:400], resamples=50)
    assert [each.system for each in found.standings] == names
    own = found.metrics["m"]
    assert own.spearman.value == pytest.approx(1)
    assert own.spearman.low is not None
    assert own.spearman.low >= 0.8
    two = {"m": {p: s for p, s in scores["m"].items() if p.conversation[0] in "gf"}}
    with pytest.raises(DataError, match="2 systems have votes and scores of m"):
        vote_agreement(two, votes, resamples=10)


def test_the_votes_of_crsarena(data_folder: Path) -> None:
    votes = read_votes(data_folder / "crsarena-dial")
    assert len(votes) == 185
    assert sum(each.score == 0.5 for each in votes) == 72
    assert len({name for vote in votes for name in (vote.one, vote.other)}) == 9


def test_a_wrong_vote_is_said(command: Command, tmp_path: Path) -> None:
    heading = "session_id,user_id,crs1,crs2,vote,feedback"
    _write(tmp_path / "votes_open.csv", heading, [(1, "u", "a_redial", "b_redial", "c_redial", "")])
    scores, _ = _files(tmp_path)
    ended = command("align", scores, "--labels", f"crsarena-votes:{tmp_path}")
    assert (ended.code, ended.err.count("\n")) == (2, 1)
    assert "votes_open.csv:2: a vote for 'c_redial'" in ended.err
    (tmp_path / "votes_open.csv").unlink()
    assert "has no votes_closed.csv" in command(
        "align", scores, "--labels", f"crsarena-votes:{tmp_path}").err  # fmt: skip


def test_align_shows_the_ranking_by_votes(command: Command, tmp_path: Path) -> None:
    pairs = itertools.permutations(QUALITY, 2)
    rows: list[tuple[object, ...]] = []
    for number, (one, other) in enumerate(pairs):
        best = max(one, other, key=QUALITY.__getitem__)
        vote = "tie" if number % 5 == 4 else f"{best}_redial"
        rows.append((number, f"u{number}", f"{one}_redial", f"{other}_redial", vote, ""))
    _write(tmp_path / "votes_open.csv", "session_id,user_id,crs1,crs2,vote,feedback", rows)
    given = [
        (f"{name}_redial_u{number}", "overall", quality)
        for name, quality in QUALITY.items()
        for number in range(12)
    ]
    scores = _write(tmp_path / "scores.csv", "conversation,metric,score", list(given))
    votes = ("--labels", f"crsarena-votes:{tmp_path}", "--resamples", "100")
    found = json.loads(command("align", scores, *votes, "--json").out)
    assert found["votes"] == 12
    assert [each["system"] for each in found["ranking"]] == [f"{name}_redial" for name in QUALITY]
    assert found["metrics"]["overall"]["kendall"]["value"] == pytest.approx(1)
    shown = command("align", scores, *votes)
    assert "strength" in shown.out
    refused = command("align", scores, *votes, "--systems")
    assert "are not for crsarena-votes" in refused.err
