"""What the rule user remembers of the items of a history, and how it speaks of them."""

from random import Random

import pytest

from recjury.records import Turn, UserContext
from recjury.simulator.grammar import Grammar, capitalised, phrases
from recjury.simulator.item_fit import ItemFit
from recjury.simulator.past_items import PastItems, past_items
from tests.simulator.doubles import catalogue, film, system_turn, user_turn
from tests.simulator.test_rule_user import (
    KNOWN,
    MANY,
    NEAR,
    TARGET,
    each_seed,
    is_of,
    moment,
    rules_of,
    spoken,
)

LAUGH = "Laugh Track (1958)"
OFFER = "How about Low Tide (1996)?"


def read(*said: str, asked: str = OFFER) -> PastItems:
    """What a history tells of the items in which the person says `said` after `asked`."""
    turns = [system_turn(asked), *(user_turn(text) for text in said)]
    return past_items(turns, KNOWN)


@pytest.mark.parametrize(
    "said",
    [
        "Sounds good!",
        "I'll watch that one tonight. Thanks!",
        "I haven't seen it yet, but it looks good.",
        "Okay low tide sounds interesting.",
    ],
)
def test_what_the_person_means_to_see_is_chosen(said: str) -> None:
    assert read(said).chosen == {NEAR.id}
    assert read(said).settled


@pytest.mark.parametrize(
    "said",
    [
        "So that's settled.",
        "She has it, but I haven't watched it. So that's settled.",
        "That's exactly it!",
        "That settles it.",
    ],
)
def test_a_choice_is_settled_in_short(said: str) -> None:
    assert read(said).chosen == {NEAR.id}
    assert read(said).settled


@pytest.mark.parametrize(
    "said",
    [
        "I will not watch Low Tide (1996).",
        "I will not watch it.",
        "I'll never see Low Tide (1996).",
        "I'll probably not watch it, thanks.",
        "I won't watch it. Thanks.",
        "I don't think I'll watch it.",
        "I doubt I will watch Low Tide (1996).",
        "I'm not sure I'd say it sounds good.",
        "It doesn't sound interesting.",
        "Low Tide (1996) doesn't really sound interesting.",
        "It does not look very good, thanks.",
        "None of those sound good.",
        "That's not on my list.",
        "Not exactly my thing, thanks.",
        "I don't really like that. Thank you.",
        "Thanks, I already saw it.",
    ],
)
def test_a_refusal_is_no_choice(said: str) -> None:
    assert not read(said).chosen
    assert not read(said).seen
    assert not read(said).settled


@pytest.mark.parametrize(
    "said",
    [
        "Why not I'll watch it.",
        "I do not know that one, but it sounds good.",
        "Never seen it looks good.",
        "Not bad I'll watch it.",
        "I will not see the other but I'll watch this.",
    ],
)
def test_a_negation_of_something_else_leaves_the_choice(said: str) -> None:
    assert read(said).chosen == {NEAR.id}


@pytest.mark.parametrize(
    "said",
    [
        "No thanks, I saw it.",
        "Never again! I saw it twice.",
        "No. That is what I saw yesterday.",
        "No. Low Tide is what I saw yesterday.",
    ],
)
def test_what_the_person_has_seen_is_not_unseen_for_a_no(said: str) -> None:
    assert not read(said, asked="Have you seen Low Tide (1996)?").unseen


def test_a_choice_with_a_further_wish_is_not_settled() -> None:
    assert not read("Sounds good, but do you know another one?").settled
    assert not read("I loved Low Tide (1996).").settled
    assert not read("Sounds good!", asked="What about a comedy?").settled


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ("No, I have not.", "Have you seen Low Tide (1996)?"),
        ("I've never seen Low Tide (1996).", "Hello."),
        ("Never heard of that.", OFFER),
    ],
)
def test_what_the_person_does_not_know(said: str, asked: str) -> None:
    assert read(said, asked=asked).unseen == {NEAR.id}
    assert not read(said, asked=asked).seen


def test_what_the_person_names_it_knows_unless_it_asks() -> None:
    assert read("I saw Low Tide (1996) last week.", asked="Hi.").seen == {NEAR.id}
    asked = read("Do you know Low Tide (1996)?", asked="Hi.")
    assert asked.named == {NEAR.id}
    assert not asked.seen


@pytest.mark.parametrize(
    ("said", "asked", "rule"),
    [
        ("I'll watch that. Thanks!", OFFER, "reject_chosen"),
        ("I didn't like Low Tide (1996).", "Hello.", "reject_disliked"),
        ("That one I loved.", OFFER, "reject_liked"),
        ("I loved Low Tide (1996).", "Hello.", "reject_history"),
        ("My favorite is Low Tide (1996) What about yours?", "Hello.", "reject_history"),
        ("I have never seen that one.", OFFER, "reject_came_up"),
    ],
)
def test_what_came_up_is_turned_down_by_what_was_said_of_it(
    said: str, asked: str, rule: str
) -> None:
    history = (system_turn(asked), user_turn(said))
    for text in each_seed(moment(system_turn("Low Tide (1996)?"), history=history)):
        assert rule in rules_of(text), text


def test_a_choice_is_remembered_in_the_first_answer() -> None:
    history = (system_turn(OFFER), user_turn("Sounds good, I'll watch it. Thanks!"))
    texts = each_seed(moment(system_turn(f"Try {LAUGH}."), history=history))
    assert all(is_of("settled", text) for text in texts)
    again = each_seed(moment(system_turn("Low Tide (1996) is a film."), history=history))
    assert not any(is_of("settled", text) for text in again)


def target_after(said: str, asked: str, *, named: bool = True) -> UserContext:
    """The user has just been told of the target, which a history speaks of."""
    text = "The Quiet Harbor (1994)?" if named else f"Try {LAUGH}."
    history = (system_turn(asked), user_turn(said)) if said else ()
    shown = system_turn(text, TARGET.ref)
    return moment(shown, history=history, hit=TARGET.ref, introduce=True)


@pytest.mark.parametrize(
    ("said", "asked", "rule"),
    [
        ("I saw The Quiet Harbor (1994) last week.", "Hi.", "likes_known"),
        ("Do you recommend The Quiet Harbor (1994)?", "Hi.", "likes_named"),
        ("Tell me more about The Quiet Harbor (1994)!", "Hi.", "likes_named"),
        ("Sounds good, I'll watch it.", "The Quiet Harbor (1994)?", "likes_chosen"),
        ("I see.", "The Quiet Harbor (1994)?", "likes_told"),
    ],
)
def test_a_target_that_the_history_names_is_not_new(said: str, asked: str, rule: str) -> None:
    for text in each_seed(target_after(said, asked)):
        assert is_of(rule, text), text


def test_a_target_that_only_the_list_has_is_spoken_of_as_such() -> None:
    for text in each_seed(target_after("", "", named=False)):
        assert is_of("likes_listed", text), text
    for said, rule in (
        ("I saw The Quiet Harbor (1994) last week.", "likes_known_listed"),
        ("Do you recommend The Quiet Harbor (1994)?", "likes_named_listed"),
    ):
        for text in each_seed(target_after(said, "Hi.", named=False)):
            assert is_of(rule, text), text
    last = moment(system_turn(f"Try {LAUGH}.", TARGET.ref), hit=TARGET.ref)
    assert all(is_of("accept_listed", text) for text in each_seed(last))


def test_a_known_target_is_compared_with_what_comes_next() -> None:
    history = (user_turn("I liked The Quiet Harbor (1994)."),)
    shown = (system_turn("The Quiet Harbor (1994)?", TARGET.ref), user_turn("I know it."))
    for text, rule in (
        (f"Or {LAUGH}?", "back_known"),
        ("Hm.", "told_known"),
        ("The Quiet Harbor (1994) is about two fishermen.", "told_known"),
        ("Do you like comedies?", "still_known"),
    ):
        context = moment(*shown, system_turn(text), history=history, hit=TARGET.ref, introduce=True)
        for each in each_seed(context):
            assert is_of(rule, each), (text, each)


def test_nobody_is_curious_about_what_has_nothing_of_the_wish() -> None:
    history = (user_turn("I like crime movies."),)
    turns = (system_turn("Hello."), user_turn("I'd love a crime movie."))
    other = moment(*turns, system_turn(f"Try {MANY[40].name}."), history=history)
    assert not any(is_of("curious_known", text) for text in each_seed(other, seeds=60))
    fitting = moment(*turns, system_turn(f"Try {MANY[13].name}."), history=history)
    assert any(is_of("curious_known", text) for text in each_seed(fitting, seeds=60))


def test_a_genre_that_hardly_differs_is_near() -> None:
    song = film("Big Song (1960)", genres=("musical",))
    fit = ItemFit(catalogue(song))
    assert fit.is_near(song, "music")
    assert not fit.is_near(song, "comedy")


def test_a_genre_and_a_topic_are_wished_for_together() -> None:
    history = (
        user_turn("Something about harbors for a podcast."),
        user_turn("I like crime movies."),
    )
    said = each_seed(moment(system_turn(f"Try {MANY[40].name}."), history=history), seeds=40)
    assert any("about harbors" in text and "crime" in text for text in said), said


def test_a_person_and_a_kind_that_were_asked_for_are_no_reason_against() -> None:
    history = (user_turn("I'd like something with Ann Reed."),)
    for text in each_seed(moment(system_turn("Low Tide (1996)?"), history=history), seeds=40):
        assert not is_of("reject_mood", text), text


def test_a_title_is_spelled_as_it_is() -> None:
    assert capitalised("xXx: State of the Union") == "xXx: State of the Union"
    assert capitalised("it") == "It"


def test_a_target_that_was_liked_is_spoken_of_without_its_name() -> None:
    history = (user_turn("I saw The Quiet Harbor (1994) yesterday and loved it. Any similar?"),)
    texts = each_seed(moment(system_turn(f"Try {LAUGH}."), history=history))
    assert sum("the one I mentioned" in text for text in texts) > 20, texts
    assert not any("Quiet Harbor" in text for text in texts)


def test_no_old_time_is_wished_for_by_who_wants_newer_ones() -> None:
    history = (user_turn("It's a little older than what I'm looking for."),)
    turns: list[Turn] = []
    for number in range(5):
        turns.append(system_turn(f"Try {MANY[number + 36].name}."))
        turns.append(user_turn(spoken(moment(*turns, history=history))))
    assert not any(
        time in turn.text for turn in turns for time in ("90s", *phrases().times["the 90s"])
    )


def test_a_title_that_ends_with_dots_keeps_them() -> None:
    said = Grammar(Random(1), ()).say("accept_now", hit="When Harry Met Sally...", verb="watch")
    assert "Sally." in said
    assert "Sally.. " not in said
