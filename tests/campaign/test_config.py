"""Campaign files: short forms, the paper's protocol, and mistakes in one line."""

from pathlib import Path

import pytest

from recjury.campaign import Config, read_config
from recjury.errors import UserError
from tests.campaign.campaigns import play

MODEL = "model: {name: m, base_url: http://127.0.0.1:9/v1}\n"


def read(tmp_path: Path, text: str) -> Config:
    path = tmp_path / "mine.yaml"
    path.write_text(text, "utf-8")
    return read_config(path)


def test_short_forms_are_written_out(tmp_path: Path) -> None:
    config = read(
        tmp_path, MODEL + "scenarios: sample\nsystems: [popular]\nevaluators: core\nbudget: 2.5\n"
    )
    assert config.name == "mine"
    assert config.scenarios[0].corpus == "sample"
    assert config.systems == ({"kind": "popular"},)
    assert config.evaluators == ({"kind": "core"},)
    assert config.models["main"].name == "m"
    assert config.budget is not None
    assert config.budget.dollars == 2.5


def test_a_stored_campaign_is_the_same_again(tmp_path: Path) -> None:
    config = read(tmp_path, MODEL + "systems: [popular]\nprotocol: paper\n")
    again = Config.model_validate(config.stored())
    assert again.stored() == config.stored()


def test_the_paper_sets_all_at_once(tmp_path: Path) -> None:
    config = read(tmp_path, MODEL + "systems: [popular]\nprotocol: paper\n")
    assert config.session.ends_on == "list"
    assert not config.session.block_values
    assert config.users[0]["prompts"] == "core-paper"
    core = next(part for part in config.evaluators if part["kind"] == "core")
    assert core["prompts"] == "core-paper"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("systms: [popular]", ":1: systms: there is no such key (did you mean systems?)"),
        ("systems: [popular]\nsession: {min_round: 2}", ":2: session.min_round: there is no such"),
        ("systems: [popular]\nrepeats: many", ":2: repeats: .*got 'many'"),
        ("systems: [popular]\nrepeats: 0", ":2: repeats: "),
        ("systems: []", ":1: systems: "),
        ("systems: [{name: x}]", ":1: systems.0: `kind` is missing"),
        ("name: x", "`systems` is missing"),
        ("systems: [popular]\nsimulator: {}", ":2: simulator: this key is gone; instead: "),
        ("systems: [popular]\nmodel: {name: m, retries: 2}", "model.retries: .*`patience`"),
        ("systems: [popular]\nprotocol: paper\nsession: {ends_on: list or text}", "leave it out"),
        (
            "systems: [popular]\nprotocol: paper\nevaluators: [{kind: core, lists: named}]",
            "sets `lists`",
        ),
        (
            "systems: [popular]\nprotocol: paper\n"
            "evaluators: [{kind: core, debate: {prompts: core}}]",
            "sets `prompts`",
        ),
        ("systems: [popular]\nsession: {min_rounds: 6}", "min_rounds"),
        ('systems: [popular]\nname: "a\\nb"', ":2: name: "),
        ('systems: [{kind: popular, name: "a\\0b"}]', ":1: systems.0: `name`"),
        ("systems: [popular]\nscenarios: []", ":2: scenarios: "),
        ("systems: [popular]\nmodel: {name: m, base_url: localhost}", "an address is wanted"),
        ("systems: [popular]\nmodel: {name: m, base_url: 'http://[::1/v1'}", "base_url"),
        ("systems: [popular]\nmodel: {name: m, api_key: x}", "api_key: .*`key_env`"),
        ("systems: [popular]\nmodel: {name: m, extra: {messages: []}}", "'messages' itself"),
        ("systems: [popular]\nmodel: {name: m, timeout: .inf}", "timeout"),
        ("systems: [popular]\nmodel: &m {name: m, extra: *m}", "is not YAML"),
        ("systems: [popular]\nmodel: {name: m}\nmodels: {main: {name: n}}", "leave one of them"),
        ("- systems", "a mapping with `systems`"),
        ("", "a mapping with `systems`"),
        ("systems: [popular]\nbudget: -1", "budget.dollars: "),
        ("systems: 7", ":1: systems"),
        ("systems: [popular]\nmodels: [a]", ":2: models: "),
    ],
)
def test_a_mistake_is_one_line(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(UserError, match=words.replace("(", r"\(").replace("?)", r"\?\)")) as found:
        read(tmp_path, text)
    assert "\n" not in str(found.value)
    assert str(tmp_path / "mine.yaml") in str(found.value)


def test_two_names_for_the_same_settings_are_refused(tmp_path: Path) -> None:
    """Their trials would be the same, and one of them would vanish from the tables."""
    twice = (
        "systems: [popular, {kind: popular, name: again}]\nscenarios: [{corpus: sample, limit: 1}]"
    )
    with pytest.raises(UserError, match="settings of 'popular'"):
        play(tmp_path / "s.db", read(tmp_path, twice))
    play(tmp_path / "s.db", read(tmp_path, twice.replace("again}", "again, version: 2}")))
