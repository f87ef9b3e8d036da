"""The user's own conversations as JSON lines, one a line (docs/data.md lists the fields)."""

from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError, model_validator

from recjury.corpora.json_rows import ClosedRow
from recjury.corpora.opening import open_corpus
from recjury.errors import DataError
from recjury.input_files import read_rows, readable_stem
from recjury.knowledge import Catalogue
from recjury.mistakes import first_mistake
from recjury.records import (
    LIST_LENGTH,
    Act,
    ConversationLog,
    DeclaredAct,
    Ending,
    ItemRef,
    Scenario,
    Speaker,
    Turn,
    first_hit,
)

MAX_TURNS = 2_000
"""Turns of a conversation, with its history: what judges compare grows with their square."""


class ItemEntry(ClosedRow):
    """An item by its name, with its id if known."""

    id: str | None = None
    name: str = Field(min_length=1)


class ActEntry(ClosedRow):
    """An act of a user's turn: `item` is the item's name or entry, as in a list."""

    act: Literal["accept", "refuse", "seen", "wish", "ask", "complain", "thank", "bye", "chat"]
    item: str | ItemEntry | None = None
    attribute: str = ""
    value: str = ""


class TurnEntry(ClosedRow):
    """One turn: its text, the list of a system's turn, the acts of a user's."""

    speaker: Literal["user", "system"]
    text: str
    items: list[str | ItemEntry] = Field(default_factory=list)
    acts: list[ActEntry] = Field(default_factory=list)

    @model_validator(mode="after")
    def _each_speaker_has_its_own(self) -> "TurnEntry":
        if self.items and self.speaker == "user":
            raise ValueError("only system turns have items")
        if self.acts and self.speaker == "system":
            raise ValueError("only user turns have acts")
        return self


class LogEntry(ClosedRow):
    """One line of the file: one conversation."""

    id: str = Field(min_length=1)
    system: str = Field(min_length=1)
    history: list[TurnEntry] = Field(default_factory=list)
    interaction: list[TurnEntry] = Field(min_length=1)
    targets: list[str | ItemEntry] = Field(default_factory=list)
    corpus: str | None = Field(default=None, pattern="^[^/]+$")
    catalogue: str | None = Field(default=None, min_length=1)


def read_log_file(
    path: Path,
    limit: int | None = None,
    *,
    data: Path | None = None,
    catalogue: Catalogue | None = None,
    list_length: int = LIST_LENGTH,
) -> Iterator[ConversationLog]:
    """The conversations of a `.jsonl` or `.jsonl.gz` file, in file order, at most `limit`.

    Names are looked up in `catalogue`, or else in the corpus that the line names (`data` is the
    folder of public data for that corpus). Without either, names that are equal apart from case
    are one item, and the case-folded name is its id. The scenario's corpus is the line's
    `catalogue` or "logs", a slash, and the line's `corpus` or the file's name. Raises DataError,
    with file and line, for another form; see `docs/data.md`.
    """
    rows = read_rows(path, LogEntry)
    return logs_of(rows, path, limit, data=data, catalogue=catalogue, list_length=list_length)


def logs_of(
    rows: Iterable[tuple[int, LogEntry]],
    path: Path,
    limit: int | None = None,
    *,
    data: Path | None = None,
    catalogue: Catalogue | None = None,
    list_length: int = LIST_LENGTH,
) -> Iterator[ConversationLog]:
    """The logs of the numbered lines of `path`, as `read_log_file` describes them."""
    if limit == 0:
        return
    lines: dict[str, int] = {}
    named: dict[str, Catalogue] = {}
    for number, row in rows:
        fault = _fault(row, lines)
        if fault:
            raise DataError(fault, path=path, line=number)
        lines[row.id] = number
        try:
            if catalogue is None and row.catalogue and row.catalogue not in named:
                named[row.catalogue] = open_corpus(row.catalogue, data).catalogue
            known = named.get(row.catalogue or "") if catalogue is None else catalogue
            label = row.corpus or readable_stem(path)
            log = _log(row, known, f"{row.catalogue or 'logs'}/{label}", list_length)
        except DataError as error:
            raise DataError(str(error), path=path, line=number) from None
        except ValidationError as error:  # declared acts that cannot be
            raise DataError(first_mistake(error), path=path, line=number) from None
        yield log
        if len(lines) == limit:
            return
    if not lines:
        raise DataError("holds no conversation", path=path)


def _fault(row: LogEntry, lines: dict[str, int]) -> str:
    if row.id in lines:
        return f"a second conversation {row.id!r}, as in line {lines[row.id]}"
    if (turns := len(row.history) + len(row.interaction)) > MAX_TURNS:
        return f"a conversation of {turns:,} turns: at most {MAX_TURNS:,} can be judged"
    if all(said.speaker == "user" for said in row.interaction):
        return "the interaction has no system turn"
    for part, said in (("history", row.history), ("interaction", row.interaction)):
        for index, (one, two) in enumerate(pairwise(said)):
            if one.speaker == two.speaker:
                return (
                    f"{part}.{index} and {part}.{index + 1} are both by the {one.speaker}: "
                    "join them into one turn"
                )
    return ""


def _log(
    row: LogEntry, catalogue: Catalogue | None, corpus: str, list_length: int
) -> ConversationLog:
    targets = tuple(_target(target, catalogue) for target in row.targets)
    history, interaction = (
        tuple(
            Turn(
                speaker=Speaker(said.speaker),
                text=said.text,
                items=tuple(_ref(item, catalogue) for item in said.items),
                acts=tuple(_act(act, catalogue) for act in said.acts),
            )
            for said in turns
        )
        for turns in (row.history, row.interaction)
    )
    named = {target.id for turn in history for target in turn.items if target.id is not None}
    if catalogue is not None:
        named |= {mention.id for turn in history for mention in catalogue.link(turn.text)}
    return ConversationLog(
        system=row.system,
        scenario=Scenario(
            corpus=corpus,
            record=row.id,
            history=history,
            targets=targets,
            target_seen=any(target.id in named for target in targets),
        ),
        interaction=interaction,
        ending=Ending.RECORDED,
        hit_round=first_hit(interaction, targets, list_length),
        list_length=list_length,
    )


def _act(act: ActEntry, catalogue: Catalogue | None) -> DeclaredAct:
    """Raises DataError for an item that the catalogue does not have."""
    item = None if act.item is None else _ref(act.item, catalogue)
    if item is not None and item.id is None:
        raise DataError(f"the act {act.act!r} is about {item.name!r}, which is no item")
    return DeclaredAct(
        act=Act(act.act),
        item=None if item is None else item.id,
        attribute=act.attribute,
        value=act.value,
    )


def _target(item: str | ItemEntry, catalogue: Catalogue | None) -> ItemRef:
    """As `_ref`. Raises DataError for a target without an id, because no list could contain it."""
    target = _ref(item, catalogue)
    if target.id is None and catalogue is not None:
        raise DataError(
            f"the target {target.name!r} is not an item of the catalogue {catalogue.name}, or is "
            f"several: name it as the catalogue does, or leave it out"
        )
    return target


def _ref(item: str | ItemEntry, catalogue: Catalogue | None) -> ItemRef:
    name, id = (item, None) if isinstance(item, str) else (item.name, item.id)  # noqa: A001
    if catalogue is None:
        return ItemRef(id=id if id is not None else name.casefold(), name=name)
    return catalogue.item(id).ref if id is not None else catalogue.ref(name)
