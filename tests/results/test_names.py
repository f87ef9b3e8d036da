"""How many names are not in the catalogue, said of whatever was played or recorded."""

import pytest

from recjury.records import ItemRef, Turn
from recjury.results import summary
from recjury.store import Store
from tests.results.filled import fill, log_of

FOUND, MISSING = ItemRef(id="f1", name="Heat (1995)"), ItemRef(id="?x", name="X")


@pytest.mark.parametrize(
    ("items", "read", "not_found"), [([FOUND], 2, 0), ([FOUND, MISSING], 3, 1), ([], 1, 0)]
)
def test_names_that_are_not_found(
    store: Store, items: list[ItemRef], read: int, not_found: int
) -> None:
    log = log_of("s0", interaction=[Turn(speaker="system", text="These.", items=tuple(items))])
    fill(store, {"one": {"overall": [50.0]}}, logs={"one": log})
    found = summary(store, "films")
    assert found.data["names"] == {"read": read, "not_found": not_found, "some": ["X"][:not_found]}
    said = [note for note in found.notes if "not in the catalogue" in note]
    assert said == [f"1 of {read} names are not in the catalogue: X"][:not_found]
