"""How many files of the package three journeys enter: what one must open to follow them.

`python -m benchmarks.journeys [CHECKOUT]` profiles commands in CHECKOUT (default: this one) against
the scripted endpoint of the tests, and prints for each journey the files whose functions were
called, in the order in which they are entered first. Imports are done before by a first run.

- `judge`: a rubric's question to a model, until the campaign has the ratings of the second of
  two recorded conversations (the first one opens connections and learns what the endpoint takes).
- `campaign`: `recjury run`, a campaign file to stored and printed scores of two systems.
- `compare`: `recjury compare` of these two systems.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from types import FrameType
from typing import Any

CAMPAIGN = {
    "scenarios": [{"corpus": "sample", "limit": 1}],
    "systems": [{"kind": "chatcrs", "list_source": "from_text"}, {"kind": "retrieval"}],
    "concurrency": 1,
}
RUBRIC = [
    {
        "name": "Honesty",
        "group": "Trust",
        "definition": "Does the system say so when it does not know?",
        "scale": [0, 2],
        "anchors": {0: "Never.", 1: "Sometimes.", 2: "Always."},
    }
]
LOGS = [
    {
        "messages": [
            {"role": "user", "content": f"A film for {evening}, please."},
            {"role": "assistant", "content": "Try Heat (1995)."},
        ]
    }
    for evening in ("tonight", "tomorrow")
]


class Profile:
    """The functions of the package that were entered: pairs of file and name, in order."""

    def __init__(self, package: Path):
        """`package` is the folder of `recjury`: what runs elsewhere is not counted."""
        self._package = str(package) + os.sep
        self._frames: dict[int, FrameType] = {}
        self.calls: list[tuple[str, str]] = []

    def __call__(self, frame: FrameType, event: str, _argument: Any) -> None:
        """Note a call; a coroutine that goes on after a wait is not called again."""
        code = frame.f_code
        inside = code.co_filename.startswith(self._package) and code.co_name != "<module>"
        if event == "call" and inside and id(frame) not in self._frames:
            self._frames[id(frame)] = frame
            self.calls.append((code.co_filename.removeprefix(self._package), code.co_qualname))

    def command(self, *arguments: str) -> list[tuple[str, str]]:
        """What one command of `recjury` enters, in all threads. Raises SystemExit if it fails."""
        self.calls, self._frames = [], {}
        threading.setprofile(self)
        sys.setprofile(self)
        try:
            _command(*arguments)
        finally:
            sys.setprofile(None)
            threading.setprofile(None)
        return self.calls


def _command(*arguments: str) -> None:
    from recjury.cli import main

    sys.argv = ["recjury", *arguments, "--json"]
    try:
        main()
    except SystemExit as ended:
        if ended.code:
            raise


def follow() -> dict[str, list[str]]:
    """The files of each journey, each in the order in which it was entered first."""
    import yaml

    import recjury
    from tests.campaign import player
    from tests.endpoint import ScriptedEndpoint

    profile = Profile(Path(recjury.__file__).parent)
    with tempfile.TemporaryDirectory() as name, ScriptedEndpoint(player.play) as endpoint:
        folder = Path(name)
        model = {"base_url": endpoint.url, "name": "scripted"}
        (folder / "campaign.yaml").write_text(yaml.safe_dump({**CAMPAIGN, "model": model}), "utf-8")
        (folder / "rubric.yaml").write_text(yaml.safe_dump(RUBRIC), "utf-8")
        evaluators = [{"kind": "rubric", "file": str(folder / "rubric.yaml")}]
        judging = {"model": model, "evaluators": evaluators, "concurrency": 1}
        (folder / "judging.yaml").write_text(yaml.safe_dump(judging), "utf-8")
        lines = "".join(json.dumps(log) + "\n" for log in LOGS)
        (folder / "logs.jsonl").write_text(lines, "utf-8")
        run = ("run", str(folder / "campaign.yaml"), "--store")
        judge = ("judge", str(folder / "logs.jsonl"), "--config", str(folder / "judging.yaml"))
        compare = ("compare", "chatcrs", "retrieval", "--store", f"sqlite:///{folder}/first.db")
        for arguments in ((*run, f"sqlite:///{folder}/first.db"), compare):
            _command(*arguments)
        _command(*judge, "--store", f"sqlite:///{folder}/judged.db")
        return {
            "judge": _judge_call(profile.command(*judge, "--store", f"sqlite:///{folder}/j.db")),
            "campaign": _files(profile.command(*run, f"sqlite:///{folder}/second.db")),
            "compare": _files(profile.command(*compare)),
        }


def _judge_call(calls: list[tuple[str, str]]) -> list[str]:
    """The files from the second conversation's `evaluate` until the campaign goes on."""
    starts = [n for n, (file, name) in enumerate(calls) if _evaluates(file, name)]
    rest = calls[starts[-1] :]
    end = next(n for n, (file, _) in enumerate(rest) if file.startswith("campaign"))
    return _files(rest[:end])


def _evaluates(file: str, name: str) -> bool:
    return file.startswith("judges") and name.endswith(".evaluate")


def _files(calls: list[tuple[str, str]]) -> list[str]:
    return list(dict.fromkeys(file for file, _ in calls))


def main() -> None:
    """Print the journeys in a checkout as JSON."""
    if os.environ.get("RECJURY_JOURNEYS"):
        Path(os.environ["RECJURY_JOURNEYS"]).write_text(json.dumps(follow()), "utf-8")
        return
    parser = argparse.ArgumentParser(prog="python -m benchmarks.journeys", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("checkout", nargs="?", type=Path, default=Path(__file__).parents[1])
    checkout = parser.parse_args().checkout.resolve()
    if not (checkout / "recjury").is_dir():
        parser.error(f"{checkout} is no checkout of recjury")
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
        journeys = json.loads(answer.read_text("utf-8"))
    counted = {name: {"files": len(files), "entered": files} for name, files in journeys.items()}
    sys.stdout.write(json.dumps(counted, indent=1) + "\n")


if __name__ == "__main__":
    main()
