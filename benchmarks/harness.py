"""What a stored call costs, beside bare aiohttp and the SDK: `python -m benchmarks.harness`.

All clients ask one server of a fixed latency, each in a process of its own, and rounds are
interleaved, so that a busy minute hits all of them alike. Every figure is the median of the
rounds' ratios. `--inspect PYTHON` adds an evaluation by inspect_ai, which that Python has.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from statistics import median
from typing import NamedTuple

from benchmarks.clients import WAVES, ideal_wall
from benchmarks.demo import demo_conversation_ms

TARGETS = {
    "cpu_over_create": 0.85,
    "cpu_over_create_aiohttp": 1.15,
    "wall_over_ideal_1000ms": 1.05,
    "chain_over_ideal": 1.08,
    "persist_us_per_call": 100.0,
    "rss_mb": 130.0,
    "demo_conversation_ms": 8.0,
}
"""The most that each figure may be."""

_CALLS, _OPEN = 2000, 32
_LONG_CALLS, _LONG_OPEN = 1920, 128
_DIALOGUES, _CHAIN_OPEN, _CHAIN_LATENCY = 200, 128, 500


class Client(NamedTuple):
    """A client: its kind, the server's latency in ms, its calls, and how many are open at once."""

    kind: str
    latency: int
    calls: int
    places: int
    python: str = sys.executable

    def command(self, url: str) -> list[str]:
        """What runs it in a process of its own."""
        module = ["inspect_client"] if self.kind == "inspect" else ["clients", self.kind]
        rest = [*module[1:], url, str(self.calls), str(self.places)]
        return [self.python, "-m", f"benchmarks.{module[0]}", *rest]


CLIENTS = {
    **{
        kind: Client(kind, 50, _CALLS, _OPEN)
        for kind in ("stored", "memory", "aiohttp", "create", "create_aiohttp")
    },
    "long": Client("stored", 1000, _LONG_CALLS, _LONG_OPEN),
    "chain": Client("chain", _CHAIN_LATENCY, _DIALOGUES * sum(WAVES), _CHAIN_OPEN),
}

Round = Mapping[str, Mapping[str, float]]
"""What each client took: wall_s, cpu_s, rss_mb."""


def main() -> None:
    """Measure, and print the figures."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--json", action="store_true", help="one JSON object")
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--inspect", metavar="PYTHON", help="a Python that has inspect_ai")
    options.add_argument("--without", nargs="*", default=[], choices=sorted(CLIENTS))
    chosen = options.parse_args()
    clients = {name: each for name, each in CLIENTS.items() if name not in chosen.without}
    if chosen.inspect:
        clients["inspect"] = Client("inspect", 50, _CALLS, _OPEN, chosen.inspect)
    with _server() as port:
        rounds = [_round(clients, port, number) for number in range(chosen.rounds)]
    found = figures(rounds) | {"demo_conversation_ms": round(demo_conversation_ms(), 2)}
    if chosen.json:
        print(json.dumps(found, indent=2))
        return
    for name, value in found.items():
        target = f"   at most {TARGETS[name]:g}" if name in TARGETS else ""
        print(f"{name:28} {value:10.3f}{target}")


def figures(rounds: list[Round]) -> dict[str, float]:
    """The figures with targets, then CPU ms a call of each client."""
    ideal_long = _LONG_CALLS / _LONG_OPEN
    ideal_chain = ideal_wall(_DIALOGUES, _CHAIN_OPEN, _CHAIN_LATENCY / 1000)
    of: dict[str, Callable[[Round], float]] = {
        "cpu_over_create": lambda r: r["stored"]["cpu_s"] / r["create"]["cpu_s"],
        "cpu_over_create_aiohttp": lambda r: r["stored"]["cpu_s"] / r["create_aiohttp"]["cpu_s"],
        "wall_over_ideal_1000ms": lambda r: r["long"]["wall_s"] / ideal_long,
        "chain_over_ideal": lambda r: r["chain"]["wall_s"] / ideal_chain,
        "persist_us_per_call": lambda r: (
            (r["stored"]["cpu_s"] - r["memory"]["cpu_s"]) / _CALLS * 1e6
        ),
        "rss_mb": lambda r: max(r[name]["rss_mb"] for name in ("stored", "long", "chain")),
        "cpu_over_inspect": lambda r: r["stored"]["cpu_s"] / r["inspect"]["cpu_s"],
        **{f"cpu_ms_{name}": _cpu_ms(name) for name in (*CLIENTS, "inspect")},
    }
    found = {}
    for name, figure in of.items():
        try:
            found[name] = round(median(map(figure, rounds)), 4)
        except KeyError:
            continue  # a client that was left out
    return found


def _cpu_ms(name: str) -> Callable[[Round], float]:
    calls = CLIENTS[name].calls if name in CLIENTS else _CALLS
    return lambda r: r[name]["cpu_s"] / calls * 1000


def _round(clients: Mapping[str, Client], port: int, number: int) -> Round:
    print(f"round {number + 1}", file=sys.stderr)
    return {name: _measure(client, port) for name, client in clients.items()}


def _measure(client: Client, port: int) -> Mapping[str, float]:
    command = client.command(f"http://127.0.0.1:{port}/{client.latency}/v1")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stderr}")
    found: Mapping[str, float] = json.loads(done.stdout)
    return found


@contextmanager
def _server() -> Iterator[int]:
    command = [sys.executable, "-m", "benchmarks.fixed_latency"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        assert server.stdout is not None
        yield int(server.stdout.readline())
        server.kill()


if __name__ == "__main__":
    main()
