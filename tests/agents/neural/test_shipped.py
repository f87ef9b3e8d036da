"""The weights that ship, for the sample."""

from importlib import resources

import pytest

from tests.agents.neural.conftest import KINDS
from tests.agents.talk import talk


@pytest.mark.parametrize("kind", KINDS)
def test_the_weights_that_ship_answer(kind: str) -> None:
    first, second = talk({"kind": kind}, "I liked Heat and Thief.", "Something by Kurosawa?")
    assert not first.failure
    assert first.text
    assert "<movie>" not in first.text
    assert len(first.items) == 10
    assert len(second.items) == 10


def test_they_are_small() -> None:
    folder = resources.files("recjury.agents.neural").joinpath("weights")
    with resources.as_file(folder) as path:
        sizes = [each.stat().st_size for each in path.rglob("*") if each.is_file()]
    assert sum(sizes) < 5_000_000
