"""The user's own Python code: loaded, identified, and called within a time limit."""

from recjury.plugins.calling import (
    TIMEOUT,
    call_plugin,
    describe_exception,
    exception_message,
    redirect_stdout,
)
from recjury.plugins.instances import (
    MISSING,
    class_path,
    given_identity,
    json_settings,
    made_identity,
    make_instance,
    process_identity,
    read_attribute,
    read_settings,
    require_parts,
    source_digest,
)
from recjury.plugins.loading import Factory, import_factory
from recjury.plugins.registry import Listed, Registry, validate_as
from recjury.plugins.settings import Count, Names, NonEmpty, Seconds, with_settings

__all__ = [
    "MISSING",
    "TIMEOUT",
    "Count",
    "Factory",
    "Listed",
    "Names",
    "NonEmpty",
    "Registry",
    "Seconds",
    "call_plugin",
    "class_path",
    "describe_exception",
    "exception_message",
    "given_identity",
    "import_factory",
    "json_settings",
    "made_identity",
    "make_instance",
    "process_identity",
    "read_attribute",
    "read_settings",
    "redirect_stdout",
    "require_parts",
    "source_digest",
    "validate_as",
    "with_settings",
]
