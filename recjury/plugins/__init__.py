"""The user's own Python code: loaded, identified, and called within a time limit."""

from recjury.plugins.calling import (
    TIMEOUT,
    call_plugin,
    describe_exception,
    exception_message,
    redirect_stdout,
)
from recjury.plugins.code_identity import json_settings, process_identity, source_digest
from recjury.plugins.loading import Factory, entry_point_names, load_factory

__all__ = [
    "TIMEOUT",
    "Factory",
    "call_plugin",
    "describe_exception",
    "entry_point_names",
    "exception_message",
    "json_settings",
    "load_factory",
    "process_identity",
    "redirect_stdout",
    "source_digest",
]
