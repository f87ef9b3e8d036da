"""INSPIRED (Hayati et al. 2020): people recommend films to others, in order to persuade them.

The corpus has no catalogue: the items are the films that its columns `movies` name, with their
years and nothing else. These columns have false matches ("Mine (2016)" for the word "mine"), so a
film counts as named only if `Catalogue.link` finds it in the text as well.
"""

from collections import Counter
from functools import cached_property
from itertools import chain, groupby
from pathlib import Path
from typing import Literal, NamedTuple

from recjury.corpora.corpus import ScenarioSet, Unresolved
from recjury.corpora.csv_rows import TABS, CsvRow, read_csv_rows
from recjury.corpora.folder import FolderCorpus
from recjury.corpora.folder_files import Dialogue, DialogueTurn, Split
from recjury.errors import DataError
from recjury.knowledge import Catalogue, split_year
from recjury.records import Item

_FILES: dict[Split, str] = {"valid": "dev.tsv", "test": "test.tsv"}
_ROLES: dict[str, Literal["user", "system"]] = {"SEEKER": "user", "RECOMMENDER": "system"}
_COLUMNS = ("dialog_id", "speaker", "text", "movies")
_QUOTE = "QUOTATION_MARK"  # how the files write one


class _Line(NamedTuple):
    """One line; consecutive lines of a speaker are one turn. `films` are those of `movies`."""

    split: Split
    dialogue: str
    role: Literal["user", "system"]
    text: str
    films: tuple[str, ...]


class InspiredCorpus(FolderCorpus):
    """A `Corpus`. Its records are the recommender's turns that name films."""

    def __init__(self, data: Path):
        """`data` is the folder that contains `inspired/`. Raises DataError if it is missing."""
        self.name = "inspired"
        folder = data / self.name
        self._files = {s: folder / f for s, f in _FILES.items() if (folder / f).is_file()}
        if not self._files:
            raise DataError(
                f"no dev.tsv and no test.tsv in {folder}: set RECJURY_DATA, or `data` in the "
                "campaign file, to the folder that holds inspired/"
            )
        self.paths = tuple(self._files.values())

    @cached_property
    def catalogue(self) -> Catalogue:
        """The films; their popularity is the number of validation dialogues that name them."""
        counts = Counter(
            film
            for dialogue in self._dialogues
            if dialogue.split == "valid"
            for film in {film for turn in dialogue.turns for film in turn.items}
        )
        films = (i.model_copy(update={"popularity": float(counts[i.id])}) for i in self._titles)
        return Catalogue(self.name, films)

    def scenarios(
        self, split: str = "test", limit: int | None = None, seed: int = 0
    ) -> ScenarioSet:
        """As of any folder; records whose text names no film of its `movies` are unresolved."""
        found = super().scenarios(split, limit, seed)
        kept = {turn.record for turn in self._system_turns(split)}
        partial = tuple(each for each in self._lost[split] if each.record in kept)
        unresolved = (each for each in self._lost[split] if each.record not in kept)
        return ScenarioSet(found.scenarios, (*found.unresolved, *unresolved), partial)

    @cached_property
    def _lines(self) -> list[_Line]:
        return [
            _line(split, row)
            for split, path in self._files.items()
            for row in read_csv_rows(path, _COLUMNS, TABS)
            if row["text"].strip()
        ]

    @cached_property
    def _titles(self) -> Catalogue:
        """The films, without popularity."""
        names = dict.fromkeys(chain.from_iterable(line.films for line in self._lines))
        titles = ((name, *split_year(name)) for name in names)
        films = (Item(id=name, name=name, title=title, year=year) for name, title, year in titles)
        return Catalogue(self.name, films)

    @cached_property
    def _turns(self) -> list[tuple[Split, str, list[list[_Line]]]]:
        """Split, dialogue, and its turns: the lines of each."""
        by_dialogue = groupby(self._lines, key=lambda line: (line.split, line.dialogue))
        return [
            (split, name, [list(turn) for _, turn in groupby(lines, key=lambda line: line.role)])
            for (split, name), lines in by_dialogue
        ]

    @cached_property
    def _dialogues(self) -> list[Dialogue]:
        return [
            Dialogue(id=name, split=split, turns=[self._turn(lines) for lines in turns])
            for split, name, turns in self._turns
        ]

    def _turn(self, lines: list[_Line]) -> DialogueTurn:
        found = (film for line in lines for film in line.films if film in self._named(line))
        text = " ".join(line.text for line in lines)
        return DialogueTurn(role=lines[0].role, text=text, films=list(dict.fromkeys(found)))

    @cached_property
    def _lost(self) -> dict[str, list[Unresolved]]:
        """By split, the recommender's turns with films in `movies` that their texts do not name."""
        lost: dict[str, list[Unresolved]] = {split: [] for split in self._files}
        for split, name, turns in self._turns:
            for place, lines in enumerate(turns):
                missing = [f for line in lines for f in line.films if f not in self._named(line)]
                if missing and lines[0].role == "system":
                    reason = f"the text does not name {', '.join(dict.fromkeys(missing))}"
                    lost[split].append(Unresolved(f"{name}_{place}", reason))
        return lost

    def _named(self, line: _Line) -> set[str]:
        return {mention.id for mention in self._titles.link(line.text)}


def _line(split: Split, row: CsvRow) -> _Line:
    if row["speaker"] not in _ROLES:
        raise row.error(f"speaker: expected RECOMMENDER or SEEKER, got {row['speaker'][:40]!r}")
    return _Line(
        split=split,
        dialogue=row["dialog_id"].removesuffix(".pkl"),
        role=_ROLES[row["speaker"]],
        text=row["text"].strip().replace(_QUOTE, '"'),
        films=tuple(name for film in row["movies"].split(";") if (name := film.strip())),
    )
