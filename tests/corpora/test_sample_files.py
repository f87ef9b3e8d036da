"""The sample files that ship inside the package hold what ``docs/sample.md`` promises."""

import json
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import pytest

SAMPLE = Path(__file__).resolve().parents[2] / "recjury" / "corpora" / "sample"
GENRE_WORDS = (
    "action adventure animation biography comedy crime documentary drama family fantasy history "
    "horror music musical mystery romance sci-fi sport thriller war western"
)
GENRES = frozenset(GENRE_WORDS.split())
FILM_KEYS = {
    "id",
    "title",
    "year",
    "genres",
    "directors",
    "writers",
    "actors",
    "plot",
    "popularity",
}
SPLITS = ("train", "valid", "test")

Row = dict[str, Any]


class Place(NamedTuple):
    """A turn with its dialogue and its 0-based position."""

    dialogue: Row
    position: int
    turn: Row


def rows(name: str) -> list[Row]:
    """Every JSON object of a sample file, one a line."""
    return [json.loads(line) for line in (SAMPLE / name).read_text(encoding="utf-8").splitlines()]


FILMS = rows("films.jsonl")
DIALOGUES = rows("dialogues.jsonl")
BY_ID = {film["id"]: film for film in FILMS}


def turns() -> Iterator[Place]:
    """Every turn of every dialogue."""
    for dialogue in DIALOGUES:
        for position, turn in enumerate(dialogue["turns"]):
            yield Place(dialogue, position, turn)


def recommending() -> Iterator[Place]:
    """System turns that name a film and answer a user turn."""
    return (p for p in turns() if p.turn["role"] == "system" and p.turn["films"] and p.position)


def repeated(values: list[Any]) -> list[Any]:
    """The values that occur more than once."""
    return [value for value, count in Counter(values).items() if count > 1]


def test_catalogue_size_and_keys() -> None:
    assert len(FILMS) >= 240
    assert all(set(film) == FILM_KEYS for film in FILMS)


def test_film_ids_are_unique() -> None:
    assert repeated([film["id"] for film in FILMS]) == []


def test_title_and_year_name_one_film() -> None:
    assert repeated([(film["title"].casefold(), film["year"]) for film in FILMS]) == []


def test_some_titles_need_their_year() -> None:
    remade = set(repeated([film["title"] for film in FILMS]))
    assert {"Suspiria", "Dune", "True Grit", "King Kong"} <= remade


def test_every_decade_has_films() -> None:
    films = Counter(film["year"] // 10 * 10 for film in FILMS)
    assert [decade for decade in range(1930, 2030, 10) if films[decade] < 5] == []


def film_errors(film: Row) -> list[str]:
    """The names of the checks that a film fails."""
    checks = {
        "genres": film["genres"] and GENRES.issuperset(film["genres"]),
        "directors": film["directors"],
        "title": film["title"] == film["title"].strip() != "",
        "plot": film["plot"].endswith("."),
        "year": 1900 < film["year"] < 2030,
        "popularity": 1 <= film["popularity"] <= 100,
    }
    for names in ("genres", "directors", "writers", "actors"):
        checks[f"repeated {names}"] = repeated(film[names]) == []
    return [name for name, passed in checks.items() if not passed]


def test_film_fields_are_filled() -> None:
    wrong = {film["id"]: film_errors(film) for film in FILMS}
    assert {name: errors for name, errors in wrong.items() if errors} == {}


def test_known_and_little_known_films_are_mixed() -> None:
    assert sum(film["popularity"] <= 36 for film in FILMS) >= 70
    assert sum(film["popularity"] >= 80 for film in FILMS) >= 40


def test_most_films_share_a_person_with_another() -> None:
    uses = Counter(p for film in FILMS for p in {*film["directors"], *film["actors"]})
    linked = [f for f in FILMS if any(uses[p] > 1 for p in {*f["directors"], *f["actors"]})]
    assert len(linked) / len(FILMS) > 0.7


def test_dialogue_ids_and_number() -> None:
    assert len(DIALOGUES) >= 150
    assert repeated([dialogue["id"] for dialogue in DIALOGUES]) == []


def test_dialogues_and_turns_differ() -> None:
    assert repeated([place.turn["text"] for place in turns()]) == []


@pytest.mark.parametrize(("split", "least"), [("train", 100), ("valid", 20), ("test", 30)])
def test_split_sizes(split: str, least: int) -> None:
    assert sum(dialogue["split"] == split for dialogue in DIALOGUES) >= least


@pytest.mark.parametrize("split", SPLITS)
def test_every_dialogue_of_a_split_recommends(split: str) -> None:
    of_split = {dialogue["id"] for dialogue in DIALOGUES if dialogue["split"] == split}
    assert of_split <= {place.dialogue["id"] for place in recommending()}


def dialogue_errors(dialogue: Row) -> list[str]:
    """The names of the checks that a dialogue fails."""
    turns = dialogue["turns"]
    roles = [turn["role"] for turn in turns]
    checks = {
        "split": dialogue["split"] in SPLITS,
        "length": 2 <= len(turns) <= 9,
        "roles": set(roles) == {"user", "system"},
        "turns alternate": all(one != other for one, other in pairwise(roles)),
        "keys": all(set(turn) - {"likes"} == {"role", "text", "films"} for turn in turns),
        "repeated films": all(repeated(turn["films"]) == [] for turn in turns),
        "films are named": all(
            film in BY_ID and BY_ID[film]["title"] in turn["text"]
            for turn in turns
            for film in turn["films"]
        ),
    }
    return [name for name, passed in checks.items() if not passed]


def test_turns_alternate_and_name_catalogue_films() -> None:
    wrong = {dialogue["id"]: dialogue_errors(dialogue) for dialogue in DIALOGUES}
    assert {name: errors for name, errors in wrong.items() if errors} == {}


def test_a_year_in_brackets_belongs_to_the_film() -> None:
    titles = Counter(film["title"] for film in FILMS)
    for place in turns():
        for film in map(BY_ID.__getitem__, place.turn["films"]):
            if titles[film["title"]] > 1 and f"{film['title']} (" in place.turn["text"]:
                assert f"{film['title']} ({film['year']})" in place.turn["text"]


def test_only_users_like_and_only_films_they_name() -> None:
    likes = [place for place in turns() if "likes" in place.turn]
    assert len(likes) >= 30
    for place in likes:
        assert place.turn["role"] == "user"
        assert set(place.turn["likes"]) <= set(place.turn["films"])


def test_long_titles_are_never_named_without_being_listed() -> None:
    # Titles of one word are ordinary words too often ("Once", "Her") to be found by their text.
    long = [film for film in FILMS if film["title"].count(" ") >= 2]
    for place in turns():
        listed = {BY_ID[film]["title"] for film in place.turn["films"]}
        unlisted = [f["title"] for f in long if f["title"] in place.turn["text"]]
        assert all(any(title in known for known in listed) for title in unlisted)


def test_shares_of_repeated_and_double_recommendations() -> None:
    places = list(recommending())
    named = [
        (film, [f for turn in p.dialogue["turns"][: p.position] for f in turn["films"]])
        for p in places
        for film in p.turn["films"]
    ]
    again = sum(film in before for film, before in named) / len(named)
    double = sum(len(place.turn["films"]) == 2 for place in places) / len(places)
    assert 0.02 < again < 0.15
    assert 0.1 < double < 0.3


def test_most_of_the_catalogue_is_talked_about() -> None:
    mentioned = {film for place in turns() for film in place.turn["films"]}
    assert len(mentioned) / len(FILMS) > 0.75
