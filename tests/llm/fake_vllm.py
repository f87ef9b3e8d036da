"""A `python` for provider `vllm`: it behaves as vLLM does, up to where VLLM_FAKE says otherwise."""

import http.server
import json
import os
import sys
from typing import Any

HABIT = os.environ.get("VLLM_FAKE", "")


class Handler(http.server.BaseHTTPRequestHandler):
    """`/health` and chat completions with a key."""

    def do_GET(self) -> None:
        self._send({}, 200)

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if HABIT == "dies midway":
            sys.stderr.write("RuntimeError: CUDA error: an illegal memory access\n")
            sys.stderr.flush()
            os._exit(1)
        if self.headers["Authorization"] != f"Bearer {os.environ['VLLM_API_KEY']}":
            self._send({"error": {"message": "Unauthorized"}}, 401)
            return
        text = " ".join([body["model"], *sys.argv[1:]])
        choice = {"message": {"content": text}, "finish_reason": "stop"}
        self._send({"choices": [choice], "model": body["model"]}, 200)

    def _send(self, body: Any, status: int) -> None:
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        pass


def main() -> None:
    """Serve until a signal ends it."""
    assert sys.argv[1:3] == ["-m", "vllm.entrypoints.openai.api_server"]
    given = dict(zip(sys.argv, sys.argv[1:], strict=False))
    if HABIT == "not installed":
        sys.exit(f"{sys.executable}: Error while finding module: No module named 'vllm'")
    if HABIT == "lacks memory":
        sys.stderr.write("INFO loading\ntorch.OutOfMemoryError: CUDA out of memory. Tried 14 GiB\n")
        sys.exit(1)
    address = (given["--host"], int(given["--port"]))
    http.server.ThreadingHTTPServer(address, Handler).serve_forever()


if __name__ == "__main__":
    main()
