"""Acts that a log of one's own declares: read, or refused in one line."""

from pathlib import Path

import orjson
import pytest

from recjury.corpora.log_files import read_log_file
from recjury.errors import DataError
from recjury.records import Act, DeclaredAct


def _write(folder: Path, *acts: object, by: str = "user") -> Path:
    turns: list[dict[str, object]] = [
        {"speaker": "system", "text": "Try Heat (1995).", "items": ["Heat (1995)"]},
        {"speaker": "user", "text": "Twice. Something funny?"},
    ]
    turns[0 if by == "system" else 1]["acts"] = list(acts)
    line = {"id": "c1", "system": "mine", "catalogue": "sample", "interaction": turns}
    path = folder / "mine.jsonl"
    path.write_bytes(orjson.dumps(line))
    return path


def test_acts_name_items_as_lists_do(tmp_path: Path) -> None:
    wish = {"act": "wish", "attribute": "genre", "value": "comedy"}
    path = _write(tmp_path, {"act": "seen", "item": "Heat (1995)"}, wish)
    (log,) = read_log_file(path)
    heat = log.interaction[0].items[0].id
    assert log.interaction[1].acts == (
        DeclaredAct(act=Act.SEEN, item=heat),
        DeclaredAct(act=Act.WISH, attribute="genre", value="comedy"),
    )


def test_acts_are_part_of_a_logs_identity(tmp_path: Path) -> None:
    (declared,) = read_log_file(_write(tmp_path, {"act": "seen"}))
    (silent,) = read_log_file(_write(tmp_path))
    assert declared.id != silent.id


@pytest.mark.parametrize(
    ("acts", "by", "message"),
    [
        (({"act": "seen", "item": "Nonesuch"},), "user", "about 'Nonesuch', which is no item"),
        (({"act": "seen"},), "system", "only user turns have acts"),
        (({"act": "dance"},), "user", "acts.0.act"),
        (({"act": "accept"}, {"act": "refuse"}), "user", "accepts and refuses a suggestion"),
        (({"act": "chat"}, {"act": "bye"}), "user", "chat stands beside another act"),
        (
            (
                {"act": "wish", "attribute": "genre", "value": "Comedy"},
                {"act": "refuse", "attribute": "genre", "value": "comedy"},
            ),
            "user",
            "wants and refuses genre 'comedy'",
        ),
        (({"act": "wish", "value": "comedy"},), "user", "'comedy' has no attribute"),
        (({"act": "thank", "item": "Heat (1995)"},), "user", "thank is about no item"),
    ],
)
def test_what_cannot_be_is_one_line(
    tmp_path: Path, acts: tuple[object, ...], by: str, message: str
) -> None:
    with pytest.raises(DataError) as refused:
        list(read_log_file(_write(tmp_path, *acts, by=by)))
    assert message in str(refused.value)
    assert "mine.jsonl" in str(refused.value)
    assert "\n" not in str(refused.value)
