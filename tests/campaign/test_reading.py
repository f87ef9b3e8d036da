"""What is wrong with a campaign file, in a user's words."""

from pathlib import Path

import pytest

from recjury.campaign.config_file import read_config
from recjury.errors import ConfigError

GOOD = "scenarios: [sample]\nsystems: [retrieval]\n"
KINDS = (
    "(known: retrieval, kbrd, barcor, unicrs, chatcrs, openai_crs, http, python; or a class, such "
    "as recjury.demo.popular:Popular)"
)


def _systems(entries: str) -> str:
    return f"scenarios: [sample]\nsystems: [{entries}]\n"


def _model(key_env: str) -> str:
    return f"model: {{base_url: 'http://x/', name: m, key_env: {key_env}}}\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (_systems("retreival"), f"unknown system 'retreival'; did you mean 'retrieval'? {KINDS}"),
        (_systems("popular"), f"unknown system 'popular' {KINDS}"),
        (_systems("{kind: [1]}"), f"`systems.0`: unknown system [1] {KINDS}"),
        (_systems("{name: x}"), f"`systems.0`: has no `kind` {KINDS}"),
        (
            GOOD + "model: {provider: opnai, name: m}\n",
            "`model`: unknown provider 'opnai'; did you mean 'openai'? (known: openai, ",
        ),
        (
            GOOD + "models: {a: {provider: transformers, model: m, devic: cpu}}\n",
            "unknown key `devic` under `models.a`; did you mean 'device'?",
        ),
        (GOOD + "model: {provider: transformers}\n", "`model.name` is missing"),
        (GOOD + "simulator: llm\n", "`simulator`: expected a mapping with keys such as declares"),
        (GOOD + "models: [a]\n", "`models`: expected a mapping, got ['a']"),
        ("scenarios: sample\nsystems: [retrieval]\n", "`scenarios`: expected a list, got 'sample'"),
        ("scenarios: sample\nsystems: [retrieval]\n", "; write a list: `- {corpus: sample}`"),
        (
            "scenarios: {corpus: sample}\nsystems: [retrieval]\n",
            "; write a list: `- {corpus: sample}`",
        ),
        (
            _systems("{kind: python, name: x, path: 'a:B', length: 3}"),
            "; options of your class go under `options:` (known: environment, isolate, kind, ",
        ),
        (GOOD + "seed: 2024-99-99\n", "'2024-99-99' cannot be read as timestamp (line 3)"),
        (GOOD + f"seed: {'9' * 5000}\n", "cannot be read as int (line 3)"),
        (GOOD + f"seed: {2**64}\n", f"{2**64} is too large a number (line 3)"),
        (GOOD + 'name: "a\\ud800"\n', "invalid Unicode: lone surrogate 0xd800 (line 3)"),
        (GOOD + 'name: "\\udc1fa"\n', "invalid Unicode: lone surrogate 0xdc1f (line 3)"),
        (GOOD + 'name: "a\\ud83db"\n', "invalid Unicode: lone surrogate 0xd83d (line 3)"),
        (GOOD + "seed: 1\nbudget: 3\nseed: 2\n", "key 'seed' is written twice (line 5)"),
        (GOOD + _model("sk-secret"), "`model.key_env`: key_env must be the name of an environment"),
    ],
)
def test_it_is_said_in_one_line_without_jargon(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "campaign.yaml"
    path.write_text(text, "utf-8")
    with pytest.raises(ConfigError) as caught:
        read_config(path)
    message = str(caught.value)
    assert said in message
    for part in ("\n", "more)", "instance", "secret"):
        assert part not in message


def test_only_places_that_are_wrong_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "campaign.yaml"
    path.write_text(_systems("{kind: kbrd, checkpoint: 3}, {kind: python, name: x}"), "utf-8")
    with pytest.raises(ConfigError, match=r"got 3 \(and 1 more\)$"):
        read_config(path)


def test_two_escapes_of_json_are_one_character(tmp_path: Path) -> None:
    path = tmp_path / "campaign.yaml"
    path.write_text(GOOD + 'name: "films \\ud83c\\udfac"\n', "utf-8")
    assert read_config(path).name == "films 🎬"
