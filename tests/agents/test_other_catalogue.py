"""A checkpoint that was trained for another catalogue with as many entities, or as another kind."""

from collections.abc import Callable
from pathlib import Path

import orjson
import pytest

from recjury.agents import SystemContext, load_recommender
from recjury.agents.shipped import FOLDER
from recjury.errors import DataError
from tests.agents import tiny


@pytest.mark.parametrize(
    ("kind", "make"),
    [("kbrd", tiny.write_kbrd), ("barcor", tiny.write_barcor), ("unicrs", tiny.write_unicrs)],
)
def test_it_is_refused_by_name(tmp_path: Path, kind: str, make: Callable[..., object]) -> None:
    make(tmp_path)
    around = SystemContext(tiny.CORPUS)
    options = {"checkpoint": str(tmp_path)}
    load_recommender(kind, "mine", options, around)
    path = tmp_path / "recjury.json"
    described = orjson.loads(path.read_bytes())
    path.write_bytes(orjson.dumps(described | {"corpus": "films", "catalogue": "0" * 32}))
    own = tiny.CORPUS.catalogue.digest[:12]
    with pytest.raises(DataError, match=rf"films \(0{{12}}\), but this is sample \({own}\)"):
        load_recommender(kind, "mine", options, around)


@pytest.mark.parametrize("kind", ["barcor", "kbrd", "unicrs"])
@pytest.mark.parametrize("other", ["barcor", "kbrd", "unicrs"])
def test_one_of_another_kind_is_called_so(kind: str, other: str) -> None:
    options = {"checkpoint": str(FOLDER / other)}
    if kind == other:
        load_recommender(kind, "mine", options, SystemContext(tiny.CORPUS))
        return
    with pytest.raises(DataError, match=f"the checkpoint is one of {other}, not of {kind}: "):
        load_recommender(kind, "mine", options, SystemContext(tiny.CORPUS))
