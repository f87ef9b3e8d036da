"""A corpus of one's own: a folder with a catalogue, dialogues, and a domain.

domain.yaml        `domain: book`, or words of one's own
items.jsonl        or .csv, .tsv, .parquet: `id`, `title`, and what else there is
dialogues.jsonl    `id`, `split`, `turns`; for a catalogue alone it is not needed
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from recjury.corpora.catalogue import Catalogue, Item
from recjury.corpora.corpus import Corpus, Domain, first_new, parted, read_domain
from recjury.corpora.messages import speaker_of
from recjury.corpora.rows import Row, objects, parts
from recjury.errors import UserError
from recjury.files import nearest
from recjury.records import ItemRef, Scenario, Turn

DIALOGUES = "dialogues.jsonl"
_NAMES = ("items.jsonl", "items.json", "items.csv", "items.tsv", "items.parquet")
_WHOLE = ("id", "title", "name", "plot", "description")
"""Columns of CSV that have one text; the others may have several values in a cell."""
_OWN = ("id", "title", "name", "year", "plot", "description", "popularity")
_LONGEST = 100  # characters: a longer value is a description
_ALSO = ("writer", "language")  # attributes of films that nobody is asked about


def read_folder(given: Path, name: str, split: str) -> Corpus:
    """The corpus in a folder, or beside a file of items, with a split. Raises UserError.

    Without dialogues or without the split it has no scenarios, and says why in `skipped`.
    """
    folder = given if given.is_dir() else given.parent
    domain, catalogue = _catalogue(folder, [] if given.is_dir() else [given])
    path = folder / DIALOGUES
    if not path.is_file():
        alone = f"scenarios: [{{catalogue: {given}, draw: 60}}]"
        reason = f"{folder} has no {DIALOGUES}: for a catalogue alone, write {alone}"
        return Corpus(name, domain, catalogue, (), (reason,))
    rows = list(_unique(path, "dialogue"))
    if not rows:
        raise UserError(f"{path}: has no dialogues")
    splits = sorted({_split(row) for row in rows})
    if split not in splits:
        reason = f"{path} has no split {split!r}: there are {', '.join(splits)}"
        return Corpus(name, domain, catalogue, (), (reason,))
    reader = _Dialogues(name, domain, catalogue, is_linked=not any(map(_lists_items, rows)))
    parsed = [(row, reader.turns(row)) for row in rows if _split(row) == split]
    scenarios, skipped = parted(reader.scenario(row, turns) for row, turns in parsed)
    dialogues = tuple(turns for _, turns in parsed)
    return Corpus(name, domain, catalogue, scenarios, skipped, dialogues)


def _catalogue(folder: Path, there: list[Path]) -> tuple[Domain, Catalogue]:
    there = there or [folder / name for name in _NAMES if (folder / name).is_file()]
    if len(there) != 1:
        names = " and ".join(each.name for each in there) or "no items.jsonl and no items.csv"
        raise UserError(f"{folder}: has {names}: one file of items is wanted")
    domain = _domain(folder, there[0])
    items = _items(there[0], domain)
    known = {relation for item in items for relation in item.attributes}
    for name in domain.attributes.keys() - known if domain.listed else ():
        if meant := nearest(name, known - domain.attributes.keys()):
            path = folder / "domain.yaml"
            raise UserError(f"{path}: attributes: no item has a {name!r}{meant}")
    return domain, Catalogue(items)


def _domain(folder: Path, items: Path) -> Domain:
    path = folder / "domain.yaml"
    if path.is_file():
        return read_domain(path)
    raise UserError(
        f"{folder}: has no domain.yaml, which says what the items of {items.name} are, in one line "
        "such as `domain: product`"
    )


def _items(path: Path, domain: Domain) -> list[Item]:
    items = [_item(row, domain) for row in _unique(path, "item", domain.encoding)]
    if not items:
        raise UserError(f"{path}: has no items")
    return items


def _unique(path: Path, what: str, encoding: str = "utf-8") -> Iterator[Row]:
    """The rows of a file, with the values that are there. Raises UserError for an id twice."""
    has_cells = path.suffix.lower() in (".csv", ".tsv")
    places: dict[str, str] = {}
    for each in objects(path, encoding):
        cells = ((k, _cell(k, v) if has_cells else v) for k, v in each.value.items())
        row = each._replace(value={k: v for k, v in cells if v not in (None, "", [])})
        id_ = row.text("id")
        if not id_:
            raise row.error(f"`id` is missing; the row has {', '.join(row.value)}")
        if id_ in places:
            raise row.error(f"a second {what} has the id {id_!r}, as in {places[id_]}")
        places[id_] = row.where
        yield row


def _cell(column: str, cell: str) -> str | list[str]:
    return cell.strip() if column in _WHOLE else parts(cell)


def _item(row: Row, domain: Domain) -> Item:
    """Columns that recjury does not know are attributes; long texts are part of the description."""
    name = row.text("title", "name")
    if not name:
        raise row.error(f"`title` is missing; the row has {', '.join(row.value)}")
    attributes: dict[str, tuple[str, ...]] = {}
    texts = [row.text("plot", "description")]
    for column in row.value:
        if column in _OWN:
            continue
        values = row.texts(column)
        texts += [value for value in values if len(value) > _LONGEST]
        if short := tuple(value for value in values if len(value) <= _LONGEST):
            attributes[_relation(column, domain)] = short
    year, popularity = row.number("year"), row.number("popularity")
    return Item(
        id=row.text("id"),
        name=name,
        year=int(year) if year else None,
        attributes={key: attributes[key] for key in _ordered(attributes, row, domain)},
        description=" ".join(filter(None, texts)),
        popularity=popularity or 0.0,
    )


def _relation(column: str, domain: Domain) -> str:
    """The attribute of a column, which may have its name in the plural ("genres")."""
    singular = column.removesuffix("s")
    return singular if singular in (*domain.attributes, *_ALSO) else column


def _ordered(attributes: Mapping[str, Any], row: Row, domain: Domain) -> list[str]:
    """Attributes in the order of the columns."""
    columns = [_relation(column, domain) for column in row.value]
    return [column for column in dict.fromkeys(columns) if column in attributes]


def _split(row: Row) -> str:
    return row.text("split") or "test"


def _lists_items(row: Row) -> bool:
    return "targets" in row.value or any("items" in turn for turn in _turns(row))


def _turns(row: Row) -> Sequence[Mapping[str, Any]]:
    may_be_empty = not row.value.keys().isdisjoint(("targets", "wishes"))
    turns = row.value.get("turns", [] if may_be_empty else None)
    if not isinstance(turns, list) or not all(isinstance(turn, dict) for turn in turns):
        raise row.error("`turns`: expected a list of {role, text, items}")
    return turns


class _Dialogues:
    """Dialogues become scenarios. If no dialogue lists items, those of a turn are found in it."""

    def __init__(self, name: str, domain: Domain, catalogue: Catalogue, *, is_linked: bool):
        self._name, self._domain, self._catalogue = name, domain, catalogue
        self._is_linked = is_linked

    def turns(self, row: Row) -> tuple[Turn, ...]:
        """All that is said. Raises UserError."""
        return tuple(self._turn(row, n, turn) for n, turn in enumerate(_turns(row), 1))

    def scenario(self, row: Row, turns: Sequence[Turn]) -> Scenario | str:
        """All that is said, where targets or wishes are given; else up to the first new items."""
        targets = self._refs(row, "targets", row.value.get("targets", ()))
        wishes, id_, reference = row.texts("wishes"), row.text("id"), ""
        if not targets and not wishes:
            found = first_new(turns)
            if found is None:
                return f"{id_}: no system turn recommends something new after a user's turn"
            reference = turns[found[0]].text
            turns, targets = turns[: found[0]], found[1]
            id_ = f"{id_}_1"
        return Scenario(
            id=id_,
            corpus=self._name,
            domain=self._domain.item,
            history=tuple(turns),
            targets=targets,
            wishes=wishes,
            reference=reference,
        )

    def _turn(self, row: Row, number: int, turn: Mapping[str, Any]) -> Turn:
        speaker = speaker_of(turn.get("role", turn.get("speaker")))
        text = turn.get("text", turn.get("content", ""))
        if speaker is None or not isinstance(text, str):
            raise row.error(f"turn {number}: expected `role` (user or system) and `text`")
        listed = turn.get("items", ())
        items = self._refs(row, f"turn {number}", listed)
        if self._is_linked:
            items = self._catalogue.link(text)
        return Turn(speaker=speaker, text=text, items=items)

    def _refs(self, row: Row, where: str, listed: Any) -> tuple[ItemRef, ...]:
        """Ids or names as items. Raises UserError for one that the catalogue lacks."""
        if not isinstance(listed, list | tuple) or not all(isinstance(e, str) for e in listed):
            raise row.error(f"{where}: expected a list of ids or names, got {listed!r}"[:200])
        if unknown := self._catalogue.unknown(listed):
            raise row.error(
                f"{where}: the catalogue has no {self._domain.item} {unknown[0].name!r}"
            )
        return tuple({ref.id: ref for ref in map(self._catalogue.resolve, listed)}.values())
