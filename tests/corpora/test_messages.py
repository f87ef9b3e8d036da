"""Conversations in the form that chat models are asked in."""

from pathlib import Path
from typing import Any

import pytest

from recjury.corpora.message_files import read_messages
from recjury.errors import DataError
from recjury.records import ConversationLog, Ending, Speaker
from tests.corpora import forms

USER = {"role": "user", "content": "A heist film?"}
ANSWER = {"role": "assistant", "content": "Try Thief."}
CALL = {"id": "1", "type": "function", "function": {"name": "look_up", "arguments": "{}"}}


def _read(folder: Path, *rows: object) -> list[ConversationLog]:
    return list(read_messages(forms.lines(folder / "my-crs.v2.jsonl", *rows)))


def _said(folder: Path, *messages: object) -> list[tuple[str, str]]:
    (log,) = _read(folder, {"messages": messages})
    return [(turn.speaker.value, turn.text) for turn in log.interaction]


def test_the_whole_conversation_is_the_interaction(tmp_path: Path) -> None:
    (log,) = _read(tmp_path, {"messages": [USER, ANSWER, USER]})
    assert [turn.speaker for turn in log.interaction] == [
        Speaker.USER,
        Speaker.SYSTEM,
        Speaker.USER,
    ]
    assert log.scenario.history == ()
    assert log.ending is Ending.RECORDED


def test_the_line_and_the_file_name_what_the_row_does_not(tmp_path: Path) -> None:
    first, second = _read(tmp_path, {"messages": [USER, ANSWER]}, b"", forms.MESSAGES)
    assert first.system == "my-crs"
    assert first.scenario.id == "logs/my-crs#line 1"
    assert second.scenario.record == "line 3"


def test_a_row_may_name_them(tmp_path: Path) -> None:
    row = {
        "messages": [USER, ANSWER],
        "id": 17,
        "system": "other",
        "targets": ["Thief (1981)"],
        "catalogue": "sample",
        "corpus": "spring",
        "tools": [{"type": "function"}],
    }
    (log,) = _read(tmp_path, row)
    assert log.system == "other"
    assert log.scenario.id == "sample/spring#17"
    assert log.scenario.targets[0].id is not None


def test_what_the_user_does_not_see_is_left_out(tmp_path: Path) -> None:
    said = _said(
        tmp_path,
        {"role": "system", "content": "You recommend films."},
        {"role": "developer", "content": [{"type": "text", "text": "Be brief."}]},
        USER,
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"role": "tool", "content": "Thief", "tool_call_id": "1"},
        {"role": "assistant", "content": "", "function_call": {"name": "look_up"}},
        {"role": "function", "name": "look_up", "content": "Thief"},
        ANSWER,
    )
    assert said == [("user", "A heist film?"), ("system", "Try Thief.")]


def test_what_one_says_in_a_row_is_one_turn(tmp_path: Path) -> None:
    said = _said(
        tmp_path,
        USER,
        {"role": "user", "content": "An old one."},
        {"role": "assistant", "content": "Let me see.", "tool_calls": [CALL]},
        {"role": "tool", "content": "Thief", "tool_call_id": "1"},
        ANSWER,
        USER,
    )
    assert said == [
        ("user", "A heist film?\nAn old one."),
        ("system", "Let me see.\nTry Thief."),
        ("user", "A heist film?"),
    ]


def test_parts_that_are_text_are_read(tmp_path: Path) -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}}
    parts = [{"type": "text", "text": "Like this,"}, picture, {"type": "text", "text": "but old."}]
    said = _said(tmp_path, {"role": "user", "content": parts}, ANSWER)
    assert said[0] == ("user", "Like this,\nbut old.")


def test_an_assistant_that_refuses_or_says_nothing_has_its_turn(tmp_path: Path) -> None:
    refused = {"role": "assistant", "content": None, "refusal": "I can't."}
    said = _said(tmp_path, USER, refused, USER, {"role": "assistant", "content": "", "name": "a"})
    assert said[1] == ("system", "I can't.")
    assert said[3] == ("system", "")


def _row(*messages: object, **fields: object) -> dict[str, Any]:
    return {"messages": messages or [USER, ANSWER]} | fields


@pytest.mark.parametrize(
    ("row", "told"),
    [
        (_row(id="line 1"), "a second conversation 'line 1', as in line 1"),
        (_row(id=True), "id: input should be a valid string, got True"),
        (_row(id=""), "id: string should have at least 1 character"),
        (_row(system=3), "system: input should be a valid string"),
        (_row(system=""), "system: string should have at least 1 character"),
        (_row(corpus="a/b"), "corpus: string should match pattern"),
        (_row(catalogue="nonesuch"), "no corpus 'nonesuch'"),
        (_row(catalogue="~nobody-at-all"), "no corpus '~nobody-at-all'"),
        (_row(catalogue="x" * 300), "no corpus 'xxx"),
        (_row(catalogue="sample", targets=["Nonesuch"]), "the target 'Nonesuch' is not an item"),
        ({"messages": []}, "messages: list should have at least 1 item"),
        ({"messages": "hello"}, "messages: expected a list"),
        ({"text": "hello"}, "messages: is missing"),
        (_row(USER), "messages: no answer by the assistant"),
        (_row({"role": "system", "content": "x"}), "messages: no answer by the assistant"),
        (
            _row(USER, {"role": "bot", "content": "x"}),
            "messages.1.role: input should be 'system', ",
        ),
        (_row(USER, {"content": "x"}), "messages.1.role: is missing"),
        (_row(USER, {"role": "assistant", "content": 3}), "messages.1.content"),
        (_row(USER, {"role": "assistant", "content": {"text": "x"}}), "messages.1.content"),
        (
            _row({"role": "user", "content": [{"type": "image_url"}]}, ANSWER),
            "messages.0.content: no",
        ),
        (_row(USER, {"role": "assistant", "content": "a\0b"}), "not JSON: a text holds the"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, row: dict[str, Any], told: str) -> None:
    path = tmp_path / "my-crs.v2.jsonl"
    with pytest.raises(DataError) as caught:
        _read(tmp_path, forms.MESSAGES, row)
    message = str(caught.value)
    assert message.startswith(f"{path}:2: {told}")
    assert "\n" not in message
    assert len(message) < len(str(path)) + 500


@pytest.mark.parametrize(
    "line",
    [b'{"messages": NaN}', b"{", b'{"a":' * 50_000, b'{"id": "\\ud800"}', b"[]", b'"text"', b"\0"],
)
def test_hostile_lines_are_named(tmp_path: Path, line: bytes) -> None:
    with pytest.raises(DataError, match=r"my-crs\.v2\.jsonl:2: "):
        _read(tmp_path, forms.MESSAGES, line)


def test_an_empty_file_holds_no_conversation(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"my-crs\.v2\.jsonl: holds no conversation"):
        _read(tmp_path)
