"""What one model call costs: `python -m benchmarks.harness [--json] [--quick]`.

Everything runs against one fixed-latency server in a process of its own, each client in a fresh
process, and every figure is the median over the repeats. The four clients at 50 ms run one at a
time; the three chains and the calls at 1,000 ms, which mostly wait, run in two lanes side by side.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import threading
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from statistics import median

from benchmarks.chain import CALLS, ideal_wall
from benchmarks.workload import data_folder

AT_ONCE = 128
WIDTHS = (32, 64, 128)
CHAIN_LATENCY = 200
TARGETS: Mapping[str, float] = {
    "wall_over_ideal_50ms": 1.35,
    "wall_over_ideal_1000ms": 1.05,
    "wall_over_aiohttp_50ms": 1.10,
    "cpu_ms_per_call": 0.5,
    "cpu_over_sdk": 0.2,
    "chain.32": 1.10,
    "chain.64": 1.10,
    "chain.128": 1.10,
    "persist_us_per_call": 80,
    "judge_prompt_bytes_per_dialogue": 7000,
    "rss_mb": 120,
}

Measured = dict[str, float]


class Harness:
    """One run: so many calls and dialogues, so often."""

    def __init__(self, port: int, folder: Path, *, calls: int, dialogues: int, repeats: int):
        """Clients of the server on `port`; their stores lie in `folder`."""
        self._port = port
        self._folder = folder
        self._calls = calls
        self._dialogues = dialogues
        self._repeats = repeats
        self.results: dict[str, list[Measured]] = {}

    def run(self) -> None:
        """All clients, repeat by repeat, so that a busy minute hits all of them alike."""
        for number in range(1, self._repeats + 1):
            for kind in ("recjury", "forgetful", "aiohttp", "sdk"):
                self._client(kind, 50)
            _side_by_side(self._widest_wait, self._other_waits)
            print(f"repeat {number} of {self._repeats} done", file=sys.stderr)

    def _widest_wait(self) -> None:
        self._chain(32)

    def _other_waits(self) -> None:
        self._chain(64)
        self._chain(128)
        self._client("recjury", 1000)

    def _client(self, kind: str, latency: int) -> None:
        self._measure(f"{kind}_{latency}", kind, latency, self._calls, AT_ONCE)

    def _chain(self, at_once: int) -> None:
        calls = self._dialogues * CALLS
        self._measure(f"chain_{at_once}", "chain", CHAIN_LATENCY, calls, at_once)

    def _measure(self, name: str, kind: str, latency: int, calls: int, at_once: int) -> None:
        store = self._folder / f"{name}_{len(self.results.get(name, ()))}.db"
        command = [sys.executable, "-m", "benchmarks.clients", kind]
        command += ["--url", f"http://127.0.0.1:{self._port}/{latency}/v1", "--store", str(store)]
        command += ["--calls", str(calls), "--at-once", str(at_once)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"{' '.join(command)} failed:\n{done.stderr}")
        measured: Measured = json.loads(done.stdout)
        kept = calls if kind in {"recjury", "chain"} else 0
        if (measured["read"], measured["rows"]) != (calls, kept):
            raise SystemExit(f"{name}: {calls} calls made, {measured} read and kept")
        for file in self._folder.glob(f"{store.name}*"):
            file.unlink()
        self.results.setdefault(name, []).append(measured)

    def summary(self) -> dict[str, object]:
        """The figures that have targets, then what they were made from."""
        chain_ideal = {w: ideal_wall(self._dialogues, w, CHAIN_LATENCY / 1000) for w in WIDTHS}
        return {
            "wall_over_ideal_50ms": self._wall("recjury_50", self._ideal(50)),
            "wall_over_ideal_1000ms": self._wall("recjury_1000", self._ideal(1000)),
            "wall_over_aiohttp_50ms": self._paired(
                "recjury_50", "aiohttp_50", lambda a, b: a / b, figure="wall_s"
            ),
            "cpu_ms_per_call": self._cpu_ms("recjury_50"),
            "cpu_over_sdk": self._paired("recjury_50", "sdk_50", lambda a, b: a / b),
            "chain": {str(w): self._wall(f"chain_{w}", chain_ideal[w]) for w in WIDTHS},
            "persist_us_per_call": self._paired(
                "recjury_50", "forgetful_50", lambda a, b: (a - b) / self._calls * 1e6
            ),
            "rss_mb": max(self._median(name, "rss_mb") for name in ("recjury_50", "recjury_1000")),
            "beside": {
                "aiohttp": self._peer("aiohttp_50"),
                "openai_sdk": self._peer("sdk_50"),
                "recjury_without_store": self._peer("forgetful_50"),
            },
        }

    def _peer(self, name: str) -> Measured:
        return {
            "wall_over_ideal_50ms": self._wall(name, self._ideal(50)),
            "cpu_ms_per_call": self._cpu_ms(name),
            "rss_mb": self._median(name, "rss_mb"),
        }

    def _ideal(self, latency: int) -> float:
        return -(-self._calls // AT_ONCE) * latency / 1000

    def _median(self, name: str, figure: str) -> float:
        return float(median(measured[figure] for measured in self.results[name]))

    def _wall(self, name: str, ideal: float) -> float:
        return self._median(name, "wall_s") / ideal

    def _cpu_ms(self, name: str) -> float:
        return self._median(name, "cpu_s") / self._calls * 1e3

    def _paired(
        self,
        one: str,
        other: str,
        compare: Callable[[float, float], float],
        figure: str = "cpu_s",
    ) -> float:
        pairs = zip(self.results[one], self.results[other], strict=True)
        return float(median(compare(a[figure], b[figure]) for a, b in pairs))


def _side_by_side(*lanes: Callable[[], None]) -> None:
    threads = [threading.Thread(target=lane) for lane in lanes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


@contextmanager
def server_process(module: str, *arguments: str) -> Iterator[int]:
    """A server in a process of its own; gives its port. It ends when its standard input does."""
    command = [sys.executable, "-m", module, *arguments]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        yield int(process.stdout.readline())
    finally:
        process.stdin.close()
        process.wait(10)
        process.stdout.close()


def _server_us_per_call(port: int) -> float:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/stats", timeout=10) as response:
        stats = json.load(response)
    return float(stats["cpu_s"]) / max(1, int(stats["calls"])) * 1e6


def measure(*, quick: bool) -> dict[str, object]:
    """The summary of a whole run; `quick` does less of everything, once."""
    from benchmarks.prompt_bytes import measure as prompt_bytes

    with tempfile.TemporaryDirectory() as name, server_process("benchmarks.server") as port:
        folder = Path(name)
        harness = Harness(
            port,
            folder,
            calls=500 if quick else 2000,
            dialogues=40 if quick else 200,
            repeats=1 if quick else 5,
        )
        harness.run()
        prompts = prompt_bytes(folder, data_folder(), 40 if quick else 200)
        return {
            **harness.summary(),
            "judge_prompt_bytes_per_dialogue": prompts.per_dialogue,
            "judge_prompts": prompts._asdict(),
            "server_us_per_call": _server_us_per_call(port),
        }


def _table(summary: Mapping[str, object]) -> str:
    rows = [f"{'figure':34}{'measured':>12}{'at most':>10}"]
    for name, target in TARGETS.items():
        first, _, rest = name.partition(".")
        found = summary[first]
        value = found[rest] if isinstance(found, dict) else found
        rows.append(f"{name:34}{value:>12.3f}{target:>10g}")
    return "\n".join(rows)


def _rounded(value: object) -> object:
    if isinstance(value, float):
        return round(value, 4)
    return {k: _rounded(v) for k, v in value.items()} if isinstance(value, dict) else value


def _main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.harness", description=__doc__)
    parser.add_argument("--json", action="store_true", help="one JSON object instead of a table")
    parser.add_argument("--quick", action="store_true", help="a fraction of the work, once")
    options = parser.parse_args()
    summary = measure(quick=options.quick)
    print(json.dumps(_rounded(summary)) if options.json else _table(summary))


if __name__ == "__main__":
    _main()
