"""Which files one object passes on its way: a campaign file, a scenario, a request to a model.

`python -m benchmarks.journeys [CHECKOUT]` runs one conversation of ChatCRS with scripted models,
in CHECKOUT (default: this one), and notes every function of `recjury` that is given an object of
a kind as an argument, by itself or as a field of a record. `files` counts the distinct files of
these functions, `stays` how often the journey enters a file. Of requests the first is followed.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from types import FrameType

KINDS = ("CampaignConfig", "Scenario", "ChatRequest", "ConversationLog")
CAMPAIGN = {
    "scenarios": [{"corpus": "sample", "limit": 1}],
    "systems": [{"kind": "chatcrs", "list_source": "from_text"}],
    "concurrency": 1,
}


class Tracer:
    """A profile function that follows the one object of each kind."""

    def __init__(self, package: Path):
        """`package` is the folder of `recjury`: what runs elsewhere is not counted."""
        self._package = str(package) + os.sep
        self._request: object = None
        self._frames: dict[int, FrameType] = {}
        self.visits: dict[str, list[str]] = defaultdict(list)

    def __call__(self, frame: FrameType, event: str, _argument: object) -> None:
        """Note a call; a coroutine that goes on after a wait is not called again."""
        name = frame.f_code.co_filename
        if event != "call" or not name.startswith(self._package) or id(frame) in self._frames:
            return
        code = frame.f_code
        arguments = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        found = {kind for a in arguments for kind in self._held(frame.f_locals.get(a))}
        if found:
            self._frames[id(frame)] = frame
        for kind in found:
            self.visits[kind].append(name.removeprefix(self._package))

    def _held(self, value: object) -> Iterator[str]:
        for each in (value, *_fields(value)):
            kind = type(each).__name__
            if kind == "ChatRequest":
                self._request = self._request or each
            if kind in KINDS and (kind != "ChatRequest" or each is self._request):
                yield kind


def _fields(value: object) -> Iterable[object]:
    if isinstance(value, tuple):
        return value if hasattr(value, "_fields") else ()
    if "recjury" not in type(value).__module__ or hasattr(value, "__aenter__"):
        return ()
    return getattr(value, "__dict__", {}).values()


def trace() -> dict[str, dict[str, object]]:
    """Run the campaign in this process, and say for each kind where its object went."""
    import yaml

    import recjury
    from recjury.cli import main
    from tests.campaign import player
    from tests.endpoint import ScriptedEndpoint

    tracer = Tracer(Path(recjury.__file__).parent)
    with tempfile.TemporaryDirectory() as folder, ScriptedEndpoint(player.play) as endpoint:
        file = Path(folder) / "campaign.yaml"
        model = {"base_url": endpoint.url, "name": "scripted"}
        file.write_text(yaml.safe_dump({**CAMPAIGN, "model": model}), "utf-8")
        sys.argv = [
            "recjury",
            "run",
            str(file),
            "--store",
            f"sqlite:///{folder}/store.db",
            "--json",
        ]
        sys.setprofile(tracer)
        try:
            main()
        except SystemExit as ended:
            if ended.code:
                raise
        finally:
            sys.setprofile(None)
    return {kind: _journey(tracer.visits[kind]) for kind in KINDS}


def _journey(visits: list[str]) -> dict[str, object]:
    stays = 1 + sum(a != b for a, b in pairwise(visits))
    return {"files": len(set(visits)), "stays": stays, "way": list(dict.fromkeys(visits))}


def main() -> None:
    """Print the journeys in a checkout as JSON."""
    if os.environ.get("RECJURY_JOURNEYS"):
        Path(os.environ["RECJURY_JOURNEYS"]).write_text(json.dumps(trace()), "utf-8")
        return
    checkout = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[1]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder) / "journeys.json"
        there = {"PYTHONPATH": str(checkout), "RECJURY_JOURNEYS": str(answer)}
        subprocess.run(
            [sys.executable, str(Path(__file__).resolve())],
            cwd=checkout,
            env={**os.environ, **there},
            check=True,
            stdout=subprocess.DEVNULL,
        )
        found = json.loads(answer.read_text("utf-8"))
    sys.stdout.write(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
