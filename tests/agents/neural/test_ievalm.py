"""A conversation of iEvaLM-CRS's own kind, over ReDial: entities as its code would have them.

Worked out by hand with `rapidfuzz.process.extract(text, names, scorer=WRatio, limit=20)`, of which
names of at least 90 count.
"""

import functools
import os
from pathlib import Path

import pytest

from recjury.agents.neural.entities import EntityGraph, entity_graph
from recjury.agents.neural.said import Fidelity, Listener, Said
from recjury.corpora import Corpus, open_corpus
from recjury.records import Turn

DATA = Path(os.environ.get("RECJURY_DATA", "nowhere")) / "ievalm" / "redial"
pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="RECJURY_DATA has no ievalm/redial")


@pytest.fixture(scope="module")
def redial() -> Corpus:
    return open_corpus("redial")


@functools.cache
def graph_of(corpus: str) -> EntityGraph:
    return entity_graph(open_corpus(corpus))


def read(corpus: Corpus, fidelity: Fidelity, *turns: Turn, longest: int = 32) -> Said:
    listener = Listener(graph_of("redial"), corpus.catalogue, fidelity, longest)
    return listener.said(turns)


def names(said: Said) -> list[str]:
    return [graph_of("redial").names[number] for number in said.entities]


def history(corpus: Corpus, id_: str) -> tuple[Turn, ...]:
    return next(each.history for each in corpus.scenarios if each.id == id_)


def test_the_graph_is_the_published_one() -> None:
    graph = graph_of("redial")
    assert (len(graph), len(graph.relations), len(graph.items)) == (24630, 4, 6576)
    assert graph.ends.shape == (2, 113930)


def test_a_record_gives_its_entities_also_the_false_ones(redial: Corpus) -> None:
    """Record 20001, turn 3: "Eve" was found in "never", and the film has two names."""
    said = read(redial, "ievalm", *history(redial, "20001_3"))
    assert names(said) == [
        "Super Troopers (2001)",
        "Police Academy (1984)",
        "Eve",
        "American Pie",
        "American Pie (1999)",
    ]
    ours = names(read(redial, "corrected", *history(redial, "20001_3")))
    assert "Eve" not in ours
    assert {"Super Troopers (2001)", "Police Academy (1984)", "American Pie (1999)"} <= set(ours)


@pytest.mark.parametrize(
    ("text", "theirs", "ours"),
    [
        (
            "How about The Hangover (2009)?",
            ["The Hangover (2009)", "The Hangover"],
            ["The Hangover (2009)"],
        ),
        ("You should watch Step Brothers  (2008)", [], ["Step Brothers (2008)"]),  # two spaces
        ("I would recommend Superbad", [], ["Superbad (2007)"]),  # the name has a year
        ("I like Will Ferrell comedies.", ["Will Ferrell"], ["Will Ferrell"]),
        (
            "I love romance movies like Titanic (1997) and Up",
            ["romance", "Titanic (1997)", "Titanic"],
            ["Titanic (1997)", "Up (2009)", "romance"],
        ),
    ],
)
def test_a_later_text_is_linked(
    redial: Corpus, text: str, theirs: list[str], ours: list[str]
) -> None:
    said = Turn(speaker="system", text=text)
    assert names(read(redial, "ievalm", said)) == theirs
    assert names(read(redial, "corrected", said)) == ours


def test_two_letters_name_twenty_people_by_wratio(redial: Corpus) -> None:
    said = Turn(speaker="user", text="ok")
    theirs = names(read(redial, "ievalm", said))
    assert len(theirs) == 20
    assert "Brooke Shields" in theirs
    assert not read(redial, "corrected", said).entities


def test_repeats_count_once_and_the_last_names_count(redial: Corpus) -> None:
    past = history(redial, "20001_3")
    again = Turn(speaker="user", text="I like Will Ferrell comedies.")
    theirs = names(read(redial, "ievalm", *past, again, again, longest=3))
    assert theirs == ["American Pie", "American Pie (1999)", "Will Ferrell"]
    ours = names(read(redial, "corrected", *past, again, again))
    assert ours[-2:] == ["Will Ferrell"] * 2
