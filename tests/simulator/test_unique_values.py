"""Values that the catalogue has for the targets alone: found, blocked, counted, or allowed."""

import asyncio

import pytest

from recjury.records import Attribute, ConversationLog, ItemRef, Scenario, SystemReply
from recjury.simulator import LeakGuard, converse
from recjury.simulator.leak_guard import UniqueValues
from tests.simulator.doubles import (
    ScriptedSystem,
    ScriptedUser,
    catalogue,
    film,
    scenario,
    user_turn,
)

TARGET = film(
    "The Quiet Harbor (1994)",
    genres=("drama", "Sea film"),
    actors=("Ann Reed", "Samuel L. Oyelaran"),
    directors=("Cy Märsh",),
)
SECOND = film("Low Tide (1996)", genres=("drama",), actors=("Ann Reed", "Bo Lund"))
OTHERS = (
    film("Laugh Track (1958)", genres=("comedy", "family"), directors=("Flo Ross",)),
    film("Laugh Again (1959)", genres=("comedy",), actors=("Flo Ross",)),
    film("Far Shore (1993)", genres=("drama", "family"), actors=("Gus Reed",)),
)
KNOWN = catalogue(TARGET, SECOND, *OTHERS)


def found(text: str, *targets: ItemRef, spoken: tuple[ItemRef, ...] = ()) -> tuple[str, ...]:
    watch = LeakGuard(KNOWN).watch(targets or (TARGET.ref,))
    return watch.telling_values(text, spoken=spoken)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("I would like one by Cy Marsh.", "Cy Marsh"),
        ("that CY MÄRSH one", "CY MARSH"),
        ("Samuel Oyelaran would be great", "Samuel Oyelaran"),
        ("Something with Oyelaran in it", "Oyelaran"),
        ("It came out in 1994.", "1994"),
        ("A sea film, please.", "sea"),
    ],
)
def test_a_value_of_the_target_alone_is_found(text: str, words: str) -> None:
    assert words in found(text)


@pytest.mark.parametrize(
    "text",
    [
        "I like Ann Reed a lot.",
        "A drama from the 90s, please.",
        "Something with Flo Ross.",
        "Mr. Reed plays in it.",
        "I march, and Cy is a name.",
        "I have seen 1993 of them.",
    ],
)
def test_a_value_that_others_share_is_not(text: str) -> None:
    assert found(text) == ()


def test_a_name_counts_in_every_role() -> None:
    """Flo Ross directed one film and plays in another: her name gives neither away."""
    assert found("Flo Ross?", OTHERS[0].ref) == ()
    assert Attribute("director", "Flo Ross") not in LeakGuard(KNOWN).watch([OTHERS[0].ref]).barred()


def test_a_value_that_only_targets_share_gives_them_away() -> None:
    assert found("Ann Reed?", TARGET.ref, SECOND.ref) == ("Ann Reed",)


def test_the_values_of_a_target_that_was_told_may_be_said() -> None:
    both = (TARGET.ref, SECOND.ref)
    assert {"Cy Marsh", "Bo Lund"} <= set(found("Cy Marsh and Bo Lund", *both))
    assert found("Cy Marsh and bo lund", *both, spoken=(TARGET.ref,)) == ("bo lund",)


def test_a_value_that_the_history_has_named_is_public() -> None:
    history = [user_turn("Have you got books by CY MARSH?")]
    watch = LeakGuard(KNOWN).watch([TARGET.ref], history)
    assert watch.telling_values("By Cy Marsh, with Oyelaran.") == ("Oyelaran",)
    assert Attribute("director", "Cy Märsh") not in watch.barred()


def test_an_ordinary_word_is_a_kind_only_before_a_word_for_items() -> None:
    music = film("Song (1990)", genres=("music",))
    watch = LeakGuard(catalogue(music, film("Other (1991)"))).watch([music.ref])
    assert watch.telling_values("I like music at home.") == ()
    assert watch.telling_values("A music film, please.") == ("music",)


def talk(
    *said: str,
    again: str = "Please go on.",
    talked: Scenario | None = None,
    unique_values: UniqueValues = "block",
) -> ConversationLog:
    turns = iter(said)
    user = ScriptedUser(lambda context: next(turns, "Hm."), lambda context, text: again)
    system = ScriptedSystem(*[SystemReply(text="Go on.")] * 5)
    guard = LeakGuard(KNOWN, unique_values=unique_values)
    talked = talked or scenario([TARGET.ref])
    return asyncio.run(converse(user, system, talked, guard, KNOWN))


def test_such_an_utterance_is_rewritten_and_counted_apart() -> None:
    log = talk("By Cy Marsh.", "Cy Marsh, in 1994!", again="By someone I admire.")
    assert log.interaction[1].text == log.interaction[3].text == "By someone I admire."
    assert (log.values_caught, log.values_through) == (2, 0)
    assert (log.leaks_caught, log.leaks_through) == (0, 0)


def test_what_still_tells_it_is_cut() -> None:
    log = talk("A drama. By Cy Marsh.", again="Still a drama. By Cy Marsh!")
    assert log.interaction[1].text == "Still a drama."
    assert (log.values_caught, log.values_through) == (1, 0)


def test_a_setting_allows_them_and_counts_what_went_through() -> None:
    log = talk("By Cy Marsh.", unique_values="allow")
    assert log.interaction[1].text == "By Cy Marsh."
    assert (log.values_caught, log.values_through) == (0, 1)
    assert LeakGuard(KNOWN, unique_values="allow").watch([TARGET.ref]).barred() == frozenset()


def test_pairs_are_counted_and_not_blocked() -> None:
    """Ann Reed has two films and so has the 1990s drama; both together have the targets alone."""
    talked = scenario([SECOND.ref, TARGET.ref])
    assert talk("Drama.", "From the 90s.", talked=talked).pairs_told == 0
    one = scenario([TARGET.ref])
    log = talk("I like Ann Reed.", "Hm.", "A drama.", "Ann Reed, as I said.", talked=one)
    assert log.pairs_told == 0
    sole = film("Sole (1994)", genres=("war",), actors=("Gus Reed",))
    known = catalogue(sole, film("A (1993)", actors=("Gus Reed",)), film("B", genres=("war",)))
    turns = iter(["Gus Reed, perhaps.", "Any.", "A war film.", "War, with Gus Reed."])
    user = ScriptedUser(lambda context: next(turns, "Hm."))
    system = ScriptedSystem(*[SystemReply(text="Go on.")] * 5)
    log = asyncio.run(converse(user, system, scenario([sole.ref]), LeakGuard(known), known))
    assert (log.pairs_told, log.values_caught) == (1, 0)


def test_a_user_who_can_say_nothing_says_so_on_the_log() -> None:
    lone = film("Lone (1994)", directors=("Cy Marsh",))
    known = catalogue(lone, film("Other"))
    for unique_values, speechless in (("block", True), ("allow", False)):
        guard = LeakGuard(known, unique_values=unique_values)  # type: ignore[arg-type]
        system = ScriptedSystem(*[SystemReply(text="Go on.")] * 5)
        log = asyncio.run(converse(ScriptedUser(), system, scenario([lone.ref]), guard, known))
        assert log.speechless is speechless
    assert not talk("Hm.").speechless


def test_counters_at_their_default_are_not_part_of_the_identity() -> None:
    plain = talk("Hm.")
    content = plain.model_dump(mode="json")
    young = {"values_caught", "values_through", "pairs_told", "speechless", "person"}
    assert young.isdisjoint(content)
    again = ConversationLog.model_validate(content)
    assert again == plain
    told = talk("By Cy Marsh.")
    assert told.model_dump(mode="json")["values_caught"] == 1
    assert ConversationLog.model_validate_json(told.model_dump_json()) == told
