"""What the commands print with `--json`, and what `export` writes, for two played campaigns.

`json/*.json` has each output, without what changes from run to run (`normal.py`). Of an exported
table it has, for each column, a digest and its first values.
"""

import csv
import hashlib
import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.frozen.golden import assert_frozen
from tests.frozen.normal import Normal, pretty
from tests.frozen.played import PlayedCampaign, Player, command

STORE = "--store=sqlite:///store.db"
PLAYED = ("plain", "scripted")
TABLES = ("conversations", "evaluations", "turns", "ratings", "evidence", "statements", "calls")


def _normal(folder: Path, played: Player) -> Normal:
    return Normal({str(played.files): "FILES", str(folder): "FOLDER"})


def _printed(folder: Path, *arguments: object, code: int = 0) -> Any:
    ended = command(folder, *arguments, "--json")
    assert ended.code == code, ended.err
    return json.loads(ended.out)


def _copy(campaign: PlayedCampaign, folder: Path) -> Path:
    """The campaign's file and store in another folder, to be changed."""
    for path in campaign.folder.glob("*"):
        if path.name in ("campaign.yaml", "store.db"):
            shutil.copy(path, folder)
    return folder


@pytest.mark.parametrize("name", PLAYED)
def test_run(name: str, played: Player) -> None:
    campaign = played.play(name)
    normal = _normal(campaign.folder, played)
    found = normal.json(json.loads(campaign.printed))
    assert_frozen(pretty(found), f"json/run_{name}.json")


@pytest.mark.parametrize("name", PLAYED)
@pytest.mark.parametrize(
    ("output", "arguments"),
    [
        ("dry_run", "run campaign.yaml --dry-run"),
        ("status", f"status {STORE}"),
        ("replay", f"replay {STORE}"),
        ("verify", f"replay --verify {STORE}"),
        ("compare", f"compare retrieval OTHER {STORE}"),
    ],
)
def test_reading(name: str, output: str, arguments: str, played: Player) -> None:
    campaign = played.play(name)
    other = {"plain": "popular", "scripted": "chatcrs"}[name]
    given = arguments.replace("OTHER", other).split()
    found = _normal(campaign.folder, played).json(_printed(campaign.folder, *given))
    assert_frozen(pretty(found), f"json/{output}_{name}.json")


@pytest.mark.parametrize(
    ("output", "arguments"),
    [
        (
            "compare_three",
            "retrieval popular silent --metric core.overall --margin 5",
        ),
        (
            "compare_more",
            "retrieval popular --metric outcome.recall@10 --power "
            "--good outcome.recall@10=1 --seed 3",
        ),
        ("compare_evaluators", "--evaluators core short"),
    ],
)
def test_compare(output: str, arguments: str, played: Player) -> None:
    campaign = played.play("plain")
    found = _printed(campaign.folder, "compare", *arguments.split(), STORE)
    assert_frozen(pretty(_normal(campaign.folder, played).json(found)), f"json/{output}_plain.json")


def test_two_versions_of_an_evaluator(played: Player, tmp_path: Path) -> None:
    """The newer one has the name, the older one the name and its version."""
    _copy(played.play("plain"), tmp_path)
    path = tmp_path / "campaign.yaml"
    text = path.read_text("utf-8").replace(
        "  - core\n", "  - {kind: core, debate: {max_rounds: 2}}\n"
    )
    path.write_text(text, "utf-8")
    normal = _normal(tmp_path, played)
    ran = _printed(tmp_path, "run", "campaign.yaml", STORE)
    status = _printed(tmp_path, "status", STORE)
    (older,) = [label for label in status["campaigns"][0]["evaluations"] if "@" in label]
    compared = _printed(
        tmp_path, "compare", "--evaluators", "core", older, "--metric", "overall", STORE
    )
    del ran["systems"]  # as in the first run
    found = normal.json({"run": ran, "status": status, "compare": compared})
    assert_frozen(pretty(found), "json/versions_plain.json")


def _exported(folder: Path, form: str) -> list[str]:
    files = _printed(folder, "export", form, "--format", form, STORE)["files"]
    return [Path(file).name for file in files]


def _read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


_ASKERS = ("unit", "conversation", "evaluation", "evaluator")


def _decided(row: dict[str, Any]) -> dict[str, Any]:
    """A row of a table without what a clock decides: seconds, and who asks first of several."""
    if row.get("metric") == "outcome.seconds_per_turn":
        return {**row, "score": "<time>"}
    if str(row.get("purpose")).startswith("g-eval/steps"):
        return {**row, **dict.fromkeys(_ASKERS, "<first>")}
    return row


def _columns(rows: Sequence[dict[str, Any]]) -> dict[str, str]:
    """Each column's digest and first value."""
    columns = {name: [row.get(name) for row in rows] for row in rows for name in row}
    return {
        name: f"{hashlib.sha256(json.dumps(values).encode()).hexdigest()[:12]} "
        f"{json.dumps(values[0], ensure_ascii=False)[:60]}"
        for name, values in columns.items()
    }


@pytest.mark.parametrize("name", PLAYED)
def test_export(name: str, played: Player, tmp_path: Path) -> None:
    _copy(played.play(name), tmp_path)
    normal = _normal(tmp_path, played)
    files = _exported(tmp_path, "jsonl")
    assert files == [
        f"{'conversation_scores' if table == 'conversations' else table}.jsonl" for table in TABLES
    ] + ["conversations.jsonl"]
    tables = {
        file: normal.rows([_decided(row) for row in _read(tmp_path / "jsonl" / file)])
        for file in files
    }
    found = {file: {"rows": len(rows), **_columns(rows)} for file, rows in tables.items()}
    assert_frozen(pretty(found), f"json/export_{name}.json")


def test_export_is_the_same_in_all_forms(played: Player, tmp_path: Path) -> None:
    _copy(played.play("plain"), tmp_path)
    jsonl, other = _exported(tmp_path, "jsonl"), _exported(tmp_path, "csv")
    assert len(jsonl) == len(other)
    for file, second in zip(jsonl[:-1], other[:-1], strict=True):
        lines = _read(tmp_path / "jsonl" / file)
        with (tmp_path / "csv" / second).open(encoding="utf-8", newline="") as opened:
            rows = list(csv.DictReader(opened))
        assert [list(row) for row in lines] == [list(row) for row in rows], file
        assert [list(map(_cell, row.values())) for row in lines] == [
            [_cell(_number(value)) for value in row.values()] for row in rows
        ], file
    whole = (tmp_path / form / "conversations.jsonl" for form in ("jsonl", "csv"))
    assert len({path.read_text("utf-8") for path in whole}) == 1


def _number(value: str) -> object:
    try:
        return json.loads(value) if value[:1] not in ('"', "[", "{") else value
    except json.JSONDecodeError:
        return value


def _cell(value: object) -> str:
    return "" if value is None else str(value)


def test_judge(played: Player, tmp_path: Path) -> None:
    """Exported conversations are judged again, as files and as a campaign of the store."""
    _copy(played.play("plain"), tmp_path)
    _exported(tmp_path, "jsonl")
    config = tmp_path / "judges.yaml"
    config.write_text("evaluators: [outcome, {kind: core, debate: {max_rounds: 2}}]", "utf-8")
    again = ("--config", "judges.yaml", "--store", "sqlite:///again.db")
    normal = _normal(tmp_path, played)
    files = _printed(tmp_path, "judge", "jsonl/conversations.jsonl", "--limit", "4", *again)
    campaign = json.loads(played.play("plain").printed)["campaign"]
    here = ("--campaign", campaign, "--config", "judges.yaml", "--evaluator", "core", STORE)
    stored = _printed(tmp_path, "judge", *here)
    del stored["systems"]
    found = normal.json({"files": files, "campaign": stored})
    assert_frozen(pretty(found), "json/judge_plain.json")


def test_one_debate(played: Player) -> None:
    campaign = played.play("scripted")
    listed = _printed(campaign.folder, "replay", STORE)["debates"]
    (debate,) = [each["evaluation"] for each in listed if each["system"] == "retrieval"]
    found = _printed(campaign.folder, "replay", debate, STORE)
    assert_frozen(pretty(_normal(campaign.folder, played).json(found)), "json/replay_one.json")


def _recording(number: int) -> str:
    system = f"s{number % 3}"
    says = ["Heat is good.", "Do you like Heat or Alien?", "I do not know. Sorry!"][number % 3]
    turns = [
        {"speaker": "user", "text": f"I want a crime film, please, number {number}."},
        {"speaker": "system", "text": says},
        {"speaker": "user", "text": "No, not that one."},
        {"speaker": "system", "text": says if number % 2 else "Then try Ronin, it is tense."},
        {"speaker": "user", "text": "Thanks."},
    ]
    return json.dumps({"id": f"c{number}", "system": system, "interaction": turns})


def test_align_with_the_store(played: Player, tmp_path: Path) -> None:
    """Recordings are judged and exported, and their scores held against labels."""
    (tmp_path / "logs.jsonl").write_text("\n".join(map(_recording, range(12))), "utf-8")
    config = tmp_path / "judges.yaml"
    config.write_text("evaluators: [core, {kind: core, name: short, debate: {max_rounds: 1}}]")
    normal = _normal(tmp_path, played)
    judged = _printed(tmp_path, "judge", "logs.jsonl", "--config", "judges.yaml", STORE)
    lines = [
        f"c{number},quality,r{rater},{4 - (number + rater) % 4}"
        for number in range(12)
        for rater in (1, 2)
    ]
    path = tmp_path / "labels.csv"
    path.write_text("\n".join(["conversation,aspect,rater,label", *lines]) + "\n", "utf-8")
    pairs = (
        "--pair",
        "core.grammatical_correctness=quality",
        "--pair",
        "short.naturalness=quality",
    )
    aligned = _printed(
        tmp_path, "align", "--labels", "csv:labels.csv", *pairs, "--resamples", "200", STORE
    )
    found = normal.json({"judge": judged, "align": aligned})
    assert_frozen(pretty(found), "json/recordings.json")


def test_align_with_files(played: Player, tmp_path: Path) -> None:
    """Turns and dialogues, several raters and systems; one score and one label have no partner."""
    scores = ["conversation,metric,turn,score"]
    labels = ["conversation,aspect,turn,rater,system,label"]
    for n in range(12):
        scores += [f"c{n},politeness,{turn},{(n * 7 + turn * 3) % 11 / 2}" for turn in (1, 3)]
        scores.append(f"c{n},satisfaction,,{(n * 5) % 12}")
        for rater in (1, 2, 3):
            worth = [f"c{n},politeness,{turn},r{rater},s{n % 3}" for turn in (1, 3)]
            labels += [f"{each},{(n * 7 + rater) % 5}" for each in worth]
            labels.append(f"c{n},satisfaction,,r{rater},s{n % 3},{(n * 5 + rater) % 6}")
    scores.append("c99,satisfaction,,3")
    labels.append("c98,satisfaction,,r1,s1,3")
    for name, lines in {"scores": scores, "labels": labels}.items():
        (tmp_path / f"{name}.csv").write_text("\n".join(lines) + "\n", "utf-8")
    found = _printed(
        tmp_path, "align", "scores.csv", "--labels", "csv:labels.csv", "--resamples", "200"
    )
    assert_frozen(pretty(_normal(tmp_path, played).json(found)), "json/align_files.json")


def test_align_with_published_scores(played: Player, tmp_path: Path, data_folder: Path) -> None:
    arena = data_folder / "crsarena-eval"
    labels = f"crsarena-eval:{arena / 'crs_arena_eval.json'}"
    run = arena / "face_run.json"
    found = _printed(tmp_path, "align", run, "--labels", labels, "--resamples", "100")
    assert_frozen(pretty(_normal(tmp_path, played).json(found)), "json/align_crsarena.json")
