"""Spans arrive at a collector, each within the work that it is part of."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import yaml

from tests.replies import reply_to
from tests.scripted_endpoint import Body, Reply, ScriptedEndpoint, completion, prompt_of


@contextmanager
def collector() -> Iterator[tuple[str, list[Any]]]:
    """The address of a server that keeps the spans it is sent, and these."""
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    spans: list[Any] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            size = int(self.headers["Content-Length"])
            sent = ExportTraceServiceRequest.FromString(self.rfile.read(size))
            for resource in sent.resource_spans:
                for scope in resource.scope_spans:
                    spans.extend(scope.spans)
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None: ...

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", spans
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def answer(body: Body) -> Reply:
    return Reply(completion(reply_to(prompt_of(body)), tokens=(7, 5)))


def run(folder: Path, model: str, spans_to: str) -> None:
    campaign = {
        "scenarios": {"corpus": "sample", "limit": 1},
        "systems": ["popular"],
        "evaluators": ["direct"],
        "model": {"name": "scripted", "base_url": model},
    }
    (folder / "c.yaml").write_text(yaml.safe_dump(campaign))
    command = [sys.executable, "-m", "recjury", "run", "c.yaml"]
    environment = os.environ | {"OTEL_EXPORTER_OTLP_ENDPOINT": spans_to}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode in (0, 3), done.stderr


def test_a_run_sends_spans(tmp_path: Path) -> None:
    with collector() as (address, spans), ScriptedEndpoint(answer) as endpoint:
        run(tmp_path, endpoint.url, address)
        asked = len(endpoint.asked)
    parents = {span.span_id: span.name for span in spans}
    within = {(span.name, parents.get(span.parent_span_id, "")) for span in spans}
    assert within == {
        ("run", ""),
        ("conversation", "run"),
        ("evaluation", "run"),
        ("chat scripted", "conversation"),
        ("chat scripted", "evaluation"),
    }
    calls = [span for span in spans if span.name == "chat scripted"]
    assert len(calls) == asked
    told = {each.key: each.value for each in calls[0].attributes}
    assert told["gen_ai.operation.name"].string_value == "chat"
    assert told["gen_ai.usage.input_tokens"].int_value == 7
    assert told["gen_ai.usage.output_tokens"].int_value == 5
