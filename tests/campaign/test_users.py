"""The users of a campaign: its key `user`, their identities, and conditions in `compare`."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from recjury.campaign.config import CampaignConfig
from recjury.campaign.identity import campaign_id
from recjury.records import Ending
from recjury.store import Store
from tests.cli.front_door import Ended, recjury

Command = Callable[..., Ended]

CAMPAIGN = """
name: {name}
scenarios: [{{corpus: sample, limit: 4}}]
systems: [{{kind: retrieval, name: {name}}}]
evaluators: [outcome]
"""


@pytest.fixture
def command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Command:
    """`recjury` with these arguments."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return lambda *arguments: recjury(monkeypatch, capsys, *arguments)


def written(folder: Path, name: str, more: str = "") -> Path:
    path = folder / f"{name}.yaml"
    path.write_text(CAMPAIGN.format(name=name) + more, "utf-8")
    return path


def identity(**more: Any) -> str:
    given = {"scenarios": ["sample"], "systems": ["retrieval"], **more}
    return campaign_id(CampaignConfig.model_validate(given))


def test_the_plain_user_changes_no_identity() -> None:
    plain = identity()
    assert identity(user={"knows": "targets", "behaviours": {"off_topic": 0}}) == plain
    assert identity(simulator={"shows_list": True, "unique_values": "block"}) == plain
    assert identity(simulator={"prompts": "core", "ends_on": "told"}) == plain
    others = [
        identity(user={"knows": "wishes"}),
        identity(user={"condition": "decoy"}),
        identity(user={"persona": "drawn"}),
        identity(user={"behaviours": {"giving_up": 0.1}}),
        identity(simulator={"shows_list": False}),
        identity(simulator={"unique_values": "allow"}),
        identity(simulator={"prompts": "core-paper"}),
        identity(simulator={"ends_on": "list"}),
    ]
    assert len({plain, *others}) == 9


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"simulator": {"ends_on": "list", "shows_list": False}}, "needs `shows_list: true`"),
        (
            {"simulator": {"prompts": "core-paper"}, "user": {"knows": "wishes"}},
            "plays no `user`",
        ),
    ],
)
def test_settings_that_contradict_each_other_are_refused(
    given: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        CampaignConfig.model_validate({"scenarios": ["sample"], "systems": ["retrieval"], **given})


@pytest.mark.parametrize(
    ("user", "message"),
    [
        ("{knows: all}", "`user.knows`"),
        ("{behaviours: {giving_up: 1.5}}", "less than or equal to 1, got 1.5"),
        ("{behaviours: {giving_up: -0.1}}", "greater than or equal to 0, got -0.1"),
        ("{behaviours: {sleeps: 0.5}}", "'giving_up'"),
        ("{condition: anchoring}", "'reference_dependence', 'decoy' or 'priming'"),
        ("{persona: nightowl}", "did you mean 'night_owl'?"),
        ("{personas: nowhere.yaml}", "nowhere.yaml: cannot be read"),
        ("{personality: x}", "unknown key `personality` under `user`; did you mean 'persona"),
    ],
)
def test_a_mistake_is_one_line(tmp_path: Path, command: Command, user: str, message: str) -> None:
    path = written(tmp_path, "own", f"user: {user}\n")
    for how in ((), ("--dry-run",)):
        ended = command("run", path, "--store", f"sqlite:///{tmp_path}/s.db", *how)
        assert ended.code == 2
        assert message in ended.err
        assert ended.err.count("\n") == 1
    assert not (tmp_path / "s.db").exists()


def test_a_condition_is_compared_on_the_same_scenarios(tmp_path: Path, command: Command) -> None:
    place = f"sqlite:///{tmp_path}/s.db"
    for name, more in (("plain", ""), ("decoyed", "user: {condition: decoy}\n")):
        assert command("run", written(tmp_path, name, more), "--store", place).code == 0
    ended = command("compare", "decoyed", "plain", "--store", place)
    assert ended.code == 0, ended.err
    assert "paired over 4 scenarios" in ended.err
    with Store.open(f"{tmp_path}/s.db", create=False) as store:
        results = {each.system: [*store.results(None, each.system)] for each in store.results()}
        assert [each.person for each in results["plain"]] == [""] * 4
        assert all("condition: decoy (" in each.person for each in results["decoyed"])
        pairs = [[each.pair for each in found] for found in results.values()]
        assert pairs[0] == pairs[1]
    shown = command("replay", results["decoyed"][0].conversation, "--store", place)
    assert "person  condition: decoy (" in shown.out
    folder = tmp_path / "out"
    assert command("export", folder, "--format", "csv", "--store", place).code == 0
    assert "condition: decoy (" in (folder / "conversations.csv").read_text("utf-8")


def test_every_system_meets_the_same_person(tmp_path: Path, command: Command) -> None:
    more = "user: {knows: wishes, persona: drawn, behaviours: {giving_up: 0.5}}\n"
    path = written(tmp_path, "one", more)
    text = path.read_text("utf-8").replace("systems: [", "systems: [popular, ")
    path.write_text(text.replace("popular", "{kind: retrieval, name: other}"), "utf-8")
    place = f"sqlite:///{tmp_path}/s.db"
    assert command("run", path, "--store", place).code == 0
    with Store.open(f"{tmp_path}/s.db", create=False) as store:
        logs = [(each.pair, store.log(each.conversation)) for each in store.results()]
    people: dict[str | None, set[str]] = {}
    for pair, log in logs:
        assert log is not None
        assert log.person is not None
        assert log.person.persona
        assert log.ending in {Ending.CONTENT, Ending.GAVE_UP, Ending.ROUND_LIMIT}
        people.setdefault(pair, set()).add(log.person.model_dump_json())
    assert all(len(found) == 1 for found in people.values())
    assert len(people) == 4
