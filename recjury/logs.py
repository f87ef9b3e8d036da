"""One event for each begin and end of work: JSON lines in the file of `--log`, and spans."""

import atexit
import os
import sys
from pathlib import Path
from typing import Any, TextIO, cast

import structlog
from structlog.typing import EventDict, FilteringBoundLogger

from recjury.errors import UserError
from recjury.keys import hidden

_COLLECTORS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")


class _File:
    """Where events go: nowhere, until a file is opened."""

    stream: TextIO | None = None

    def write(self, line: str) -> None:
        if self.stream is None:
            return
        try:
            self.stream.write(line + "\n")
        except OSError as error:  # a full disk ends the log, not the run
            self.stream = None
            sys.stderr.write(f"recjury: the log ends: {error.strerror}\n")

    debug = info = warning = error = write


_FILE = _File()


def _drop_without_file(_: object, __: str, event: EventDict) -> EventDict:
    if _FILE.stream is None:
        raise structlog.DropEvent
    return event


def _as_span(_: object, __: str, event: EventDict) -> EventDict:
    if "opentelemetry.sdk.trace" in sys.modules:  # else nobody takes spans
        from recjury.telemetry import as_span

        as_span(event)
    return event


def _rendered(_: object, __: str, event: EventDict) -> str:
    return hidden(cast("str", structlog.processors.JSONRenderer()(None, "", event)))


logger: FilteringBoundLogger = structlog.wrap_logger(
    _FILE,
    processors=[
        _as_span,
        _drop_without_file,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
        _rendered,
    ],
    wrapper_class=structlog.make_filtering_bound_logger("info"),
    cache_logger_on_first_use=True,
)
"""Writes `logger.info("call begins", call=...)`. A program's own structlog stays as it is."""


def report_events(path: Path | None) -> None:
    """Append events to a file from now on, if one is named, and send spans, if it is set where to.

    Raises UserError if the file cannot be written.
    """
    if any(map(os.environ.get, _COLLECTORS)):
        from recjury.telemetry import send_spans

        send_spans()
    if path is None:
        return
    try:
        stream: Any = path.open("a", encoding="utf-8", buffering=1)
    except OSError as error:
        raise UserError(f"--log {path}: {error.strerror}") from None
    _FILE.stream = stream
    atexit.register(stream.close)
