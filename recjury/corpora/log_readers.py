"""The readers of recorded conversations by form: those of the package, and your own."""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path

from pydantic import ValidationError

from recjury.corpora.concept import read_concept
from recjury.corpora.crsarena import read_crsarena
from recjury.corpora.log_files import LogEntry, logs_of, read_log_file
from recjury.corpora.message_files import read_messages
from recjury.corpora.opening import data_folder
from recjury.errors import ConfigError, DataError, UserError
from recjury.mistakes import first_mistake
from recjury.plugins import Registry, describe_exception
from recjury.records import ConversationLog

LOG_FORMS: Registry[Callable[..., Iterable[object]]] = Registry(
    "form of logs",
    "recjury.logs",
    {
        "concept": "recjury.corpora.log_readers:concept_logs",
        "crsarena": "recjury.corpora.log_readers:crsarena_logs",
        "jsonl": "recjury.corpora.log_readers:json_logs",
        "messages": "recjury.corpora.log_readers:message_logs",
    },
)
"""The readers by form. An own one takes a path, and yields mappings with the keys of the form
jsonl (docs/data.md)."""


def read_logs(
    path: Path, form: str, data: Path | None, limit: int | None
) -> Iterator[ConversationLog]:
    """The conversations of a file of that form, at most `limit`.

    `form` is a name of `LOG_FORMS`, or "module:function". Raises DataError for another form of
    file, and for a reader that fails.
    """
    reader = LOG_FORMS.load(form)
    if form in LOG_FORMS.built_in:
        yield from reader(path, data, limit)  # type: ignore[misc]  # these are of the package
    else:
        yield from logs_of(_entries(form, reader, path), path, limit, data=data)


def concept_logs(path: Path, data: Path | None, limit: int | None) -> Iterator[ConversationLog]:
    """CONCEPT's conversations of a simulated user with four systems."""
    return read_concept(path, data_folder(data), limit)


def crsarena_logs(path: Path, data: Path | None, limit: int | None) -> Iterator[ConversationLog]:  # noqa: ARG001
    """CRSArena's conversations, with or without labels."""
    return islice(read_crsarena(path).logs.values(), limit)


def json_logs(path: Path, data: Path | None, limit: int | None) -> Iterator[ConversationLog]:
    """Your conversations as JSON lines, with turns and lists."""
    return read_log_file(path, limit, data=data)


def message_logs(path: Path, data: Path | None, limit: int | None) -> Iterator[ConversationLog]:
    """JSON lines with `messages`, as chat endpoints take them."""
    return read_messages(path, limit, data=data)


def _entries(
    form: str, reader: Callable[..., Iterable[object]], path: Path
) -> Iterator[tuple[int, LogEntry]]:
    """What an own reader yields, numbered from 1. Raises DataError for whatever it does."""
    try:
        for number, row in enumerate(reader(path), start=1):
            yield number, LogEntry.model_validate(row)
    except UserError:
        raise
    except ValidationError as error:
        raise DataError(f"{form}: {first_mistake(error)}", path=path) from error
    except Exception as error:  # a reader may do anything
        raise DataError(f"{form}: {describe_exception(error)}", path=path) from error


def known_form(name: str) -> str:
    """The form of this name, or "module:function". Raises ConfigError for another name."""
    known = (*LOG_FORMS.names, "recjury")
    if name not in known and ":" not in name:
        raise ConfigError(
            f"format must be one of {', '.join(known)}, or module:function, got {name!r}"
        )
    return name
