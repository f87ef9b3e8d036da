"""INSPIRED (Hayati et al., EMNLP 2020): people recommend films in order to persuade others.

There is no catalogue: the items are the films that the column `movies` names, with their years
alone. That column has false matches ("Mine (2016)" for the word), so a turn has only the films that
its text names, too. A scenario is a dialogue up to the first film that the recommender brings up.
"""

import csv
import io
from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from recjury.corpora.catalogue import Catalogue, Item
from recjury.corpora.corpus import Corpus, first_new, known_domain, parted
from recjury.corpora.ievalm import public_folder
from recjury.corpora.titles import name_and_year
from recjury.errors import UserError
from recjury.files import read_text
from recjury.records import Scenario, Speaker, Turn

_FILES = {"valid": "dev.tsv", "test": "test.tsv"}
_SPEAKERS: dict[str, Speaker] = {"SEEKER": "user", "RECOMMENDER": "system"}
_QUOTE = "QUOTATION_MARK"  # how the files write one


class _Line(NamedTuple):
    dialogue: str
    speaker: Speaker
    text: str
    films: frozenset[str]


def inspired(name: str, split: str) -> Corpus:
    """Films, with validation and test dialogues, from the folder in RECJURY_DATA.

    Raises UserError if a file is not there.
    """
    folder = public_folder(name)
    lines = {each: list(_lines(folder / file)) for each, file in _FILES.items()}
    catalogue = _catalogue(lines)
    if split not in lines:
        reason = f"has no split {split!r}: there are {', '.join(lines)}"
        return Corpus(name, known_domain("film"), catalogue, (), (reason,))
    dialogues = groupby(lines[split], key=lambda line: line.dialogue)
    scenarios, skipped = parted(
        _scenario(name, dialogue, list(said), catalogue) for dialogue, said in dialogues
    )
    return Corpus(name, known_domain("film"), catalogue, scenarios, skipped)


def _catalogue(lines: dict[str, list[_Line]]) -> Catalogue:
    """The films; their popularity is the number of validation dialogues that name them."""
    named = {(line.dialogue, film) for line in lines["valid"] for film in line.films}
    counts = Counter(film for _, film in named)
    films = sorted(film for each in lines.values() for line in each for film in line.films)
    return Catalogue(_film(film, counts[film]) for film in dict.fromkeys(films))


def _film(full_name: str, popularity: int) -> Item:
    name, year = name_and_year(full_name)
    return Item(id=full_name, name=name, year=year, popularity=popularity)


def _scenario(
    corpus: str, dialogue: str, lines: list[_Line], catalogue: Catalogue
) -> Scenario | str:
    by_speaker = groupby(lines, key=lambda line: line.speaker)
    turns = [_turn(speaker, list(said), catalogue) for speaker, said in by_speaker]
    found = first_new(turns)
    if found is None:
        return f"{dialogue}: no text names a film of its `movies` that is new"
    number, targets = found
    return Scenario(
        id=dialogue,
        corpus=corpus,
        domain="film",
        history=tuple(turns[:number]),
        targets=targets,
        reference=turns[number].text,
    )


def _turn(speaker: Speaker, lines: list[_Line], catalogue: Catalogue) -> Turn:
    """Lines of one speaker in a row are one turn."""
    text = " ".join(line.text for line in lines)
    films = frozenset[str]().union(*(line.films for line in lines))
    items = tuple(ref for ref in catalogue.link(text) if ref.id in films)
    return Turn(speaker=speaker, text=text, items=items)


def _lines(path: Path) -> Iterator[_Line]:
    reader = csv.DictReader(
        io.StringIO(read_text(path), newline=""), delimiter="\t", quoting=csv.QUOTE_NONE
    )
    for row in reader:
        try:
            films = (film.strip() for film in row["movies"].split(";"))
            text = row["text"].strip().replace(_QUOTE, '"')
            dialogue, speaker = row["dialog_id"].removesuffix(".pkl"), _SPEAKERS[row["speaker"]]
        except (KeyError, AttributeError) as error:
            raise UserError(
                f"{path}:{reader.line_num}: expected dialog_id, speaker (RECOMMENDER or SEEKER), "
                f"text and movies: {error}"
            ) from None
        if text:
            yield _Line(dialogue, speaker, text, frozenset(filter(None, films)))
