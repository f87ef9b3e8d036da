"""The system `retrieval`: what it hears, what it recommends, and whether its reasons are true."""

import pytest

from recjury.corpora import Catalogue, Corpus, Domain, Item, known_domain, open_corpus
from recjury.corpora.graph import Node
from recjury.records import Turn
from tests.agents.talk import loaded, run, talk_with

RETRIEVAL = {"kind": "retrieval"}
FILMS = [
    Item(
        id=name,
        name=name,
        year=year,
        attributes={"genre": tuple(genres.split()), "director": (by,)},
        description=story,
        popularity=known,
    )
    for name, year, genres, by, story, known in [
        ("Heat", 1995, "crime thriller", "Michael Mann", "A thief plans one last job. It ends.", 9),
        ("Thief", 1981, "crime thriller", "Michael Mann", "A man opens safes.", 3),
        ("Collateral", 2004, "crime", "Michael Mann", "A driver has a bad night.", 4),
        ("Airplane", 1980, "comedy", "Jim Abrahams", "A pilot is afraid of flying.", 8),
        ("Big", 1988, "comedy fantasy", "Penny Marshall", "A boy wakes up grown.", 7),
        ("Coraline", 2009, "fantasy horror", "Henry Selick", "A girl opens a door.", 5),
        ("Psycho", 1960, "horror thriller", "Alfred Hitchcock", "A motel in the rain.", 8),
    ]
]


def corpus(items: list[Item] | None = None, domain: Domain | None = None) -> Corpus:
    return Corpus("few", domain or known_domain("film"), Catalogue(items or FILMS), ())


def answers(*says: str, over: Corpus | None = None) -> list[Turn]:
    async def work() -> list[Turn]:
        return await talk_with(loaded(RETRIEVAL, over or corpus()), says)

    import asyncio

    return asyncio.run(work())


def first(text: str) -> str:
    """The id of the item that it likes best."""
    return answers(text)[0].items[0].id


@pytest.mark.parametrize(
    ("text", "best"),
    [
        ("Something with crime in it.", "Heat"),
        ("I want comedies.", "Airplane"),
        ("A film of Penny Marshall, please!", "Big"),
        ("Horror, but no thriller.", "Coraline"),
        ("I don't want a thriller. Rather something with horror.", "Coraline"),
        ("A comedy without fantasy?", "Airplane"),
        ("The one where a girl opens a door", "Coraline"),
        ("Crime from the 80s", "Thief"),
        ("A thriller of 1960", "Psycho"),
        ("A crime film like Thief (1981)", "Heat"),
    ],
)
def test_what_a_user_says_counts(text: str, best: str) -> None:
    assert first(text) == best


def test_what_was_said_later_counts_more() -> None:
    assert answers("I like comedy.", "Now rather horror.")[1].items[0].id == "Psycho"


def test_popularity_decides_between_equals() -> None:
    assert first("crime, and thriller") == "Heat"
    swapped = [item.model_copy(update={"popularity": 12 - item.popularity}) for item in FILMS]
    assert answers("crime, and thriller", over=corpus(swapped))[0].items[0].id == "Thief"


def test_who_says_nothing_is_asked_once() -> None:
    asked, offered = answers("Hello!", "I don't know.")
    assert "?" in asked.text
    assert not asked.items
    assert offered.items


def test_what_is_refused_does_not_come_back() -> None:
    turns = answers("A comedy.", "Not Airplane (1980), please.", "I've seen Big (1988) already.")
    assert "Airplane" in turns[0].text
    assert "Airplane" not in turns[1].text
    assert not {"Airplane", "Big"} & {item.id for item in turns[2].items[:3]}


def test_what_the_user_named_is_not_recommended() -> None:
    said = answers("I love Heat (1995). Is there anything similar?")[0]
    assert said.items[0].id in ("Thief", "Collateral")
    assert "I would try Heat" not in said.text
    assert "as with Heat (1995)" in said.text


def test_it_tells_of_an_item_and_does_not_repeat_itself() -> None:
    _, told, again = answers(
        "Crime.", "Heat (1995) sounds good. Who made it?", "Tell me more about Heat (1995)."
    )
    assert told.items[0].id == "Heat"
    assert "A thief plans one last job." in told.text
    assert "It ends" not in told.text
    assert "Michael Mann directed it" in told.text
    assert "Michael Mann directed it" not in again.text


def test_words_of_a_title_are_no_refusal() -> None:
    item = FILMS[0].model_copy(update={"id": "n", "name": "No Way to Hate", "year": None})
    over = corpus([*FILMS, item])
    assert "No Way to Hate" in answers("Who directed No Way to Hate?", over=over)[0].text


def test_a_question_is_no_refusal() -> None:
    offered, told = answers("A film of Penny Marshall.", "No, I did not know! Who is in it?")
    assert told.items[0] == offered.items[0]
    assert "A boy wakes up grown." in told.text


def test_a_reason_goes_with_its_edge() -> None:
    asked = "Something like Collateral (2004)?"
    over = corpus()
    said = answers(asked, over=over)[0]
    assert "Michael Mann directed it" in said.text
    for film in ("Heat", "Thief"):
        value = Node("value", "michael mann")
        over.catalogue.graph.graph.remove_edge(Node("item", film), value, key="director")
    left = answers(asked, over=over)[0]
    assert "Michael Mann" not in left.text
    assert "its genre is crime, as with Collateral (2004)" in left.text


def test_a_wish_for_books_gets_no_film() -> None:
    book = Item(
        id="b",
        name="Emma",
        attributes={"genre": ("comedy",)},
        domain="book",
        description="A match.",
    )
    films = [item.model_copy(update={"domain": "film"}) for item in FILMS]
    over = corpus([*films, book], known_domain("film-or-book"))
    assert answers("A comedy?", over=over)[0].items[0].id != "b"


def test_other_kinds_of_items() -> None:
    said = answers("A story about a whale at sea?", over=open_corpus("sample-books"))[0]
    assert "Moby-Dick" in said.text
    shop = Domain(item="phone", items="phones", verb="buy", done="had", attributes={"brand": ""})
    phones = [
        Item(id=str(n), name=f"Model {n}", attributes={"brand": (brand,), "size": ("small",)})
        for n, brand in enumerate(["Alba", "Bolt"])
    ]
    asked, said = answers("Hi", "One of Bolt, small if possible", over=corpus(phones, shop))
    assert "a phone" in asked.text
    assert said.items[0].id == "1"
    assert "its brand is Bolt" in said.text


def test_an_item_of_which_nothing_is_known() -> None:
    bare = corpus([Item(id="1", name="Nothing Else")])
    assert "Nothing Else" in answers("Hi", "Whatever", over=bare)[1].text


def test_all_of_the_sample_can_be_talked_about() -> None:
    turns = run(RETRIEVAL, lambda system: talk_with(system, ["Hi", "🎬", "", "x" * 100_000]))
    assert not any(turn.failure for turn in turns)
    assert all(turn.text for turn in turns)
