"""AutoGen agents of one's own: in a seat of the debate, and our roles in a group chat."""

import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from examples.round_table import debate
from recjury.campaign import Config, read_config
from recjury.records import Debate, Status
from recjury.store import Store
from tests.campaign.campaigns import play

EXAMPLES = Path(__file__).parent.parent.parent / "examples"


@pytest.fixture
def campaign() -> Iterator[Config]:
    """The example with two of its scenarios."""
    path = list(sys.path)
    yield read_config(EXAMPLES / "own_agent.yaml")
    sys.path[:] = path


def test_an_agent_of_ones_own_takes_a_seat(tmp_path: Path, campaign: Config) -> None:
    assert play(tmp_path / "s.db", campaign, limit=2).left == 0
    with Store(tmp_path / "s.db", readonly=True) as store:
        rows = store.evaluations("own_agent")
        debates = [d for row in rows for d in store.findings(row.id) if isinstance(d, Debate)]
        assert len(debates) == 2
        own = [s for d in debates for s in d.statements if s.role == "Linguist"]
        assert {said.speaker for said in own} == {"own_agent:make_agent"}
        assert all(said.status is Status.OK and "words a turn" in said.text for said in own)
        assert all(store.calls(said.calls) for said in own)
        others = {s.speaker for d in debates for s in d.statements if s.role == "Domain Expert"}
        assert others == {"second"}


def test_our_roles_sit_in_a_group_chat() -> None:
    said = asyncio.run(debate())
    assert [each.round for each in said] == [1, 2] * 4
    scores = {each.role: each.score for each in said if each.round == 1}
    assert scores == {"Common User": 50, "Domain Expert": 51, "Linguist": 52, "HCI Expert": 53}
