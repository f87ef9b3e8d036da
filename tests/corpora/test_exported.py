"""recjury's own export is read back without loss; what was edited is a conversation of its own."""

import json
from pathlib import Path
from typing import Any

import pytest

from recjury.corpora import Recording, conversation_row, read_recordings
from recjury.errors import DataError
from tests.corpora import forms
from tests.corpora.forms import PLAYED, exported


def _read(folder: Path, *rows: object) -> list[Recording]:
    return list(read_recordings([forms.lines(folder / "conversations.jsonl", *rows)]))


def test_a_row_has_these_keys() -> None:
    row = conversation_row(PLAYED)
    keys = "form version conversation repeat seed settings seconds costs log digest"
    assert list(row) == keys.split()
    assert row["form"] == "recjury-conversation"
    assert row["version"] == 1
    assert row["conversation"] == PLAYED.identity
    assert row["digest"] == PLAYED.log.id


def test_what_is_exported_is_read_back(tmp_path: Path) -> None:
    short = PLAYED._replace(seconds=(), costs=())
    rows = [conversation_row(one) for one in (PLAYED, short)]
    earlier = {name: value for name, value in rows[0].items() if name != "costs"}
    assert _read(tmp_path, *rows, earlier) == [PLAYED, short, PLAYED._replace(costs=())]


def test_a_recorded_conversation_makes_the_round_trip(tmp_path: Path) -> None:
    own = forms.lines(tmp_path / "own.jsonl", forms.OWN | {"targets": ["Thief (1981)"]})
    (first,) = read_recordings([own])
    (again,) = _read(tmp_path, conversation_row(first))
    assert again == first
    assert again.identity == again.log.id


def test_the_recordings_of_concept_make_the_round_trip(data_folder: Path, tmp_path: Path) -> None:
    path = data_folder / "concept" / "chatgpt_redial.jsonl.gz"
    first = list(read_recordings([path], data=data_folder, limit=20))
    assert _read(tmp_path, *map(conversation_row, first)) == first


def _edited(**changes: object) -> dict[str, Any]:
    row = exported()
    return row | {"log": row["log"] | changes}


def test_an_edited_log_is_a_conversation_of_its_own(tmp_path: Path) -> None:
    (edited,) = _read(tmp_path, _edited(system="another"))
    assert edited.log.system == "another"
    assert edited == Recording(edited.log, edited.log.id)
    assert edited.identity not in (PLAYED.identity, PLAYED.log.id)
    (again,) = _read(tmp_path, conversation_row(edited))
    assert again == edited


def test_a_turn_may_be_taken_out(tmp_path: Path) -> None:
    """The seconds are then not by turn any more: they go with all that was played."""
    turns = exported()["log"]["interaction"]
    (edited,) = _read(tmp_path, _edited(interaction=turns[:2]))
    assert len(edited.log.interaction) == 2
    assert edited.seconds == ()


def test_another_digest_means_that_something_was_edited(tmp_path: Path) -> None:
    (edited,) = _read(tmp_path, exported(digest="0" * 32))
    assert edited.identity == PLAYED.log.id
    assert edited.settings == {}


def _deep(levels: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(levels):
        value = {"a": value}
    return value


TURN = {"speaker": "user", "text": "Hi."}


@pytest.mark.parametrize(
    ("row", "told"),
    [
        (exported(version=2), "version: input should be 1, got 2"),
        (exported(conversation="../x"), "conversation: string should match pattern"),
        (exported(conversation=7), "conversation: input should be a valid string"),
        (exported(repeat=-1), "repeat: input should be greater than or equal to 0"),
        (exported(repeat=2**40), "repeat: input should be less than"),
        (exported(seed=2**63), "seed: input should be less than"),
        (exported(seed=10**30), "seed: "),
        (exported(seed=True), "seed: input should be a valid integer"),
        (exported(settings=[]), "settings: expected a mapping"),
        (exported(settings=_deep(240)), None),
        (exported(settings=_deep(300)), "settings: nested too deeply"),
        (exported(seconds=[1.0]), "seconds: expected one for each of 2 system turns, got 1"),
        (exported(costs=[1.0]), "costs: expected one for each of 2 system turns, got 1"),
        (exported(seconds=[-1.0, 1]), "seconds.0: input should be greater than or equal to 0"),
        (exported(seconds=["1", 1]), "seconds.0: input should be a valid number"),
        (exported(more=1), "more: is not a known key"),
        (exported(log=None), "log: expected a ConversationLog"),
        (_edited(hit_round=3), "log.hit_round: 3 is not one of the 2 rounds"),
        (_edited(hit_round=0), "log.hit_round: 0 is not one of the 2 rounds"),
        (_edited(list_length=0), "log.list_length: expected 1 or more, got 0"),
        (_edited(leaks_caught=10**18), "log.leaks_caught: expected 0 or more, got"),
        (_edited(ending="tired"), "log.ending: input should be 'hit'"),
        (_edited(interaction=[TURN, TURN], hit_round=None), "log: interaction.0 and interaction.1"),
        (_edited(scenario={"corpus": "a"}), "log.scenario.record: is missing"),
        (_edited(interaction=[TURN | {"text": 1}]), "log.interaction.0.text: input should be a"),
        (_edited(system="a\0b"), "not JSON: a text holds the character NUL"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, row: dict[str, Any], told: str | None) -> None:
    path = tmp_path / "conversations.jsonl"
    forms.lines(path, exported(), json.dumps(row).encode())
    if told is None:
        assert len(list(read_recordings([path]))) == 2
        return
    with pytest.raises(DataError) as caught:
        list(read_recordings([path]))
    message = str(caught.value)
    assert message.startswith(f"{path}:2: {told}")
    assert "\n" not in message
    assert len(message) < len(str(path)) + 250


@pytest.mark.parametrize("line", [b"{", b"[]", b'"x"', b'{"seed": NaN}', b'{"log": "\\ud800"}'])
def test_hostile_lines_are_named(tmp_path: Path, line: bytes) -> None:
    with pytest.raises(DataError, match=r"conversations\.jsonl:2: "):
        _read(tmp_path, exported(), line)
