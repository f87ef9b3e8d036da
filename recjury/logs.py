"""Log events of a run to standard error, without secrets; RECJURY_LOG says which and how.

RECJURY_LOG has a level (debug, info, warning, error; default: warning), `json` for one JSON object
per line, or both: `info,json`. With `json` alone, the level is info. The configuration is recjury's
own: a program that uses structlog itself keeps its own configuration.
"""

import functools
import logging
import os
import sys
from collections.abc import Mapping, MutableMapping
from typing import NamedTuple, cast

import structlog
from structlog.typing import EventDict, FilteringBoundLogger

from recjury.safe_text import HIDDEN, is_sensitive, printable, without_secrets

VARIABLE = "RECJURY_LOG"


class LogSettings(NamedTuple):
    """The lowest level that is logged, and whether lines are JSON."""

    level: int
    as_json: bool


def get_logger() -> FilteringBoundLogger:
    """A logger that reads RECJURY_LOG for each event, so it can be made when a module is
    imported."""
    return cast(
        "FilteringBoundLogger",
        structlog.wrap_logger(
            _StandardError(),
            processors=[
                _drop_below_level,
                structlog.processors.add_log_level,
                structlog.processors.TimeStamper(fmt="iso", utc=True),
                structlog.processors.format_exc_info,
                _without_secrets,
                _rendered,
            ],
            wrapper_class=structlog.make_filtering_bound_logger(logging.DEBUG),
            cache_logger_on_first_use=True,
        ),
    )


@functools.lru_cache(maxsize=8)
def read_settings(value: str) -> LogSettings:
    """The settings in a value of RECJURY_LOG; unknown words are ignored."""
    words = [word.strip().upper() for word in value.split(",")]
    as_json = "JSON" in words
    levels = logging.getLevelNamesMapping()
    level = next((levels[word] for word in words if word in levels), None)
    if level is None:
        level = logging.INFO if as_json else logging.WARNING
    return LogSettings(level, as_json)


class _StandardError:
    """Writes lines to the standard error of the moment, which a program may replace."""

    def msg(self, line: str) -> None:
        sys.stderr.write(line + "\n")

    debug = info = warning = error = critical = msg


def _settings() -> LogSettings:
    return read_settings(os.environ.get(VARIABLE, ""))


def _drop_below_level(_: object, method: str, event: EventDict) -> EventDict:
    if logging.getLevelNamesMapping().get(method.upper(), logging.CRITICAL) < _settings().level:
        raise structlog.DropEvent
    return event


def _without_secrets(_: object, __: str, event: EventDict) -> EventDict:
    return {
        printable(name): HIDDEN if is_sensitive(name, value) else _hidden(value)
        for name, value in event.items()
    }


def _hidden(value: object) -> object:
    """`value` without secrets and control characters; a value that JSON cannot represent as
    text."""
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, Mapping):
        pairs = cast("Mapping[object, object]", value).items()
        return _without_secrets(None, "", {str(name): each for name, each in pairs})
    if isinstance(value, list | tuple | set | frozenset):
        return [_hidden(each) for each in value]
    return printable(without_secrets(str(value)))


def _rendered(logger: object, method: str, event: MutableMapping[str, object]) -> str:
    if _settings().as_json:
        return str(structlog.processors.JSONRenderer(ensure_ascii=False)(logger, method, event))
    return structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())(logger, method, event)
