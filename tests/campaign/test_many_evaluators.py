"""Conversations are held once; evaluators come, change and go without playing anything again."""

import asyncio
import json
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from recjury.campaign import CampaignConfig, run_campaign, runner
from recjury.judges.outcome.evaluator import OutcomeEvaluator
from recjury.prompts import Pack, load_pack
from recjury.store import Store
from tests.agents.http_system import Answer as HttpAnswer
from tests.agents.http_system import Asked, SystemServer, says
from tests.campaign import player
from tests.cli.front_door import Ended, recjury
from tests.endpoint import Answer, Body, Fault, ScriptedEndpoint

Command = Callable[..., Ended]
STORE = ("--store", "sqlite:///runs.db")
LENGTH = """
from recjury import Level, Metric, Rating


class Length:
    metrics = [Metric(id="words", title="Words of a turn", level=Level.TURN, group="Length")]

    def rate(self, log):
        return [
            Rating(evaluator="length", factor="words", score=len(turn.text.split()), high=None,
                   level=Level.TURN, turn=place)
            for place, turn in enumerate(log.interaction)
            if turn.speaker == "system"
        ]
"""
OWN = "{kind: python, name: length, path: 'length:Length'}"


@pytest.fixture
def command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Command:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    Path("length.py").write_text(LENGTH, "utf-8")
    return lambda *arguments: recjury(monkeypatch, capsys, *arguments)


def _system(asked: Asked) -> HttpAnswer:
    """Answers otherwise every time: conversations held again would differ."""
    if asked.method == "GET":
        return says({})
    _system.answers += 1  # type: ignore[attr-defined]
    text = f"Answer {_system.answers}: try Heat."  # type: ignore[attr-defined]
    return says({"text": text, "items": ["Heat (1995)"]})


def _conversations() -> list[tuple[object, ...]]:
    """The rows of all conversations and logs, to the byte."""
    with sqlite3.connect("runs.db") as connection:
        held = connection.execute("SELECT * FROM conversation ORDER BY id").fetchall()
        logs = connection.execute("SELECT * FROM log ORDER BY conversation").fetchall()
    connection.close()
    return [*held, *logs]


@pytest.mark.slow
def test_nothing_is_played_again_whatever_evaluates(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    _system.answers = 0  # type: ignore[attr-defined]
    lost = False

    def script(body: Body) -> Answer:
        if lost and player.kind(body) == "persuasiveness":
            return Fault("status", status=503, text="lost")
        return player.play(body)

    with (
        SystemServer(_system) as system,
        ScriptedEndpoint(script, models=("scripted", "strict")) as endpoint,
    ):
        server = system.url.removesuffix("/respond")
        http = f"{{kind: http, name: mine, url: '{system.url}', health: '{server}/health'}}"

        def run(evaluators: str, systems: str = http, code: int = 0) -> dict[str, Any]:
            models = "".join(
                f"  {alias}: {{base_url: '{endpoint.url}', name: {name}, retries: 0}}\n"
                for alias, name in (("main", "scripted"), ("strict", "strict"))
            )
            text = f"scenarios: [{{corpus: sample, limit: 2}}]\nsystems: [{systems}]\n"
            text += f"evaluators: {evaluators}\nmodels:\n{models}"
            Path("campaign.yaml").write_text(text, "utf-8")
            ended = command("run", "campaign.yaml", "--json", *STORE)
            assert ended.code == code, ended.err
            found: dict[str, Any] = json.loads(ended.out)
            return found

        lost = True
        first = run("[outcome]", code=3)
        assert first["evaluations"]["outcome"]["failed"] == 2
        played, held, users = system.asked[:], _conversations(), _user_calls(endpoint)
        lost = False
        steps = [
            ("[outcome]", http),
            ("[outcome, core]", http),
            ("[outcome, {kind: core, judges: {models: [strict]}}]", http),
            ("[outcome, {kind: core, debate: {max_rounds: 2}}]", http),
            (f"[outcome, core, {OWN}]", http),
            (f"[outcome, core, {OWN}]", f"{http}, retrieval"),
        ]
        for evaluators, systems in steps:
            result = run(evaluators, systems)
            assert result["campaign"] or result
            assert all(not each["failed"] for each in result["evaluations"].values())
        pack = _altered("core-judges")
        monkeypatch.setattr(
            "recjury.judges.core.evaluator.load_pack",
            lambda name: pack if name == pack.id else load_pack(name),
        )
        run("[outcome, core]")
        assert [a.body for a in system.asked if a.method == "POST"] == [
            a.body for a in played if a.method == "POST"
        ]
        mine = [row for row in _conversations() if any(value in row for value in _keys(held))]
        assert mine == held
        assert _user_calls(endpoint) > users, "the other system's conversations"
    here = ("--campaign", first["campaign"], *STORE)
    shown = json.loads(command("report", "--out", "r.html", "--json", *here).out)["systems"]
    labels = {metric.partition(".")[0] for metric in shown["mine"]}
    assert {"outcome", "core"} <= labels
    older = sorted(label for label in labels if label.startswith("core@"))
    assert len(older) == 3, "the first, the other judge, two rounds; the newest is `core`"
    page = Path("r.html").read_text("utf-8")
    assert all(label in page for label in older)
    files = json.loads(command("export", "out", "--format", "csv", "--json", *here).out)["files"]
    assert any(path.endswith("conversations.jsonl") for path in files)
    assert older[0] in Path("out/ratings.csv").read_text("utf-8")
    compared = command("compare", "--evaluators", "core", older[0], *here, "--json")
    assert compared.code == 0, compared.err


def _user_calls(endpoint: ScriptedEndpoint) -> int:
    return sum(player.kind(body) == "user" for body in endpoint.bodies)


def _keys(rows: Sequence[tuple[object, ...]]) -> set[object]:
    return {row[0] for row in rows}


def _altered(name: str) -> Pack:
    folder = Path(__file__).parents[2] / "recjury" / "prompts" / "packs" / name
    files = {file.name: file.read_text("utf-8") for file in folder.iterdir()}
    files["system.j2"] = files["system.j2"] + "\nBe fair."
    changed = Pack(files)
    assert changed.digest != load_pack(name).digest
    return changed


FACE = "{kind: face, aspects: [relevance, dialogue_overall], rules: true, samples: 1}"


@pytest.mark.slow
@pytest.mark.parametrize(
    "order",
    [("core", "face", "length"), ("face", "length", "core"), ("length", "core", "face")],
    ids="-".join,
)
def test_one_store_holds_all_evaluators_in_every_order(
    command: Command, order: tuple[str, ...]
) -> None:
    entries = {
        "core": "{kind: core, judges: {kind: measured}, debate: {kind: rule}}",
        "face": FACE,
        "length": OWN,
    }
    with ScriptedEndpoint(lambda _: "<rating>1</rating>") as endpoint:
        model = f"model: {{base_url: '{endpoint.url}', name: scripted, retries: 0}}\n"
        played = (
            "scenarios: [{corpus: sample, limit: 2}]\nsystems: [retrieval, "
            "{kind: retrieval, name: again}]\nsimulator: {kind: rule}\n"
        )
        Path("c.yaml").write_text(f"{played}{model}evaluators: [{entries[order[0]]}]\n", "utf-8")
        campaign = json.loads(command("run", "c.yaml", "--json", *STORE).out)["campaign"]
        for name in order[1:]:
            Path("e.yaml").write_text(f"{model}evaluators: [{entries[name]}]\n", "utf-8")
            ended = command("judge", "--campaign", campaign[:6], "--config", "e.yaml", *STORE)
            assert ended.code == 0, ended.err
        _every_command_answers(command, order)
    result = json.loads(command("report", "--out", "r.html", "--json", *STORE).out)
    wanted = {"core.overall", "face.relevance", "face.dialogue_overall", "length.words"}
    for system in ("retrieval", "again"):
        assert wanted <= set(result["systems"][system])
        assert all(result["systems"][system][metric]["coverage"] == 1 for metric in wanted)


def _every_command_answers(command: Command, names: Sequence[str]) -> None:
    (status,) = json.loads(command("status", "--json", *STORE).out)["campaigns"]
    assert set(names) == set(status["evaluations"])
    compared = json.loads(command("compare", "retrieval", "again", "--json", *STORE).out)
    assert {metric.partition(".")[0] for metric in compared["metrics"]} == set(names)
    assert command("compare", "retrieval", "again", *STORE).code == 0
    for form in ("csv", "jsonl", "parquet"):
        assert command("export", f"out-{form}", "--format", form, *STORE).code == 0
    ratings = Path("out-jsonl/ratings.jsonl").read_text("utf-8").splitlines()
    assert {json.loads(line)["evaluator"] for line in ratings} == set(names)
    assert command("report", "--out", "page.html", *STORE).code == 0
    verified = json.loads(command("replay", "--all", "--verify", "--json", *STORE).out)
    assert verified["different"] == []
    assert verified["debates"] == (4 if "core" in names else 0)


BAD = """
from recjury import Metric, Rating


class Bad:
    metrics = [Metric(id="it", title="It", high=4)]

    def __init__(self, how):
        self.how = how

    def rate(self, log):
        if self.how == "raises":
            raise ValueError("no idea")
        if self.how == "hangs":
            import time
            time.sleep(60)
        name = "other" if self.how == "undeclared" else "it"
        return [Rating(evaluator="bad", factor=name, score=7 if self.how == "scale" else 2, high=9)]
"""


def test_an_evaluator_that_does_wrong_fails_alone(command: Command) -> None:
    Path("bad.py").write_text(BAD, "utf-8")
    wrongs = {
        "raises": "ValueError: no idea",
        "hangs": "within 1 s",
        "undeclared": "other",
        "scale": "7",
    }
    entries = [
        f"{{kind: python, name: {how}, path: 'bad:Bad', options: {{how: {how}}}, timeout: 1}}"
        for how in wrongs
    ]
    text = "scenarios: [{corpus: sample, limit: 1}]\nsystems: [retrieval]\n"
    text += f"evaluators: [outcome, core, {', '.join(entries)}]\n"
    Path("c.yaml").write_text(text, "utf-8")
    ended = command("run", "c.yaml", "--json", *STORE)
    assert ended.code == 3, ended.err
    result = json.loads(ended.out)
    for label, counts in result["evaluations"].items():
        expected = {"planned": 1, "done": 0, "failed": 1, "waiting": 0}
        if label in ("outcome", "core"):
            expected = {"planned": 1, "done": 1, "failed": 0, "waiting": 0}
        assert counts == expected, label
    for how, said in wrongs.items():
        assert any(how in why and said in why for why in result["failures"]), (how, result)
    assert result["systems"]["retrieval"]["core.overall"]["coverage"] == 1
    assert result["systems"]["retrieval"]["raises.it"]["mean"] is None


def test_a_log_is_judged_as_often_as_is_asked(command: Command) -> None:
    with ScriptedEndpoint(player.play) as endpoint:
        text = "scenarios: [{corpus: sample, limit: 1}]\nsystems: [retrieval]\n"
        text += "simulator: {kind: rule}\nevaluators: [{kind: core, judgings: %d}]\n"
        text += f"model: {{base_url: '{endpoint.url}', name: scripted}}\n"
        for judgings in (1, 3):
            Path("c.yaml").write_text(text % judgings, "utf-8")
            result = json.loads(command("run", "c.yaml", "--json", *STORE).out)
            assert result["evaluations"]["core"]["done"] == judgings
            kinds = [player.kind(body) for body in endpoint.bodies]
            assert kinds.count("judge") == 12 * judgings
    with Store.open(STORE[1]) as store:
        (conversation,) = store.results()
        assert sorted(each.judging for each in conversation.evaluations) == [0, 1, 2]


def _rule_campaign(evaluators: str, more: str = "") -> Path:
    path = Path("c.yaml")
    text = "scenarios: [{corpus: sample, limit: 1}]\nsystems: [retrieval]\n"
    path.write_text(f"{text}evaluators: {evaluators}\n{more}", "utf-8")
    return path


def test_one_evaluator_under_two_names_is_refused(command: Command) -> None:
    path = _rule_campaign("[core, {kind: core, name: again}]")
    ended = command("run", path, *STORE)
    assert ended.code == 2
    assert "the evaluators 'core' and 'again' are the same" in ended.err
    assert not Path("runs.db").exists()


def test_a_campaign_judged_by_other_models_keeps_its_own_user(command: Command) -> None:
    """Persuasiveness is asked of who played, whatever model has the alias in a judging file."""
    with ScriptedEndpoint(player.play, models=("scripted", "strict")) as endpoint:
        model = "model: {{base_url: '{}', name: {}, retries: 0}}\n"
        path = _rule_campaign("[core]", model.format(endpoint.url, "scripted"))
        campaign = json.loads(command("run", path, "--json", *STORE).out)["campaign"]
        Path("strict.yaml").write_text(model.format(endpoint.url, "strict"), "utf-8")
        judge = ("judge", "--campaign", campaign, *STORE, "--json")
        ended = command(*judge, "--config", "strict.yaml", "--evaluator", "core")
        assert ended.code == 0, ended.err
        asked = len(endpoint.bodies)
        both = ("--evaluator", "core", "--evaluator", "outcome")
        refused = command(*judge, "--config", "strict.yaml", *both)
        assert refused.code == 2
        assert "the model 'main' differs from the campaign's model of this name" in refused.err
        result = json.loads(command(*judge, "--evaluator", "outcome").out)
        assert [body["model"] for body in endpoint.bodies[asked:]] == ["scripted"]
    assert result["systems"]["retrieval"]["outcome.persuasiveness"]["n"] == 1


def test_an_exported_conversation_never_takes_the_location_of_another(command: Command) -> None:
    """Equal identities with different logs: what was exported is judged, and nothing else."""
    path = _rule_campaign("[core]")
    assert command("run", path, *STORE).code == 0
    assert command("export", "out", *STORE).code == 0
    row = json.loads(Path("out/conversations.jsonl").read_text("utf-8"))
    log = row["log"]
    log["interaction"][-1]["text"] += " Bye."
    with Store.open(STORE[1]) as store:
        (held,) = store.conversations()
    from recjury.records import ConversationLog

    row["digest"] = ConversationLog.model_validate(log).id
    Path("other.jsonl").write_text(json.dumps(row) + "\n", "utf-8")
    result = json.loads(command("judge", "other.jsonl", "--json", *STORE).out)
    assert result["conversations"]["done"] == 1
    with Store.open(STORE[1]) as store:
        (judged,) = store.conversations(result["campaign"])
        kept = store.log(judged.id)
        assert kept is not None
        assert kept.interaction[-1].text.endswith(" Bye.")
        assert judged.id == row["digest"] != held.id


def test_half_characters_of_an_evaluator_fail_its_evaluation(command: Command) -> None:
    Path("halved.py").write_text(BAD.replace("score=7", 'rationale="\\ud800", score=7'), "utf-8")
    path = _rule_campaign(
        "[outcome, {kind: python, name: bad, path: 'halved:Bad', options: {how: x}}]"
    )
    ended = command("run", path, "--json", *STORE)
    assert ended.code == 3, ended.err
    assert json.loads(ended.out)["evaluations"]["bad"]["failed"] == 1


def test_own_evaluators_show_up_everywhere_with_no_edit(command: Command) -> None:
    """The examples that ship: a rubric without code, and a class of thirty lines."""
    root = Path(__file__).parents[2]
    with ScriptedEndpoint(player.play) as endpoint:
        text = (
            "scenarios: [{corpus: sample, limit: 2}]\n"
            "systems: [retrieval, {kind: retrieval, name: again}]\nsimulator: {kind: rule}\n"
            f"model: {{base_url: '{endpoint.url}', name: scripted, retries: 0}}\n"
            "evaluators:\n"
            f"  - {{kind: rubric, file: '{root}/examples/own_rubric.yaml'}}\n"
            "  - {kind: python, name: talk, path: 'examples.own_evaluator:Talk'}\n"
        )
        Path("c.yaml").write_text(text, "utf-8")
        metrics = {"rubric.honesty", "rubric.occasion", "talk.words", "talk.questions"}
        listed = json.loads(command("list", "evaluators", "--config", "c.yaml", "--json").out)
        assert {m["id"] for each in listed["evaluators"] for m in each["metrics"]} == metrics
        dry = json.loads(command("run", "c.yaml", "--dry-run", "--json", *STORE).out)
        assert dry["evaluations"] == {"rubric": 4, "talk": 4}
        ended = command("run", "c.yaml", "--report", "r.html", "--json", *STORE)
        assert ended.code == 0, ended.err
    result = json.loads(ended.out)
    assert metrics == set(result["systems"]["again"])
    compared = json.loads(command("compare", "again", "retrieval", "--json", *STORE).out)
    assert metrics >= set(compared["metrics"]) >= {"talk.words", "talk.questions"}
    page, table = Path("r.html").read_text("utf-8"), command("report", *STORE).out
    for title in ("Honesty", "Occasion", "Words", "Questions"):
        assert title in page
        assert title in " ".join(table.split())
    assert command("export", "out", "--format", "jsonl", *STORE).code == 0
    rows = [json.loads(row) for row in Path("out/ratings.jsonl").read_text("utf-8").splitlines()]
    assert {row["metric"] for row in rows} == metrics


@pytest.mark.parametrize("remembered", [0, 10_000])
def test_a_log_of_several_conversations_is_evaluated_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, remembered: int
) -> None:
    evaluated: list[str] = []
    evaluate = OutcomeEvaluator.evaluate

    async def counted(self: OutcomeEvaluator, stage: str, *rest: Any) -> Any:
        evaluated.append(stage)
        return await evaluate(self, stage, *rest)

    monkeypatch.setattr(OutcomeEvaluator, "evaluate", counted)
    monkeypatch.setattr(runner, "_REMEMBERED", remembered)
    given = {"scenarios": [{"corpus": "sample", "limit": 3}], "systems": ["retrieval"]}
    config = CampaignConfig.model_validate({**given, "repeats": 3, "evaluators": ["outcome"]})
    result = asyncio.run(run_campaign(config, str(tmp_path / "store.db")))
    with Store.open(str(tmp_path / "store.db"), read_only=True) as store:
        logs = {each.log for each in store.results()}
    assert (result.done, len(logs), len(evaluated)) == (9, 3, 2 * 3)  # two stages
