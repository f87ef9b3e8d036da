"""Forms of other tools and of tables, each in files written after its own documentation."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from recjury.corpora import Reading, Recording, Recordings, read_recordings
from recjury.errors import UserError

TALK = [("user", "A heist film?"), ("system", "Heat."), ("user", "Older!"), ("system", "Rififi.")]


def read(path: Path, text: str | bytes, name: str = "chats.json", **options: Any) -> Recordings:
    path = path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_recordings([path], Reading(**options))


def turns(recording: Recording) -> list[tuple[str, str]]:
    return [(turn.speaker, turn.text) for turn in recording.interaction]


def lines(*rows: Any) -> str:
    return "\n".join(json.dumps(row) for row in rows)


def refused(path: Path, text: str | bytes, name: str = "chats.json", **options: Any) -> str:
    with pytest.raises(UserError) as error:
        read(path, text, name, **options)
    assert "\n" not in str(error.value)
    return str(error.value)


SHAREGPT = {
    "conversations": [
        {"from": "system", "value": "You recommend films."},
        {"from": "human", "value": "A heist film?"},
        {"from": "function_call", "value": '{"name": "search", "arguments": {"genre": "heist"}}'},
        {"from": "observation", "value": "Heat (1995)"},
        {"from": "gpt", "value": "<think>1995</think>Heat."},
        {"from": "human", "value": "Older!"},
        {"from": "gpt", "value": "Rififi."},
    ],
    "system": "You recommend films.",
    "tools": "[]",
}


@pytest.mark.parametrize("text", [json.dumps([SHAREGPT]), lines(SHAREGPT), json.dumps(SHAREGPT)])
def test_sharegpt(tmp_path: Path, text: str) -> None:
    """https://github.com/hiyouga/LLaMA-Factory/blob/main/data/README.md (Sharegpt Format)."""
    (recording,) = read(tmp_path, text).recordings
    assert turns(recording) == TALK
    assert [event.kind for event in recording.interaction[1].events] == ["tool call", "tool result"]
    assert recording.system == "chats"
    named = read(tmp_path, text, mapping={"system": "system"}).recordings
    assert named[0].system == "You recommend films."


UTTERANCES = [
    {
        "participant": "AGENT" if who == "system" else "USER",
        "utterance": text,
        "utterance ID": str(n),
    }
    for n, (who, text) in enumerate(TALK)
]


@pytest.mark.parametrize(
    "value",
    [
        {
            "agent": {"id": "moviebot", "type": "BOT"},
            "user": {"id": "13", "type": "SIMULATOR"},
            "dialogues": [{"conversation_id": "17", "conversation": UTTERANCES}],
        },
        [
            {
                "conversation ID": "17",
                "agent": {"id": "moviebot", "type": "AGENT"},
                "user": {"id": "13", "type": "USER"},
                "conversation": UTTERANCES,
                "metadata": {"sentiment": "satisfied"},
            }
        ],
    ],
)
def test_dialoguekit(tmp_path: Path, value: Any) -> None:
    """github.com/iai-group/DialogueKit, docs/source/dialogue_export.rst, and as CRSArena has it."""
    (recording,) = read(tmp_path, json.dumps(value)).recordings
    assert turns(recording) == TALK
    assert (recording.id, recording.system) == ("17", "moviebot")


DATA = Path(os.environ.get("RECJURY_DATA", ""))
needs_data = pytest.mark.skipif(
    not (DATA / "crsarena-eval").is_dir(), reason="RECJURY_DATA has no crsarena-eval"
)


@needs_data
def test_crsarena() -> None:
    """CRSArena-Eval as it was published: 467 dialogues of nine systems, two of which stay mute."""
    found = read_recordings([DATA / "crsarena-eval" / "crs_arena_eval.json"])
    assert len(found.recordings) + len(found.skipped) == 467
    assert len({each.system for each in found.recordings}) == 9
    first = found.recordings[0]
    assert (first.system, first.corpus) == ("barcor_redial", "crsarena-redial")
    assert first.interaction[1].text == "Have you seen Blade Runner 2049 (2017)?"


@needs_data
@pytest.mark.parametrize(("name", "count"), [("open", 254), ("closed", 220)])
def test_crsarena_dial_is_of_dialoguekit(name: str, count: int) -> None:
    found = read_recordings([DATA / "crsarena-dial" / f"crs_arena_dial_{name}.json"])
    assert len(found.recordings) + len(found.skipped) == count
    assert "barcor_redial" in {each.system for each in found.recordings}


@needs_data
def test_scores_of_face_are_no_conversations() -> None:
    with pytest.raises(UserError, match=r"crsarena.*dialogue"):
        read_recordings([DATA / "crsarena-eval" / "face_run.json"])


def trace(number: int, asked: Any, answered: Any, **more: Any) -> dict[str, Any]:
    time = f"2025-01-01T10:0{number}:00.000Z"
    about = {"id": f"t{number}", "timestamp": time, "name": "chat", "sessionId": "s", "tags": []}
    return {**about, "input": asked, "output": answered, **more}


def said(role: str, text: str) -> dict[str, str]:
    return {"role": role, "content": text}


ASKED, ANSWERED = said("user", "A heist film?"), said("assistant", "Heat.")
OLDER, RIFIFI = said("user", "Older!"), said("assistant", "Rififi.")
HISTORY = [said("system", "You recommend."), ASKED, ANSWERED, OLDER]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (("A heist film?", "Heat."), ("Older!", "Rififi.")),
        (([ASKED], ANSWERED), (HISTORY, RIFIFI)),
        (({"messages": [ASKED]}, {"choices": [{"message": ANSWERED}]}), (HISTORY, [RIFIFI])),
        (({"query": "A heist film?"}, {"answer": "Heat."}), (json.dumps(HISTORY), "Rififi.")),
        (({"messages": [ASKED]}, {"messages": [ASKED, ANSWERED]}), ("Older!", {"output": RIFIFI})),
        (([{"type": "human", "content": "A heist film?"}], "Heat."), ('"Older!"', '"Rififi."')),
    ],
)
def test_traces_of_langfuse(tmp_path: Path, first: Any, second: Any) -> None:
    """https://langfuse.com/docs/api-and-data-platform/features/export-from-ui and the API's list.

    The newest trace comes first, and inputs may have the whole history.
    """
    traces = [trace(2, *second), trace(1, *first)]
    for text in (json.dumps({"data": traces, "meta": {"page": 1}}), lines(*traces)):
        (recording,) = read(tmp_path, text).recordings
        assert turns(recording) == TALK
        assert recording.id == "s"


def test_a_session_of_langfuse_with_a_turn_that_failed(tmp_path: Path) -> None:
    """What the user said before it stands in the next input again, and is said once."""
    hi = said("user", "Hi")
    traces = [trace(1, [hi], None), trace(2, [hi, ASKED], "Heat."), trace(3, "Older!", RIFIFI)]
    session = {"id": "s", "traces": traces, "comments": []}
    (recording,) = read(tmp_path, json.dumps(session)).recordings
    texts = [turn.text for turn in recording.interaction]
    assert texts == ["Hi\nA heist film?", "Heat.", "Older!", "Rififi."]


def observation(number: int, asked: Any, answered: Any, **more: Any) -> dict[str, Any]:
    """https://langfuse.com/docs/api-and-data-platform/features/blob-storage-export-fields."""
    about = {"id": f"o{number}", "trace_id": "t1", "session_id": "s", "type": "SPAN"}
    time = {"start_time": f"2025-01-01 10:0{number}:00.000000"}
    return {**about, **time, "input": asked, "output": answered, **more}


def test_observations_of_langfuse(tmp_path: Path) -> None:
    """The outermost observation speaks for a trace, or else its last generation."""
    inner = {"parent_observation_id": "o1", "type": "GENERATION"}
    rows = [
        observation(1, "A heist film?", "Heat."),
        observation(2, "Rewrite: A heist film?", "heist", **inner),
        observation(3, None, None, trace_id="t2"),
        observation(4, json.dumps([OLDER]), "Rififi.", trace_id="t2", **inner),
        observation(5, "A heist film?", "None.", trace_id="t3", session_id=None),
    ]
    one, alone = read(tmp_path, lines(*rows)).recordings
    assert turns(one) == TALK
    assert (alone.id, len(alone.interaction)) == ("t3", 2)


def test_a_trace_without_a_user_is_skipped_and_counted(tmp_path: Path) -> None:
    many = [trace(1, "Hi", "Hello", id=f"t{n}", sessionId=None) for n in range(30)]
    job = trace(2, None, "done", id="job", name="nightly", sessionId=None)
    found = read(tmp_path, lines(*many, job))
    assert len(found.recordings) == 30
    (skipped,) = found.skipped
    assert skipped.where.endswith("line 31")
    assert "job has no user's turn" in skipped.reason
    assert "1 of 2" in refused(tmp_path, lines(many[0], job))
    assert len(read(tmp_path, lines(many[0], job), rows={"name": "chat"}).recordings) == 1


TABLE = (
    "chat_id,role,body,bot,targets\n"
    'c1,customer,A heist film?,A,"Heat (1995)|Rififi"\n'
    "c2,customer,Hi,A,\n"
    'c1,assistant,"Heat.",A,\n'
    "c1,customer,Older!,A,\n"
    "c1,assistant,Rififi.,A,\n"
    'c2,assistant,"Hello, you",A,\n'
    "c1,customer,Hi,B,\n"
    "c1,assistant,Hello,B,\n"
)
SEMICOLONS = TABLE.replace('"Hello, you"', "Hello you").replace(",", ";")


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (TABLE.encode(), "chats.csv"),
        (TABLE.encode("utf-8-sig"), "chats.csv"),
        (TABLE.encode("utf-16"), "chats.txt"),
        (SEMICOLONS.replace("\n", "\r\n").encode(), "chats.csv"),
        (SEMICOLONS.replace(";", "\t").encode(), "chats.tsv"),
    ],
)
def test_a_table_has_a_row_for_each_turn(tmp_path: Path, content: bytes, name: str) -> None:
    one, two, other = read(tmp_path, content, name).recordings
    assert turns(one) == TALK
    assert (one.id, one.system) == ("c1", "A")
    assert [target.name for target in one.targets] == ["Heat (1995)", "Rififi"]
    assert two.interaction[0].text == "Hi"
    assert (other.id, other.system) == ("c1", "B")


def test_columns_of_other_names_are_mapped(tmp_path: Path) -> None:
    text = TABLE.replace("chat_id,role,body,bot", "ticket,by,said,release")
    mapping = {"session": "ticket", "speaker": "by", "text": "said", "system": "release"}
    assert turns(read(tmp_path, text, "chats.csv", mapping=mapping).recordings[0]) == TALK
    said = refused(tmp_path, text, "chats.csv", mapping={**mapping, "text": "sayd"})
    assert "did you mean said" in said
    assert "did you mean speaker" in refused(tmp_path, text, mapping={"speker": "by"})
    assert "--map text=COLUMN" in refused(tmp_path, text, "chats.csv")


@pytest.mark.parametrize("layout", [lines, lambda *rows: json.dumps(rows)])
def test_a_table_may_be_json(tmp_path: Path, layout: Any) -> None:
    rows = [{"meta": {"chat": 7}, "role": who, "content": text} for who, text in TALK]
    mapping = {"session": "meta.chat"}
    (recording,) = read(tmp_path, layout(*rows), mapping=mapping).recordings
    assert (recording.id, turns(recording)) == ("7", TALK)


def test_a_table_may_be_parquet(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    rows = [{"chat": "7", "role": who, "content": text, "n": None} for who, text in TALK]
    parquet.write_table(pyarrow.Table.from_pylist(rows), tmp_path / "chats.parquet")
    (recording,) = read_recordings([tmp_path / "chats.parquet"]).recordings
    assert (recording.id, turns(recording)) == ("7", TALK)


def test_one_who_speaks_may_be_called_system(tmp_path: Path) -> None:
    """Beside an assistant, a `system` gives instructions; alone, it speaks."""
    table = "id,role,text\n1,system,Be kind.\n1,user,Hi\n1,assistant,Hello\n"
    assert len(read(tmp_path, table, "chats.csv").recordings[0].interaction) == 2
    table = "id,role,text\n1,user,Hi\n1,system,Hello\n"
    assert turns(read(tmp_path, table, "chats.csv").recordings[0])[1] == ("system", "Hello")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (
            "role,text\nuser,Hi\nbot,Hello\nuser,Hi\n",
            ["chats.csv, line 2", "--map session=COLUMN"],
        ),
        (
            "session,role,text\n1,user,Hi\n1,narrator,So\n",
            ["chats.csv, line 2", "line 3", "narrator"],
        ),
        ("session,role,text\n1,user,Hi,there\n", ["line 2", "4 cells", "3"]),
        ("role,role,text\nuser,user,Hi\n", ["line 1", "'role'"]),
        ('role,text\nuser,"Hi\n', ["line 2", "no CSV"]),
        ("session,role,text\n1,user,Hi\n", ["line 2", "answers nothing"]),
        ("role,text\nuser,Caf\xe9\n".encode("cp1252"), ["not UTF-8", "byte 18"]),
        (f"{TABLE}{TABLE}", ["line 11", "twice", "3 of 4"]),
        ("just words\nand more\n", ["neither JSON nor a table", "just words"]),
        ("", ["no rows"]),
    ],
)
def test_a_mistake_in_a_table_has_its_line(
    tmp_path: Path, content: str | bytes, words: list[str]
) -> None:
    message = refused(tmp_path, content, "chats.csv")
    for word in words:
        assert word in message


def test_another_encoding_is_named(tmp_path: Path) -> None:
    content = "id,role,text\n1,user,Caf\xe9?\n1,bot,Oui\n".encode("cp1252")
    (recording,) = read(tmp_path, content, "chats.csv", encoding="cp1252").recordings
    assert recording.interaction[0].text == "Caf\xe9?"
    assert "no encoding 'cp1525'" in refused(tmp_path, content, encoding="cp1525")


def test_rows_are_chosen_by_a_value(tmp_path: Path) -> None:
    rows = [
        {"messages": [ASKED, ANSWERED], "id": n, "meta": {"channel": "web" if n % 2 else "shop"}}
        for n in range(10)
    ]
    found = read(tmp_path, lines(*rows), rows={"meta.channel": "web"}).recordings
    assert [each.id for each in found] == ["1", "3", "5", "7", "9"]
    assert "did you mean web" in refused(tmp_path, lines(*rows), rows={"meta.channel": "wep"})
    assert "did you mean meta" in refused(tmp_path, lines(*rows), rows={"mata": "web"})


def test_a_sample_is_the_same_one_and_keeps_pairs(tmp_path: Path) -> None:
    talk = [ASKED, ANSWERED]
    rows = [{"messages": talk, "id": n, "system": s} for n in range(50) for s in ("A", "B")]
    few = read(tmp_path, lines(*rows), sample=5).recordings
    more = read(tmp_path, lines(*rows), sample=6).recordings
    assert len(few) == 10
    assert {each.id for each in few} < {each.id for each in more}
    assert len(read(tmp_path, lines(*rows), sample=500).recordings) == 100


def test_a_row_too_long_for_csv_is_read(tmp_path: Path) -> None:
    table = f"id,role,text\n1,user,{'x' * 1_000_000}\n1,bot,Oui\n"
    assert len(read(tmp_path, table, "chats.csv").recordings[0].interaction[0].text) == 1_000_000
