"""One's own conversations: what is right is read, what is wrong is named by file and line."""

from pathlib import Path

import orjson
import pytest

from recjury.corpora.log_files import read_log_file
from recjury.errors import DataError
from recjury.records import Ending, ItemRef, Speaker


def _conversation(**fields: object) -> dict[str, object]:
    return {
        "id": "c1",
        "system": "mine",
        "history": [{"speaker": "user", "text": "I loved Heat (1995)."}],
        "interaction": [
            {"speaker": "system", "text": "Try Thief.", "items": ["thief (1981)", "Nonesuch"]},
            {"speaker": "user", "text": "Thanks."},
        ],
        "targets": ["Thief (1981)"],
    } | fields


def _write(folder: Path, *rows: object) -> Path:
    path = folder / "mine.jsonl"
    path.write_bytes(b"\n".join(orjson.dumps(row) for row in rows))
    return path


def test_a_log_without_a_catalogue_matches_by_name(tmp_path: Path) -> None:
    (log,) = read_log_file(_write(tmp_path, _conversation()))
    assert log.system == "mine"
    assert log.scenario.id == "logs/mine#c1"
    assert log.ending is Ending.RECORDED
    assert log.hit_round == 1
    assert log.recall_at(1) == 1.0
    assert not log.scenario.target_seen
    assert [turn.speaker for turn in log.interaction] == [Speaker.SYSTEM, Speaker.USER]


def test_names_are_looked_up_in_the_named_catalogue(tmp_path: Path) -> None:
    row = _conversation(catalogue="sample", corpus="my films", targets=["Heat (1995)"])
    (log,) = read_log_file(_write(tmp_path, row))
    thief, nonesuch = log.interaction[0].items
    assert thief.name == "Thief (1981)"
    assert thief.id is not None
    assert nonesuch == ItemRef(id=None, name="Nonesuch")
    assert log.scenario.corpus == "sample/my films"
    assert log.scenario.target_seen
    assert log.hit_round is None


def test_items_may_bring_their_ids(tmp_path: Path) -> None:
    turn = {"speaker": "system", "text": "", "items": [{"id": "7", "name": "A"}, {"name": "B"}]}
    row = _conversation(interaction=[turn], targets=[{"id": "7", "name": "Another spelling"}])
    (log,) = read_log_file(_write(tmp_path, row))
    assert [item.id for item in log.interaction[0].items] == ["7", "b"]
    assert log.recall_at(1) == 1.0


def test_a_limit_takes_the_first_and_reads_no_further(tmp_path: Path) -> None:
    path = _write(tmp_path, _conversation(), _conversation(id="c2"), {"broken": True})
    assert [log.scenario.record for log in read_log_file(path, 2)] == ["c1", "c2"]


SAID = {"speaker": "system", "text": "x"}


def _deep(levels: int) -> object:
    value: object = []
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"id": "c1"}, "a second conversation 'c1', as in line 1"),
        ({"id": 7}, "id: input should be a valid string, got 7"),
        ({"system": ""}, "system: string should have at least 1 character"),
        ({"systme": "x"}, "systme: is not a known key"),
        ({"interaction": []}, "interaction: list should have at least 1 item"),
        ({"interaction": [{"speaker": "user", "text": "x"}]}, "the interaction has no system turn"),
        ({"interaction": [SAID, SAID]}, "interaction.0 and interaction.1 are both by the system"),
        ({"interaction": [SAID | {"speaker": "bot"}]}, "interaction.0.speaker: input should be"),
        ({"interaction": [SAID | {"text": None}]}, "interaction.0.text: input should be a valid"),
        ({"interaction": [SAID | {"items": [3]}]}, r"interaction\.0\.items\.0"),
        ({"interaction": [SAID | {"items": _deep(200)}]}, r"interaction\.0\.items\.0"),
        ({"interaction": "x" * 10_000}, "interaction: expected a list"),
        (
            {"history": [{"speaker": "user", "text": "x", "items": ["A"]}]},
            "history.0: only system turns have items",
        ),
        ({"catalogue": "sample", "targets": [{"id": "zz", "name": "A"}]}, "no item 'zz' in the"),
        (
            {"catalogue": "sample", "targets": ["Heat (1995)", "Nonesuch"]},
            "the target 'Nonesuch' is not an item of the catalogue sample, or is several",
        ),
        ({"corpus": "a/b"}, "corpus: string should match pattern"),
        ({"catalogue": "nonesuch"}, "no corpus 'nonesuch'"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, fields: dict[str, object], told: str) -> None:
    path = _write(tmp_path, _conversation(), _conversation(id="c2") | fields)
    with pytest.raises(DataError, match=rf"mine\.jsonl:2: {told}") as caught:
        list(read_log_file(path))
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < len(str(path)) + 250


@pytest.mark.parametrize(
    "line",
    [b'{"id": NaN}', b"{", b'{"a":' * 50_000, b"\x00\x01", b'{"id": "\\ud800"}', b"[]", b'"text"'],
)
def test_hostile_lines_are_named(tmp_path: Path, line: bytes) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_bytes(orjson.dumps(_conversation()) + b"\n" + line)
    with pytest.raises(DataError, match=r"mine\.jsonl:2: "):
        list(read_log_file(path))


def test_an_empty_file_holds_no_conversation(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"mine\.jsonl: holds no conversation"):
        list(read_log_file(_write(tmp_path)))
