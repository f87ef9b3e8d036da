"""The page of a conversation: talk, ratings, marks, debate and calls, from a real store."""

from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest

from recjury.records import Event, Evidence, ItemRef, Rating, Status, Turn
from recjury.store import Store
from recjury.view.conversation import calls_page, conversation_page
from recjury.view.debates import debate_chart
from recjury.view.rated import Mark, segments
from recjury.view.rendering import render
from tests.campaign.campaigns import config, play
from tests.view.stores import debated, log_of, put, rated, said

HEAT = "Try Heat (1995), a long night of cat and mouse."


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "s.db") as opened:
        yield opened


class Tags(HTMLParser):
    """The tags of a page, and its text."""

    def __init__(self, html: str):
        super().__init__()
        self.tags: list[str] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


def html_of(store: Store, id_: str, **query: str) -> str:
    return render(conversation_page(store, query, id_))


@pytest.mark.parametrize(
    ("finding", "marked", "note"),
    [
        (
            rated("novelty", 3, 'It says "a long  night of CAT and mouse".'),
            "a long night of cat and mouse",
            "",
        ),
        (
            rated("novelty", 3, "It says “Try … night of cat and mouse”"),
            "night of cat and mouse",
            "",
        ),
        (
            Evidence(name="novelty.0", value={"turn": 1, "span": [4, 8], "act": "recommend"}),
            "Heat",
            "act recommend",
        ),
        (
            Evidence(name="novelty", value={"turn": 1, "quote": "Heat", "note": "a classic"}),
            "Heat",
            "note a classic",
        ),
        (rated("novelty", 3, 'It says "Heat".'), "", ""),
        (rated("novelty", 3, 'It says "a film that nobody has seen".'), "", ""),
        (Evidence(name="novelty", value={"turn": 7, "quote": "Heat"}), "", ""),
        (Evidence(name="novelty", value={"turn": 1, "span": [40, 400]}), "", ""),
    ],
)
def test_what_a_rating_rests_on_is_marked(
    store: Store, finding: Rating | Evidence, marked: str, note: str
) -> None:
    first = [] if isinstance(finding, Rating) else [rated("novelty", 3)]
    id_ = put(store, said("A film?", HEAT), [*first, finding])
    page = conversation_page(store, {}, id_)
    parts = [part for turn in page.values["turns"] for part in turn.segments]
    assert "".join(part.text for part in parts) == f"A film?{HEAT}"
    assert [part.text for part in parts if part.ratings] == ([marked] if marked else [])
    (row,) = (
        page.values["judged"][0].rows if page.values["judged"] else page.values["computed"][0].rows
    )
    assert [mark.note for mark in row.marks] == ([note] if marked else [])


def test_marks_may_overlap() -> None:
    marks = [Mark(0, 0, 5, "a"), Mark(0, 3, 8, "b"), Mark(0, 3, 5, "a")]
    parts = segments("0123456789", marks)
    assert [(part.text, part.ratings) for part in parts] == [
        ("012", ("a",)),
        ("34", ("a", "b")),
        ("567", ("b",)),
        ("89", ()),
    ]


def test_targets_are_hits_once(store: Store) -> None:
    heat, ran = ItemRef(id="f1", name="Heat (1995)"), ItemRef(id="f2", name="Ran (1985)")
    turns = [Turn(speaker="system", text="Here.", items=items) for items in ((ran, heat), (heat,))]
    id_ = put(store, log_of(turns, ending="hit", targets=[heat]))
    shown = [turn.items for turn in conversation_page(store, {}, id_).values["turns"]]
    assert shown == [[("Ran (1985)", ""), ("Heat (1995)", "got")], [("Heat (1995)", "again")]]


def test_each_rater_has_a_column_and_a_failure_is_no_number(store: Store) -> None:
    main = [rated("novelty", 2, "Old.", turn=1), rated("novelty", 4, "New.", turn=3)]
    second = rated("novelty", None, rater="second").model_copy(update={"reason": "no tag"})
    id_ = put(store, said("A?", "B.", "C?", "D."), [*main, second.model_copy(update={"turn": 1})])
    (core,) = conversation_page(store, {}, id_).values["judged"]
    assert core.raters == ["main", "second"]
    (row,) = core.rows
    assert [each.score for each in row.scores] == [3.0, None]
    assert [rating.turn for _, rating in row.ratings] == [1, 3, 1]
    assert "unreadable" in Tags(html_of(store, id_)).text


def test_judgings_are_columns(store: Store) -> None:
    id_ = put(store, said("A?", "B."), [rated("novelty", 1, "No.")], [rated("novelty", 3, "Yes.")])
    (core,) = conversation_page(store, {}, id_).values["judged"]
    assert core.raters == ["main 1", "main 2"]
    assert [each.score for each in core.rows[0].scores] == [1, 3]


@pytest.mark.parametrize(
    ("rounds", "agreed", "moves"),
    [
        ([[50, 100, 90, 92], [80, 85, 85, 86]], False, "towards the Linguist"),
        ([[50, 100, None, 92], [85, 85, None, 85]], True, "towards the HCI Expert"),
        ([[50, 100, 90, 92], [40, 40, 40, 40]], True, "away from all"),
        ([[50, 100, 90, 92], [50, 40, 40, 40]], False, "stays"),
    ],
)
def test_a_debate_is_drawn(rounds: list[list[float | None]], agreed: bool, moves: str) -> None:
    chart = debate_chart(debated(*rounds))
    assert chart.agreed == agreed
    assert chart.rounds[1].said[0].move == moves
    assert len({said.letter for said in chart.rounds[0].said}) == len(rounds[0])


@pytest.mark.parametrize(
    "scores", [[0, 0, 0, 0], [100, 100, 99, 98], [0, 50, 50, 100], [1, 5, 9, 13]]
)
def test_no_disc_covers_another_one_or_leaves_the_drawing(scores: list[float | None]) -> None:
    chart = debate_chart(debated(scores))
    assert all(2 < disc.x < 98 and 22 < disc.y < chart.height - 20 for disc in chart.discs)
    width = 3.0  # pixels of one per cent on a narrow page
    for one in chart.discs:
        for other in chart.discs:
            gap = max(abs(one.x - other.x) * width, abs(one.y - other.y))
            assert one is other or gap >= 16, (one, other)


def test_a_debate_without_a_verdict_says_so(store: Store) -> None:
    lost = Rating(metric="overall", rater="debate", status=Status.CALL_FAILED, reason="no network")
    debate = debated([40, 50, 60, 70]).model_copy(update={"verdict": lost})
    text = Tags(html_of(store, put(store, said("A?", "B."), [debate]))).text
    assert "No verdict: call failed." in text
    assert "no network" in text


def test_a_failed_conversation_says_why(store: Store) -> None:
    turns = [Turn(speaker="user", text="A?"), Turn(speaker="system", failure="it hung for 120 s")]
    text = Tags(html_of(store, put(store, log_of(turns, ending="system failed")))).text
    assert "it hung for 120 s" in text
    assert "No ratings: the system failed." in text


HOSTILE = [
    "</script><script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</p></main></body><!--",
    "{{ 7 * 7 }}{% for x in y %}",
    "\u202eright to left\u202c \u0627\u0644\u0639\u0631\u0628\u064a\u0629",
    "a lone \ud800 surrogate, \x00 and \x1b[31m",
    "<style>*{display:none}</style>",
    "x" * 1_000_000,
    "'; DROP TABLE text; --",
    ' href="/c/films" data-m="core.novelty" ',
]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_stay_text(store: Store, text: str) -> None:
    item = ItemRef(id=text[:50], name=text)
    event = Event(kind=text, value={"name": text})
    turns = [
        Turn(speaker="user", text=text),
        Turn(speaker="system", text=text, items=(item,), events=(event,)),
    ]
    log = log_of(turns, targets=[item], wishes=[text])
    evidence = Evidence(name="novelty", value=text)
    page = Tags(
        html_of(store, put(store, log, [rated("novelty", 3, text), evidence, debated([1, 2])]))
    )
    assert page.tags.count("script") == 1
    assert not {"img", "style"} & set(page.tags)
    assert page.tags.count("main") == page.text.count("s1 · recjury") == 1
    assert text in page.text


def test_all_prompts_and_replies_are_there(tmp_path: Path) -> None:
    play(tmp_path / "m.db", config())
    with Store(tmp_path / "m.db", readonly=True) as store:
        row = store.conversations("small")[-1]
        page = calls_page(store, {}, row.id)
        purposes = page.values["purposes"].values()
        text = Tags(render(page)).text
        page = conversation_page(store, {}, row.id)
    assert {"core.novelty", "Linguist, round 1", "turn 1, system"} <= set(purposes)
    assert "You judge one factor: Novelty." in text
    assert sum(part["calls"] for part in page.values["sums"]) == len(purposes)


def test_neighbours_stand_in_the_order_one_came_from(store: Store) -> None:
    ids = [
        put(
            store,
            said("A?", "B.", id=f"s{number}"),
            [debated([score])],
            number=number,
            system=system,
        )
        for number, (system, score) in enumerate([("a", 50), ("b", 70), ("a", 10), ("a", 90)])
    ]
    neighbours = conversation_page(store, {}, ids[1]).values["neighbours"]
    assert (neighbours["before"], neighbours["after"]) == (f"/t/{ids[0]}", f"/t/{ids[2]}")
    query = {"in": "system=a&sort=-core.overall"}
    neighbours = conversation_page(store, query, ids[0]).values["neighbours"]
    assert neighbours["before"].startswith(f"/t/{ids[3]}?in=system%3Da%26sort")
    assert neighbours["after"].startswith(f"/t/{ids[2]}?in=")
    assert (neighbours["place"], neighbours["of"]) == (2, 3)
