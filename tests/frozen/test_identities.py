"""Which settings change the identity of a conversation, of an evaluation and of a model call.

`identities.yaml` says it for each key that a campaign file can have; a key that it lacks fails.
"""

import copy
import functools
import json
import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Set
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from tests.frozen import adapter, files
from tests.frozen.played import command

Settings = dict[str, Any]
TABLE_FILE = Path(__file__).with_name("identities.yaml")
TABLE: Settings = yaml.safe_load(TABLE_FILE.read_text("utf-8"))


class Change(NamedTuple):
    """A row of the table: after `key` of `base` has become `to`, `changes` has other identities."""

    base: Settings
    key: str
    to: object
    changes: str

    @property
    def after(self) -> Settings:
        """The settings with the change."""
        return with_value(self.base, self.key, self.to)


def with_value(settings: Settings, key: str, value: object) -> Settings:
    """A copy of `settings` with another value at "simulator.kind" or "scenarios.0.limit"."""
    found = copy.deepcopy(settings)
    *parents, last = key.split(".")
    place: Any = found
    for name in parents:
        place = place[int(name)] if isinstance(place, list) else place.setdefault(name, {})
    place[last] = value
    return found


def merged(base: Settings, more: Mapping[str, Any] | None) -> Settings:
    """`base` with further settings; a mapping in both is merged."""
    found = copy.deepcopy(base)
    for key, value in (more or {}).items():
        inner = isinstance(value, dict) and isinstance(found.get(key), dict)
        found[key] = merged(found[key], value) if inner else value
    return found


def _rows(section: Mapping[str, Any], base: Settings) -> Iterator[Change]:
    for key, rows in section.items():
        for row in rows:
            to = row.get("to")
            yield Change(merged(base, row.get("with")), key, to, row["changes"])


def _parametrised(rows: Mapping[str, Iterator[Change]]) -> Callable[[Any], Any]:
    """One test for each row, named "face.samples=4"."""
    every = [(kind, row) for kind, some in rows.items() for row in some]
    names = [f"{kind}.{row.key}={json.dumps(row.to)}"[:60] for kind, row in every]
    return pytest.mark.parametrize(("kind", "row"), every, ids=names)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files that settings name."""
    found = tmp_path_factory.mktemp("files")
    files.write_files(found)
    return found


@pytest.fixture
def plan(folder: Path) -> Callable[[Settings], adapter.Plan]:
    """Plan a campaign with FILES as this folder; what was planned once is not planned again."""
    return lambda settings: _planned(json.dumps(settings).replace("FILES", str(folder)))


@functools.cache
def _planned(campaign: str) -> adapter.Plan:
    return adapter.plan(json.loads(campaign))


def _compared(what: str, before: Set[str], after: Set[str]) -> str:
    if before == after:
        return ""
    if before < after:
        return f"more {what}"
    if after < before:
        return f"fewer {what}"
    return f"some {what}" if before & after else what


def _every(by_name: Mapping[str, Set[str]]) -> Set[str]:
    return {identity for some in by_name.values() for identity in some}


def _said(*changes: str) -> str:
    return ", ".join(filter(None, changes)) or "nothing"


def _changed(before: adapter.Plan, after: adapter.Plan) -> str:
    """What has another identity after a change, in the words of the table."""
    versions = _compared("versions", set(before.versions.values()), set(after.versions.values()))
    evaluations = _compared("evaluations", _every(before.evaluations), _every(after.evaluations))
    return _said(
        "campaign" if before.campaign != after.campaign else "",
        _compared("conversations", _every(before.conversations), _every(after.conversations)),
        "version" if versions == "versions" else versions,
        "" if versions else evaluations,
    )


@_parametrised(
    {"campaign": _rows(TABLE["campaign"]["keys"], merged(TABLE["base"], TABLE["campaign"]["base"]))}
)
def test_keys_of_a_campaign(
    kind: str, row: Change, plan: Callable[[Settings], adapter.Plan]
) -> None:
    before = plan(row.base)
    try:
        after = plan(row.after)
    except adapter.Refused:
        assert row.changes == "refused"
        return
    assert _changed(before, after) == row.changes


def _entries(part: str) -> dict[str, Iterator[Change]]:
    return {kind: _rows(each["keys"], each["base"]) for kind, each in TABLE[part].items()}


@_parametrised(_entries("systems"))
def test_keys_of_a_system(kind: str, row: Change, plan: Callable[[Settings], adapter.Plan]) -> None:
    campaign = merged(TABLE["base"], TABLE["systems"][kind].get("campaign"))
    before, after = (plan({**campaign, "systems": [entry]}) for entry in (row.base, row.after))
    assert _changed(before, after) == row.changes


@_parametrised(_entries("evaluators"))
def test_keys_of_an_evaluator(
    kind: str, row: Change, plan: Callable[[Settings], adapter.Plan]
) -> None:
    campaign = merged(TABLE["base"], TABLE["evaluators"][kind].get("campaign"))
    before, after = (plan({**campaign, "evaluators": [entry]}) for entry in (row.base, row.after))
    assert _changed(before, after) == row.changes


@_parametrised({"criterion": _rows(TABLE["criterion"], files.RUBRIC)})
def test_keys_of_a_criterion(
    kind: str, row: Change, plan: Callable[[Settings], adapter.Plan], tmp_path: Path
) -> None:
    campaign = merged(TABLE["base"], TABLE["evaluators"]["rubric"]["campaign"])
    plans = []
    for name, criterion in {"before": row.base, "after": row.after}.items():
        path = tmp_path / f"{name}.yaml"
        path.write_text(yaml.safe_dump([criterion]), "utf-8")
        plans.append(plan({**campaign, "evaluators": [{"kind": "rubric", "file": str(path)}]}))
    assert _changed(*plans) == row.changes


_USER_AND_JUDGE: Settings = {"simulator": {"kind": "llm"}, "evaluators": ["outcome", "core"]}
_SYSTEMS: Settings = {
    "simulator": {"kind": "rule"},
    "systems": ["chatcrs", {"kind": "openai_crs", "name": "openai_crs", "model": "main"}],
    "evaluators": ["outcome"],
}


@_parametrised(_entries("models"))
def test_keys_of_a_model(
    kind: str, row: Change, plan: Callable[[Settings], adapter.Plan], folder: Path
) -> None:
    changes: list[str] = []
    request = TABLE["request"]["base"]
    try:
        before, after = (
            adapter.call(json.loads(json.dumps(model).replace("FILES", str(folder))), request)
            for model in (row.base, row.after)
        )
        changes.append("call" if before != after else "")
        changes += _changed_by_model(row, plan)
    except adapter.Refused:
        changes.append("refused")
    assert _said(*changes) == row.changes


def _changed_by_model(row: Change, plan: Callable[[Settings], adapter.Plan]) -> Iterator[str]:
    judged, systems = (
        [plan({**TABLE["base"], **campaign, "model": model}) for model in (row.base, row.after)]
        for campaign in (_USER_AND_JUDGE, _SYSTEMS)
    )
    yield "user" if judged[0].conversations != judged[1].conversations else ""
    for name in ("chatcrs", "openai_crs"):
        before, after = (each.conversations[name] for each in systems)
        yield name if before != after else ""
    for label in ("core", "outcome"):
        yield label if judged[0].versions[label] != judged[1].versions[label] else ""


@_parametrised({"request": _rows(TABLE["request"]["keys"], TABLE["request"]["base"])})
def test_fields_of_a_request(kind: str, row: Change) -> None:
    model = TABLE["models"]["openai"]["base"]
    before, after = (
        adapter.call(model, {k: v for k, v in each.items() if k != "unit_sample"}, sample)
        for each in (row.base, row.after)
        for sample in [each.get("unit_sample", 0)]
    )
    assert ("call" if before != after else "nothing") == row.changes


_CORPUS_ROWS = TABLE["corpus"]["rows"]


@pytest.mark.parametrize(
    "row", _CORPUS_ROWS, ids=[f"{row['file']}.{row['line']}.{row['key']}" for row in _CORPUS_ROWS]
)
def test_data(
    row: Settings, plan: Callable[[Settings], adapter.Plan], folder: Path, tmp_path: Path
) -> None:
    campaign = merged(TABLE["base"], TABLE["corpus"]["campaign"])
    other = tmp_path / "corpus"
    shutil.copytree(folder / "corpus", other)
    path = other / f"{row['file']}.jsonl"
    lines = path.read_text("utf-8").splitlines()
    changed = with_value(json.loads(lines[row["line"]]), row["key"], row["to"])
    lines[row["line"]] = json.dumps(changed)
    path.write_text("\n".join(lines), "utf-8")
    before, after = plan(campaign), plan({**campaign, "scenarios": [str(other)]})
    conversations = (_every(each.conversations) for each in (before, after))
    labels = [n for n, ids in before.evaluations.items() if ids != after.evaluations[n]]
    assert before.versions == after.versions
    assert _said(_compared("conversations", *conversations), *labels) == row["changes"]


def _recording(number: int, word: str = "Thanks") -> str:
    turns = [
        {"speaker": "user", "text": f"Hello, number {number}."},
        {"speaker": "system", "text": "Try Heat (1995)."},
        {"speaker": "user", "text": word},
    ]
    log = {"id": f"c{number}", "system": "s", "catalogue": "sample", "interaction": turns}
    return json.dumps(log) + "\n"


def _judged(folder: Path, option: str) -> tuple[str, set[str]]:
    """The campaign of the judged recordings, and its conversations, by their identities."""
    files = ["logs.jsonl"] if option.startswith("--") else []
    store = f"--store=sqlite:///{re.sub('[ /]', '', option)}.db"
    ended = command(folder, "judge", *files, *option.split(), store, "--json")
    assert ended.code == 0, ended.err
    assert command(folder, "export", "out", "--format", "jsonl", store).code == 0
    rows = (folder / "out" / "conversation_scores.jsonl").read_text("utf-8").splitlines()
    return json.loads(ended.out)["campaign"], {json.loads(row)["conversation"] for row in rows}


@pytest.mark.slow
def test_recordings(tmp_path: Path) -> None:
    logs = [_recording(number) for number in range(3)]
    (tmp_path / "logs.jsonl").write_text("".join(logs), "utf-8")
    (tmp_path / "logs-copy.jsonl").write_text("".join(logs), "utf-8")
    (tmp_path / "elsewhere").mkdir()
    other = [*logs[:2], _recording(2, "No")]
    (tmp_path / "elsewhere" / "logs.jsonl").write_text("".join(other), "utf-8")
    (tmp_path / "judges.yaml").write_text("evaluators: [{kind: core, name: c}]", "utf-8")
    campaign, conversations = _judged(tmp_path, "--evaluator core")
    for row in TABLE["recordings"]:
        new, found = _judged(tmp_path, row["to"])
        changes = _compared("conversations", conversations, found)
        assert _said("campaign" if new != campaign else "", changes) == row["changes"], row["to"]


def _without_numbers(keys: Mapping[str, Any]) -> set[str]:
    return {".".join(part for part in key.split(".") if not part.isdigit()) for key in keys}


def test_every_key_has_a_row() -> None:
    """A new key has to be put into the table: does it change an identity or not?"""
    assert _without_numbers(TABLE["campaign"]["keys"]) == adapter.campaign_keys()
    for part in ("systems", "evaluators", "models"):
        rows = {kind: set(each["keys"]) for kind, each in TABLE[part].items()}
        assert rows == adapter.kinds(part)
    assert set(TABLE["criterion"]) == adapter.criterion_keys()
    assert set(TABLE["request"]["keys"]) == {*adapter.request_fields(), "unit_sample"}
