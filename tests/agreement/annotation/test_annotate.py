"""Tasks for raters: what is shown to whom, what is read back, and what is refused."""

import csv
import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from recjury.agreement.annotation.files import page, page_text
from recjury.agreement.annotation.task import TaskKey
from recjury.judges.factor_rubric import Rubric
from recjury.records import Factor, metric_id
from recjury.store import Store
from tests.agreement.annotation.tasks import HOSTILE, key_of, saved, store_with
from tests.cli.front_door import Command


def _exported(command: Command, store: str, *options: object) -> TaskKey:
    ended = command("annotate", "export", "task", "--store", store, *options)
    assert ended.code == 0, ended.err
    return key_of(Path("task"))


def _answer_all(key: TaskKey, rater: str, score: Callable[[str, str], int]) -> Path:
    given = [(name, question, score(name, question)) for name, question in key.task.asked(rater)]
    return saved(key, rater, given, Path(f"answers-{rater}.json"))


def _record(key: TaskKey, name: str) -> int:
    return int(key.logs[name].scenario.record)


def test_raters_see_the_guideline_of_the_judges_and_no_name_of_a_system(
    command: Command, tmp_path: Path
) -> None:
    store = store_with(tmp_path, records=3, systems=["kbrdish", "crsish"])
    key = _exported(command, store, "--raters", "2")
    guides = Rubric().guides
    for each in key.task.questions[:12]:
        factor = next(factor for factor in Factor if metric_id(factor) == each.id)
        assert each.definition == guides[factor].definition
        assert each.anchors == guides[factor].anchors
    overall = key.task.questions[12]
    assert (overall.id, overall.definition, overall.high) == ("overall", "", 100)
    for name in ("task.html", "task.csv"):
        text = Path("task", name).read_text("utf-8")
        assert "kbrdish" not in text
        assert "crsish" not in text
    assert {log.system for log in key.logs.values()} == {"kbrdish", "crsish"}


def test_each_rater_has_an_own_order(command: Command, tmp_path: Path) -> None:
    key = _exported(command, store_with(tmp_path, records=8), "--raters", "anna,ben")
    anna, ben = key.task.raters["anna"], key.task.raters["ben"]
    assert sorted(anna) == sorted(ben)
    assert anna != ben
    again = command("annotate", "export", "again", "--store", f"sqlite:///{tmp_path}/runs.db",
                    "--raters", "anna,ben", "--json")  # fmt: skip
    assert json.loads(again.out)["task"] == key.id


def test_the_design_of_core(command: Command, tmp_path: Path) -> None:
    store = store_with(tmp_path, records=12, systems="abcd")
    key = _exported(command, store, "--design", "core")
    raters = key.task.raters
    assert len(key.logs) == 40
    assert len(raters) == 5
    assert {len(own) for own in raters.values()} == {16}
    rated = Counter(name for own in raters.values() for name in own)
    assert set(rated.values()) == {2}
    for own in raters.values():
        by_record = Counter(key.logs[name].scenario.record for name in own)
        assert set(by_record.values()) == {4}, "all systems of a record go to the same rater"


def test_a_design_that_cannot_be_is_one_line(command: Command, tmp_path: Path) -> None:
    store = store_with(tmp_path, records=3)
    for options, message in (
        (("--design", "core"), "3 records were played with all 2 systems"),
        (("--raters", "1"), "2 raters a conversation, but only 1"),
        (
            ("--raters", "anna,ben", "--raters-each", "3"),
            "3 raters a conversation, but only 2: anna, ben",
        ),
        ((), "--raters is missing"),
        (("--raters", "a,a"), "different names"),
        (("--raters", "../x"), "is no name of a rater"),
        (("--raters", "2", "--question", "charm"), "--question charm: expected one of"),
        (("--raters", "2", "--guideline", "x"), "expected core or core-paper"),
    ):
        ended = command("annotate", "export", "task", "--store", store, *options)
        assert (ended.code, ended.err.count("\n")) == (2, 1), ended.err
        assert message in ended.err
    assert not Path("task").exists()
    _exported(command, store, "--raters", "2")
    twice = command("annotate", "export", "task", "--store", store, "--raters", "2")
    assert (twice.code, "exists already" in twice.err) == (2, True)


def test_answers_become_labels_that_align_reads(command: Command, tmp_path: Path) -> None:
    store = store_with(tmp_path, records=8)
    key = _exported(command, store, "--raters", "2", "--question", "overall", "--question",
                    "coherence")  # fmt: skip

    def answered(rater: str, more: int) -> Path:
        def score(name: str, question: str) -> int:
            record = _record(key, name)
            return record % 5 if question == "coherence" else 10 * record + more

        return _answer_all(key, rater, score)

    files = [answered("r1", 0), answered("r2", 1)]
    ended = command("annotate", "import", "task/key.json", *files, "--json")
    assert ended.code == 0, ended.err
    found = json.loads(ended.out)
    assert found["raters"]["r1"] == {
        "asked": 32, "answered": 32, "gold": None, "excluded": False,
    }  # fmt: skip
    assert found["questions"]["coherence"]["alpha"] == pytest.approx(1)
    assert found["questions"]["overall"]["rated_twice"] == 16
    own = command("align", "--labels", "annotations:labels.json", "--store", store, "--json",
                  "--resamples", "100")  # fmt: skip
    assert own.code == 0, own.err
    aligned = json.loads(own.out)["sample/test"]
    assert set(aligned) == {"coherence", "overall"}
    assert aligned["overall"]["n"] == 16
    assert aligned["coherence"]["pearson"]["value"] == pytest.approx(1)
    assert aligned["overall"]["pearson"]["value"] > 0.95
    assert aligned["overall"]["ceiling"]["places"] == 16
    assert aligned["overall"]["predictors"]["length"]["n"] == 16


def _filled(path: Path, score: Callable[[dict[str, str]], str]) -> None:
    with Path("task/task.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows({**row, "score": score(row)} for row in rows)


def test_the_table_is_read_like_the_page(command: Command, tmp_path: Path) -> None:
    _exported(command, store_with(tmp_path, records=4), "--raters", "2", "--question", "coherence")
    _filled(Path("filled.csv"), lambda row: "3" if row["rater"] == "r1" else "")
    ended = command("annotate", "import", "task/key.json", "filled.csv", "--json")
    assert ended.code == 0, ended.err
    raters = json.loads(ended.out)["raters"]
    assert (raters["r1"]["answered"], raters["r2"]["answered"]) == (8, 0)
    right = Path("filled.csv").read_text("utf-8")
    for old, new, message in (
        ("Try Heat.", "Try Alien.", "the conversation was altered"),
        ("Every system turn fits", "No turn fits", "guideline: was altered"),
        (",r1,", ",r9,", "the task has no rater 'r9'"),
        (",3,", ",5,", "expected 0 to 4, got 5"),
        (",3,", ",2.5,", "expected a whole number, got '2.5'"),
    ):
        assert old in right
        Path("wrong.csv").write_text(right.replace(old, new), "utf-8")
        refused = command("annotate", "import", "task/key.json", "wrong.csv")
        assert (refused.code, refused.err.count("\n")) == (2, 1)
        assert message in refused.err


def _altered(path: Path, name: str, **changed: Any) -> Path:
    body = json.loads(path.read_text("utf-8"))
    other = path.with_name(f"{name}.json")
    other.write_text(json.dumps({**body, **changed}), "utf-8")
    return other


def test_what_does_not_belong_is_refused(command: Command, tmp_path: Path) -> None:
    store = store_with(tmp_path, records=4)
    key = _exported(command, store, "--raters", "2", "--question", "coherence")
    good = _answer_all(key, "r1", lambda *_: 3)
    name = key.task.raters["r1"][0]
    body = json.loads(good.read_text("utf-8"))
    body["answers"][0][2] = 4
    wrong = {
        "the task has no rater 'r7'": saved(key, "r7", [(name, "coherence", 1)], Path("7.json")),
        "was not asked about 'c99'": saved(key, "r1", [("c99", "coherence", 1)], Path("c.json")),
        "expected 0 to 4, got 9": saved(key, "r1", [(name, "coherence", 9)], Path("9.json")),
        "a second score by r1": saved(key, "r1", [(name, "coherence", 1)] * 2, Path("2.json")),
        "no question was answered": saved(key, "r1", [], Path("0.json")),
        "was altered after it was saved": _altered(good, "a", answers=body["answers"]),
        "a page that was altered": _altered(good, "p", page="00000000"),
        "another task than this key": _altered(good, "t", task="0" * 32),
        "is not a file that the annotation page saved": _altered(good, "m", more=1),
    }
    for message, path in wrong.items():
        ended = command("annotate", "import", "task/key.json", path)
        assert (ended.code, ended.err.count("\n")) == (2, 1)
        assert message in ended.err
    twice = command("annotate", "import", "task/key.json", good, good)
    assert "a second score by r1" in twice.err
    text = Path("task/key.json").read_text("utf-8")
    Path("key2.json").write_text(text.replace("You might", "You should").replace("Try Heat", "Try"))
    ended = command("annotate", "import", "key2.json", good)
    assert (ended.code, "was altered" in ended.err) == (2, True)


def test_a_tie_goes_to_a_further_rater(command: Command, tmp_path: Path) -> None:
    store = store_with(tmp_path, records=4)
    key = _exported(command, store, "--raters", "2", "--question", "coherence", "--question",
                    "overall")  # fmt: skip
    open_ones = set(key.task.raters["r1"][:3])
    files = [
        _answer_all(key, "r1", lambda name, _: 0 if name in open_ones else 2),
        _answer_all(key, "r2", lambda name, _: 1 if name in open_ones else 2),
    ]
    ended = command("annotate", "import", "task/key.json", *files, "--combine", "majority")
    assert ended.code == 0, ended.err
    assert "3 scores of 3 conversations are tied" in ended.err
    export = command("annotate", "export", "more", "--further", "labels.json", "--raters", "carla",
                     "--raters-each", "1")  # fmt: skip
    assert export.code == 0, export.err
    further = key_of(Path("more"))
    assert len(further.logs) == 3
    assert {question for _, question in further.task.asked("carla")} == {"coherence"}
    decided = _answer_all(further, "carla", lambda *_: 1)
    both = ("--combine", "majority", "--add", "labels.json", "--out", "all.json", "--json")
    added = command("annotate", "import", "more/key.json", decided, *both)
    assert added.code == 0, added.err
    found = json.loads(added.out)
    assert found["ties"] == {}
    assert found["questions"]["coherence"]["labelled"] == 8
    again = command("annotate", "import", "more/key.json", decided, "--add", "all.json")
    assert "further raters need names of their own" in again.err


def test_who_misses_hidden_gold_is_excluded(command: Command, tmp_path: Path) -> None:
    store = store_with(tmp_path, records=6, systems="a")
    with Store.open(store) as kept:
        ids = sorted(each.id for each in kept.conversations())[:2]
    gold = "".join(f"{each},coherence,4\n" for each in ids)
    Path("gold.csv").write_text("conversation,question,score\n" + gold, "utf-8")
    key = _exported(command, store, "--raters", "3", "--gold", "gold.csv", "--question",
                    "coherence")  # fmt: skip
    assert len(key.gold) == 2
    assert all(set(key.gold) <= set(own) for own in key.task.raters.values())
    assert "gold" not in Path("task/task.html").read_text("utf-8")
    good, half, bad = (
        _answer_all(key, "r1", lambda *_: 4),
        _answer_all(key, "r2", lambda name, _: 4 if name == min(key.gold) else 0),
        _answer_all(key, "r3", lambda *_: 1),
    )
    ended = command("annotate", "import", "task/key.json", good, half, bad, "--json")
    assert ended.code == 0, ended.err
    raters = json.loads(ended.out)["raters"]
    assert {name: each["gold"] for name, each in raters.items()} == {"r1": 1, "r2": 0.5, "r3": 0}
    assert [name for name, each in raters.items() if each["excluded"]] == ["r3"]
    labels = json.loads(Path("labels.json").read_text("utf-8"))
    assert {each["rater"] for each in labels["annotations"]} == {"r1", "r2"}
    assert len(labels["logs"]) == 4
    none = command("annotate", "import", "task/key.json", bad)
    assert "all raters are excluded" in none.err


def test_hostile_text_is_neither_markup_nor_a_formula(command: Command, tmp_path: Path) -> None:
    key = _exported(command, store_with(tmp_path, records=2, said=HOSTILE), "--raters", "2")
    text = page_text(key.task)
    assert not set(text) & {"<", ">", "&"}
    assert text.isascii()
    shown = json.loads(text)["conversations"]["c1"]["turns"]
    assert any("</script>" in turn["text"] for turn in shown)
    assert not any("\x1b" in turn["text"] for turn in shown)
    html = page(key.task)
    assert html.count("<script") == 2
    assert re.search(r"default-src 'none'; script-src 'sha256-[A-Za-z0-9+/]{43}='", html)
    with Path("task/task.csv").open(encoding="utf-8", newline="") as file:
        cells = {cell for row in csv.reader(file) for cell in row if cell}
    assert not [cell for cell in cells if cell[0] in "=+-@\t"]
