"""Campaigns of `campaigns/`, played once into a store through the command line, for all tests."""

import contextlib
import fcntl
import io
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.cli.front_door import Ended, recjury
from tests.endpoint import ScriptedEndpoint
from tests.frozen import player
from tests.frozen.files import write_files
from tests.scripted_server import Body

CAMPAIGNS = Path(__file__).with_name("campaigns")


class PlayedCampaign(NamedTuple):
    """The folder with the campaign's store and file, the requests to models, and what
    `recjury run --json` printed."""

    folder: Path
    bodies: list[Body]
    printed: str

    @property
    def store(self) -> str:
        """The store, as `--store` takes it."""
        return f"sqlite:///{self.folder}/store.db"


class _Printed(NamedTuple):
    out: str
    err: str


class _Capture:
    """What a command prints, where pytest's own capture cannot be used."""

    def __init__(self) -> None:
        self._out, self._err = io.StringIO(), io.StringIO()

    @contextlib.contextmanager
    def capturing(self) -> Iterator[None]:
        with contextlib.redirect_stdout(self._out), contextlib.redirect_stderr(self._err):
            yield

    def readouterr(self) -> _Printed:
        return _Printed(self._out.getvalue(), self._err.getvalue())


def command(folder: Path, *arguments: object) -> Ended:
    """`recjury ARGUMENTS` in `folder`."""
    capture = _Capture()
    with capture.capturing(), pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        return recjury(patch, capture, *arguments)  # type: ignore[arg-type]


class Player:
    """Plays campaigns into a folder that the processes of one test run share."""

    def __init__(self, folder: Path):
        """A campaign that lies in `folder` is not played again."""
        self._folder = folder

    @property
    def files(self) -> Path:
        """The files that settings name."""
        with self._made("files") as (folder, is_new):
            if is_new:
                write_files(folder)
        return folder

    def play(self, name: str) -> PlayedCampaign:
        """The campaign called `name`, played now if no process has played it."""
        files = self.files
        with self._made(name) as (folder, is_new):
            if is_new:
                _play(name, folder, files)
        return PlayedCampaign(
            folder,
            json.loads((folder / "bodies.json").read_text("utf-8")),
            (folder / "printed.json").read_text("utf-8"),
        )

    @contextlib.contextmanager
    def _made(self, name: str) -> Iterator[tuple[Path, bool]]:
        """A folder, and whether it is to be filled; meanwhile other processes wait."""
        folder = self._folder / name
        self._folder.mkdir(exist_ok=True)
        with (self._folder / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            done = folder / ".done"
            is_new = not done.exists()
            folder.mkdir(exist_ok=True)
            yield folder, is_new
            done.touch()


def _play(name: str, folder: Path, files: Path) -> None:
    with ScriptedEndpoint(player.play, models=("scripted", "second")) as endpoint:
        text = (CAMPAIGNS / f"{name}.yaml").read_text("utf-8")
        text = text.replace("FILES", str(files)).replace("URL", endpoint.url)
        (folder / "campaign.yaml").write_text(text, "utf-8")
        ended = command(folder, "run", "campaign.yaml", "--json", "--store", "sqlite:///store.db")
        assert ended.code == 0, ended.err
        (folder / "bodies.json").write_text(json.dumps(endpoint.bodies), "utf-8")
    (folder / "printed.json").write_text(ended.out, "utf-8")


def shared_folder(factory: pytest.TempPathFactory) -> Path:
    """A folder of this test run, which its processes share."""
    base = factory.getbasetemp()
    return (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "frozen"
