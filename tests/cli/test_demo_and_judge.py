"""`recjury demo` and `recjury judge`, as a newcomer calls them."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli.conftest import Recjury
from tests.scripted_endpoint import ScriptedEndpoint

TALK = [{"role": "user", "content": "A heist film?"}, {"role": "assistant", "content": "Heat."}]


def write(path: Path, *rows: Any) -> str:
    path.write_text("\n".join(map(json.dumps, rows)))
    return str(path)


def chats(count: int, **more: Any) -> list[dict[str, Any]]:
    return [{"messages": TALK, "id": str(n), **more} for n in range(count)]


def test_the_demo_leads_on(tmp_path: Path, recjury: Recjury) -> None:
    """Newcomers' item 9: results are where the other commands look, and the next ones are named."""
    done = recjury("demo", "--limit", "2")
    assert done.code == 0
    for word in ("popular", "random", "counted.overall", "recjury replay"):
        assert word in done.out
    assert (tmp_path / "recjury.db").exists()
    found = recjury("replay", "--json").json["conversations"]
    assert recjury("status").code == 0
    replayed = recjury("replay", found[0]["id"])
    assert "Round 1" in replayed.out
    assert "Verdict: " in replayed.out
    assert recjury("replay", "--verify").code == 0
    assert recjury("replay", found[0]["id"], "--score", "linguist=0").code == 0


def test_the_demo_in_another_store(recjury: Recjury) -> None:
    done = recjury("demo", "--limit", "1", "--store", "other.db")
    assert "recjury status --store other.db" in done.out
    again = recjury("demo", "--limit", "1", "--store", "other.db", "--json")
    assert set(again.json["systems"]) >= {"popular", "random"}
    assert "in the store already" in again.err


def test_messages_are_judged_without_a_model(tmp_path: Path, recjury: Recjury) -> None:
    path = write(tmp_path / "bot.jsonl", *chats(3, targets=["Heat (1995)"]))
    found = recjury("judge", path, "--catalogue", "sample", "--json")
    assert found.code == 0
    assert found.json["campaign"] == "bot"
    mine = found.json["systems"]["bot"]
    assert mine["outcome.success"]["mean"] == 1
    assert mine["counted.overall"]["n"] == 3
    assert "rated already" in recjury("judge", path, "--catalogue", "sample").err


def test_what_is_skipped_is_said_by_system(tmp_path: Path, recjury: Recjury) -> None:
    """Newcomers' item 6: one chat without an answer does not stop two hundred."""
    alone = {"messages": TALK[:1], "system": "B"}
    path = write(tmp_path / "logs.jsonl", *chats(40, system="A"), alone)
    done = recjury("judge", path, "--json")
    assert done.code == 3
    (caveat,) = (each for each in done.json["caveats"] if "skipped" in each)
    assert caveat.startswith("B: ")
    assert "line 41" in caveat


def test_names_that_are_not_found_are_said(tmp_path: Path, recjury: Recjury) -> None:
    path = write(tmp_path / "logs.jsonl", *chats(2, targets=["No Such Film", "Heat"]))
    done = recjury("judge", path, "--catalogue", "sample")
    assert "2 of 6 names are not in the catalogue: No Such Film" in done.out
    assert recjury("judge", path, "--catalogue", "sample", "--json").json["names"] == {
        "read": 6,
        "not_found": 2,
        "some": ["No Such Film"],
    }
    assert recjury("judge", path, "--campaign", "bare", "--json").json["names"]["read"] == 0


def test_a_table_has_what_has_a_score(tmp_path: Path, recjury: Recjury) -> None:
    write(tmp_path / "bot.jsonl", *chats(2))
    done = recjury("judge", "bot.jsonl")
    assert "counted.naturalness" in done.out
    assert "counted.novelty" not in done.out
    found = recjury("judge", "bot.jsonl", "--json").json["systems"]["bot"]
    assert found["counted.novelty"]["n"] == 0


def test_a_longer_title_is_a_miss(tmp_path: Path, recjury: Recjury) -> None:
    """Case 01: what is not in the catalogue is not the film whose title begins so."""
    pairs = {
        "Toy Story (1995)": "Toy Story 3 (2010) is a treat for everybody.",
        "Alien (1979)": "I would watch Alien: Covenant (2017) tonight.",
        "Monsters (2010)": "Monsters, Inc. (2001) is good fun.",
        "Ghost (1990)": "You might enjoy Ghost in the Shell 2: Innocence on a quiet evening.",
        "Speed (1994)": "Speed Racer (2008) is loud and bright.",
    }
    rows = [
        {"id": target, "messages": [TALK[0], {**TALK[1], "content": text}], "targets": [target]}
        for target, text in pairs.items()
    ]
    path = write(tmp_path / "bot.jsonl", *rows)
    found = recjury("judge", path, "--catalogue", "sample", "--json").json
    assert found["systems"]["bot"]["outcome.success"]["mean"] == 0
    assert found["names"]["not_found"] >= 4
    assert any("names are not in the catalogue" in caveat for caveat in found["caveats"])


def test_a_system_that_names_a_longer_title_has_not_found_the_target(
    tmp_path: Path, recjury: Recjury
) -> None:
    """Case 01, in a run: the user does not end as if its film had been named."""
    (tmp_path / "longer.py").write_text(
        "def reply(conversation):\n    return 'You could watch Alien: Covenant (2017).'\n"
    )
    items = [{"id": "a1", "title": "Alien", "year": 1979, "genres": ["horror"]}]
    talk = {"id": "d1", "turns": [{"role": "user", "text": "A horror film?"}], "targets": ["a1"]}
    (tmp_path / "cat").mkdir()
    write(tmp_path / "cat" / "items.jsonl", *items)
    (tmp_path / "cat" / "domain.yaml").write_text("domain: film", "utf-8")
    write(tmp_path / "cat" / "dialogues.jsonl", talk)
    (tmp_path / "c.yaml").write_text(
        "scenarios: [cat]\nsystems: [{kind: 'longer:reply', name: mine}]\nevaluators: [outcome]\n"
    )
    found = recjury("run", "c.yaml", "--json").json
    assert found["systems"]["mine"]["outcome.success"]["mean"] == 0
    assert found["names"]["some"] == ["Alien: Covenant (2017)"]
    assert recjury("export", "out").code == 0
    log = json.loads((tmp_path / "out" / "conversations.jsonl").read_text().splitlines()[0])
    assert log["ending"] == "round limit"


def test_line_separators_and_repeated_items(tmp_path: Path, recjury: Recjury) -> None:
    """Cases 21 and 23: no line is cut at U+2028, and no recall is above 1."""
    rows = [
        ("s0", ["Heat (1995)", "Heat (1995)", "heat (1995)", "Thief (1981)"], ["Thief (1981)"]),
        ("s1", ["Heat (1995)"], ["Heat (1995)", "Heat (1995)"]),
    ]
    texts = [
        json.dumps(
            {
                "id": system,
                "system": system,
                "targets": targets,
                "interaction": [
                    {"speaker": "user", "text": "I like\u2028crime\x85 and\u2029more"},
                    {"speaker": "system", "text": "Try.", "items": items},
                ],
            },
            ensure_ascii=False,
        )
        for system, items, targets in rows
    ]
    (tmp_path / "d.jsonl").write_text("\r\n".join(texts), "utf-8-sig", newline="")
    found = recjury("judge", "d.jsonl", "--catalogue", "sample", "--json").json["systems"]
    recall = {name: [m[f"outcome.recall@{k}"]["mean"] for k in (1, 5)] for name, m in found.items()}
    assert recall == {"s0": [0, 1], "s1": [1, 1]}


def test_two_systems_on_one_scenario(tmp_path: Path, recjury: Recjury) -> None:
    """Case 28: a pair is compared; one conversation twice is a mistake with both lines."""
    rows = [{**chats(1)[0], "system": system} for system in "AB"]
    write(tmp_path / "pair.jsonl", *rows)
    assert set(recjury("judge", "pair.jsonl", "--json").json["systems"]) == {"A", "B"}
    write(tmp_path / "same.jsonl", rows[0], rows[0])
    assert recjury("judge", "same.jsonl").is_mistake("line 2", "line 1")


def test_thoughts_are_not_rated(tmp_path: Path, recjury: Recjury) -> None:
    """Case 03: what stands in a recording's thoughts changes no score."""
    thoughts = "<think>\nThief (1981) is what they are after.\n</think>\n\n"
    for name, before in (("with", thoughts), ("without", "")):
        talk = [TALK[0], {**TALK[1], "content": f"{before}Try Heat (1995)."}]
        write(tmp_path / f"{name}.jsonl", *({"id": "a", "system": "r1", "messages": talk},))
    args = ("--catalogue", "sample", "--json")
    one, two = (recjury("judge", f"{name}.jsonl", *args).json for name in ("with", "without"))
    assert one["systems"] == two["systems"]


def test_two_files_are_compared(tmp_path: Path, recjury: Recjury) -> None:
    paths = [write(tmp_path / f"{name}.jsonl", *chats(2, corpus="spring")) for name in "ab"]
    found = recjury("judge", *paths, "--campaign", "both", "--json").json
    assert found["campaign"] == "both"
    assert set(found["systems"]) == {"a", "b"}


@pytest.mark.parametrize("command", ["demo --limit 2", "judge bot.jsonl --catalogue sample"])
def test_what_is_exported_is_judged_alike(tmp_path: Path, recjury: Recjury, command: str) -> None:
    write(tmp_path / "bot.jsonl", *chats(2, targets=["Heat"]))
    before = recjury(*command.split(), "--json").json["systems"]
    assert recjury("export", "out").code == 0
    again = recjury("judge", "out/conversations.jsonl", "--store", "again.db", "--json")
    assert again.json["systems"] == before


@pytest.fixture
def judges(tmp_path: Path, endpoint: ScriptedEndpoint) -> str:
    model = {"name": "m", "base_url": endpoint.url, "price_in": 1, "price_out": 1}
    core = {"kind": "core", "debate": {"max_rounds": 2}}
    path = tmp_path / "judges.yaml"
    path.write_text(yaml.safe_dump({"model": model, "evaluators": [core]}))
    return str(path)


def test_recordings_are_judged_by_a_model(
    tmp_path: Path, recjury: Recjury, judges: str, endpoint: ScriptedEndpoint
) -> None:
    path = write(tmp_path / "bot.jsonl", *chats(2))
    dry = recjury("judge", path, "--config", judges, "--dry-run")
    assert "2 conversations are left" in dry.out
    assert not endpoint.asked
    found = recjury("judge", path, "--config", judges, "--json")
    assert found.json["systems"]["bot"]["core.overall"]["n"] == 2
    assert recjury("replay", "--verify").code == 0


def test_an_earlier_campaign_is_judged_by_a_model(recjury: Recjury, judges: str) -> None:
    recjury("demo", "--limit", "1")
    found = recjury("judge", "--campaign", "demo", "--config", judges, "--json").json
    assert found["systems"]["popular"]["core.overall"]["n"] == 1
    assert found["systems"]["popular"]["counted.overall"]["n"] == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "--campaign"),
        (["none.jsonl"], "no file none.jsonl"),
        (["chats.csv"], "own_form"),
        (["chats.csv", "--form", "own:read"], "No module named 'own'"),
        (["bot.jsonl", "--catalogue", "sampel"], "did you mean sample"),
        (["bot.jsonl", "--config", "none.yaml"], "no file none.yaml"),
    ],
)
def test_mistakes_are_one_line(
    tmp_path: Path, recjury: Recjury, arguments: list[str], message: str
) -> None:
    write(tmp_path / "bot.jsonl", *chats(1))
    (tmp_path / "chats.csv").write_text("chat,bot,who,text\n")
    assert recjury("judge", *arguments).is_mistake(message)
