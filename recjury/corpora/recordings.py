"""Reads recorded conversations in all supported forms; `docs/data.md` shows each form."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, pairwise
from pathlib import Path
from stat import S_ISDIR, S_ISREG
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import Field

from recjury.corpora.forms import EXPORTED, form_of
from recjury.corpora.json_rows import ClosedRow
from recjury.corpora.linked_lists import ItemLinker
from recjury.corpora.log_files import MAX_TURNS
from recjury.corpora.log_readers import known_form, read_logs
from recjury.errors import DataError
from recjury.input_files import read_rows
from recjury.records import JSON, ConversationLog, Turn, digest

_MOST = 2**31 - 1  # the largest integer that every store can keep
_Amount = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class Recording(NamedTuple):
    """A conversation and its metadata.

    If the conversation was recorded elsewhere, `identity` is that of the log's content. If recjury
    ran it, it keeps its identity, repeat, campaign seed and settings. `seconds` and `costs` (US
    dollars) have one value per system turn (None if unknown), or are empty.
    """

    log: ConversationLog
    identity: str
    repeat: int = 0
    seed: int = 0
    settings: Mapping[str, JSON] = {}
    seconds: tuple[float | None, ...] = ()
    costs: tuple[float | None, ...] = ()


def read_recordings(
    paths: Iterable[Path],
    form: str | None = None,
    *,
    data: Path | None = None,
    limit: int | None = None,
    link_items: bool = False,
) -> Iterator[Recording]:
    """The conversations of all files, in order, at most `limit` of each.

    `form` is one of `forms.FORMS`, or an own reader, "module:function"; None detects it for each
    file. `data` is the folder of public data, for conversations that refer to it. If each line is a
    conversation, only one is in memory at a time. With `link_items`, logs without lists get lists
    of the items that their texts name.

    Raises ConfigError for an unknown form. Raises DataError at once if a file does not exist, is
    empty or has an unknown form, and during iteration, with file and line, if a line has another
    form.
    """
    forced = None if form is None else known_form(form)
    files = [(path, forced or form_of(path)) for path in map(_checked, paths)]
    found = (one for path, own in files for one in _read(path, own, data, limit))
    return linked_recordings(found, data) if link_items else found


def linked_recordings(recordings: Iterable[Recording], data: Path | None) -> Iterator[Recording]:
    """`recordings`, in which logs without lists have the items that their texts name.

    Such a log is another log, identified by its content. Raises DataError for one whose catalogue
    is not known.
    """
    linker = ItemLinker(data)
    for each in recordings:
        log = linker.link(each.log)
        yield each if log is each.log else Recording(log, log.id)


def conversation_row(recording: Recording) -> dict[str, JSON]:
    """The row of `conversations.jsonl`; `read_recordings` reads it back without loss."""
    return {
        "form": EXPORTED,
        "version": 1,
        "conversation": recording.identity,
        "repeat": recording.repeat,
        "seed": recording.seed,
        "settings": dict(recording.settings),
        "seconds": list(recording.seconds),
        "costs": list(recording.costs),
        "log": recording.log.model_dump(mode="json"),
        "digest": recording.log.id,
    }


class _Row(ClosedRow):
    form: Literal["recjury-conversation"]
    version: Literal[1]
    conversation: str = Field(pattern="^[0-9a-f]{32}$")
    repeat: int = Field(ge=0, le=_MOST)
    seed: int = Field(ge=-(2**63), lt=2**63)
    settings: dict[str, Any]
    seconds: list[_Amount | None]
    costs: list[_Amount | None] = Field(default_factory=list)
    log: ConversationLog
    digest: str


def _checked(path: Path) -> Path:
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError, ValueError):
        raise DataError("there is no such file", path=path) from None
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror or error}", path=path) from None
    if S_ISDIR(mode):
        raise DataError("is a folder: name the files in it", path=path)
    if not S_ISREG(mode):
        raise DataError("is not a regular file: recordings are read more than once", path=path)
    return path


def _read(path: Path, form: str, data: Path | None, limit: int | None) -> Iterator[Recording]:
    if form == "recjury":
        return islice(_exported(path), limit)
    return (Recording(log, log.id) for log in read_logs(path, form, data, limit))


def _exported(path: Path) -> Iterator[Recording]:
    empty = True
    for number, row in read_rows(path, _Row):
        empty = False
        try:
            yield _recording(row)
        except DataError as error:
            raise DataError(str(error), path=path, line=number) from None
    if empty:
        raise DataError("holds no conversation", path=path)


def _recording(row: _Row) -> Recording:
    """The exported conversation. If the log was edited after the export, it is a new one."""
    log = row.log
    _check_numbers(log)
    identity = log.id
    if identity != row.digest:
        _check_order("history", log.scenario.history)
        _check_order("interaction", log.interaction)
        return Recording(log, identity)
    rounds = len(log.system_turns)
    for name, amounts in (("seconds", row.seconds), ("costs", row.costs)):
        if len(amounts) not in (0, rounds):
            raise DataError(
                f"{name}: expected one for each of {rounds} system turns, got {len(amounts)}"
            )
    _check_depth(row.settings)
    seconds, costs = tuple(row.seconds), tuple(row.costs)
    return Recording(log, row.conversation, row.repeat, row.seed, row.settings, seconds, costs)


def _check_numbers(log: ConversationLog) -> None:
    if (turns := len(log.scenario.history) + len(log.interaction)) > MAX_TURNS:
        raise DataError(f"log: {turns:,} turns: at most {MAX_TURNS:,} can be judged")
    rounds = len(log.system_turns)
    if log.hit_round is not None and not 1 <= log.hit_round <= rounds:
        raise DataError(f"log.hit_round: {log.hit_round} is not one of the {rounds} rounds")
    if not 1 <= log.list_length <= _MOST:
        raise DataError(f"log.list_length: expected 1 or more, got {log.list_length}")
    for name, leaks in (("caught", log.leaks_caught), ("through", log.leaks_through)):
        if not 0 <= leaks <= _MOST:
            raise DataError(f"log.leaks_{name}: expected 0 or more, got {leaks}")


def _check_order(part: str, turns: Sequence[Turn]) -> None:
    for index, (one, two) in enumerate(pairwise(turns)):
        if one.speaker is two.speaker:
            raise DataError(
                f"log: {part}.{index} and {part}.{index + 1} are both by the {one.speaker}"
            )


def _check_depth(settings: Mapping[str, JSON]) -> None:
    try:
        digest([[settings]])  # the store nests the settings two levels deeper
    except TypeError:
        raise DataError("settings: nested too deeply") from None
