"""What files may have in them: odd texts are rated, mistakes are one line and the exit code 2."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Recjury

ASKED = {"role": "user", "content": "A heist film?"}
ANSWER = {"role": "assistant", "content": "Try Heat (1995)."}


def said(text: str, **more: Any) -> list[dict[str, Any]]:
    """A conversation with a third turn like these."""
    return [ASKED, ANSWER, {"role": "user", "content": text}, {**ANSWER, **more}]


ODD = {
    "emojis": said("🎬🎞️👍🏽", content="🍿 Thief (1981) ❤️"),
    "an empty turn": said("", content="Thief (1981)?"),
    "an empty answer": said("And?", content=""),
    "a text of no width": said("\u200b\u200d", content="\ufeffThief (1981)"),
    "a megabyte of one word": said("a" * 2**20, content="b" * 2**20),
    "half of a sign": said("\ud83c", content="\udfac Thief"),
    "titles that are ordinary words": said("I give up. It is the thing.", content="Up to you."),
    "control characters": said("\x00\x1b[2J\x07", content="\x1f\x9bThief"),
    "from right to left": said("سرقة \u202e", content="السارق (1981)"),
}


@pytest.mark.parametrize("talk", ODD.values(), ids=ODD)
def test_what_is_odd_is_rated(tmp_path: Path, recjury: Recjury, talk: list[dict[str, Any]]) -> None:
    row = {"id": "a", "messages": talk, "targets": ["Heat (1995)"]}
    (tmp_path / "bot.jsonl").write_text(json.dumps(row))
    found = recjury("judge", "bot.jsonl", "--catalogue", "sample", "--json")
    assert found.code == 0
    scores = found.json["systems"]["bot"]
    assert scores["outcome.success"]["mean"] == 1
    assert scores["counted.naturalness"]["n"] == 1
    replayed = recjury("replay").out
    assert "\x1b" not in replayed
    assert "\x9b" not in replayed


@pytest.mark.parametrize(
    ("text", "scored"),
    [
        ("Then see Thief (1981), a calm film of the same maker.", 1),
        ("Dann schau dir Thief (1981) an: Der Film ist ruhig, und er ist nicht lang.", 0),
        ("그럼 영화 도둑 (1981) 을 보세요. 같은 감독의 조용한 영화입니다.", 0),
    ],
)
def test_english_words_are_counted_in_english(
    tmp_path: Path, recjury: Recjury, text: str, scored: int
) -> None:
    """What rests on English words is not applicable to another language; it is not failed."""
    talk = [ASKED, {"role": "assistant", "content": text}]
    (tmp_path / "bot.jsonl").write_text(json.dumps(talk))
    found = recjury("judge", "bot.jsonl", "--catalogue", "sample", "--json")
    assert found.code == 0
    assert found.json["systems"]["bot"]["counted.grammatical_correctness"]["n"] == scored
    assert found.json["systems"]["bot"]["counted.proactiveness"]["n"] == 1


ITEM, TALK = {"id": "a", "title": "Heat"}, {"messages": [ASKED, ANSWER]}
CAMPAIGN = "scenarios: [{catalogue: shop, draw: 1}]\nsystems: [popular]\n"


def shop(*items: Any) -> dict[str, str]:
    rows = "".join(f"{json.dumps(item)}\n" for item in items)
    return {"c.yaml": CAMPAIGN, "shop/domain.yaml": "domain: film", "shop/items.jsonl": rows}


@pytest.mark.parametrize(
    ("files", "command", "words"),
    [
        (shop(), "run c.yaml", ["items.jsonl", "no items"]),
        (shop(ITEM, ITEM), "run c.yaml", ["items.jsonl:2", "'a'", "items.jsonl:1"]),
        (shop(ITEM), "run c.yaml", ["draw", "share an attribute"]),
        (shop({"title": "Heat"}), "run c.yaml", ["items.jsonl", "`id` is missing", "title"]),
        ({"x.json": '{"talks": {"a": 1}}'}, "judge x.json", ["interaction", "talks", "own_form"]),
        ({"x.json": "<html>"}, "judge x.json", ["interaction", "<html>", "own_form"]),
        ({"x.json": ""}, "judge x.json", ["x.json"]),
        ({"x.json": json.dumps([ASKED])}, "judge x.json", ["answers nothing"]),
        ({"x.json": json.dumps(TALK)}, "judge x.json --catalogue sampel", ["did you mean sample"]),
        ({"x.json": json.dumps(TALK)}, "judge x.json --form mesages", ["did you mean messages"]),
        ({"x.json": json.dumps(TALK)}, "judge x.json y.json", ["no file y.json"]),
        ({}, "judge pipe", ["pipe", "no file"]),
        ({}, "judge .", ["no file"]),
    ],
)
def test_a_mistake_is_one_line(
    tmp_path: Path, recjury: Recjury, files: dict[str, str], command: str, words: list[str]
) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    assert recjury(*command.split()).is_mistake(*words)
