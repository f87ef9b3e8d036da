"""--system, --scenario, --where and --failed: what of a campaign commands are about."""

from pathlib import Path

import pytest

from tests.cli.conftest import Recjury, campaign
from tests.scripted_endpoint import ScriptedEndpoint

_LIST = "conversations"


@pytest.fixture
def file(tmp_path: Path, endpoint: ScriptedEndpoint) -> Path:
    """A campaign of two systems and two scenarios without a model, and a file with judges."""
    campaign(tmp_path / "c.yaml", endpoint.url)
    free = {"systems": ["popular", "random"], "evaluators": ["outcome"], "users": ["demo"]}
    campaign(tmp_path / "free.yaml", endpoint.url, name="c", **free)
    return tmp_path / "free.yaml"


def played(recjury: Recjury, *options: str) -> list[str]:
    rows = recjury("replay", *options, "--json").json["conversations"]
    return [f"{row['system']} {row['state']}" for row in rows]


def test_a_part_is_played_and_then_the_rest(file: Path, recjury: Recjury) -> None:
    estimate = recjury("run", file.name, "--dry-run", "--system", "random")
    assert "2 conversations are left" in estimate.out
    assert recjury("run", file.name, "--system", "random").code == 0
    assert sorted(played(recjury)) == ["popular planned"] * 2 + ["random done"] * 2
    assert played(recjury, "--where", "outcome.rounds>0") == ["random done"] * 2
    assert recjury("run", file.name).code == 0
    assert sorted(played(recjury)) == ["popular done"] * 2 + ["random done"] * 2


def test_the_lowest_scores_come_first(file: Path, recjury: Recjury) -> None:
    assert recjury("run", file.name).code == 0
    found = [
        [row[key.lstrip("-")] for row in recjury("replay", "--sort", key, "--json").json[_LIST]]
        for key in ("outcome.rounds", "-outcome.rounds")
    ]
    assert "no column or metric" in recjury("replay", "--sort", "core.overall").err
    assert [sorted(found[0]), sorted(found[1], reverse=True)] == found


def test_a_part_is_rated_by_other_judges(file: Path, recjury: Recjury) -> None:
    assert recjury("run", file.name).code == 0
    chosen = ("--campaign", "c", "--config", "c.yaml", "--system", "popular")
    found = recjury("judge", *chosen, "--where", "outcome.rounds>0", "--json").json["systems"]
    assert found["popular"]["core.overall"]["n"] == 2
    assert found["random"]["core.overall"]["n"] == 0
    assert found["random"]["outcome.rounds"]["n"] == 2


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("run", "free.yaml", "--system", "popula"), "did you mean popular?"),
        (("run", "free.yaml", "--failed"), "--failed leaves none of 4 conversations"),
        (("run", "free.yaml", "--dry-run", "--where", "core.overall<4"), "no column or metric"),
        (("run", "free.yaml", "--where", "low"), "expected a name, one of"),
        (("replay", "3f2a", "--system", "popular"), "are of the list alone"),
        (("replay", "3f2a", "--sort", "outcome.rounds"), "are of the list alone"),
    ],
)
def test_mistakes_are_one_line(
    file: Path, recjury: Recjury, arguments: tuple[str, ...], said: str
) -> None:
    assert recjury(*arguments).is_mistake(said)
