"""An environment with a fake vLLM: a real process that speaks enough HTTP, and dies when told to.

Its interpreter runs `vllm.entrypoints.openai.api_server` as the real one is run. What the server
does is in `folder/script.json`, read when it starts: `load` (seconds before it answers),
`dies_at_load` (a last line), `dies_after` (calls), `child` (starts a process of its own, as vLLM
does), `deaf` (ignores SIGTERM), `latency`, `text`. It keeps what happened
in `folder/seen.jsonl`, one JSON object a line.
"""

import json
import sys
from pathlib import Path
from typing import Any

_LAUNCHER = """#!/bin/sh
if [ "$1" = "-m" ]; then shift 2; exec {python} -I -S {server} {folder} "$@"; fi
if [ "$1" = "-I" ]; then echo '{installed}'; exit 0; fi
exit 64
"""

_SERVER = """
import json, os, signal, subprocess, sys, threading, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

folder, flags = Path(sys.argv[1]), sys.argv[2:]
script = json.loads((folder / "script.json").read_text())
counts = {"calls": 0}
lock = threading.Lock()

def see(what, **more):
    with (folder / "seen.jsonl").open("a") as file:
        file.write(json.dumps({"what": what, "pid": os.getpid(), **more}) + "\\n")

def value(flag):
    return next(each.partition("=")[2] for each in flags if each.startswith(flag + "="))

starts = sum('"started"' in line for line in (folder / "seen.jsonl").read_text().splitlines()) \\
    if (folder / "seen.jsonl").exists() else 0
child = None
if script.get("child"):
    child = subprocess.Popen([sys.executable, "-I", "-S", "-c", "import time; time.sleep(600)"])
see("started", flags=flags, child=child and child.pid,
    env={name: each for name, each in os.environ.items() if "VLLM" in name or "CUDA" in name})
if script.get("deaf"):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
time.sleep(script.get("load", 0))
if script.get("dies_at_load"):
    print("INFO 11-22 12:00:00 [core.py:9] loading", file=sys.stderr)
    print("(EngineCore pid=7) ERROR 11-22 12:00:00 [core.py:9] " + script["dies_at_load"],
          file=sys.stderr)
    sys.exit(1)

class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, body):
        raw = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def do_GET(self):
        self.answer(503 if (folder / "broken").exists() else 200, {})

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with lock:
            counts["calls"] += 1
            if counts["calls"] > script.get("dies_after", 10**9):
                see("dies")
                print("RuntimeError: the engine is dead", file=sys.stderr, flush=True)
                os.kill(os.getpid(), signal.SIGKILL)
        see("call", body=body)
        time.sleep(script.get("latency", 0))
        text = script.get("text", "ok")
        choices = [{"index": n, "message": {"role": "assistant", "content": text},
                    "finish_reason": "stop"} for n in range(body.get("n", 1))]
        self.answer(200, {"model": body["model"], "choices": choices,
                          "usage": {"prompt_tokens": 9, "completion_tokens": 1,
                                    "prompt_tokens_details": {"cached_tokens": 4}}})

server = ThreadingHTTPServer(("127.0.0.1", int(value("--port"))), Handler)
server.daemon_threads = True
server.serve_forever()
"""


class FakeVllm:
    """The environment: `python` is its interpreter, `model` a folder that is taken for a model."""

    def __init__(self, folder: Path, **script: Any):
        """Write it; `script` says what the server does."""
        self._folder = folder
        self.python = str(folder / "python")
        self.model, self.adapter = folder / "model", folder / "adapter"
        for each in (self.model, self.adapter):
            each.mkdir(parents=True)
        (self.model / "config.json").write_text("{}", "utf-8")
        (self.adapter / "adapter_config.json").write_text('{"r": 24}', "utf-8")
        (folder / "server.py").write_text(_SERVER, "utf-8")
        words = {"python": sys.executable, "server": folder / "server.py", "folder": folder}
        launcher = _LAUNCHER.format(installed='["vllm 9.9.9", "3.11.9"]', **words)
        Path(self.python).write_text(launcher, "utf-8")
        Path(self.python).chmod(0o755)
        self.plan(**script)

    def plan(self, **script: Any) -> None:
        """What the server does from its next start on."""
        (self._folder / "script.json").write_text(json.dumps(script), "utf-8")

    def spec(self, **more: Any) -> dict[str, Any]:
        """A model of a campaign file that this serves."""
        own = {"provider": "vllm", "model": str(self.model), "python": self.python, "gpus": 0}
        return own | more

    def seen(self, what: str) -> list[dict[str, Any]]:
        """What happened so far, of one kind."""
        path = self._folder / "seen.jsonl"
        lines = path.read_text("utf-8").splitlines() if path.exists() else []
        return [each for each in map(json.loads, lines) if each["what"] == what]

    def break_down(self) -> None:
        """Let the server say that it is broken."""
        (self._folder / "broken").touch()

    def repair(self) -> None:
        """Let it say that it is well."""
        (self._folder / "broken").unlink()
