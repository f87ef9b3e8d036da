"""The shipped sample, and folders of one's own in its format."""

from itertools import pairwise
from pathlib import Path

import orjson
import pytest

from recjury.corpora import Corpus, Unresolved, open_corpus
from recjury.errors import DataError
from recjury.records import ItemRef, Speaker

FILMS: list[dict[str, object]] = [
    {
        "id": "a",
        "title": "Heat",
        "year": 1995,
        "genres": ["crime"],
        "directors": ["Michael Mann"],
        "actors": ["Al Pacino"],
        "writers": ["Michael Mann"],
        "popularity": 80,
    },
    {"id": "b", "title": "Heat", "year": 1986},
    {"id": "c", "title": "Thief", "year": 1981, "genres": ["crime"], "popularity": 20},
]

DIALOGUES: list[dict[str, object]] = [
    {
        "id": "d1",
        "split": "test",
        "turns": [
            {"role": "system", "text": "Have you seen Thief?", "films": ["c"]},
            {"role": "user", "text": "No, but Heat, with Al Pacino.", "films": ["a"]},
            {"role": "system", "text": "Then watch Thief, or Heat again.", "films": ["c", "a"]},
            {"role": "user", "text": "Ok", "films": []},
            {"role": "system", "text": "Bye"},
        ],
    },
    {
        "id": "d2",
        "split": "train",
        "turns": [
            {"role": "user", "text": "Something by Michael Mann?"},
            {"role": "system", "text": "Heat.", "films": ["a"]},
        ],
    },
]


def _write(
    folder: Path, films: list[dict[str, object]], dialogues: list[dict[str, object]]
) -> Path:
    for name, rows in (("films.jsonl", films), ("dialogues.jsonl", dialogues)):
        (folder / name).write_bytes(b"\n".join(orjson.dumps(row) for row in rows))
    return folder


@pytest.fixture
def own(tmp_path: Path) -> Corpus:
    """A corpus of three films and two dialogues."""
    return open_corpus(_write(tmp_path, FILMS, DIALOGUES))


def test_a_record_is_a_system_turn_that_names_films_after_a_user_turn(own: Corpus) -> None:
    found = own.scenarios("test")
    (scenario,) = found.scenarios
    assert scenario.record == "d1_2"
    assert scenario.targets == (
        ItemRef(id="c", name="Thief (1981)"),
        ItemRef(id="a", name="Heat (1995)"),
    )
    assert [turn.speaker for turn in scenario.history] == [Speaker.SYSTEM, Speaker.USER]
    assert scenario.target_seen
    assert found.unresolved == (
        Unresolved("d1_0", "the system recommends before the user has spoken"),
    )


def test_examples_hold_the_entities_that_were_named(own: Corpus) -> None:
    first, second = own.examples("test")
    assert first.context == ("",)
    assert second.context == ("", "Have you seen Thief?", "No, but Heat, with Al Pacino.")
    assert second.entities == ("Thief (1981)", "Heat (1995)", "Al Pacino")
    assert second.targets == ("Thief (1981)", "Heat (1995)")
    assert own.examples("train")[0].entities == ("Michael Mann",)
    assert own.splits == ("train", "test")
    with pytest.raises(DataError, match="has no split 'valid': there are train, test"):
        own.examples("valid")


def test_the_graph_holds_films_people_genres_and_decades(own: Corpus) -> None:
    graph = own.graph
    assert graph.entities[:3] == ("Heat (1995)", "Heat (1986)", "Thief (1981)")
    assert graph.relations == ("genre", "director", "actor", "writer", "decade")
    assert graph.facts(0) == (
        ("genre", "crime"),
        ("director", "Michael Mann"),
        ("actor", "Al Pacino"),
        ("writer", "Michael Mann"),
        ("decade", "1990s"),
    )
    assert graph.item_of(2) == "c"
    assert len(graph.edges) == 2 * (5 + 1 + 2)


def test_estimates_say_what_is_little_known(own: Corpus) -> None:
    assert [own.catalogue.little_known(film) for film in "abc"] == [False, None, True]


BAD_FILMS = [
    ({"id": "a", "title": "Other"}, "a second film with the id 'a'"),
    ({"id": "z", "title": "Heat", "year": 1995}, r"a second film called 'Heat \(1995\)' .*line 1"),
    ({"id": "z", "title": "X", "yaer": 1995}, "yaer: is not a known key"),
    ({"id": "z", "title": "X", "year": "1995"}, "year: input should be a valid integer"),
    ({"id": "z", "title": "X", "popularity": 0}, "popularity: .* greater than or equal to 1"),
    ({"id": "z", "title": ""}, "title: string should have at least 1 character"),
]


@pytest.mark.parametrize(("film", "told"), BAD_FILMS)
def test_a_wrong_film_is_named(tmp_path: Path, film: dict[str, object], told: str) -> None:
    corpus = open_corpus(_write(tmp_path, [*FILMS, film], DIALOGUES))
    with pytest.raises(DataError, match=rf"films\.jsonl:4: {told}"):
        _ = corpus.catalogue


def _dialogue(*turns: dict[str, object], **fields: object) -> dict[str, object]:
    return {"id": "d3", "split": "test", "turns": list(turns)} | fields


HI: dict[str, object] = {"role": "user", "text": "hi"}

BAD_DIALOGUES = [
    (_dialogue(HI, HI), "turns 1 and 2 are both by the user: join them"),
    (_dialogue(HI | {"films": ["zz"]}), "turn 1 names the film 'zz', which films.jsonl does not"),
    (_dialogue(HI, id="d1"), "a second dialogue 'd1', as in line 1"),
    (_dialogue(HI, split="dev"), "split: input should be 'train', 'valid' or 'test', got 'dev'"),
    (_dialogue(), "turns: list should have at least 1 item"),
    (_dialogue(HI | {"role": "agent"}), "turns.0.role: input should be 'user' or 'system'"),
]


@pytest.mark.parametrize(("dialogue", "told"), BAD_DIALOGUES)
def test_a_wrong_dialogue_is_named(tmp_path: Path, dialogue: dict[str, object], told: str) -> None:
    corpus = open_corpus(_write(tmp_path, FILMS, [*DIALOGUES, dialogue]))
    with pytest.raises(DataError, match=rf"dialogues\.jsonl:3: {told}"):
        corpus.scenarios()


def test_empty_files_are_no_corpus(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"films\.jsonl: holds no film"):
        _ = open_corpus(_write(tmp_path, [], DIALOGUES)).catalogue
    with pytest.raises(DataError, match=r"dialogues\.jsonl: holds no dialogue"):
        open_corpus(_write(tmp_path, FILMS, [])).scenarios()


def test_the_shipped_sample_is_whole() -> None:
    sample = open_corpus("sample")
    assert len(sample.catalogue) >= 200
    assert len({item.name for item in sample.catalogue}) == len(sample.catalogue)
    assert sample.splits == ("train", "valid", "test")
    for split in sample.splits:
        found = sample.scenarios(split)
        assert len(found.scenarios) + len(found.unresolved) == len(sample.examples(split))
        assert len(found.scenarios) >= 40
        for scenario in found.scenarios:
            assert all(a.speaker is not b.speaker for a, b in pairwise(scenario.history))
    shares = [sample.catalogue.little_known(item.id) for item in sample.catalogue]
    assert 0.05 < shares.count(True) / len(shares) < 0.4
    assert None not in shares


def test_every_label_of_the_sample_is_an_entity() -> None:
    sample = open_corpus("sample")
    for example in sample.examples("train"):
        assert all(sample.graph.entity(name) is not None for name in example.targets)
        assert all(sample.graph.entity(name) is not None for name in example.entities)
