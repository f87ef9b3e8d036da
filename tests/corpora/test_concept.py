"""The recorded conversations of four systems, as logs."""

import gzip
from pathlib import Path

import orjson
import pytest

from recjury.corpora.concept import read_concept
from recjury.corpora.ievalm import IevalmCorpus
from recjury.errors import DataError
from recjury.records import ConversationLog, Ending, Speaker, is_target

COUNTS = {
    "kbrd_redial": 720,
    "barcor_redial": 742,
    "unicrs_redial": 708,
    "chatgpt_redial": 738,
    "kbrd_opendialkg": 612,
    "barcor_opendialkg": 600,
    "unicrs_opendialkg": 621,
    "chatgpt_opendialkg": 603,
}


def _file(data: Path, system: str) -> Path:
    return data / "concept" / f"{system}.jsonl.gz"


def _hit_at_1(log: ConversationLog) -> bool:
    return any(is_target(turn.items[0], log.scenario.targets) for turn in log.system_turns)


@pytest.mark.parametrize("system", COUNTS)
def test_every_conversation_of_every_file_is_read(data_folder: Path, system: str) -> None:
    seen: set[str] = set()
    for log in read_concept(_file(data_folder, system), data_folder):
        seen.add(log.scenario.record)
        assert log.system == system
        assert log.scenario.history == ()
        assert log.scenario.targets
        assert log.ending is Ending.RECORDED
        assert log.interaction[0].text == "Hello"
        assert log.interaction[-1].speaker is Speaker.USER
        assert "[END]" not in log.interaction[-1].text
        assert all(len(turn.items) == 10 for turn in log.system_turns)
    assert len(seen) == COUNTS[system]


@pytest.mark.parametrize(
    ("system", "share"),
    [("kbrd_opendialkg", 0.162), ("chatgpt_opendialkg", 0.463)],
)
def test_hits_are_those_of_the_recordings(data_folder: Path, system: str, share: float) -> None:
    """A hit at 1: some turn's first item is a target; the figures count every conversation."""
    logs = list(read_concept(_file(data_folder, system), data_folder))
    assert sum(map(_hit_at_1, logs)) / len(logs) == pytest.approx(share, abs=0.0005)


@pytest.mark.parametrize("system", ["barcor_redial", "chatgpt_opendialkg"])
def test_targets_agree_with_the_recorded_success_flags(data_folder: Path, system: str) -> None:
    path = _file(data_folder, system)
    with gzip.open(path) as file:
        for log, line in zip(read_concept(path, data_folder), file, strict=True):
            turns = orjson.loads(line)["simulator_dialog"]["context"]
            flags = [t["rec_success_rec"] for t in turns if t["role"] == "assistant"]
            hits = [is_target(t.items[0], log.scenario.targets) for t in log.system_turns]
            assert hits == flags


def test_the_target_is_never_the_records_own(data_folder: Path, redial: IevalmCorpus) -> None:
    path = _file(data_folder, "kbrd_redial")
    log = next(read_concept(path, data_folder))
    with gzip.open(path) as file:
        first = orjson.loads(file.readline())
    assert log.scenario.record == Path(first["source_file"]).stem
    assert log.scenario.pair == f"{first['dialog_id']}_{first['turn_id']}"
    assert log.scenario.wishes == tuple(first["simulator_dialog"]["attributes"])
    for target in log.scenario.targets:
        genres = redial.catalogue.item(target.id or "").genres
        assert set(genres) == set(log.scenario.wishes)


def test_a_limit_takes_the_first(data_folder: Path) -> None:
    path = _file(data_folder, "barcor_opendialkg")
    assert len(list(read_concept(path, data_folder, 3))) == 3
    assert list(read_concept(path, data_folder, 0)) == []
    shorter = next(read_concept(path, data_folder, 1, list_length=3))
    assert [len(turn.items) for turn in shorter.system_turns] == [3] * len(shorter.system_turns)


def _recording(**fields: object) -> dict[str, object]:
    return {
        "source_file": "dataset/dialog_data/kbrd/opendialkg_eval/3_1_profile0_attribute0.json",
        "simulator_dialog": {
            "attributes": ["Drama"],
            "context": [
                {"role": "user", "content": "Hello"},
                {"role": "assistant", "content": "Hi", "rec_items": [0, 0, 5, 99999]},
                {"role": "user", "content": "Fine. [END]"},
            ],
        },
    } | fields


def _write(folder: Path, name: str, *rows: object) -> Path:
    path = folder / name
    path.write_bytes(b"\n".join(orjson.dumps(row) for row in rows))
    return path


def test_repeated_ids_count_once_and_unknown_ones_keep_a_name(
    data_folder: Path, tmp_path: Path
) -> None:
    path = _write(tmp_path, "kbrd_opendialkg.jsonl", _recording())
    (log,) = read_concept(path, data_folder)
    items = log.system_turns[0].items
    assert [(item.id, item.name) for item in items] == [
        ("0", "Slumdog Millionaire"),
        (None, "Ayush Mahesh Khedekar"),
        (None, "entity 99999"),
    ]
    assert log.interaction[-1].text == "Fine."
    assert log.hit_round == 1


def test_a_file_of_another_name_is_known_by_its_source(data_folder: Path, tmp_path: Path) -> None:
    path = _write(tmp_path, "held-out.jsonl", _recording())
    assert next(read_concept(path, data_folder)).system == "kbrd_opendialkg"
    path = _write(tmp_path, "kbrd_opendialkg.rest.jsonl", _recording(source_file="x.json"))
    assert next(read_concept(path, data_folder)).system == "kbrd_opendialkg"
    path = _write(tmp_path, "nameless.jsonl", _recording(source_file="x.json"))
    with pytest.raises(DataError, match="1: neither the file's name nor `source_file`"):
        next(read_concept(path, data_folder))


TWICE = [{"role": "user", "content": "Hello"}, {"role": "user", "content": "Hello"}]


@pytest.mark.parametrize(
    ("dialogue", "told"),
    [
        ({"attributes": ["Drama"], "context": TWICE}, "two turns in a row by one speaker"),
        ({"attributes": [], "context": TWICE}, "simulator_dialog.attributes: list should have"),
        ({"attributes": ["Drama"]}, "simulator_dialog.context: is missing"),
        ({"attributes": ["Drama"], "context": [1, 2]}, r".*context.0: expected an object"),
    ],
)
def test_what_is_no_recording_is_named(
    data_folder: Path, tmp_path: Path, dialogue: dict[str, object], told: str
) -> None:
    row = _recording(simulator_dialog=dialogue)
    path = _write(tmp_path, "kbrd_opendialkg.jsonl", _recording(), row)
    with pytest.raises(DataError, match=rf"kbrd_opendialkg\.jsonl:2: {told}"):
        list(read_concept(path, data_folder))


def test_an_empty_file_holds_no_conversation(data_folder: Path, tmp_path: Path) -> None:
    path = _write(tmp_path, "kbrd_opendialkg.jsonl")
    with pytest.raises(DataError, match="holds no conversation"):
        list(read_concept(path, data_folder))
