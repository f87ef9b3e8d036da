"""Two hundred logs in five forms, judged in one command each, with the same scores."""

import csv
import io
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from recjury import judge
from recjury.corpora import open_corpus
from tests.cli.conftest import Recjury

Talk = tuple[str, list[tuple[str, str]]]
CORPUS = open_corpus("sample")
NORTH = '"York, north"'


def talks(count: int = 40) -> list[Talk]:
    """Conversations about films of the sample, each with two questions and two answers."""
    films = [item.ref.name for item in CORPUS.catalogue]
    return [
        (
            f"chat-{n}",
            [
                ("user", f"Something like {films[n]}?"),
                ("assistant", f"Then try {films[n + 1]}, or {films[n + 2]}."),
                ("user", "I have seen them."),
                ("assistant", f"{films[n + 3]}?" if n % 3 else "What else do you like?"),
            ],
        )
        for n in range(count)
    ]


def messages(given: Iterable[Talk]) -> str:
    rows = [
        {"id": id_, "messages": [{"role": who, "content": text} for who, text in said]}
        for id_, said in given
    ]
    return json.dumps(rows)


def sharegpt(given: Iterable[Talk]) -> str:
    names = {"user": "human", "assistant": "gpt"}
    return "\n".join(
        json.dumps(
            {"id": id_, "conversations": [{"from": names[w], "value": text} for w, text in said]}
        )
        for id_, said in given
    )


def dialoguekit(given: Iterable[Talk]) -> str:
    names = {"user": "USER", "assistant": "AGENT"}
    dialogues = [
        {
            "conversation_id": id_,
            "conversation": [{"participant": names[w], "utterance": text} for w, text in said],
        }
        for id_, said in given
    ]
    return json.dumps({"agent": {"id": "mine", "type": "BOT"}, "dialogues": dialogues})


def langfuse(given: Iterable[Talk]) -> str:
    traces = [
        {
            "id": f"{id_}-{n}",
            "sessionId": id_,
            "timestamp": f"2025-01-01T10:0{n}:00Z",
            "input": {"messages": [{"role": w, "content": text} for w, text in said[: n + 1]]},
            "output": said[n + 1][1],
        }
        for id_, said in given
        for n in (2, 0)
    ]
    return json.dumps({"data": traces, "meta": {"page": 1}})


def table(given: Iterable[Talk]) -> str:
    file = io.StringIO(newline="")
    writer = csv.writer(file, delimiter=";")
    writer.writerow(("conversation_id", "role", "message"))
    writer.writerows((id_, who, text) for id_, said in given for who, text in said)
    return file.getvalue()


FORMS: list[tuple[str, Callable[[Iterable[Talk]], str]]] = [
    ("messages.json", messages),
    ("sharegpt.jsonl", sharegpt),
    ("dialoguekit.json", dialoguekit),
    ("langfuse.json", langfuse),
    ("table.csv", table),
]


def scores(found: Any) -> Any:
    (means,) = found.json["systems"].values()
    return means


def test_all_forms_have_the_same_scores(tmp_path: Path, recjury: Recjury) -> None:
    expected: Any = None
    for name, written in FORMS:
        (tmp_path / name).write_text(written(talks()), "utf-8", newline="")
        found = recjury("judge", name, "--catalogue", "sample", "--json")
        assert found.code == 0, name
        assert scores(found)["counted.overall"]["n"] == 40
        expected = expected or scores(found)
        assert scores(found) == expected, name


def test_options_choose_what_is_judged(tmp_path: Path, recjury: Recjury) -> None:
    (tmp_path / "t.csv").write_text(
        "ticket,by,said,shop\n"
        + "".join(
            f"{n},{who},Hello,{NORTH if n % 2 else 'south'}\n"
            for n in range(20)
            for who in ("customer", "agent")
        )
    )
    columns = ("--map", "session=ticket,speaker=by", "--map", "text=said")
    found = recjury(
        "judge", "t.csv", *columns, "--rows", "shop=York, north", "--sample", "4", "--json"
    )
    assert scores(found)["counted.overall"]["n"] == 4
    mapping = {"session": "ticket", "speaker": "by", "text": "said"}
    again = judge(
        tmp_path / "t.csv", mapping=mapping, rows={"shop": "south"}, sample=3, store="s.db"
    )
    assert len(again.ratings()["conversation"].unique()) == 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--map", "text"), "--map text: expected NAME=VALUE"),
        (("--map", "texte=said"), "did you mean text"),
        (("--map", "text=sayd"), "did you mean said"),
        (("--rows", "by=costumer"), "did you mean customer"),
        (("--encoding", "utf-9"), "no encoding 'utf-9'"),
        (("--form", "langfuse"), "sessionId"),
    ],
)
def test_mistakes_are_one_line(
    tmp_path: Path, recjury: Recjury, options: tuple[str, ...], message: str
) -> None:
    (tmp_path / "t.csv").write_text("ticket,by,said\n1,customer,Hi\n1,agent,Hello\n")
    assert recjury("judge", "t.csv", *options).is_mistake(message)
