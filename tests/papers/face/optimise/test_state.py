"""The journal: whole lines only, one run's only, and what is kept comes back."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from recjury.errors import ConfigError, DataError
from recjury.papers.face.optimise import Journal
from recjury.papers.face.optimise.state import check_journal
from recjury.records import JSON


def test_what_is_kept_comes_back_in_order(tmp_path: Path) -> None:
    path = tmp_path / "new" / "journal.jsonl"
    first = Journal(path, {"seed": 1})
    kept = first.keep("1/rewrites", {"texts": ("a", "b")})
    first.keep("1/trained", {"measured": {"a": [None, 0.5]}})
    again = Journal(path, {"seed": 1})
    assert again.find("1/rewrites") == kept == {"step": "1/rewrites", "texts": ["a", "b"]}
    assert list(again.steps) == ["1/rewrites", "1/trained"]
    assert again.find("2/rewrites") is None


@pytest.mark.parametrize("torn", [1, 5, 30])
def test_a_torn_line_is_no_line(tmp_path: Path, torn: int) -> None:
    path = tmp_path / "journal.jsonl"
    journal = Journal(path, {"seed": 1})
    journal.keep("1", {"value": 1})
    whole = path.read_bytes()
    journal.keep("2", {"value": 2})
    path.write_bytes(path.read_bytes()[: len(whole) + min(torn, 20)])
    again = Journal(path, {"seed": 1})
    assert list(again.steps) == ["1"]
    again.keep("2", {"value": 3})
    assert Journal(path, {"seed": 1}).find("2") == {"step": "2", "value": 3}


def test_a_torn_head_begins_anew(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    Journal(path, {"seed": 1})
    path.write_bytes(path.read_bytes()[:10])
    Journal(path, {"seed": 2}).keep("1", {})
    assert list(Journal(path, {"seed": 2}).steps) == ["1"]


def test_a_run_with_other_settings_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    Journal(path, {"seed": 1, "model": "a", "beam": 4})
    with pytest.raises(ConfigError, match=r"other settings \(model, seed\)"):
        Journal(path, {"seed": 2, "model": "b", "beam": 4})


def test_what_is_no_journal_is_named_by_its_line(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    Journal(path, {})
    with path.open("ab") as file:
        file.write(b"{not json}\n")
    with pytest.raises(DataError, match=r"journal\.jsonl:2: is not a journal"):
        Journal(path, {})


@pytest.mark.parametrize("opened", [Journal, check_journal])
def test_a_journal_that_cannot_be_read_is_named(
    tmp_path: Path, opened: Callable[[Path, Mapping[str, JSON]], object]
) -> None:
    place = tmp_path / "journal.jsonl"
    place.mkdir()
    with pytest.raises(DataError, match=r"journal\.jsonl: cannot be read.*: Is a dir"):
        opened(place, {})
