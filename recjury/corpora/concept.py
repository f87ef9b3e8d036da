"""The recorded conversations of Concept4CRS (`concept/` of the data folder) as logs.

The simulated user of these conversations knew genres and a persona, but not the record's `rec`.
It began with "Hello", without the record's context. Therefore the history is empty, and the
targets are the items whose genres equal the recorded attributes (ReDial) or contain them
(OpenDialKG). The recordings' own success flags use the same definition.
"""

import re
from collections.abc import Iterator
from functools import cache, cached_property
from pathlib import Path, PurePosixPath
from typing import Literal, NamedTuple

from pydantic import Field

from recjury.corpora.ievalm import DATASETS, IevalmCorpus
from recjury.corpora.ievalm_files import IevalmFiles
from recjury.corpora.json_rows import JsonRow
from recjury.errors import DataError
from recjury.input_files import read_rows, readable_name
from recjury.records import (
    LIST_LENGTH,
    ConversationLog,
    Ending,
    ItemRef,
    Scenario,
    Speaker,
    Turn,
    first_hit,
)

END_MARK = "[END]"

_SYSTEM = re.compile(rf"(?P<system>[^_.]+)_(?P<dataset>{'|'.join(DATASETS)})(?![^_.])")
_SOURCE = re.compile(rf"(?:^|/)(?P<system>[^/]+)/(?P<dataset>{'|'.join(DATASETS)})_eval/")


class _Turn(JsonRow):
    role: Literal["user", "assistant"]
    content: str
    rec_items: list[int] = Field(default_factory=list)


class _Dialogue(JsonRow):
    context: list[_Turn] = Field(min_length=2)
    attributes: list[str] = Field(min_length=1)


class _Recording(JsonRow):
    source_file: str
    simulator_dialog: _Dialogue


class _Origin(NamedTuple):
    system: str
    dataset: str


def read_concept(
    path: Path, data: Path, limit: int | None = None, *, list_length: int = LIST_LENGTH
) -> Iterator[ConversationLog]:
    """The conversations of one `{system}_{dataset}.jsonl.gz`, in file order, at most `limit`.

    `data` is the folder that contains `ievalm/`. A system turn keeps the first `list_length`
    distinct ids of its 50. A record is named by its source file (dialogue, turn, persona and
    attributes), a pair by dialogue and turn, because two systems share only a few complete
    records. Raises DataError, with file and line, if a line is not a recording.
    """
    if limit == 0:
        return
    read = 0
    for number, recording in read_rows(path, _Recording):
        origin = _origin(path, recording.source_file)
        if origin is None:
            raise DataError(
                "neither the file's name nor `source_file` says which system and dataset this "
                "is: name the file like kbrd_opendialkg.jsonl.gz",
                path=path,
                line=number,
            )
        targets = _dataset(origin.dataset, data)
        yield _log(recording, origin, targets, list_length, place=(path, number))
        read += 1
        if read == limit:
            return
    if read == 0:
        raise DataError("holds no conversation", path=path)


class _Dataset:
    """Maps the ids and attributes of one dataset to items."""

    def __init__(self, files: IevalmFiles):
        self._files = files
        self._exact = files.name == "redial"
        self._wishes: dict[frozenset[str], tuple[ItemRef, ...]] = {}
        self._ref = cache(files.ref)

    def refs(self, entities: list[int], length: int) -> tuple[ItemRef, ...]:
        """The first `length` distinct entities as references."""
        return tuple(self._ref(number) for number in list(dict.fromkeys(entities))[:length])

    def wanted(self, attributes: list[str]) -> tuple[ItemRef, ...]:
        """The items with these attributes, in the order of id2info.json."""
        wanted = frozenset(attributes)
        if wanted not in self._wishes:
            self._wishes[wanted] = tuple(
                dict.fromkeys(
                    self._ref(entity)
                    for entity, genres in self._genres
                    if (wanted == genres if self._exact else wanted <= genres)
                )
            )
        return self._wishes[wanted]

    @cached_property
    def _genres(self) -> tuple[tuple[int, frozenset[str]], ...]:
        """The entity and the genres of each item, in the order of id2info.json."""
        entities, infos = self._files.entities, self._files.infos.values()
        known = (info for info in infos if info.name in entities)
        return tuple((entities[info.name], frozenset(info.genre)) for info in known)


@cache
def _dataset(name: str, data: Path) -> _Dataset:
    return _Dataset(IevalmCorpus(name, data).files)


def _origin(path: Path, source: str) -> _Origin | None:
    found = _SYSTEM.match(readable_name(path)) or _SOURCE.search(source)
    return _Origin(found["system"], found["dataset"]) if found else None


def _log(
    recording: _Recording,
    origin: _Origin,
    dataset: _Dataset,
    list_length: int,
    place: tuple[Path, int],
) -> ConversationLog:
    dialogue = recording.simulator_dialog
    targets = dataset.wanted(dialogue.attributes)
    turns: list[Turn] = []
    for said in dialogue.context:
        speaker = Speaker.USER if said.role == "user" else Speaker.SYSTEM
        if turns and turns[-1].speaker is speaker:
            raise DataError("two turns in a row by one speaker", path=place[0], line=place[1])
        text = said.content if speaker is Speaker.SYSTEM else _without_mark(said.content)
        items = dataset.refs(said.rec_items, list_length)
        turns.append(Turn(speaker=speaker, text=text, items=items))
    record = PurePosixPath(recording.source_file).stem
    scenario = Scenario(
        corpus=f"{origin.dataset}/concept",
        record=record,
        pair="_".join(record.split("_")[:2]),
        targets=targets,
        wishes=tuple(dialogue.attributes),
    )
    return ConversationLog(
        system=f"{origin.system}_{origin.dataset}",
        scenario=scenario,
        interaction=tuple(turns),
        ending=Ending.RECORDED,
        hit_round=first_hit(turns, targets, list_length),
        list_length=list_length,
    )


def _without_mark(text: str) -> str:
    """The text without the mark with which the simulator ends a conversation."""
    return text.replace(END_MARK, "").rstrip() if END_MARK in text else text
