import csv
import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from benchmarks.old_store import main
from recjury.agreement import open_labels
from recjury.corpora.recordings import read_recordings
from recjury.store import Store

TABLES = """
CREATE TABLE schema_version (number);
CREATE TABLE campaign (id, name, created_at);
CREATE TABLE campaign_conversation (campaign, conversation, ordinal, set_aside);
CREATE TABLE conversation (id, system, repeat);
CREATE TABLE log (conversation, digest, body);
CREATE TABLE failure (unit, stage, reason, failed_at);
CREATE TABLE campaign_evaluator (campaign, evaluator, name, ordinal, judgings, started_at);
CREATE TABLE evaluation (id, log, evaluator, judging, attempt, fork_of, created_at);
CREATE TABLE stage (unit, stage);
CREATE TABLE rating
  (evaluation, stage, position, evaluator, factor, score, status, reason, rationale, turn);
INSERT INTO schema_version VALUES (5);
INSERT INTO campaign VALUES ('c1', 'films', 1);
INSERT INTO campaign_conversation VALUES
  ('c1', 'a', 0, 0), ('c1', 'b', 1, 0), ('c1', 'lost', 2, 0), ('c1', 'left', 3, 0),
  ('c1', 'replaced', 0, 1);
INSERT INTO conversation VALUES
  ('a', 'mine', 0), ('b', 'mine', 1), ('lost', 'mine', 0), ('left', 'mine', 0),
  ('replaced', 'mine', 0);
INSERT INTO failure VALUES ('lost', 'converse', 'it hung', 1);
INSERT INTO campaign_evaluator VALUES
  ('c1', 'e5f6a7', 'core', 0, 1, 1), ('c1', 'e0', 'core', 1, 1, 2);
INSERT INTO evaluation VALUES
  ('old', x'01', 'e5f6a7', 0, 0, NULL, 1), ('first', x'01', 'e0', 0, 0, NULL, 2),
  ('again', x'01', 'e0', 0, 1, NULL, 3), ('begun', x'01', 'e0', 0, 2, NULL, 4),
  ('fork', x'01', 'e0', 0, 0, 'first', 5);
INSERT INTO stage VALUES ('old', 'rate'), ('first', 'rate'), ('again', 'rate'), ('fork', 'fork');
INSERT INTO rating VALUES
  ('old', 'rate', 0, 'gpt', 'Coherence', 1.0, 'scored', '', 'Once.', NULL),
  ('first', 'rate', 0, 'gpt', 'Coherence', NULL, 'unreadable', 'no rating', '', NULL),
  ('again', 'rate', 0, 'gpt', 'Semantic Relevance', 3.0, 'scored', '', 'It fits, "well".', 1),
  ('again', 'rate', 1, 'gpt', 'Novelty', NULL, 'refused', 'by a filter', '', NULL),
  ('again', 'rate', 2, 'mean', 'Novelty', 2.0, 'scored', '', '', NULL),
  ('again', 'debate', 0, 'debate', 'Overall', 61.5, 'scored', '', '', NULL),
  ('fork', 'debate', 0, 'debate', 'Overall', 9.0, 'scored', '', '', NULL);
"""


def turn(speaker: str, text: str, *items: tuple[str | None, str]) -> dict[str, Any]:
    listed = [{"id": id_, "name": name} for id_, name in items]
    return {"speaker": speaker, "text": text, "items": listed, "failure": None, "calls": []}


LOG = {
    "system": "mine",
    "ending": "round_limit",
    "interaction": [
        turn("user", "Etwas wie Heat, schön langsam?"),
        turn("system", "Thief.", ("f138", "Thief (1981)"), (None, "Unheard Of")),
    ],
    "scenario": {
        "corpus": "sample/test",
        "record": "s1_3",
        "pair": "",
        "history": [turn("user", "Hi"), turn("system", "Hello")],
        "targets": [{"id": "f138", "name": "Thief (1981)"}],
        "wishes": ["slow"],
        "target_seen": False,
    },
}


@pytest.fixture
def old(tmp_path: Path) -> Path:
    path = tmp_path / "old.db"
    store = sqlite3.connect(path)
    store.executescript(TABLES)
    logs = [("a", b"\1", json.dumps(LOG)), ("b", b"\2", json.dumps(LOG | {"ending": "offline"}))]
    store.executemany("INSERT INTO log VALUES (?, ?, ?)", logs)
    store.commit()
    store.close()
    return path


def test_logs_of_0_2_are_read_as_recordings(
    old: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(old, tmp_path / "out")
    first, second = read_recordings([tmp_path / "out/logs.jsonl"]).recordings
    assert (first.id, first.corpus, first.system, first.repeat) == (
        "s1_3",
        "sample/test",
        "mine",
        0,
    )
    assert (second.repeat, second.ending, first.ending) == (1, "offline", "recorded")
    log = first.log()
    assert [each.text for each in log.scenario.history] == ["Hi", "Hello"]
    assert [each.text for each in log.interaction] == ["Etwas wie Heat, schön langsam?", "Thief."]
    assert [item.name for item in log.session_list] == ["Thief (1981)", "Unheard Of"]
    assert log.session_list[0] in log.scenario.targets
    assert log.scenario.wishes == ("slow",)
    assert capsys.readouterr().err == "lost (mine): it hung\nleft (mine): not played\n"


def test_ratings_of_0_2_are_read_as_labels(old: Path, tmp_path: Path) -> None:
    main(old, tmp_path / "out", "films")
    path = tmp_path / "out/ratings.csv"
    frame = open_labels(f"csv:{path}").frame
    keys = ["conversation", "subset", "system", "metric", "rater", "turn", "score"]
    about = "s1_3", "sample/test", "mine"
    assert list(frame[keys].itertuples(index=False, name=None)) == [
        (*about, "core@e5f6.coherence", "gpt", -1, 1.0),
        (*about, "core.overall", "debate", -1, 61.5),
        (*about, "core.semantic_relevance", "gpt", 1, 3.0),
    ]
    with path.open(encoding="utf-8", newline="") as file:
        *_, unscored = csv.DictReader(file)
    assert (unscored["score"], unscored["status"], unscored["reason"]) == (
        *("nan", "refused", "by a filter"),
    )


def test_what_is_no_store_of_0_2_is_one_line(old: Path, tmp_path: Path) -> None:
    new, text, later = tmp_path / "new.db", tmp_path / "a.txt", tmp_path / "later.db"
    Store(new).close()
    text.write_text("name: films\n" * 100)
    database = sqlite3.connect(later)
    database.executescript(
        "CREATE TABLE schema_version (number); INSERT INTO schema_version VALUES (4)"
    )
    database.close()
    for path, message in (
        (tmp_path / "gone.db", "there is no file"),
        (text, "is no store of recjury 0.2: file is not a database"),
        (new, "is a store of this version"),
        (later, "has tables 4, not those of 0.2"),
    ):
        with pytest.raises(SystemExit, match=message) as error:
            main(path, tmp_path / "out")
        assert str(path) in str(error.value)
        assert "\n" not in str(error.value)
    with pytest.raises(SystemExit, match=r"name one campaign of .*: c1 films"):
        main(old, tmp_path / "out", "books")
    assert not (tmp_path / "out").exists()
