"""Scores held against people: published figures, SciPy's, and what has no number."""

import json
import math
import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import kendalltau, pearsonr, spearmanr

from recjury.agreement import Labels, Study, align, labels_of, open_labels, read_scores
from recjury.agreement.labels import with_labels
from recjury.errors import UserError
from recjury.results import Findings, Resampling, StoredCampaign
from recjury.results.ratings import TRIAL
from recjury.stats import krippendorff_alpha
from recjury.store import Store
from tests.campaign.campaigns import config, play
from tests.cli.conftest import Recjury, recjury

__all__ = ["recjury"]

DATA = os.environ.get("RECJURY_DATA", "")
needs_data = pytest.mark.skipif(not DATA, reason="RECJURY_DATA is not set")


def planted(n: int = 60, *, metric: str = "overall") -> tuple[pd.DataFrame, Labels]:
    """Scores that follow people's, of three systems with levels of their own."""
    generator = np.random.default_rng(1)
    rows, scores = [], []
    for number in range(n):
        system = f"s{number % 3}"
        label = float(np.clip(round(generator.normal(2 + number % 3)), 0, 4))
        rows += [
            (f"c{number}", -1, metric, str(r), label, "set", system, f"c{number}") for r in (1, 2)
        ]
        scores.append((f"c{number}", -1, f"mine.{metric}", label + generator.normal(0, 0.7)))
    frame = pd.DataFrame(scores, columns=["conversation", "turn", "metric", "score"])
    return frame, labels_of("test", rows)


def rows_of(found: Findings) -> list[dict[str, Any]]:
    """What is known about the metrics, without what reads no word."""
    rows: list[dict[str, Any]] = found.data["rows"]
    return [row for row in rows if not row["metric"].startswith("(")]


def test_coefficients_are_those_of_scipy() -> None:
    scores, labels = planted()
    found = align(scores, labels)
    (own,) = rows_of(found)
    x, y = scores["score"], labels.means()["score"]
    assert own["pearson"] == pytest.approx(pearsonr(x, y).statistic)
    assert own["spearman"] == pytest.approx(spearmanr(x, y).statistic)
    assert own["kendall"] == pytest.approx(kendalltau(x, y).statistic)
    for name in ("pearson", "spearman", "kendall"):
        assert own[f"{name}_low"] < own[name] < own[f"{name}_high"]
    systems = labels.means()["system"]
    centred = [v - v.groupby(systems).transform("mean") for v in (x, y)]
    assert own["within_pearson"] == pytest.approx(pearsonr(*centred).statistic)
    (people,) = found.data["people"]
    assert people["alpha"] == pytest.approx(1.0)


def test_labels_without_a_system_have_that_of_the_conversation() -> None:
    scores, labels = planted()
    unnamed = labels._replace(frame=labels.frame.assign(system="unknown"))
    with_system = scores.assign(system=list(labels.means()["system"]))
    assert rows_of(align(with_system, unnamed)) == rows_of(align(scores, labels))
    again = with_system[-1:].assign(system="other")
    with pytest.raises(UserError, match="more than one system"):
        align(pd.concat([with_system, again]), unnamed)


def test_scores_that_differ_by_rounding_are_tied() -> None:
    scores, labels = planted()
    noisy = scores.assign(score=scores["score"].round() + np.tile([0, 1e-13, -1e-13], 20))
    exact = scores.assign(score=scores["score"].round())
    (one,), (other,) = (rows_of(align(each, labels)) for each in (noisy, exact))
    assert one == other


def test_two_judges_are_compared() -> None:
    scores, labels = planted()
    noise = np.random.default_rng(2).normal(size=len(scores))
    worse = scores.assign(metric="poor.overall", score=noise)
    found = align(pd.concat([scores, worse]), labels)
    assert [row["metric"] for row in rows_of(found)] == ["mine.overall", "poor.overall"]
    (difference,) = found.data["differences"]
    assert difference["a"] == "poor.overall"
    assert difference["high"] < 0


def test_defects_are_counted() -> None:
    """Of six defects five are found, and two others are taken for defects: by hand."""
    given = [(2, 1), (3, 3), (1, 2), (2, 3), (3, 2), (2, 5), (4, 4), (5, 4), (4, 2), (5, 3)]
    scores = [(f"c{n}", -1, "mine.satisfaction", float(said)) for n, (_, said) in enumerate(given)]
    frame = pd.DataFrame(scores, columns=["conversation", "turn", "metric", "score"])
    rows = [
        (f"c{n}", -1, "satisfaction", "1", y, "set", "s", f"c{n}") for n, (y, _) in enumerate(given)
    ]
    found = align(frame, labels_of("uss", rows), resampling=Resampling(100))
    (own,) = found.data["defects"]
    assert own["rate"] == 0.6
    assert (own["precision"], own["recall"]) == (pytest.approx(5 / 7), pytest.approx(5 / 6))
    assert own["f1"] == pytest.approx(10 / 13)
    assert own["satisfied f1"] == pytest.approx(4 / 7)
    assert own["macro f1"] == pytest.approx((10 / 13 + 4 / 7) / 2)
    assert own["weighted f1"] == pytest.approx(0.6 * 10 / 13 + 0.4 * 4 / 7)
    assert own["micro f1"] == pytest.approx(0.7)
    assert not align(*planted()).data["defects"]


def test_what_chance_explains_is_not_named() -> None:
    """Of 20 metrics without a word about the labels, one has an interval above 0."""
    _, labels = planted()
    generator = np.random.default_rng(13)
    frames = [
        pd.DataFrame({"conversation": labels.means()["conversation"], "turn": -1}).assign(
            metric=f"m{number}.overall", score=generator.normal(size=60)
        )
        for number in range(20)
    ]
    found = align(pd.concat(frames), labels, resampling=Resampling(500))
    assert any(row["spearman_low"] > 0 for row in rows_of(found))
    assert "None of 20" in found.answer
    true, _ = planted()
    found = align(pd.concat([*frames, true]), labels, resampling=Resampling(500))
    assert "1 of 21" in found.answer
    assert "mine.overall" in found.answer
    turned = align(true.assign(score=-true["score"]), labels, resampling=Resampling(500))
    assert "None of 1 " in turned.answer


def test_systems_are_ranked() -> None:
    scores, labels = planted()
    (own,) = rows_of(align(scores, labels, level="system"))
    assert own["n"] == 3
    assert own["pearson"] > 0.9


def test_raters_of_a_csv_are_averaged_and_nan_is_no_score(tmp_path: Path) -> None:
    rows = [f"c{n},m.q,{n},{rater}" for n in range(12) for rater in "ab"] + ["c12,m.q,nan,a"]
    (tmp_path / "s.csv").write_text("\n".join(("conversation,metric,score,rater", *rows)))
    labels = labels_of("x", [(f"c{n}", -1, "q", "p", n % 5, "", "", f"c{n}") for n in range(13)])
    found = align(
        read_scores(str(tmp_path / "s.csv")), labels, ["m.q=q"], resampling=Resampling(100)
    )
    (own,) = next(iter(found.tables.values())).query("metric == 'm.q'").to_dict("records")
    assert (own["n"], own["coverage"]) == (12, "92%")


def test_of_two_dialogues_there_is_no_interval() -> None:
    scores, labels = planted()
    clusters = [f"d{int(id_[1:]) % 2}" for id_ in labels.frame["conversation"]]
    found = align(scores, labels._replace(frame=labels.frame.assign(cluster=clusters)))
    (own,), (usual,) = (rows_of(each) for each in (found, align(scores, labels)))
    assert (own["clusters"], usual["clusters"]) == (2, 60)
    for name in ("pearson", "spearman", "kendall"):
        assert own[name] == pytest.approx(usual[name])
        assert math.isnan(own[f"{name}_low"])
        assert math.isnan(own[f"{name}_high"])
    assert any("fewer than 8 clusters" in note for note in found.notes)


def of_two_corpora(*, subset: str = "corpus", system: str = "s") -> tuple[pd.DataFrame, Labels]:
    """Twelve conversations in each of two corpora, by the same ids: scores rise in one, fall in
    the other, as their labels do.
    """
    rows, scores = [], []
    for number in range(12):
        for corpus, value in (("a", number), ("b", -number)):
            name = corpus if subset == "corpus" else subset
            rows.append((f"c{number}", -1, "overall", "1", value, name, "s", f"{corpus}{number}"))
            scores.append((f"c{number}", -1, corpus, system, "mine.overall", value))
    columns = ["conversation", "turn", "corpus", "system", "metric", "score"]
    return pd.DataFrame(scores, columns=columns), labels_of("two", rows)


def test_conversations_of_two_data_sets_are_told_apart() -> None:
    for row in rows_of(align(*of_two_corpora())):
        assert (row["n"], row["spearman"]) == (12, pytest.approx(1))
    with pytest.raises(UserError, match=r"more than one data set.*`subset`"):
        align(*of_two_corpora(subset="people"))


def test_conversations_of_two_systems_are_told_apart() -> None:
    scores, labels = planted()
    both = pd.concat([scores.assign(system=name) for name in ("s", "t")])
    with pytest.raises(UserError, match="more than one system"):
        align(both, labels)
    spelt = labels._replace(
        frame=pd.concat([labels.frame.assign(system=name) for name in ("s", "tea-chat")])
    )
    found = align(both.replace({"system": {"t": "Tea-Chat"}}), spelt)
    assert any("60 (c0 of tea-chat, " in each for each in found.problems)
    own = labels._replace(frame=labels.frame.assign(system="s"))
    other = both.assign(score=both["score"].where(both["system"] == "s", 0))
    assert rows_of(align(other, own)) == rows_of(align(scores, own))


def test_labels_are_of_one_version_of_a_system(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    for kind in ("popular", "retrieval"):
        play(path, config(systems=[{"kind": kind, "name": "mine"}], evaluators=["outcome"]))
    with Store(path, readonly=True) as store:
        every = StoredCampaign(store, "small", all_versions=True).planned.astype(str)
    old, new = (every[every["system"].str.contains("@") == is_old] for is_old in (True, False))

    def labels_for(conversations: "pd.Series[str]", system: str) -> Labels:
        rows = enumerate(conversations)
        return labels_of("x", [(id_, -1, "found", "1", n, "", system, id_) for n, id_ in rows])

    def held(conversations: "pd.Series[str]", system: str) -> list[float]:
        labels = labels_for(conversations, system)
        both = with_labels(read_scores(str(path), labels=labels), labels)
        return list(both.sort_values(["label", "metric"])["score"])

    with pytest.raises(UserError, match=r"mine@\w{8}, mine@\w{8}: say in"):
        held(new["scenario"], "mine")
    by_id = [held(of["conversation"].str[:8], "unknown") for of in (old, new)]
    versions = [f"mine@{of['version'].iloc[0][:8]}" for of in (old, new)]
    by_version = [held(new["scenario"], version) for version in versions]
    assert by_id[0] == by_version[0] != by_version[1] == by_id[1]
    assert held(pd.concat([old, new])["conversation"], "mine") == [*by_id[0], *by_id[1]]
    with Store(path, readonly=True) as store:
        rated = new[TRIAL].assign(metric="m", score=1.0)
        study = Study(StoredCampaign(store, "small"), labels_for(new["scenario"], versions[1]))
        assert len(study.with_labels(rated)) == len(new)
        with pytest.raises(UserError, match="say in"):
            study._replace(labels=labels_for(new["scenario"], "mine")).with_labels(rated)


@needs_data
def test_faces_run_file_gives_its_published_correlations() -> None:
    """FACE, table 1: 28 figures; and within systems those of the overall scores."""
    folder = Path(DATA) / "crsarena-eval"
    labels = open_labels(f"crsarena-eval:{folder / 'crs_arena_eval.json'}")
    rows = rows_of(
        align(read_scores(str(folder / "face_run.json")), labels, resampling=Resampling(100))
    )
    found = {(row["subset"], row["aspect"]): row for row in rows}
    published = json.loads((folder / "baselines.json").read_text())
    for name, subset in (("CRSArena-Eval_RD", "redial"), ("CRSArena-Eval_KG", "opendialkg")):
        for aspect, figures in published[name]["FACE"].items():
            own = found[subset, aspect.replace("dialog_", "dialogue_")]
            assert own["pearson"] == pytest.approx(figures["pearson_r"], abs=1e-3)
            assert own["spearman"] == pytest.approx(figures["spearman_rho"], abs=1e-3)
    for subset, within in (("redial", 0.587), ("opendialkg", 0.542)):
        own = found[subset, "dialogue_overall"]["within_pearson"]
        assert own == pytest.approx(within, abs=1e-3)


@needs_data
def test_alphas_of_ab_redial() -> None:
    """FACE, table 5: interval alphas by ConvId over its first three ratings."""
    labels = open_labels(f"ab-redial:{Path(DATA) / 'ab-redial'}")
    frame = labels.frame[labels.frame["turn"] == -1]
    frame = frame.assign(name=frame["conversation"].str.partition(".")[0])
    published = (0.320, 0.344, 0.228, 0.258, 0.324)
    names = (
        "understanding",
        "task_completion",
        "efficiency",
        "interest_arousal",
        "dialogue_overall",
    )
    for metric, expected in zip(names, published, strict=True):
        rows = frame[frame["metric"] == metric].assign(rater=lambda f: f["rater"].astype(int))
        units = [
            list(of["score"][:3]) for _, of in rows.sort_values("rater").groupby("name", sort=False)
        ]
        assert krippendorff_alpha(units, "interval") == pytest.approx(expected, abs=0.015)


@needs_data
@pytest.mark.parametrize(
    ("form", "path", "labels", "recordings"),
    [
        ("crsarena-eval", "crsarena-eval/crs_arena_eval.json", 7734, 467),
        ("ab-redial", "ab-redial", 2800, 800),
        ("uss", "uss", 37858, 3500),
        ("dialogue-eval", "dialogue-eval", 3260, 3260),
    ],
)
def test_published_data_are_read(form: str, path: str, labels: int, recordings: int) -> None:
    read = open_labels(f"{form}:{Path(DATA) / path}")
    assert len(read.means()) == labels
    assert len({each.key for each in read.recordings}) == len(read.recordings) == recordings
    assert set(read.frame["conversation"]) == {each.id for each in read.recordings}


@pytest.mark.parametrize(
    ("divider", "start", "end"),
    [
        (",", "", "\n"),
        (";", "", "\n"),
        ("\t", "", "\n"),
        (",", "\ufeff", "\n"),  # as Excel writes it
        (",", "", "\r\n"),
        (",", "", "\r"),
        (",", "", "\u2028\n"),  # ends a line nowhere else
    ],
)
def test_csv_and_the_command(
    recjury: Recjury, tmp_path: Path, divider: str, start: str, end: str
) -> None:
    scores, labels = planted()
    text = labels.frame.to_csv(sep=divider, index=False, lineterminator=end)
    (tmp_path / "people.csv").write_bytes((start + text).encode())
    scores.to_csv(tmp_path / "scores.csv", index=False)
    done = recjury("align", "scores.csv", "--labels", "csv:people.csv", "--json")
    assert done.code == 0
    assert done.json["rows"][0]["n"] == 60
    drawn = ("--resamples", "200", "--plot", "rho.svg")
    said = recjury("align", "scores.csv", "--labels", "csv:people.csv", *drawn).out
    assert "1 of 1 correlations" in " ".join(said.split())
    picture = (tmp_path / "rho.svg").read_text()
    assert "Spearman's rho" in picture
    assert "set, overall" in picture


@pytest.mark.parametrize(
    ("columns", "names"),
    [
        ("conversation=dialogue&metric=aspect&score=label", ["dialogue", "aspect", "label"]),
        ("conversation=dialogue&score=overall", ["dialogue", "other", "overall"]),
    ],
)
def test_other_names_of_columns(tmp_path: Path, columns: str, names: list[str]) -> None:
    scores, labels = planted()
    frame = labels.means()[["conversation", "metric", "score"]].set_axis(names, axis=1)
    frame.to_csv(tmp_path / "people.csv", index=False)
    read = open_labels(f"csv:{tmp_path / 'people.csv'}?{columns}")
    assert [row["n"] for row in rows_of(align(scores, read))] == [60]


def changed(column: str, value: Any) -> Labels:
    _, labels = planted()
    return labels._replace(frame=labels.frame.assign(**{column: value}))


@pytest.mark.parametrize(
    ("labels", "pairs", "message"),
    [
        (changed("conversation", "other"), (), "no conversation has both"),
        (changed("metric", "beauty"), (), "--pair"),
        (planted()[1], ("mine.overal=overall",), "did you mean mine.overall"),
        (planted()[1], ("mine.overall=over",), "did you mean overall"),
    ],
)
def test_what_cannot_be_compared_is_one_line(
    labels: Labels, pairs: tuple[str, ...], message: str
) -> None:
    with pytest.raises(UserError, match=message):
        align(planted()[0], labels, pairs)


def test_no_number_where_none_is_known() -> None:
    scores, labels = planted()
    equal = labels._replace(frame=labels.frame.assign(score=3.0))
    found = align(scores, equal)
    assert all(math.isnan(row["pearson"]) for row in rows_of(found))
    assert any("equal" in problem for problem in found.problems)
    few = align(scores[:4], labels)
    assert all(math.isnan(row["pearson"]) for row in rows_of(few))
    one_rater = labels._replace(frame=labels.frame.drop_duplicates("conversation"))
    assert not align(scores, one_rater).data["people"]


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ("crsarena:x.json", "did you mean crsarena-eval"),
        ("csv:missing.csv", "missing.csv"),
        ("csv:bad.csv", "no column 'score': there are conversation, metric, scor"),
        ("csv:ids.csv", "no column 'conversation' and no 'metric' and no 'score'"),
        ("csv:twice.csv", "anna has two scores of b for a"),
        ("csv:half.csv", "half.csv:3: `turn` is a whole number, got '1.5'"),
        ("csv:long.csv", "long.csv: line 3: has 4 cells"),
        ("csv:nobody.csv", "nobody.csv:6: `conversation` is empty"),
        ("csv:unnamed.csv?metric=what", "unnamed.csv:2: `what` is empty"),
        ("csv:empty.csv", "no label"),
        ("csv:text.csv", "text.csv:2"),
        ("csv:bad.csv?scor=score", "did you mean score"),
        ("csv:bad.csv?score=points", "there is no column .points."),
        ("response-pairs:pairs.jsonl", "pairs.jsonl:1: expected a JSON object with id, attack"),
        ("response-pairs:pairs.jsonl.gz", "cannot be unpacked"),
        ("nothing", "FORM:PATH"),
    ],
)
def test_labels_that_cannot_be_read_are_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wanted: str, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.csv").write_text("conversation,metric,scor\na,b,1\n")
    start = "conversation,metric,score"
    (tmp_path / "ids.csv").write_text("id,rating\na,1\n")
    (tmp_path / "twice.csv").write_text(f"{start},rater\na,b,1,anna\na,b,2,anna\na,b,1,ben\n")
    (tmp_path / "half.csv").write_text(f"{start},turn\na,b,1,1\na,b,2,1.5\n")
    (tmp_path / "long.csv").write_text(f"{start}\na,b,1\na,b,1,2\n")
    (tmp_path / "nobody.csv").write_text(f'{start}\n\n"a",b,"1\n"\n,b,\n,b,2\n')
    (tmp_path / "unnamed.csv").write_text("conversation,what,score\na,,1\n")
    (tmp_path / "pairs.jsonl").write_text('{"id": "1", "history": [], "original": "a"}\n')
    (tmp_path / "pairs.jsonl.gz").write_text("no gzip")
    (tmp_path / "empty.csv").write_text("conversation,metric,score\n")
    (tmp_path / "text.csv").write_text("conversation,metric,score\na,b,good\n")
    with pytest.raises(UserError, match=message):
        open_labels(wanted)


def test_labelled_dialogues_are_judged_and_aligned(recjury: Recjury, tmp_path: Path) -> None:
    dialogues = [
        {
            "conv_id": f"kbrd_redial_00000000-0000-4000-8000-{number:012}",
            "dialogue": [
                {"turn_ind": 0, "role": "USER", "utterance": "A film like Alien?"},
                {
                    "turn_ind": 1,
                    "role": "ASST",
                    "utterance": "Aliens (1986)?" * (1 + number % 3),
                    "turn_level_aggregated": {"relevance": number % 3},
                },
            ],
            "dial_level_aggregated": {"overall": number % 4},
        }
        for number in range(12)
    ]
    (tmp_path / "people.json").write_text(json.dumps(dialogues))
    labels = "crsarena-eval:people.json"
    assert recjury("judge", "--labels", labels).code == 0
    assert recjury("judge", "--labels", labels, "--catalogue", "sample").code == 0
    found = recjury("align", "recjury.db", "--labels", labels, "--json").json
    (row,) = (row for row in found["rows"] if row["metric"].endswith(".overall"))
    assert (row["subset"], row["n"]) == ("redial", 12)
