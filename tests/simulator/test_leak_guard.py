"""What is a leak, what is none, and what is left of an utterance."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from recjury.corpora import Catalogue, Item
from recjury.records import ItemRef
from recjury.simulator import LeakGuard
from tests.simulator.doubles import CATALOGUE, MATRIX, SPEED

UTTERANCES: dict[str, Any] = yaml.safe_load(
    Path(__file__).with_name("utterances.yaml").read_text("utf-8")
)


def guard(*names: str) -> LeakGuard:
    return LeakGuard([ItemRef(id=name, name=name) for name in names])


def test_most_leaks_are_seen() -> None:
    pairs = [(name, text) for name, texts in UTTERANCES["leaks"].items() for text in texts]
    seen = [pair for pair in pairs if guard(pair[0]).leaks(pair[1])]
    assert len(pairs) == 95
    assert len(seen) >= 75


def test_innocent_utterances_pass() -> None:
    watch = guard(*UTTERANCES["innocent_titles"])
    flagged = [pair for text in UTTERANCES["innocent"] for pair in watch.leaks(text)]
    assert len(UTTERANCES["innocent_titles"]) * len(UTTERANCES["innocent"]) == 5300
    assert len(flagged) <= 3


@pytest.mark.parametrize("title", UTTERANCES["innocent_titles"])
def test_each_of_these_titles_is_seen_where_it_is_written_as_one(title: str) -> None:
    assert guard(title).leaks(f'Have you got "{title.split(" (")[0]}"?')
    assert guard(title).leaks(f"Is it {title}?")


@pytest.mark.parametrize(
    ("title", "innocent", "leak"),
    [
        (
            "Alien (1979)",
            "I have seen Alien: Covenant (2017) already.",
            "Alien (1979), that is it.",
        ),
        ("Alien (1979)", "Not Alien (2017), please.", "Not Alien (1978), please."),
        ("Speed (1994)", "I liked Speed Racer a lot.", "I liked Speed a lot."),
        ("Toy Story (1995)", "We saw Toy Story 3 last week.", "We saw Toy Story last week."),
        ("Ghost (1990)", "Ghost in the Shell 2: Innocence is odd.", "Is it Ghost? It is odd."),
        ("Monsters (2010)", "My kids love Monsters, Inc. (2001)!", "My kids love Monsters, Inc."),
        ("Nova Z34 Pro (2026)", "Oh, Nova Z80 Pro (2025)!", "Oh, Nova Z34 Pro!"),
        ("Toy Story 2 (1999)", "Is Toy Stories a thing?", "I want Toy Story 2, or Toy Story 3."),
    ],
)
def test_a_title_that_goes_on_is_another_one(title: str, innocent: str, leak: str) -> None:
    """Case 01, as the user says it."""
    assert not guard(title).leaks(innocent)
    assert guard(title).leaks(leak)


def test_a_title_without_a_year_needs_a_mark_of_a_title() -> None:
    assert not guard("Up").leaks("Cheer me up - please!")


def test_a_target_that_may_be_named_is_no_leak() -> None:
    watch = guard("Titanic (1997)", "Inception (2010)")
    assert watch.leaks("Titanic or Inception?") == ["Titanic (1997)", "Inception (2010)"]
    assert watch.leaks("Titanic or Inception?", may_name={"Titanic (1997)"}) == ["Inception (2010)"]


def test_values_that_only_a_target_has_are_withheld_until_somebody_says_them() -> None:
    watch = LeakGuard([MATRIX.ref, SPEED.ref], CATALOGUE)
    assert watch.withheld() == ("Hugo Weaving", "Sandra Bullock")
    assert watch.withheld(may_name={"s"}) == ("Hugo Weaving",)
    assert watch.withheld(said="One with Hugo Weaving?") == ("Sandra Bullock",)
    said = "With Sandra  BULLOCK, perhaps."
    assert watch.leaks(said, withheld=watch.withheld()) == ["Sandra Bullock"]
    assert watch.leaks(said) == []


def test_the_name_of_another_item_is_no_leak() -> None:
    """Models and sequels are called alike; a title that two items have gives the target away."""
    names = ("Toy Story (1995)", "Toy Story 2 (1999)", "M (1931)", "Crash (1996)", "Crash (2004)")
    items = [Item(id=name, name=name[:-7], year=int(name[-5:-1])) for name in names]
    two, m, crash = (LeakGuard([items[n].ref], Catalogue(items)) for n in (1, 2, 3))
    assert not two.leaks("Oh, Toy Story (1995)! What is it about?")
    assert two.leaks("Oh, Toy Story 2!")
    assert not m.leaks("Hi! I'm looking for a film.")
    assert m.leaks("Is it M (1931)?")
    assert not crash.leaks("Not Crash (2004).")
    assert crash.leaks("I want Crash.")


def test_the_sentences_with_leaks_are_cut() -> None:
    watch = guard("The Matrix (1999)")
    assert watch.cut("I like robots. Is it The Matrix? It is dark!") == "I like robots. It is dark!"
    assert not watch.leaks(watch.cut("It is M. A. T. R. I. X. for me."))
    left = watch.cut("The Matrix!")
    assert left
    assert not watch.leaks(left)


def test_without_targets_nothing_is_a_leak() -> None:
    assert LeakGuard().leaks("The Matrix (1999)") == []
