"""Keys stay out of texts, and events go to the file that was named."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from recjury.errors import UserError
from recjury.keys import hidden, key_of


def test_a_key_is_read_without_spaces_and_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP_KEY", " sk-verysecret\r\n")
    assert key_of("SHOP_KEY") == "sk-verysecret"
    assert hidden("401: wrong key sk-verysecret") == "401: wrong key [key]"


def test_no_other_variable_is_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SORT_KEY", "popular-movies")
    assert hidden("You like popular-movies") == "You like popular-movies"


@pytest.mark.parametrize("value", ["", "  ", "“abc”", "ab\u0000c", "ab\ncd"])
def test_a_key_that_no_header_carries_is_one_line(
    monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    if "\0" in value:
        monkeypatch.delenv("SHOP_KEY", raising=False)
    else:
        monkeypatch.setenv("SHOP_KEY", value)
    with pytest.raises(UserError, match="SHOP_KEY"):
        key_of("SHOP_KEY")


def test_events_are_json_lines_without_keys(tmp_path: Path) -> None:
    code = (
        "import sys, pathlib\n"
        "from recjury.keys import key_of\n"
        "from recjury.logs import logger, report_events\n"
        "logger.info('lost')\n"
        "key_of('SHOP_KEY')\n"
        "report_events(pathlib.Path(sys.argv[1]))\n"
        "logger.info('call ends', call='c1', reason='bad key sk-verysecret')\n"
    )
    path = tmp_path / "log.jsonl"
    subprocess.run(
        [sys.executable, "-c", code, str(path)], env={"SHOP_KEY": "sk-verysecret"}, check=True
    )
    (event,) = map(json.loads, path.read_text().splitlines())
    assert event["event"] == "call ends"
    assert event["reason"] == "bad key [key]"
    assert event["timestamp"].endswith("Z")
