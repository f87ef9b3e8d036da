"""OpenTelemetry: spans of model calls, events of ratings, and nothing where it is not set up."""

import asyncio
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from recjury import telemetry
from recjury.errors import CallFailed
from recjury.llm import EndpointSpec, Gateway, call_context
from recjury.records import ChatRequest, Message, Rating, Status
from tests.campaign import player
from tests.endpoint import Fault, ScriptedEndpoint, completion
from tests.judges.cases import MemoryRecorder

pytest.importorskip("opentelemetry.sdk", reason="the extra `otel` is not installed")

from opentelemetry import _logs, trace
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

CONFIG = """
scenarios: [{{corpus: sample, limit: 1}}]
systems: [chatcrs]
model: {{base_url: '{url}', name: scripted, retries: 0, price_in: 1, price_out: 2}}
evaluators: [{{kind: core, debate: {{max_rounds: 1}}}}]
"""


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> InMemorySpanExporter:
    """Where finished spans are kept; OpenTelemetry is as if a program had set it up."""
    kept = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(kept))
    monkeypatch.setattr(trace, "get_tracer_provider", lambda: provider)
    return kept


@pytest.fixture
def events(monkeypatch: pytest.MonkeyPatch) -> InMemoryLogRecordExporter:
    """Where emitted events are kept."""
    make: Callable[[], InMemoryLogRecordExporter] = InMemoryLogRecordExporter  # not annotated
    kept = make()
    provider = LoggerProvider()
    provider.add_log_record_processor(SimpleLogRecordProcessor(kept))
    monkeypatch.setattr(_logs, "get_logger", provider.get_logger)
    return kept


def _ask(endpoint: ScriptedEndpoint, **more: Any) -> None:
    """Ask twice: the second reply comes from the recorder."""
    spec = EndpointSpec(base_url=endpoint.url, name="scripted", retries=0, **more)
    request = ChatRequest(
        "main",
        (Message("user", ("Hello?",)),),
        "judge/Novelty",
        temperature=0.5,
        max_tokens=64,
        schema={"type": "object"},
    )

    async def ask() -> None:
        async with Gateway({"main": spec}, MemoryRecorder()) as gateway:
            with call_context("conversation 1", 0):
                await gateway.complete(request)
                await gateway.complete(request)

    asyncio.run(ask())


def _attributes(span: ReadableSpan) -> dict[str, Any]:
    return dict(span.attributes or {})


def test_a_call_that_is_sent_has_a_span_with_the_names_of_the_conventions(
    spans: InMemorySpanExporter,
) -> None:
    usage = {
        "prompt_tokens": 30,
        "completion_tokens": 4,
        "prompt_tokens_details": {"cached_tokens": 20},
    }
    with ScriptedEndpoint(lambda _: {**completion("Hi."), "usage": usage}) as endpoint:
        _ask(endpoint, price_in=1.0, price_out=1.0)
        port = int(endpoint.url.split(":")[2].partition("/")[0])
    (span,) = spans.get_finished_spans()
    assert (span.name, span.kind) == ("chat scripted", SpanKind.CLIENT)
    found = _attributes(span)
    assert found["gen_ai.operation.name"] == "chat"
    assert found["gen_ai.provider.name"] == "openai"
    assert found["gen_ai.request.model"] == "scripted"
    assert (found["gen_ai.request.temperature"], found["gen_ai.request.max_tokens"]) == (0.5, 64)
    assert found["gen_ai.output.type"] == "json"
    assert (found["server.address"], found["server.port"]) == ("127.0.0.1", port)
    assert found["gen_ai.response.finish_reasons"] == ("stop",)
    assert found["gen_ai.usage.input_tokens"] == 30
    assert found["gen_ai.usage.output_tokens"] == 4
    assert found["gen_ai.usage.cache_read.input_tokens"] == 20
    assert (found["recjury.purpose"], found["recjury.model"]) == ("judge/Novelty", "main")
    assert found["recjury.unit"] == "conversation 1"
    assert found["recjury.cost"] == pytest.approx(34e-6)
    assert not any("Hello?" in str(value) or "Hi." in str(value) for value in found.values())


def test_a_call_that_failed_says_so(spans: InMemorySpanExporter) -> None:
    with (
        ScriptedEndpoint(lambda _: Fault("status", 400, text="too long")) as endpoint,
        pytest.raises(CallFailed),
    ):
        _ask(endpoint)
    (span,) = spans.get_finished_spans()
    assert span.status.status_code is StatusCode.ERROR
    assert "too long" in (span.status.description or "")
    assert _attributes(span)["error.type"] == "PromptTooLong"


@pytest.mark.parametrize(
    ("kind", "host", "name"),
    [
        ("openai", "api.openai.com", "openai"),
        ("openai", "api.mistral.ai", "mistral_ai"),
        ("openai", "mine.openai.azure.com", "azure.ai.openai"),
        ("openai", "127.0.0.1", "openai"),
        ("vllm", "127.0.0.1", "vllm"),
        ("transformers", None, "transformers"),
    ],
)
def test_providers_are_named_by_their_host(kind: str, host: str | None, name: str) -> None:
    assert telemetry._provider(kind, host) == name


def test_a_rating_is_an_event(
    spans: InMemorySpanExporter, events: InMemoryLogRecordExporter
) -> None:
    ratings = (
        Rating(evaluator="main", factor="Novelty", score=3, rationale="Because sk-1234567890."),
        Rating(
            evaluator="main",
            factor="Coherence",
            score=None,
            status=Status.UNREADABLE,
            reason="no rating",
        ),
    )
    telemetry.rating_events("core", ratings, {"evaluation": "e1"})
    records = [each.log_record for each in events.get_finished_logs()]
    assert [each.event_name for each in records] == ["gen_ai.evaluation.result"] * 2
    scored, lost = (dict(each.attributes or {}) for each in records)
    assert scored["gen_ai.evaluation.name"] == "core.novelty"
    assert scored["gen_ai.evaluation.score.value"] == 3.0
    assert scored["gen_ai.evaluation.explanation"] == "Because [key]."
    assert (scored["recjury.low"], scored["recjury.high"]) == (0.0, 4.0)
    assert scored["recjury.evaluation"] == "e1"
    assert "error.type" not in scored
    assert "gen_ai.evaluation.score.value" not in lost
    assert (lost["error.type"], lost["gen_ai.evaluation.explanation"]) == (
        "unreadable",
        "no rating",
    )


class _Broken(SimpleSpanProcessor):
    """A program's own span processor, which fails."""

    def on_start(self, span: Any, parent_context: Any = None) -> None:
        raise RuntimeError("no start")

    def on_end(self, span: ReadableSpan) -> None:
        raise RuntimeError("no end")


def test_a_span_processor_that_fails_loses_no_reply(monkeypatch: pytest.MonkeyPatch) -> None:
    provider = TracerProvider()
    provider.add_span_processor(_Broken(InMemorySpanExporter()))
    monkeypatch.setattr(trace, "get_tracer_provider", lambda: provider)
    with ScriptedEndpoint(lambda _: completion("Hi.")) as endpoint:
        _ask(endpoint)
        assert len(endpoint.bodies) == 1
    with telemetry.work_span("work", {}):
        pass
    refusing = ScriptedEndpoint(lambda _: Fault("status", 400, text="too long"))
    with refusing as endpoint, pytest.raises(CallFailed):
        _ask(endpoint)


def test_nothing_happens_where_the_sdk_is_not_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [each for each in sys.modules if each.startswith("opentelemetry")]:
        monkeypatch.delitem(sys.modules, name)
    request = ChatRequest("main", (), "check")
    spec = EndpointSpec(base_url="http://127.0.0.1:9/v1", name="x")
    with telemetry.call_span(request, spec, None), telemetry.work_span("work", {}):
        telemetry.rating_events("core", (Rating(evaluator="a", factor="Novelty", score=1),), {})
    assert not any(name.startswith("opentelemetry") for name in sys.modules)


class Collector:
    """An OpenTelemetry collector that keeps what it is sent, by path."""

    def __init__(self) -> None:
        self.received: list[tuple[str, dict[str, Any]]] = []
        received = self.received

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if self.headers.get("Content-Encoding") == "gzip":
                    import gzip

                    body = gzip.decompress(body)
                received.append((self.path, json.loads(body)))
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", "2")
                self.end_headers()
                self.wfile.write(b"{}")

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def spans(self) -> list[dict[str, Any]]:
        return [
            span
            for path, body in self.received
            if path == "/v1/traces"
            for resource in body["resourceSpans"]
            for scope in resource["scopeSpans"]
            for span in scope["spans"]
        ]

    def events(self) -> list[dict[str, Any]]:
        return [
            record
            for path, body in self.received
            if path == "/v1/logs"
            for resource in body["resourceLogs"]
            for scope in resource["scopeLogs"]
            for record in scope["logRecords"]
        ]


@pytest.fixture
def collector() -> Iterator[Collector]:
    made = Collector()
    thread = threading.Thread(target=made.server.serve_forever)
    thread.start()
    yield made
    made.server.shutdown()
    made.server.server_close()
    thread.join()


def _run(folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "recjury", "run", "campaign.yaml", "--store", "runs.db"]
    environment = os.environ | variables
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


@pytest.mark.slow
def test_a_command_sends_its_spans_and_events_to_a_collector(
    tmp_path: Path, collector: Collector
) -> None:
    pytest.importorskip("opentelemetry.exporter.otlp.json.http")
    with ScriptedEndpoint(player.play) as endpoint:
        (tmp_path / "campaign.yaml").write_text(CONFIG.format(url=endpoint.url), "utf-8")
        ended = _run(tmp_path, OTEL_EXPORTER_OTLP_ENDPOINT=collector.url)
        assert ended.returncode == 0, ended.stderr
        sent = len(endpoint.bodies)
    spans = collector.spans()
    by_name = {span["name"]: span for span in spans}
    assert {"converse chatcrs", "evaluate core rate", "evaluate core debate"} <= set(by_name)
    calls = [span for span in spans if span["name"] == "chat scripted"]
    assert 0 < len(calls) <= sent
    parents = {span["spanId"]: span["name"] for span in spans}
    assert {parents[span["parentSpanId"]] for span in calls} >= {
        "converse chatcrs",
        "evaluate core rate",
        "evaluate core debate",
    }
    events = collector.events()
    assert len(events) == 13
    assert {event["eventName"] for event in events} == {"gen_ai.evaluation.result"}
    assert {parents[event["spanId"]] for event in events} == {
        "evaluate core rate",
        "evaluate core debate",
    }


@pytest.mark.slow
def test_a_collector_that_is_down_harms_no_campaign(tmp_path: Path) -> None:
    with ScriptedEndpoint(player.play) as endpoint:
        (tmp_path / "campaign.yaml").write_text(CONFIG.format(url=endpoint.url), "utf-8")
        down = {
            "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9",
            "OTEL_EXPORTER_OTLP_TIMEOUT": "1",
        }
        ended = _run(tmp_path, **down)
    assert ended.returncode == 0, ended.stderr
    assert "campaign " in ended.stderr
    assert "Failed to export" in ended.stderr
    assert "Transient error" not in ended.stderr
