"""ReDial and OpenDialKG as iEvaLM-CRS prepared them (Wang et al., EMNLP 2023).

Items are the entities of `item_ids.json`, with their numbers as ids. Their attributes come from
`id2info.json`, whose keys are no entities: records are joined by name, and the first of a name
counts. A scenario is a record of a split: its context is the history, its `rec` are the targets.
"""

import functools
import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from recjury.corpora.catalogue import Catalogue, Item
from recjury.corpora.corpus import Corpus, known_domain, parted
from recjury.corpora.rows import objects
from recjury.corpora.titles import name_and_year
from recjury.corpora.words import fold
from recjury.errors import UserError
from recjury.files import read_json
from recjury.records import ItemRef, Scenario, Turn

DATA_VARIABLE = "RECJURY_DATA"
_DOMAINS = {"redial": "film", "opendialkg": "film-or-book"}
_RELATIONS = {
    "genre": "genre",
    "director": "director",
    "star": "actor",
    "actor": "actor",
    "writer": "writer",
    "language": "language",
}
_YEAR = re.compile(r"(?:18|19|20)\d\d")
_SPLIT_FILE = "_data_processed.jsonl"
_MARK = re.compile(r"@(\d+)")


def public_folder(name: str) -> Path:
    """The folder of a public corpus below `RECJURY_DATA`. Raises UserError."""
    wanted = f"the folder that has ievalm/redial, ievalm/opendialkg or inspired; {name} is wanted"
    data = os.environ.get(DATA_VARIABLE, "")
    if not data:
        raise UserError(f"the variable {DATA_VARIABLE} is not set: set it to {wanted}")
    for folder in (Path(data) / "ievalm" / name, Path(data) / name):
        if folder.is_dir():
            return folder
    raise UserError(f"{DATA_VARIABLE} is {data}, and {name} is not there: set it to {wanted}")


def ievalm(name: str, split: str) -> Corpus:
    """`redial` (films) or `opendialkg` (films and books), from the folder in RECJURY_DATA.

    Without the split it has no scenarios, and says why in `skipped`. Raises UserError if a file is
    not there.
    """
    folder = public_folder(name)
    domain, catalogue = known_domain(_DOMAINS[name]), _catalogue(name, folder)
    path = folder / f"{split}{_SPLIT_FILE}"
    if not path.is_file():
        there = sorted(each.name.partition("_")[0] for each in folder.glob(f"*{_SPLIT_FILE}"))
        reason = f"has no split {split!r}: there are {', '.join(there)}"
        return Corpus(name, domain, catalogue, (), (reason,))
    reader = _Records(name, catalogue, _entities(folder))
    return Corpus(name, domain, catalogue, *parted(map(reader.scenario, _lines(path))))


@functools.cache
def _catalogue(name: str, folder: Path) -> Catalogue:
    entities, infos = _entities(folder), read_json(folder / "id2info.json")
    names = {number: each for each, number in entities.items()}
    known: dict[str, Any] = {}
    for info in infos.values():
        known.setdefault(info["name"], info)
    mentions = _marked(folder, infos) if name == "redial" else _mentioned(folder)
    return Catalogue(
        _item(str(number), names[number], known.get(names[number], {}), mentions, name)
        for number in read_json(folder / "item_ids.json")
    )


def _item(
    id_: str, name: str, info: Mapping[str, Any], mentions: Mapping[str, int], corpus: str
) -> Item:
    bare, year = name_and_year(name)
    if year is None and _YEAR.fullmatch(info.get("year") or ""):
        year = int(info["year"])
    attributes = {
        relation: tuple(dict.fromkeys(info[key]))
        for key, relation in _RELATIONS.items()
        if info.get(key)
    }
    return Item(
        id=id_,
        name=bare,
        year=year,
        attributes=attributes,
        description=info.get("plot", ""),
        popularity=mentions.get(name, 0),
        domain=_domain(attributes) if corpus == "opendialkg" else "",
    )


def _domain(attributes: Mapping[str, object]) -> str:
    """OpenDialKG does not say what its items are: books have writers and nobody else."""
    is_book = "writer" in attributes and not attributes.keys() & {"director", "actor"}
    return "book" if is_book else "film"


def _marked(folder: Path, infos: Mapping[str, Any]) -> Counter[str]:
    """How many of ReDial's validation conversations mark each film, by its name.

    Its lists of entities are not used: they have false matches ("Eve" in "never").
    """
    counts = Counter[str]()
    for row in _lines(folder / "valid_data.jsonl"):
        marks = {mark for said in row["messages"] for mark in _MARK.findall(said["text"])}
        counts.update({infos[mark]["name"] for mark in marks if mark in infos})
    return counts


def _mentioned(folder: Path) -> Counter[str]:
    """How many training dialogues name each item, without those that are also tested."""
    tested = {each.rpartition("_")[0] for each in read_json(folder / "test_data_id.json")}
    named: dict[str, set[str]] = {}
    for row in _lines(folder / "train_data_processed.jsonl"):
        if str(row["dialog_id"]) not in tested:
            named.setdefault(row["dialog_id"], set()).update(row["entity"], row["rec"])
    return Counter(name for names in named.values() for name in names)


class _Records:
    """Records become scenarios."""

    def __init__(self, corpus: str, catalogue: Catalogue, entities: Mapping[str, int]):
        self._corpus, self._catalogue, self._entities = corpus, catalogue, entities
        self._folded = functools.lru_cache(100_000)(fold)

    def scenario(self, row: Mapping[str, Any]) -> Scenario | str:
        """The scenario of a record, or why there is none."""
        id_ = f"{row['dialog_id']}_{row['turn_id']}"
        targets = {ref.id: ref for name in row["rec"] if (ref := self._item(name))}
        if not targets:
            missing = ", ".join(row["rec"]) or "nothing"
            return f"{id_}: its target is {missing}, which is no item"
        if not any(text.strip() for text in row["context"]):
            return f"{id_}: nothing is said before the target"
        first = next(iter(targets))
        return Scenario(
            id=id_,
            corpus=self._corpus,
            domain=self._catalogue.items[first].domain or _DOMAINS[self._corpus],
            history=tuple(self._turns(row)),
            targets=tuple(targets.values()),
            reference=row.get("resp", ""),
        )

    def _turns(self, row: Mapping[str, Any]) -> Iterator[Turn]:
        """The context, the user first; an item of the record is in each turn that names it.

        The last turn has all entities of the record.
        """
        items = [ref for name in row["entity"] if (ref := self._item(name))]
        names = [(f" {self._folded(self._catalogue.items[ref.id].name)} ", ref) for ref in items]
        last = len(row["context"]) - 1  # records do not say which turn names an entity
        for number, text in enumerate(row["context"]):
            if text.strip() or number:
                said = f" {self._folded(text)} "
                named = {ref.id: ref for name, ref in names if name in said}
                yield Turn(
                    speaker="system" if number % 2 else "user",
                    text=text,
                    items=tuple(named.values()),
                    entities=tuple(row["entity"]) if number == last else (),
                )

    def _item(self, name: str) -> ItemRef | None:
        id_ = str(self._entities.get(name))
        return self._catalogue.items[id_].ref if id_ in self._catalogue.items else None


@functools.cache
def _entities(folder: Path) -> Mapping[str, int]:
    found: Mapping[str, int] = read_json(folder / "entity2id.json")
    return found


def _lines(path: Path) -> Iterator[Mapping[str, Any]]:
    return (row.value for row in objects(path))
