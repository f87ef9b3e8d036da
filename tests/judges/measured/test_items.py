"""Effectiveness, Novelty, Diversity, Semantic Relevance and Groundness on boundary logs."""

import asyncio

import pytest

from recjury.judges.measured import MeasuredPanel
from recjury.judges.measured.lists import diversity_score, novelty_score
from recjury.knowledge import Catalogue
from recjury.records import Factor, Item, Status
from tests.judges.measured.logs import (
    ALIEN,
    AMELIE,
    FILLERS,
    HEAT,
    INSIDER,
    NOTTING,
    PANEL,
    RARE,
    UNKNOWN,
    log,
    rating,
    replies,
    score,
)


@pytest.mark.parametrize(
    ("rare", "total", "expected"),
    [
        (0, 50, 0), (1, 50, 1), (2, 50, 1), (3, 50, 2), (5, 50, 2), (6, 50, 3), (9, 50, 3),
        (10, 50, 3), (11, 50, 4), (2, 8, 3), (2, 9, 3), (2, 10, 1), (1, 4, 3), (1, 5, 1),
        (3, 10, 3), (4, 8, 4), (4, 10, 3), (5, 10, 4), (1, 1, 4), (1, 2, 4), (1, 3, 3),
    ],
)  # fmt: skip
def test_novelty_counts_little_known_items(rare: int, total: int, expected: int) -> None:
    """Every boundary of the rubric, through the panel."""
    items = (*RARE[:rare], *FILLERS[: total - rare])
    assert score(Factor.NOVELTY, log("Hi", "Here.", items=items)) == expected
    assert novelty_score(rare, total) == expected


def test_novelty_cuts_each_turns_list_and_counts_an_item_once() -> None:
    """The session list is judged: ten a turn, first occurrences."""
    cut = log("Hi", "Here.", items=(*FILLERS[:10], *RARE[:20]), list_length=10)
    assert score(Factor.NOVELTY, cut) == 0
    twice = log("Hi", "Here.", items=(RARE[0], RARE[0], *FILLERS[:20]))
    assert score(Factor.NOVELTY, twice) == 1


def test_a_list_is_one_finding_for_the_debate() -> None:
    evidence = asyncio.run(PANEL.rate(log("Hi", "Here.", items=RARE[:9]))).evidence
    assert [(e.turn, e.note) for e in evidence if e.factor == Factor.NOVELTY] == [
        (1, "little known: Quiblex 0 (1990), Quiblex 1 (1990), Quiblex 2 (1990) and 6 more")
    ]


def test_novelty_needs_known_popularity() -> None:
    """Unknown items are left out; where they are the most, there is no score."""
    assert score(Factor.NOVELTY, log("Hi", "Here.", items=(UNKNOWN, *FILLERS[:3], RARE[0]))) == 3
    unknown = rating(Factor.NOVELTY, log("Hi", "Here.", items=(UNKNOWN,)))
    assert unknown.status is Status.NOT_MEASURED


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ((1, 1, 1, 1), 0), ((0, 0, 0, 0), 0), ((2, 1, 1, 1), 1), ((2, 2, 2, 2), 1),
        ((3, 1, 1, 1), 1), ((3, 2, 2, 2), 1), ((3, 3, 1, 1), 2), ((4, 1, 1, 1), 2),
        ((4, 3, 1, 1), 2), ((4, 4, 1, 1), 3), ((5, 1, 1, 1), 3), ((9, 4, 4, 4), 3),
        ((5, 5, 1, 1), 4), ((9, 9, 9, 9), 4),
    ],
)  # fmt: skip
def test_diversity_anchors(counts: tuple[int, int, int, int], expected: int) -> None:
    """Every anchor, by count alone and through the panel, in any order of dimensions."""
    assert diversity_score(counts) == diversity_score(counts[::-1]) == expected
    items = _spanning(counts)
    panel = MeasuredPanel(Catalogue("spans", items))
    found = rating(Factor.DIVERSITY, log("Hi", "Here.", items=items), panel)
    assert found.score == (expected if any(counts) else None)


def _spanning(counts: tuple[int, int, int, int]) -> list[Item]:
    genres, directors, actors, decades = counts
    return [
        Item(
            id=str(n),
            name=f"Spanner {n}",
            title=f"Spanner {n}",
            genres=(f"genre{min(n, genres - 1)}",) if genres else (),
            directors=(f"director{min(n, directors - 1)}",) if directors else (),
            actors=(f"actor{min(n, actors - 1)}", f"support{n}") if actors else (),
            year=1900 + 10 * min(n, decades - 1) if decades else None,
        )
        for n in range(max(*counts, 1))
    ]


def test_diversity_of_a_long_list_is_unscored() -> None:
    """Where nearly every list has the top score, the count says nothing."""
    long = rating(Factor.DIVERSITY, log("Hi", "Here.", items=FILLERS[:10]))
    assert long.status is Status.NOT_MEASURED
    assert score(Factor.DIVERSITY, log("Hi", "Here.", items=FILLERS[:9])) == 0


def test_effectiveness_anchors() -> None:
    """A hit 4; most very similar 3; few very 2; most somewhat 2; few somewhat 1; none 0."""
    cases = [
        ((INSIDER, HEAT), HEAT, 4),
        ((_like_heat("x"), _like_heat("y"), ALIEN), HEAT, 3),
        ((_like_heat("x"), ALIEN), HEAT, 2),
        ((_like_heat("x"), *FILLERS[:5]), HEAT, 2),
        ((INSIDER,), HEAT, 2),
        ((INSIDER, *FILLERS[:5]), HEAT, 1),
        ((ALIEN, AMELIE, *FILLERS[:5]), HEAT, 0),
    ]
    catalogue = Catalogue(
        "like", (HEAT, INSIDER, ALIEN, AMELIE, NOTTING, _like_heat("x"), _like_heat("y"), *FILLERS)
    )
    for items, target, expected in cases:
        found = rating(
            Factor.EFFECTIVENESS,
            log("Hi", "Here.", items=items, targets=(target,)),
            MeasuredPanel(catalogue),
        )
        assert found.score == expected, found.rationale
    assert (
        found.rationale == "no target in the list; of 7 films 0 are very similar to it, 0 somewhat"
    )


def _like_heat(id_: str) -> Item:
    return HEAT.model_copy(update={"id": id_, "name": "Collateral (2004)", "title": "Collateral"})


def test_effectiveness_takes_the_nearest_of_several_targets() -> None:
    """Any target in the list is a hit; below that the most similar target counts."""
    near = log("Hi", "Here.", items=(INSIDER,), targets=(ALIEN, HEAT))
    far = log("Hi", "Here.", items=(INSIDER,), targets=(ALIEN,))
    assert (score(Factor.EFFECTIVENESS, near), score(Factor.EFFECTIVENESS, far)) == (2, 0)
    hit = log("Hi", "Here.", items=(INSIDER, AMELIE), targets=(ALIEN, AMELIE))
    assert score(Factor.EFFECTIVENESS, hit) == 4


def test_effectiveness_needs_to_know_the_targets() -> None:
    """What has no attributes is like nothing, and no score says so."""
    bare = [Item(id=str(n), name=f"Bare {n}", title=f"Bare {n}") for n in range(2)]
    told = log("Hi", "Here.", items=(bare[0],), targets=(bare[1],))
    found = rating(Factor.EFFECTIVENESS, told, MeasuredPanel(Catalogue("bare", bare)))
    assert found.status is Status.NOT_MEASURED


@pytest.mark.parametrize(
    ("there", "named", "expected"),
    [(4, 4, 4), (3, 4, 3), (2, 4, 2), (1, 4, 1), (0, 4, 0), (1, 2, 2), (1, 1, 4), (0, 1, 0)],
)
def test_semantic_relevance_is_the_share_found_in_the_list(
    there: int, named: int, expected: int
) -> None:
    """All, half, none, and between."""
    films = (HEAT, INSIDER, AMELIE, NOTTING)[:named]
    text = " ".join(f"Try {film.name}." for film in films)
    listed = log("Hi", text, items=(*films[:there], ALIEN))
    assert score(Factor.SEMANTIC_RELEVANCE, listed) == expected


def test_semantic_relevance_of_nothing_and_of_unknown_titles() -> None:
    """Nothing recommended is 0; a title that nobody has is not in the list; no list, no score."""
    factor = Factor.SEMANTIC_RELEVANCE
    assert score(factor, log("Hi", "Nice day.", items=(HEAT,))) == 0
    invented = log("Hi", "Try Heat (1995) or The Silent Thing (2014).", items=(HEAT,))
    assert score(factor, invented) == 2
    quoted = log("Hi", 'Try "The Silent Thing" instead.', items=(HEAT,))
    assert score(factor, quoted) == 0
    assert rating(factor, log("Hi", "Try Heat (1995).")).status is Status.NOT_APPLICABLE
    filled = log("Hi", "Try Heat (1995).", items=(HEAT,)).model_copy(update={"names_filled": True})
    assert "fills the names of its list" in rating(factor, filled).reason
    users = log("I liked Alien (1979).", "As with Alien (1979), try Heat (1995).", items=(HEAT,))
    assert score(factor, users) == 4


FALSE = (
    "Heat (1995) was directed by Ridley Scott.",
    "Alien (1979) stars Hugh Grant.",
    "Notting Hill (1999) was released in 1972.",
    "Amelie (2001) is a horror movie.",
    "Alien (1979) was written by Eric Roth.",
)
TRUE = (
    "The Insider (1999) was directed by Michael Mann. Heat (1995) stars Al Pacino. "
    "Alien (1979) was released in 1979. Amelie (2001) is a romantic comedy. "
    "Notting Hill (1999) stars Hugh Grant. Heat (1995) was directed by Michael Mann."
)


@pytest.mark.parametrize(("count", "expected"), [(0, 4), (1, 3), (2, 2), (3, 1), (4, 0), (5, 0)])
def test_groundness_counts_factual_errors(count: int, expected: int) -> None:
    """0 to 5 errors of five kinds, in one turn and over several."""
    assert score(Factor.GROUNDNESS, replies(TRUE, *FALSE[:count])) == expected
    assert score(Factor.GROUNDNESS, replies(" ".join((TRUE, *FALSE[:count])))) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Heat (1995) was directed by Michael Mann and stars Al Pacino.",
        "Heat (1995) is a crime movie starring Robert De Niro, Val Kilmer and Al Pacino.",
        "Alien (1979) came out in 1979. It was directed by Ridley Scott.",
        "Heat (1995) stars Al Pacino and Natalie Portman.",
        "Michael Mann directed it. Heat (1995) is his best. Al Pacino is in it.",
    ],
)
def test_true_claims_are_no_errors(text: str) -> None:
    """Names, years and genres that the catalogue bears out."""
    assert score(Factor.GROUNDNESS, replies(text)) == 4


@pytest.mark.parametrize(
    "text",
    [
        "Try Notting Hill (1999).",  # a right year behind a title is no claim
        "Heat (1995) stars Bob Dob.",  # nobody knows him
        "Heat (1995) and Alien (1979) were directed by Ridley Scott.",  # which of them?
        "Heat (1995) is a lovely one for a rainy day in 2012.",
        "Ridley Scott likes Heat (1995).",  # no relation is said
        "If you like horror, Heat (1995) is fun.",
    ],
)
def test_what_the_catalogue_cannot_decide_is_no_claim(text: str) -> None:
    assert rating(Factor.GROUNDNESS, replies(text)).status is Status.NOT_APPLICABLE


def test_a_sentence_without_a_title_is_about_the_item_before() -> None:
    """In the turn before, too."""
    assert score(Factor.GROUNDNESS, replies("Try Alien (1979).", "It is a romantic comedy.")) == 3


def test_a_wrong_year_behind_a_title_is_an_error() -> None:
    """An error made twice is one."""
    wrong = replies("Try Notting Hill (2016).", "I said Notting Hill (2016)!")
    assert rating(Factor.GROUNDNESS, wrong).rationale.startswith("1 error in 1 checked claim")


def test_short_casts_cannot_refute() -> None:
    """A catalogue that names two stars does not say that a third was not in the film."""
    two = HEAT.model_copy(update={"actors": ("Al Pacino", "Robert De Niro")})
    panel = MeasuredPanel(Catalogue("short", (two, AMELIE)))
    found = rating(Factor.GROUNDNESS, replies("Heat (1995) stars Audrey Tautou."), panel)
    assert found.status is Status.NOT_APPLICABLE


@pytest.mark.parametrize(
    ("text", "score_is"),
    [
        ("Heat (1995) is a tense drama from the sixties.", 3),  # crime is close to drama
        ("Alien (1979) is a quiet drama.", 3),
        ("Alien (1979) is also a horror film from the seventies.", 4),
        ("It is a comedy. Amelie (2001) is a newer family film.", None),
    ],
)
def test_kinds_decades_and_the_same_people_are_claims(text: str, score_is: int | None) -> None:
    assert score(Factor.GROUNDNESS, replies(text)) == score_is


def test_the_same_director_is_checked_against_the_item_before() -> None:
    same = "The Insider (1999) is by the same director."
    assert score(Factor.GROUNDNESS, replies("Try Heat (1995).", same)) == 4
    other = same.replace("The Insider (1999)", "Alien (1979)")
    assert score(Factor.GROUNDNESS, replies("Try Heat (1995).", other)) == 2  # 1 of 1, two turns


def test_errors_stand_for_those_that_cannot_be_checked() -> None:
    plain = [f"Zorblat {n} is dark." for n in range(4)]
    found = rating(Factor.GROUNDNESS, replies("Alien (1979) is a comedy.", *plain))
    assert (found.score, found.rationale[:53]) == (
        0,
        "1 error in 1 checked claim, so about 5 in all claims:",
    )
