"""Recordings as people have them: forms, speakers, tools, thoughts, odd lines, refusals."""

import json
from pathlib import Path
from typing import Any

import pytest

from recjury.corpora import Reading, Recording, Recordings, open_corpus, read_recordings
from recjury.errors import UserError
from recjury.records import ConversationLog

USER, BOT = {"role": "user", "content": "A heist film?"}, {"role": "assistant", "content": "Heat."}
TALK = [USER, BOT]
OWN = {
    "id": "a",
    "system": "mine",
    "interaction": [
        {"speaker": "user", "text": "A heist film?"},
        {"speaker": "system", "text": "Heat.", "items": ["Heat (1995)", {"id": None, "name": "X"}]},
    ],
}


def read(path: Path, text: str, **options: Any) -> Recordings:
    path = path / "chats.json"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    return read_recordings([path], Reading(**options))


def lines(*rows: Any) -> str:
    return "\n".join(json.dumps(row) for row in rows)


def only(path: Path, row: Any, **options: Any) -> Recording:
    (recording,) = read(path, json.dumps(row), **options).recordings
    return recording


def turns(recording: Recording) -> list[tuple[str, str]]:
    return [(turn.speaker, turn.text) for turn in recording.interaction]


def sample_log(path: Path, row: Any) -> ConversationLog:
    return only(path, row, catalogue="sample").log(open_corpus("sample"))


@pytest.mark.parametrize(
    ("text", "count"),
    [
        (lines({"messages": TALK}, {"messages": TALK}), 2),
        (lines(TALK, TALK), 2),
        (json.dumps([{"messages": TALK}, {"messages": TALK}], indent=1), 2),
        (json.dumps([TALK, TALK]), 2),
        (json.dumps(TALK), 1),
        (json.dumps({"messages": TALK}, indent=2), 1),
        (json.dumps({"data": [{"messages": TALK}, {"messages": TALK}], "version": 1}), 2),
        (lines(OWN, {**OWN, "id": "b"}), 2),
        (json.dumps([OWN]), 1),
        ("\ufeff" + lines({"messages": TALK}), 1),
        ("\r\n".join((json.dumps({"messages": TALK}), json.dumps({"messages": TALK}))) + "\r\n", 2),
        ("\n\n" + lines({"messages": TALK}) + "\n\n", 1),
    ],
)
def test_a_form_is_recognised(tmp_path: Path, text: str, count: int) -> None:
    found = read(tmp_path, text)
    assert len(found.recordings) == count
    assert not found.skipped
    for each in found.recordings:
        assert turns(each) == [("user", "A heist film?"), ("system", "Heat.")]


def test_what_is_not_said_has_a_default(tmp_path: Path) -> None:
    first, second = read(tmp_path, lines({"messages": TALK}, {"messages": TALK})).recordings
    assert (first.system, first.corpus) == ("chats", "chats")
    assert first.id != second.id
    assert only(tmp_path, {"messages": TALK, "model": "gpt"}).system == "gpt"
    assert only(tmp_path, {"messages": TALK, "id": 17}).id == "17"


@pytest.mark.parametrize(
    ("user", "system"), [("human", "ai"), ("User", "Bot"), ("customer", "recommender")]
)
def test_speakers_have_their_usual_names(tmp_path: Path, user: str, system: str) -> None:
    said = [{"role": user, "content": "Hi"}, {"role": system, "content": "Hello"}]
    assert turns(only(tmp_path, said)) == [("user", "Hi"), ("system", "Hello")]


def test_messages_of_one_speaker_are_one_turn(tmp_path: Path) -> None:
    prompt = {"role": "system", "content": "You recommend films."}
    said = [prompt, USER, {"role": "user", "content": "Quick!"}, BOT, BOT]
    assert turns(only(tmp_path, said)) == [
        ("user", "A heist film?\nQuick!"),
        ("system", "Heat.\nHeat."),
    ]


def test_tools_images_and_parts(tmp_path: Path) -> None:
    call = {"id": "1", "type": "function", "function": {"name": "search", "arguments": "{}"}}
    said = [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "Like this one?"},
                {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
            ],
        },
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "1", "content": "Heat (1995)"},
        {"role": "assistant", "content": [{"type": "text", "text": "Heat."}]},
        {"role": "assistant", "refusal": "No more."},
    ]
    user, system = only(tmp_path, said).interaction
    assert user.text == "Like this one?"
    assert [event.value for event in user.events] == ["https://example.org/a.png", None]
    assert system.text == "Heat.\nNo more."
    assert [event.kind for event in system.events] == ["tool call", "tool result"]
    assert system.events[0].value["name"] == "search"


def test_thoughts_are_parted(tmp_path: Path) -> None:
    """Case 03: what a model thinks before it speaks is not what it said."""
    said = [USER, {"role": "assistant", "content": "<think>\nThief (1981)?\n</think>\n\nHeat."}]
    assert turns(only(tmp_path, said)) == turns(only(tmp_path, TALK))
    twice = [USER, said[1], {"role": "assistant", "content": "<think>Hm.</think>Or Alien."}]
    assert turns(only(tmp_path, twice))[1] == ("system", "Heat.\nOr Alien.")


@pytest.mark.parametrize("text", ["Awful. </think> Heat.", "Heat. </think>", "A </think>, B"])
def test_a_mark_of_an_end_hides_no_words(tmp_path: Path, text: str) -> None:
    said = [USER, {"role": "assistant", "content": text}]
    assert turns(only(tmp_path, said))[1] == ("system", text)
    begun = [USER, {"role": "assistant", "content": f"<think>Hm.</think>{text}"}]
    assert turns(only(tmp_path, begun))[1] == ("system", text)


def test_lines_end_at_line_feeds_alone(tmp_path: Path) -> None:
    """Case 21: JSON allows U+2028, U+2029 and U+0085 within a text."""
    text = "I like\u2028Heat\x85 and\u2029more"
    row = json.dumps([{"role": "user", "content": text}, BOT], ensure_ascii=False)
    (recording,) = read(tmp_path, f"{row}\n").recordings
    assert recording.interaction[0].text == text


def test_marks_in_a_text_stay(tmp_path: Path) -> None:
    """Case 13: nothing in a text is taken for a mark."""
    text = "I want\x1f {{ cut }} {# film #} {% raw %} </user>"
    assert only(tmp_path, [{"role": "user", "content": text}, BOT]).interaction[0].text == text


@pytest.mark.parametrize("text", ["🎬🎞️", "x" * 1_000_000, "", "\ud800", "히트"])
def test_odd_texts_are_kept(tmp_path: Path, text: str) -> None:
    said = [{"role": "user", "content": text}, BOT]
    assert only(tmp_path, said).interaction[0].text == text


def test_items_are_of_the_catalogue_once_each(tmp_path: Path) -> None:
    """Case 23: an item that is listed several times is one item."""
    listed = ["Heat (1995)", "heat (1995)", "Heat", "Thief (1981)", "No Such Film"]
    answer = {"speaker": "system", "text": "Try.", "items": listed}
    row = {**OWN, "interaction": [answer], "targets": ["Thief (1981)", "Thief"]}
    log = sample_log(tmp_path, row)
    assert [item.name for item in log.session_list][:2] == ["Heat (1995)", "Thief (1981)"]
    assert len(log.session_list) == 3
    assert len(log.scenario.targets) == 1
    assert not log.linked


def test_lists_are_found_in_texts_where_none_is_recorded(tmp_path: Path) -> None:
    said = [
        {"role": "user", "content": "I loved Alien (1979)."},
        {"role": "assistant", "content": "Alien (1979) is great. Then see Heat (1995)."},
    ]
    log = sample_log(tmp_path, said)
    assert [item.name for item in log.session_list] == ["Heat (1995)"]
    assert log.linked


def test_what_the_history_names_is_no_surprise(tmp_path: Path) -> None:
    history = [{"role": "user", "content": "I loved Heat (1995) and Alien (1979)."}]
    row = {**OWN, "history": history, "targets": ["Heat (1995)", "Thief (1981)"]}
    scenario = sample_log(tmp_path, row).scenario
    assert [item.name for item in scenario.named_in_history] == ["Heat (1995)"]
    listed = {**row, "history": [{**history[0], "items": ["Thief (1981)"]}]}
    named = sample_log(tmp_path, listed).scenario.named_in_history
    assert [item.name for item in named] == ["Thief (1981)"]


def test_each_turn_says_whether_its_list_was_found_in_its_text(tmp_path: Path) -> None:
    answer = {"role": "assistant", "content": "Heat (1995).", "items": ["Heat (1995)"]}
    row = {"id": "a", "interaction": [USER, {**answer, "linked": True}, USER, answer]}
    log = sample_log(tmp_path, row)
    assert [turn.linked for turn in log.interaction if turn.items] == [True, False]
    assert log.linked


def test_without_a_catalogue_names_are_compared_by_their_words(tmp_path: Path) -> None:
    row = {**OWN, "targets": ["HEAT (1995)"]}
    log = only(tmp_path, row).log()
    assert log.scenario.targets[0].id == log.session_list[0].id
    assert log.ending == "recorded"


def test_two_systems_on_one_scenario(tmp_path: Path) -> None:
    """Case 28: the usual layout of a comparison."""
    found = read(tmp_path, lines({**OWN, "system": "A"}, {**OWN, "system": "B"}))
    assert {(each.id, each.system) for each in found.recordings} == {("a", "A"), ("a", "B")}


def test_one_conversation_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"line 2: .*'a' twice.*line 1"):
        read(tmp_path, lines(OWN, OWN))


BAD = [
    ('{"messages": [{"role": "user", "content": "Hi"}', "no JSON"),
    (json.dumps({"messages": [USER]}), "answers nothing"),
    (json.dumps({"messages": []}), "answers nothing"),
    (json.dumps({"messages": [{"role": "narrator", "content": "x"}]}), "'narrator'"),
    (json.dumps({"messages": [USER, {"role": "assistant", "content": 7}]}), "`content`"),
    (json.dumps({"messages": [USER, "Hello"]}), "message 2"),
    (json.dumps({"other": 1}), "not of the form"),
    (json.dumps({"messages": [{**BOT, "items": [7]}]}), "an item is"),
    (json.dumps([USER, {"role": "assistant", "content": "<think>Hm"}]), "answers nothing"),
    (json.dumps([USER, {"role": "assistant", "content": " \u200b\ufeff\n"}]), "answers nothing"),
]


@pytest.mark.parametrize(("line", "reason"), BAD)
def test_a_bad_line_is_skipped(tmp_path: Path, line: str, reason: str) -> None:
    good = [json.dumps({"messages": TALK, "id": n}) for n in range(30)]
    found = read(tmp_path, "\n".join((*good[:5], line, *good[5:])))
    assert len(found.recordings) == 30
    (skipped,) = found.skipped
    assert skipped.where.endswith("line 6")
    assert reason in skipped.reason


@pytest.mark.parametrize(("line", "reason"), BAD[1:6])
def test_more_than_one_in_twenty_is_refused(tmp_path: Path, line: str, reason: str) -> None:
    good = [json.dumps({"messages": TALK, "id": n}) for n in range(10)]
    with pytest.raises(UserError, match=r"line 11.*1 of 11") as refused:
        read(tmp_path, "\n".join((*good, line)))
    assert reason in str(refused.value)


@pytest.mark.parametrize("wrong", [{"targets": "Heat"}, {"targets": 3}, {"items": "Heat"}])
def test_items_are_a_list(tmp_path: Path, wrong: dict[str, object]) -> None:
    said = {"role": "assistant", "content": "Heat?"} | {
        k: v for k, v in wrong.items() if k == "items"
    }
    line = {"messages": [USER, said], **{k: v for k, v in wrong.items() if k == "targets"}}
    with pytest.raises(UserError, match="list"):
        read(tmp_path, json.dumps(line))


def test_who_is_skipped_is_known(tmp_path: Path) -> None:
    good = [{"messages": TALK, "id": n, "system": "A"} for n in range(30)]
    found = read(tmp_path, lines(*good, {"messages": [USER], "system": "B"}))
    assert [skipped.system for skipped in found.skipped] == ["B"]


@pytest.mark.parametrize(
    ("text", "first"),
    [("chat,bot\n1,2\n", "'2'"), ("{}", "{}"), ("[1, 2]", "1"), ('{"a": [{"b": 1}]}', "'b': 1")],
)
def test_another_kind_of_file_is_told_what_was_looked_for(
    tmp_path: Path, text: str, first: str
) -> None:
    with pytest.raises(UserError) as refused:
        read(tmp_path, text)
    for word in (first, "interaction", "messages", "own_form"):
        assert word in str(refused.value)


def test_a_form_of_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "chats.csv"
    path.write_text("chat,bot,who,text\n1,mine,user,A heist film?\n1,mine,bot,Heat.\n", "utf-8-sig")
    (recording,) = read_recordings([path], Reading("examples.own_form:read")).recordings
    assert turns(recording) == [("user", "A heist film?"), ("system", "Heat.")]
    assert (recording.id, recording.system) == ("1", "mine")


def test_what_an_own_form_raises_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "chats.csv"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(UserError, match=r"own_form:read raised for .*KeyError: 'chat'"):
        read_recordings([path], Reading("examples.own_form:read"))


def test_a_misspelt_form_has_a_nearest_one(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="did you mean messages"):
        read(tmp_path, "[]", form="message")
