"""The schema by which editors check a campaign file knows what recjury knows."""

from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator

from recjury.campaign import Config
from recjury.campaign.schema import campaign_schema

EXAMPLES = Path(__file__).parents[2] / "examples"
NO_CAMPAIGNS = ("phones/domain.yaml", "rubric.yaml", "stranger/compose.yaml")
FILES = sorted(path.relative_to(EXAMPLES).as_posix() for path in EXAMPLES.rglob("*.yaml"))
CAMPAIGNS = [name for name in FILES if name not in NO_CAMPAIGNS]


@pytest.fixture(scope="module")
def validator() -> Draft202012Validator:
    schema = campaign_schema()
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


@pytest.mark.parametrize("name", CAMPAIGNS)
def test_examples_are_valid(name: str, validator: Draft202012Validator) -> None:
    validator.validate(yaml.safe_load((EXAMPLES / name).read_text("utf-8")))


@pytest.mark.parametrize(
    "values",
    [
        {"systems": ["popular"], "model": {"name": "m", "base_url": "http://127.0.0.1:1/v1"}},
        {"systems": "popular", "scenarios": "sample", "session": "offline"},
        {"systems": [{"kind": "chatcrs", "vary": {"temperature": [0.2, 0.7]}}], "budget": 1.5},
        {"systems": [{"kind": "mine:Agent", "anything": 1}]},
        {"systems": [{"kind": "http", "vary": {"url": ["http://a", "http://b"]}}]},
    ],
)
def test_what_a_campaign_may_say_is_valid(
    values: dict[str, object], validator: Draft202012Validator
) -> None:
    Config.model_validate(values)
    validator.validate(values)


@pytest.mark.parametrize(
    "values",
    [
        {"systems": ["populer"]},
        {"systems": [{"kind": "http"}]},
        {"systems": [{"kind": "chatcrs", "temprature": 0.2}]},
        {"systems": ["popular"], "model": {"nam": "m"}},
        {"systems": ["popular"], "sessions": {}},
        {"systems": ["popular"], "repeats": 0},
        {"systems": ["popular"], "users": [{"kind": "llm", "vary": {"temperature": [0, 1]}}]},
    ],
)
def test_mistakes_are_marked(values: dict[str, object], validator: Draft202012Validator) -> None:
    assert not validator.is_valid(values)


def test_parts_of_other_packages_are_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As an installed package has them: in a folder of the path."""
    about = tmp_path / "theirs-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Name: theirs\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[recjury.systems]\ntheirs = theirs:System\n")
    monkeypatch.syspath_prepend(tmp_path)
    Draft202012Validator(campaign_schema()).validate({"systems": ["theirs", {"kind": "theirs"}]})
