"""Recordings: conversations that others recorded, read from files and made into logs."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, NamedTuple

from pydantic import BeforeValidator, Field, ValidationError, field_validator

from recjury import plugins
from recjury.corpora.catalogue import Catalogue
from recjury.corpora.corpus import Corpus
from recjury.corpora.drawing import lot
from recjury.corpora.forms import FORMS, Form, is_row
from recjury.corpora.messages import refs
from recjury.corpora.rows import Row, chosen, mapped, rows
from recjury.corpora.words import is_blank
from recjury.errors import UserError
from recjury.files import nearest
from recjury.keys import one_line
from recjury.mistakes import first_mistake
from recjury.records import (
    LIST_LENGTH,
    ConversationLog,
    Ending,
    ItemRef,
    Record,
    Scenario,
    Turn,
)

_MOST_SKIPPED = 0.05  # of a file
_LOOKED_AT = 50  # rows, to recognise a form
_SHOWN = 60  # characters of a file in a message
_EXAMPLE = "examples/own_form.py reads a form of its own: --form own_form:read"


_KEYS = (
    *("text", "speaker", "session", "id", "system", "items", "messages"),
    *("targets", "wishes", "catalogue", "corpus", "user", "repeat"),
)
"""What a mapping may give."""


class Recording(Record):
    """A recorded conversation. `id` names the scenario: systems are compared where it is equal.

    `catalogue` is a corpus whose catalogue has the items, `corpus` a label for the scenarios.
    """

    id: str = Field(min_length=1)
    system: str = Field(min_length=1)
    interaction: tuple[Turn, ...]
    history: tuple[Turn, ...] = ()
    targets: Annotated[tuple[ItemRef, ...], BeforeValidator(refs)] = ()
    wishes: tuple[str, ...] = ()
    reference: str = ""
    catalogue: str = ""
    corpus: str = ""
    user: str = "recorded"
    repeat: int = 0
    ending: Ending = "recorded"
    linked: bool = False

    @field_validator("id", "system", mode="before")
    @classmethod
    def _as_text(cls, value: Any) -> Any:
        return str(value) if isinstance(value, int) else value

    @property
    def key(self) -> tuple[str, str, str, str, int]:
        """What no other recording of a campaign may have."""
        return self.corpus, self.id, self.system, self.user, self.repeat

    def log(self, corpus: Corpus | None = None) -> ConversationLog:
        """The log, with items of the corpus's catalogue.

        Where no turn has items, those that the system's texts name are its lists, and those that a
        turn of the history names are its items. Without a catalogue, none are.
        """
        catalogue = corpus.catalogue if corpus else Catalogue()
        most = None if self.ending == "offline" else LIST_LENGTH
        history, said = (
            tuple(_turn(turn, catalogue, most) for turn in turns)
            for turns in (self.history, self.interaction)
        )
        if corpus and not any(turn.items for turn in said if turn.speaker == "system"):
            said = tuple(_linked(history, said, catalogue))
        if corpus and not any(turn.items for turn in history):
            history = tuple(_with_items(turn, catalogue.link(turn.text)) for turn in history)
        targets = {item.id: item for item in map(catalogue.resolve, self.targets)}
        domain = {"domain": corpus.domain.item} if corpus else {}
        return ConversationLog(
            scenario=Scenario(
                id=self.id,
                corpus=self.corpus,
                history=history,
                targets=tuple(targets.values()),
                wishes=self.wishes,
                reference=self.reference,
                **domain,
            ),
            interaction=said,
            ending=self.ending,
            linked=self.linked or any(turn.linked for turn in said),
        )


class Skipped(NamedTuple):
    """A conversation that cannot be rated: where it stands, whose it is if known, and why."""

    where: str
    system: str
    reason: str


class Recordings(NamedTuple):
    """What files have: the conversations, and those that were skipped."""

    recordings: tuple[Recording, ...]
    skipped: tuple[Skipped, ...] = ()


class Reading(NamedTuple):
    """How files are read.

    `form` is a name or `module:function`; by default it is recognised. `catalogue` is that of
    conversations which name none. `mapping` says in which columns recjury's keys stand, and `rows`
    which values columns must have. Of `sample` scenarios, drawn by chance but always the same ones,
    all conversations are kept. `encoding` is that of text files.
    """

    form: str = ""
    catalogue: str = ""
    mapping: Mapping[str, str] = MappingProxyType({})
    rows: Mapping[str, str] = MappingProxyType({})
    sample: int | None = None
    encoding: str = "utf-8"


def read_recordings(paths: Iterable[Path], reading: Reading | None = None) -> Recordings:
    """The conversations of files.

    Raises UserError if a file has another form, if one conversation is there twice, or if more than
    5 % of a file cannot be read.
    """
    reading = reading or Reading()
    if unknown := [key for key in reading.mapping if key not in _KEYS]:
        near = nearest(unknown[0], _KEYS)
        raise UserError(f"--map {unknown[0]}: there is no such key{near}: {', '.join(_KEYS)}")
    places: dict[tuple[Any, ...], str] = {}
    recordings: list[Recording] = []
    skipped: list[Skipped] = []
    for path in paths:
        good, bad = _read_file(path, reading)
        _check(path, len(good), bad)
        skipped += bad
        for where, recording in good:
            if recording.key in places:
                raise UserError(
                    f"{where}: system {recording.system} has {recording.id!r} twice, also in "
                    f"{places[recording.key]}: give one of them another `id`"
                )
            places[recording.key] = where
            recordings.append(recording)
    return Recordings(tuple(_drawn(recordings, reading.sample)), tuple(skipped))


def _drawn(recordings: Sequence[Recording], sample: int | None) -> list[Recording]:
    """The recordings of so many scenarios, in their order: systems stay pairs."""
    scenarios = {(each.corpus, each.id) for each in recordings}
    kept = set(sorted(scenarios, key=lambda each: lot(*each))[:sample])
    return [each for each in recordings if (each.corpus, each.id) in kept]


def _read_file(path: Path, reading: Reading) -> tuple[list[tuple[str, Recording]], list[Skipped]]:
    """The conversations of a file, each with its place, and those that cannot be rated."""
    system = path.name.partition(".")[0]
    defaults = {"system": system, "catalogue": reading.catalogue, "corpus": system}
    good, bad = [], []
    for row in _conversations(path, reading):
        where = f"{path.name}, {row.where}"
        values = row.fields if isinstance(row.value, Mapping) else row.given
        given = {key: value for key, value in values.items() if value not in (None, "")}
        known = defaults | {"id": f"{system} {row.where}"} | given
        try:
            good.append((where, _recording(row, known)))
        except ValueError as problem:
            bad.append(Skipped(where, str(known["system"]), str(problem)))
    return good, bad


def _conversations(path: Path, reading: Reading) -> Iterator[Row]:
    """The conversations of a file in the keys of `jsonl`; one that is wrong says why."""
    name = reading.form
    form = plugins.find("forms", name).value if name else None
    if form is not None and not isinstance(form, Form):
        return FORMS["jsonl"].conversations(_yielded(path, name, form))
    is_table = not reading.mapping.keys().isdisjoint(("session", "speaker", "text"))
    try:
        found = list(rows(path, lambda value: not is_table and is_row(value), reading.encoding))
    except ValueError as problem:
        raise _unknown(path, form, str(problem)) from None
    if not found:
        raise _unknown(path, form, "it has no rows")
    try:
        found = chosen(mapped(found, reading.mapping), reading.rows)
    except ValueError as problem:
        raise UserError(f"{path}: {problem}") from None
    form = form or _recognised(found)
    if form is None:
        begins = f"{found[0].problem or found[0].value!s:.{_SHOWN}}"
        raise _unknown(path, None, f"no row is of a known form; the first one is {begins}")
    return form.conversations(found)


def _yielded(path: Path, name: str, read: Any) -> Iterator[Row]:
    """What a function of one's own yields for a file. Raises UserError for what it raises."""
    try:
        yield from (Row(f"entry {number}", value) for number, value in enumerate(read(path), 1))
    except Exception as error:
        raise UserError(f"{name} raised for {path}: {one_line(error)}") from error


def _recognised(every: Sequence[Row]) -> Form | None:
    """The form of which one of the first rows is."""
    first = [row.fields for row in every[:_LOOKED_AT]]
    return next((form for form in FORMS.values() if any(map(form.knows, first))), None)


def _unknown(path: Path, form: Form | None, problem: str) -> UserError:
    """What was looked for in a file."""
    wanted = {name: each for name, each in FORMS.items() if form in (None, each)}
    looks = " or ".join(f"{name}: {each.looks_like}" for name, each in wanted.items())
    return UserError(
        f"{path}: {problem}. Looked for {looks}. Columns of other "
        f"names: --map text=COLUMN,speaker=COLUMN,session=COLUMN. {_EXAMPLE}"
    )


def _recording(row: Row, values: Mapping[str, Any]) -> Recording:
    """The recording of a row. Raises ValueError if it has none that can be rated."""
    if row.problem:
        raise ValueError(row.problem)
    known = {key: value for key, value in values.items() if key in Recording.model_fields}
    try:
        recording = Recording.model_validate(known)
    except ValidationError as error:
        keys, message = first_mistake(error, Recording)
        raise ValueError(f"{'.'.join(map(str, keys))}: {message}".lstrip(": ")) from None
    answers = (turn for turn in recording.interaction if turn.speaker == "system")
    if not any(turn.items or _shows(turn) for turn in answers):
        raise ValueError("the system answers nothing in it")
    return recording


def _shows(turn: Turn) -> bool:
    """Whether a turn has something for the user to see."""
    others = (event for event in turn.events if not event.kind.startswith("tool"))
    return not is_blank(turn.text) or any(others)


def _check(path: Path, read: int, skipped: list[Skipped]) -> None:
    if not read and not skipped:
        raise UserError(f"{path}: there is no conversation in it")
    if len(skipped) > _MOST_SKIPPED * (read + len(skipped)):
        reason, number = Counter(each.reason for each in skipped).most_common(1)[0]
        first = next(each for each in skipped if each.reason == reason)
        raise UserError(
            f"{first.where}: {reason} ({number} of {read + len(skipped)} conversations; "
            f"{_MOST_SKIPPED:.0%} may be skipped)"
        )


def _turn(turn: Turn, catalogue: Catalogue, most: int | None) -> Turn:
    """The turn with items of the catalogue, at most so many, once each."""
    items = {item.id: item for item in map(catalogue.resolve, turn.items)}
    return turn.model_copy(update={"items": tuple(islice(items.values(), most))})


def _with_items(turn: Turn, named: Iterable[ItemRef]) -> Turn:
    """The turn with items that its text names, at most ten."""
    items = tuple(islice(named, LIST_LENGTH))
    return turn.model_copy(update={"items": items, "linked": True}) if items else turn


def _linked(
    history: Iterable[Turn], interaction: Iterable[Turn], catalogue: Catalogue
) -> Iterator[Turn]:
    """The interaction; its lists are the items that the system names before the user does."""
    by_user = {ref.id for t in history if t.speaker == "user" for ref in catalogue.link(t.text)}
    for turn in interaction:
        named = catalogue.link(turn.text)
        if turn.speaker == "user":
            by_user |= {ref.id for ref in named}
            yield turn
        else:
            yield _with_items(turn, (ref for ref in named if ref.id not in by_user))
