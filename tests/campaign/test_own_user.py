"""A simulated user of one's own, as docs/how-to/users.md teaches it."""

import asyncio
from pathlib import Path

from recjury.campaign import read_config, run
from recjury.results import ratings, turns
from recjury.store import Store

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_the_example_talks_beside_another_user(tmp_path: Path) -> None:
    with Store(tmp_path / "s.db") as store:
        asyncio.run(run(read_config(EXAMPLES / "own_user.yaml"), store, limit=2))
        frame = ratings(store, "own_user")
        said = turns(store, "own_user")
    assert set(frame["user"]) == {"demo", "curt"}
    own = said[(said["user"] == "curt") & (said["speaker"] == "user")]
    assert set(own["text"]) >= {"And?"}
