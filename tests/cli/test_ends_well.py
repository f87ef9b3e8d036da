"""A command ends with one line or silently: whenever it is interrupted, whatever it writes to."""

import inspect
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from recjury.cli import async_work

ROOT = Path(__file__).parents[2]
# It says when its first line is reached: before, Python itself starts.
RUN = "import os, recjury.__main__ as command; os.write(1, b'*'); command.main()"
PLAY = ("run", "campaign.yaml", "--store", "sqlite:///played.db")
CAMPAIGN = """
scenarios: [{corpus: sample, limit: 1}]
systems: [retrieval, {kind: retrieval, name: other}]
"""
PLAIN = {name: text for name, text in os.environ.items() if not name.startswith("RECJURY_")}


def _start(folder: Path, *arguments: str) -> "subprocess.Popen[bytes]":
    (folder / "campaign.yaml").write_text(CAMPAIGN, "utf-8")
    process = subprocess.Popen(
        [sys.executable, "-c", RUN, *arguments],
        cwd=folder,
        env={**PLAIN, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # Whoever runs the tests in the background has them ignore interrupts.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert process.stdout is not None
    process.stdout.read(1)
    return process


def _after(process: "subprocess.Popen[bytes]", seconds: float) -> None:
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        return


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("command", [PLAY, ("list", "systems")])
def test_a_signal_at_any_moment(
    how: signal.Signals, command: tuple[str, ...], tmp_path: Path
) -> None:
    begun = _start(tmp_path, *command)
    begun.communicate()
    for number in range(10):
        process = _start(tmp_path, *command)
        _after(process, 0.02 * number**2)
        process.send_signal(how)
        said = process.communicate()[1].decode()
        lines = [line for line in said.splitlines() if line.startswith("recjury: ")]
        assert process.returncode in (0, 130, -how), said
        assert "Traceback" not in said
        assert "Exception ignored" not in said
        assert len(lines) <= 1


@pytest.mark.slow
def test_interrupts_that_follow_each_other(tmp_path: Path) -> None:
    for number in range(8):
        process = _start(tmp_path, *PLAY)
        _after(process, 0.6 + number / 4)
        for _ in range(20):
            process.send_signal(signal.SIGINT)
            _after(process, 0.005)
        said = process.communicate()[1].decode()
        assert process.returncode in (0, 130, -signal.SIGINT), said
        assert "Traceback" not in said


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a campaign and its store."""
    folder = tmp_path_factory.mktemp("played")
    process = _start(folder, *PLAY)
    process.communicate()
    assert process.returncode == 0
    return folder


CONDITIONS: Mapping[str, str] = {
    "an ASCII terminal": "PYTHONIOENCODING=ascii {} >out 2>err",
    "the locale C": "LC_ALL=C PYTHONUTF8=0 PYTHONCOERCECLOCALE=0 {} >out 2>err",
    "no locale": "env -u LANG -u LC_ALL -u LC_CTYPE {} >out 2>err",
    "a reader that has gone": "{} 2>err | true",
    "a reader of the first line": "{} 2>err | head -1 >out",
    "a reader of errors that has gone": "{{ {} >out; }} 2>&1 | true",
    "no output": "{} >&- 2>err",
    "a full disk": "{} >/dev/full 2>err",
    "full disks": "{} >/dev/full 2>/dev/full",
    "no errors": "{} >out 2>&-",
    "no streams": "{} <&- >&- 2>&-",
    "no home": "env -u HOME -u XDG_CACHE_HOME -u XDG_CONFIG_HOME {} >out 2>err",
    "a home that is not there": "HOME=/nowhere/at/all {} >out 2>err",
}
COMMANDS = {
    "help": ("--help",),
    "status": ("status", "--store", "sqlite:///played.db"),
    "report": ("report", "--out", "page.html", "--store", "sqlite:///played.db"),
    "run": PLAY,
    "compare": ("compare", "other", "retrieval", "--store", "sqlite:///played.db"),
    "wrong": ("run", "missing-é.yaml"),
}


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("condition", CONDITIONS)
def test_streams_and_environments(condition: str, command: str, played: Path) -> None:
    words = " ".join([sys.executable, "-m", "recjury", *COMMANDS[command]])
    line = CONDITIONS[condition].format(words)
    ended = subprocess.run(
        ["bash", "-o", "pipefail", "-c", line],
        cwd=played,
        env={**PLAIN, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        check=False,
    )
    written = [played / name for name in ("out", "err")]
    said = ended.stderr + b"".join(path.read_bytes() for path in written if path.exists())
    for path in written:
        path.unlink(missing_ok=True)
    assert b"Traceback" not in said
    assert b"Exception ignored" not in said
    expected = {2} if command == "wrong" else {0, 2} if "full" in condition else {0}
    assert ended.returncode in expected, said.decode()


def test_an_interrupt_before_the_loop_leaves_nothing_to_warn_of(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def work() -> None:
        """Nothing."""

    def interrupted() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(async_work, "export_telemetry", interrupted)
    begun = work()
    with pytest.raises(KeyboardInterrupt):
        async_work.await_work(begun)
    assert inspect.getcoroutinestate(begun) == inspect.CORO_CLOSED
