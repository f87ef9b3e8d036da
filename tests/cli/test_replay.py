"""`recjury replay`: what reaches the terminal, and that verifying all of a store misses nothing."""

import json
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from recjury.debate.rules import RULE_DEBATE, RULE_PROTOCOL
from recjury.safe_text import printable
from recjury.store import Store
from tests.cli.front_door import Ended, recjury

Command = Callable[..., Ended]
STORE = ("--store", "runs.db")
HOSTILE = "good\x1b]0;owned\x07\x9b31m"


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the store is kept once it is made."""
    return tmp_path_factory.mktemp("kept")


@pytest.fixture
def command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path, kept: Path
) -> Command:
    """`recjury` in a folder with a store that holds three debates over hostile text."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RECJURY_DATA", raising=False)

    def run(*arguments: object) -> Ended:
        return recjury(monkeypatch, capsys, *arguments)

    if not (kept / "runs.db").exists():
        Path("recorded.jsonl").write_text("\n".join(map(_line, range(3))), "utf-8")
        ended = run("judge", "recorded.jsonl", "--format", "jsonl", "--json", *STORE)
        assert ended.code == 0, ended.err
        shutil.copy("runs.db", kept)
    else:
        shutil.copy(kept / "runs.db", "runs.db")
    return run


def _line(number: int) -> str:
    said = [
        {"speaker": "user", "text": "I would like a crime film."},
        {"speaker": "system", "text": "Try Heat.\x1b[2J\x1b[31m", "items": ["Heat (1995)"]},
        {"speaker": "user", "text": "Thank you!"},
    ]
    row = {"id": f"d{number}", "system": HOSTILE, "catalogue": "sample", "interaction": said}
    return json.dumps(row | {"targets": ["Heat (1995)"]})


def _verified(command: Command, *arguments: str) -> dict[str, Any]:
    ended = command("replay", "--verify", "--json", *arguments, *STORE)
    result: dict[str, Any] = json.loads(ended.out)
    assert ended.code == (3 if result["different"] else 0)
    return result


def _alter(*statements: str) -> None:
    with sqlite3.connect("runs.db") as connection:
        for statement in statements:
            assert connection.execute(statement).rowcount > 0
    connection.close()


def test_control_characters_are_spelled_out_and_all_else_stays() -> None:
    assert printable("a\x1b[2J\x00\x7f\x9b\r") == r"a\x1b[2J\x00\x7f\x9b\x0d"
    assert printable("half \ud800") == r"half \ud800"
    assert printable("a\tb\nç 映画 🎬") == "a\tb\nç 映画 🎬"


def test_no_command_to_the_terminal_comes_out_of_a_replay(command: Command) -> None:
    debate = json.loads(command("replay", "--json", *STORE).out)["debates"][0]["evaluation"]
    watched = command("replay", debate, *STORE).out
    assert r"Try Heat.\x1b[2J\x1b[31m" in watched
    refused = command("compare", HOSTILE, f"{HOSTILE}?", *STORE)
    assert refused.code == 2
    with Store.open(STORE[1]) as store:
        store.begin(store.campaigns()[0].model_copy(update={"id": "f" * 12, "name": HOSTILE}))
    standing = command("status", *STORE).out
    for shown in (watched, command("replay", *STORE).out, refused.err, standing):
        assert r"good\x1b]0;owned\x07\x9b31m" in shown
        assert not set(shown) & {"\x1b", "\x07", "\x9b"}


def test_verify_alone_means_all_debates(command: Command) -> None:
    assert _verified(command) == {"debates": 3, "verified": 3, "different": []}
    assert _verified(command, "--all") == {"debates": 3, "verified": 3, "different": []}


def test_debates_of_another_version_are_named(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    (held, *_) = _debates(command)
    assert held["another_version"] is None
    monkeypatch.setattr("recjury.debate.recompute.RULE_PROTOCOL", f"{RULE_DEBATE}99")
    found = _verified(command)
    assert (found["verified"], found["different"]) == (3, [])
    assert [each["protocol"] for each in found["another_version"]] == [RULE_PROTOCOL] * 3
    for key in ("evaluation", "conversation", "trial"):
        named = {each[key] for each in found["another_version"]}
        assert named == {each[key] for each in _debates(command)}
    assert {each["another_version"] for each in _debates(command)} == {RULE_PROTOCOL}
    said = command("replay", "--verify", *STORE).err
    assert f"3 of them were made by another version, {RULE_PROTOCOL}: " in said
    watched = command("replay", str(held["evaluation"]), *STORE).out
    assert f"made by another version, {RULE_PROTOCOL}: installed is {RULE_DEBATE}99" in watched


def _debates(command: Command) -> list[dict[str, Any]]:
    debates: list[dict[str, Any]] = json.loads(command("replay", "--all", "--json", *STORE).out)[
        "debates"
    ]
    return debates


FIRST = "(SELECT min(evaluation) FROM debate)"
TALK = "(SELECT min(conversation) FROM log)"


@pytest.mark.parametrize(
    "gone",
    [
        [f"DELETE FROM debate WHERE evaluation = {FIRST}"],
        [f"DELETE FROM statement WHERE evaluation = {FIRST} AND position = 0"],
        [f"DELETE FROM {t} WHERE evaluation = {FIRST}" for t in ("statement", "debate")],
        [
            f"DELETE FROM stage WHERE unit = {FIRST} AND stage = 'debate'",
            f"DELETE FROM debate WHERE evaluation = {FIRST}",
        ],
        [f"DELETE FROM stage WHERE unit = {FIRST} AND stage = 'debate'"],
        [f"DELETE FROM evaluation WHERE id = {FIRST}"],
        [
            f"DELETE FROM rating WHERE evaluation = {FIRST}",
            f"DELETE FROM stage WHERE unit = {FIRST}",
            f"DELETE FROM evaluation WHERE id = {FIRST}",
            f"DELETE FROM statement WHERE evaluation = {FIRST}",
        ],
        [f"DELETE FROM log WHERE conversation = {TALK}"],
        [f"DELETE FROM conversation WHERE id = {TALK}"],
    ],
)
@pytest.mark.parametrize("by_campaign", [False, True])
@pytest.mark.slow
def test_rows_taken_away_are_missed(command: Command, gone: list[str], by_campaign: bool) -> None:
    campaign = json.loads(command("status", "--json", *STORE).out)["campaigns"][0]["campaign"]
    _alter(*gone)
    found = _verified(command, *(("--campaign", campaign) if by_campaign else ()))
    assert (found["debates"], found["verified"]) == (3, 2)
    assert {each["kind"] for each in found["different"]} == {"store"}


def test_a_text_that_is_not_utf_8_is_a_difference_of_its_debate(command: Command) -> None:
    altered = _debates(command)[0]
    _alter(
        "UPDATE statement SET text = CAST(x'ff41' AS TEXT) WHERE rowid = (SELECT min(rowid) "
        f"FROM statement WHERE evaluation = '{altered['evaluation']}')"
    )
    found = _verified(command, "--all")
    assert (found["debates"], found["verified"]) == (3, 2)
    assert {each["evaluation"] for each in found["different"]} == {altered["evaluation"]}


def test_debates_are_shown_as_they_are_read(command: Command) -> None:
    """One that is damaged takes away none that stands before it, and no store is too large."""
    *_, last = json.loads(command("replay", "--json", *STORE).out)["debates"]
    _alter(f"UPDATE debate SET score = 1 WHERE evaluation = '{last['evaluation']}'")
    ended = command("replay", "--all", *STORE)
    assert ended.code == 2
    assert "was changed after it was written" in ended.err
    assert ended.out.count(" verdict ") == 2


def test_a_conversation_is_shown_with_what_it_recommended(command: Command) -> None:
    """By its own id as by that of its debate, or the first digits of either."""
    first = _debates(command)[0]
    for named in (first["conversation"], first["evaluation"], first["evaluation"][:10]):
        watched = command("replay", named, *STORE).out
        assert "targets  Heat (1995)" in watched
        assert "1 Heat (1995) [hit]" in watched
        assert " verdict " in watched
        (shown,) = json.loads(command("replay", named, "--json", *STORE).out)["debates"]
        assert shown == first
    assert first["trial"] == first["conversation"] == shown["conversation"]
    assert first["forked"] is None


def test_verifying_one_names_it_by_conversation_or_debate(command: Command) -> None:
    first = _debates(command)[0]
    for named in (first["conversation"], first["evaluation"]):
        assert _verified(command, named) == {"debates": 1, "verified": 1, "different": []}


def test_what_no_id_begins_with_is_one_line(command: Command) -> None:
    ended = command("replay", "nothing", *STORE)
    assert (ended.code, ended.err.count("\n")) == (2, 1)
    assert "begins with nothing" in ended.err


def test_an_evaluation_that_debates_nothing_shows_its_ratings(command: Command) -> None:
    """`outcome` rates without a debate, and is shown as it is."""
    with sqlite3.connect("runs.db") as connection:
        query = (
            "SELECT evaluation.id FROM evaluation JOIN evaluator "
            "ON evaluator.id = evaluator WHERE kind = 'outcome' LIMIT 1"
        )
        (outcome,) = connection.execute(query).fetchone()
    connection.close()
    (shown,) = json.loads(command("replay", outcome, "--json", *STORE).out)["undebated"]
    assert "recall@10" in {rating["factor"] for rating in shown["ratings"]}
    refused = command("replay", outcome, "--verify", *STORE)
    assert (refused.code, "has no debate" in refused.err) == (2, True)


def test_a_debate_in_which_a_role_said_nothing_tells_how_many_spoke(command: Command) -> None:
    said = [
        {"speaker": "user", "text": "Hello."},
        {"speaker": "system", "text": "Hello. What do you like?"},
        {"speaker": "user", "text": "Thank you!"},
    ]
    row = {"id": "q", "system": "quiet", "catalogue": "sample", "interaction": said}
    Path("quiet.jsonl").write_text(json.dumps(row), "utf-8")
    other = ("--store", "quiet.db")
    assert command("judge", "quiet.jsonl", "--json", *other).code == 0
    debate = json.loads(command("replay", "--all", "--json", *other).out)["debates"][0]
    assert debate["verdict"]["spoke"] == 3
    assert ", 3 of 4 roles spoke" in command("replay", "--all", *other).out
    assert "roles spoke" not in command("replay", "--all", *STORE).out
