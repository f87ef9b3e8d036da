"""Two trainings that end in the same folder at the same moment."""

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from recjury.agents.neural.description import METADATA
from recjury.agents.training.output_folder import whole_folder

_TIMES = 300


def write_often(out: Path, who: str) -> None:
    for each in range(_TIMES):
        with whole_folder(out) as folder:
            for part in ("rec_model", "conv_model"):
                (folder / part).mkdir()
                (folder / part / "model.pt").write_text(f"{who} {each}", "utf-8")
            (folder / METADATA).write_text(f"{who} {each}", "utf-8")


def test_neither_fails_and_the_checkpoint_is_the_one_of_the_last(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        for running in [pool.submit(write_often, out, who) for who in ("one", "other")]:
            running.result()
    said = {path.read_text("utf-8") for path in out.rglob("*") if path.is_file()}
    assert len(said) == 1
    assert said <= {f"one {_TIMES - 1}", f"other {_TIMES - 1}"}
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
