"""The user's own Python code: loaded, identified, and called within a time limit."""

from recjury.plugins.calling import (
    TIMEOUT,
    call_plugin,
    describe_exception,
    exception_message,
    redirect_stdout,
)
from recjury.plugins.code_identity import json_settings, process_identity, source_digest
from recjury.plugins.instances import (
    MISSING,
    class_path,
    make_instance,
    read_attribute,
    read_settings,
)
from recjury.plugins.loading import Factory, entry_point_names, load_factory
from recjury.plugins.registry import Listed, Registry, validate_as
from recjury.plugins.settings import Names, with_settings

__all__ = [
    "MISSING",
    "TIMEOUT",
    "Factory",
    "Listed",
    "Names",
    "Registry",
    "call_plugin",
    "class_path",
    "describe_exception",
    "entry_point_names",
    "exception_message",
    "json_settings",
    "load_factory",
    "make_instance",
    "process_identity",
    "read_attribute",
    "read_settings",
    "redirect_stdout",
    "source_digest",
    "validate_as",
    "with_settings",
]
