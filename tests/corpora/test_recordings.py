"""One reader for all forms: they are told apart by what is in a file, and read alike."""

import gzip
import os
import tracemalloc
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import orjson
import pytest

from recjury.corpora import read_recordings
from recjury.corpora.concept import read_concept
from recjury.corpora.forms import FORMS, form_of
from recjury.errors import ConfigError, DataError
from tests.corpora import forms
from tests.corpora.arena import dialogue

CONCEPT = {
    "source_file": "data/kbrd/redial_eval/1_2_profile3_attribute4.json",
    "simulator_dialog": {
        "context": [
            {"role": "user", "content": "Hello"},
            {"role": "assistant", "content": "Hi", "rec_items": [1]},
        ],
        "attributes": ["crime"],
    },
}

MAKERS: dict[str, Callable[[Path], Path]] = {
    "concept": lambda path: forms.lines(path, CONCEPT),
    "crsarena": lambda path: forms.array(path, forms.arena()),
    "recjury": lambda path: forms.lines(path, forms.exported()),
    "jsonl": lambda path: forms.lines(path, forms.OWN),
    "messages": lambda path: forms.lines(path, forms.MESSAGES),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ["some.file", "some.gz", "packed"])
def test_a_form_is_found_out_by_what_is_in_the_file(tmp_path: Path, form: str, name: str) -> None:
    path = MAKERS[form](tmp_path / name)
    if name == "packed":
        path.write_bytes(gzip.compress(path.read_bytes()))
    assert form_of(path) == form


def test_blank_lines_and_a_byte_order_mark_come_before(tmp_path: Path) -> None:
    path = tmp_path / "some.json"
    path.write_bytes(b"\xef\xbb\xbf" + b" \n" * 50_000 + orjson.dumps(forms.MESSAGES))
    assert form_of(path) == "messages"
    path.write_bytes(b"\n\n " + orjson.dumps(forms.arena()))
    assert form_of(path) == "crsarena"


@pytest.mark.parametrize("form", ["crsarena", "jsonl", "messages"])
@pytest.mark.parametrize("forced", [True, False])
def test_what_was_recorded_elsewhere_is_identified_by_its_log(
    tmp_path: Path, form: str, forced: bool
) -> None:
    path = MAKERS[form](tmp_path / "some.gz")
    first, *_ = read_recordings([path], form if forced else None)
    assert first.identity == first.log.id
    assert (first.repeat, first.seed, first.settings, first.seconds) == (0, 0, {}, ())


def test_files_of_several_forms_are_read_in_order_with_a_limit_for_each(tmp_path: Path) -> None:
    arena = forms.array(tmp_path / "arena.json", forms.arena())
    own = forms.lines(
        tmp_path / "own.jsonl", *({**forms.OWN, "id": str(number)} for number in range(5))
    )
    played = forms.lines(tmp_path / "played.jsonl", *[forms.exported()] * 5)
    found = [one.log.system for one in read_recordings([arena, own, played, arena], limit=2)]
    assert found == [*["kbrd_redial"] * 2, *["mine"] * 2, *["kbrd"] * 2, *["kbrd_redial"] * 2]
    assert list(read_recordings([arena, own, played], limit=0)) == []


def test_concept_is_read_with_its_data(data_folder: Path) -> None:
    path = data_folder / "concept" / "kbrd_opendialkg.jsonl.gz"
    found = [one.log for one in read_recordings([path], data=data_folder, limit=3)]
    assert found == list(read_concept(path, data_folder, 3))


def test_a_label_file_of_crsarena_is_read_whole(data_folder: Path) -> None:
    path = data_folder / "crsarena-eval" / "crs_arena_eval.json"
    assert len(list(read_recordings([path]))) == 467


def test_a_forced_form_is_the_one_that_is_read(tmp_path: Path) -> None:
    path = forms.lines(tmp_path / "both.jsonl", forms.MESSAGES | {"interaction": []})
    assert form_of(path) == "jsonl"
    (one,) = read_recordings([path], "messages")
    assert one.log.system == "both"
    with pytest.raises(DataError, match=r"both\.jsonl:1: form: is missing"):
        list(read_recordings([path], "recjury"))


def test_an_unknown_name_of_a_form_is_refused(tmp_path: Path) -> None:
    path = MAKERS["jsonl"](tmp_path / "own.jsonl")
    with pytest.raises(ConfigError, match=r"format must be one of concept, .*, got 'json'"):
        read_recordings([path], "json")


ARRAY = "an array, not an object a line"


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (
            b'{"dialog": []}',
            "concept (no `simulator_dialog`); crsarena (not a JSON array); recjury",
        ),
        (b'{"form": "other"}', "recjury (no `form` that is recjury-conversation)"),
        (b'[{"a": 1}]', "crsarena (no `conv_id` at its beginning)"),
        (b'[{"a": 1}]', f"concept, recjury, jsonl, messages ({ARRAY})"),
        (b"3", "concept, crsarena, recjury, jsonl, messages (neither objects nor an array)"),
        (b"\nrole\ttext", "concept, recjury, jsonl, messages (line 2 is not JSON: "),
        (b'{\n"messages": []}', "(line 1 is not JSON: "),
        (b'{"messages": NaN}', "(line 1 is not JSON: "),
        (b"{" * 100_000, "(line 1 is not JSON: "),
        (b'{"a":' * 50_000, "(line 1 is not JSON: "),
        (b"\xff\xfe{\x00", "(line 1 is not JSON: "),
    ],
)
def test_an_unknown_form_is_told_with_what_was_tried(
    tmp_path: Path, content: bytes, told: str
) -> None:
    path = tmp_path / "some.json"
    path.write_bytes(content)
    with pytest.raises(DataError) as caught:
        read_recordings([path])
    message = str(caught.value)
    assert f"{path}: has an unknown format: " in message
    assert told in message
    assert "\n" not in message
    assert len(message) < len(str(path)) + 300


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("nowhere", "there is no such file"),
        ("empty/inside", "there is no such file"),
        ("a\0b", "there is no such file"),
        ("x" * 5000, "cannot be read: File name too long"),
        ("folder", "is a folder: name the files in it"),
        ("empty", "is empty"),
        ("blank", "is empty"),
        ("pipe", "is not a regular file"),
        ("damaged.gz", "damaged gzip file"),
    ],
)
@pytest.mark.parametrize("form", [None, "crsarena", "recjury", "messages"])
def test_what_is_no_file_of_conversations_is_told_in_one_line(
    tmp_path: Path, name: str, told: str, form: str | None
) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "empty").touch()
    (tmp_path / "blank").write_bytes(b" \n\n")
    (tmp_path / "damaged.gz").write_bytes(gzip.compress(b"[]" * 100)[:15])
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(DataError) as caught:
        list(read_recordings([tmp_path / name], form))
    message = str(caught.value)
    if form is None or told != "is empty":
        assert told in message
    assert "\n" not in message


def test_a_bad_file_is_told_before_the_first_is_read(tmp_path: Path) -> None:
    good = MAKERS["jsonl"](tmp_path / "own.jsonl")
    with pytest.raises(DataError, match="no such file"):
        read_recordings([good, tmp_path / "nowhere"])


def test_an_array_without_conversations_holds_none(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="holds no conversation"):
        list(read_recordings([forms.lines(tmp_path / "none.json", b" [ ] ")]))


def test_a_name_that_is_no_unicode_is_read(tmp_path: Path) -> None:
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/n\xff.jsonl"))
    (one,) = read_recordings([MAKERS["messages"](path)])
    assert one.log.system == "n?"
    assert one.identity == one.log.id


def test_one_conversation_is_held_at_a_time(tmp_path: Path) -> None:
    long = {"role": "user", "content": "x" * 100_000}
    rows = [{"messages": [long, *forms.MESSAGES["messages"]]}] * 200
    path = forms.lines(tmp_path / "long.jsonl", *rows)
    exported = forms.lines(tmp_path / "exported.jsonl", *[forms.exported(settings=rows[0])] * 200)
    del rows
    tracemalloc.start()
    try:
        assert sum(1 for _ in read_recordings([path, exported])) == 400
        assert tracemalloc.get_traced_memory()[1] < 5_000_000
    finally:
        tracemalloc.stop()


def test_reading_stops_where_nobody_asks_for_more(tmp_path: Path) -> None:
    path = forms.lines(tmp_path / "own.jsonl", forms.OWN, b"{")
    assert len(list(islice(read_recordings([path]), 1))) == 1
    assert len(list(read_recordings([path], limit=1))) == 1


def test_crsarena_names_what_is_wrong(tmp_path: Path) -> None:
    one = dialogue()
    path = forms.array(tmp_path / "arena.json", [one, one])
    with pytest.raises(DataError, match=r"arena\.json: a second conversation"):
        list(read_recordings([path]))
    path.write_text('[{"conv_id": "kbrd_redial_1\\u0000", "dialogue": []}]')
    with pytest.raises(DataError, match=r"arena\.json:1: not JSON: a text holds the character NUL"):
        list(read_recordings([path]))
