"""Campaign files: what is wrong with one is said in one line."""

from pathlib import Path

import pytest

from recjury.agents.neural.systems import KBRD
from recjury.campaign.config import CampaignConfig
from recjury.campaign.config_file import read_config
from recjury.errors import ConfigError

GOOD = """
name: small
scenarios: [sample]
systems: [retrieval, {kind: kbrd, checkpoint: "kbrd-{corpus}"}]
"""


def _read(folder: Path, text: str) -> CampaignConfig:
    path = folder / "campaign.yaml"
    path.write_text(text, "utf-8")
    return read_config(path)


def test_bare_names_and_defaults(tmp_path: Path) -> None:
    config = _read(tmp_path, GOOD)
    assert [system.name for system in config.systems] == ["retrieval", "kbrd"]
    assert isinstance(config.systems[1], KBRD)
    assert config.scenarios[0].corpus == "sample"
    assert not config.plays_llm
    assert [entry.label for entry in config.evaluators] == ["outcome", "core"]


def test_a_model_makes_everyone_a_model(tmp_path: Path) -> None:
    config = _read(tmp_path, GOOD + "model: {base_url: 'http://127.0.0.1:1/v1', name: m}\n")
    assert config.plays_llm
    assert list(config.models_in_use) == list(config.all_models) == ["main"]


def test_yaml_reads_off_as_false_and_so_do_we(tmp_path: Path) -> None:
    config = _read(tmp_path, GOOD + "evaluators: [{kind: core, debate: {kind: off}}]\n")
    assert config.evaluators[0].metrics[0].title == "Coherence", "no overall"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (GOOD + "sytems: 1\n", ["unknown key `sytems`", "did you mean 'systems'"]),
        (
            GOOD + "evaluators: [{kind: core, debate: {max_round: 3}}]\n",
            ["`max_round` under `evaluators.0.core.debate`", "'max_rounds'"],
        ),
        ("scenarios: [{corpus: sample, limits: 3}]\nsystems: [retrieval]\n", ["'limit'"]),
        (
            "scenarios: [sample]\nsystems: [{kind: kbrd, checkpont: x}]\n",
            ["unknown key `checkpont`", "'checkpoint'"],
        ),
        (
            GOOD + "model: {base_url: x, name: m, key: SECRET}\n",
            ["`key` must not stand here", "`key_env`"],
        ),
        ("scenarios: [sample]\n", ["`systems` is missing"]),
        ("scenarios: []\nsystems: [retrieval]\n", ["`scenarios`", "at least 1"]),
        ("scenarios: [sample]\nsystems: [nothing]\n", ["`systems.0`", "'nothing'", "retrieval"]),
        (GOOD + "limits: {judge: 3}\n", ["judge", "judges"]),
        (GOOD + "limits: {systems: 0}\n", ["`limits.systems`", "got 0"]),
        (GOOD + "concurrency: 0\n", ["`concurrency`", "greater than or equal to 1", "got 0"]),
        (GOOD + "simulator: {min_rounds: 6}\n", ["min_rounds (6)", "max_rounds (5)"]),
        (
            GOOD + "evaluators: [{kind: core, judges: {kind: llm}}]\n",
            ["judges.models names the model 'main'"],
        ),
        (
            GOOD + "models: {crs: {base_url: http://x/v1, name: crs}}\n",
            ["not under `models` (crs); `judges: {kind: measured}` does without a model"],
        ),
        (GOOD + "name: again\n", ["key 'name' is written twice"]),
        (
            "scenarios: [sample]\nsystems: [retrieval, retrieval]\n",
            ["two systems are named 'retrieval'"],
        ),
        ("", ["an empty file"]),
        ("[1, 2]", ["got a list"]),
        ("a: [", ["is not YAML", "line 1"]),
        ("a: " + "[" * 5000, ["is not YAML"]),
        ("a: !!python/object/apply:os.system [true]", ["is not YAML"]),
    ],
)
def test_what_is_wrong_is_said_in_one_line(tmp_path: Path, text: str, said: list[str]) -> None:
    with pytest.raises(ConfigError) as caught:
        _read(tmp_path, text)
    message = str(caught.value)
    assert "\n" not in message
    for part in said:
        assert part in message


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="No such file"):
        read_config(tmp_path / "none.yaml")


def test_a_file_that_is_not_text(tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigError, match="not UTF-8"):
        read_config(tmp_path / "x.yaml")
