"""What the rule user reads in a history and hears in a turn, and what it says to that."""

import pytest

from recjury.knowledge import known_domain
from recjury.records import Person, Turn
from recjury.records.person import PersonaTraits
from recjury.simulator import RuleUser
from recjury.simulator.agenda import CatalogueValues
from recjury.simulator.grammar import phrases
from recjury.simulator.past_wish import PastWish, past_wish
from recjury.simulator.read_turn import ReadTurn, answers, hear_turn
from recjury.simulator.slips import without_slips
from tests.simulator.doubles import catalogue, film, system_turn, user_turn
from tests.simulator.test_rule_user import (
    KNOWN,
    MANY,
    NEAR,
    TARGET,
    TWIN,
    each_seed,
    is_of,
    moment,
    spoken,
)

FILM = known_domain("film")
VALUES = CatalogueValues(KNOWN)


def read(*said: str, asked: str = "") -> PastWish:
    """What a history tells in which the person says `said`, after the system's `asked`."""
    turns: list[Turn] = [system_turn(asked)] if asked else []
    turns += [user_turn(text) for text in said]
    return past_wish(turns, KNOWN, VALUES, FILM, lambda _: True)


def wanted(*said: str, asked: str = "") -> list[str]:
    return [want.value for want in read(*said, asked=asked).wants]


def heard(text: str, *earlier: str) -> ReadTurn:
    return hear_turn(text, earlier, KNOWN, FILM)


# --- the history ----------------------------------------------------------------------------------


def test_what_is_not_liked_is_no_wish() -> None:
    assert "Low Tide" in wanted("I liked Low Tide (1996).")
    assert wanted("I saw Low Tide (1996). I didn't like it.") == []
    assert read("I saw Low Tide (1996). I didn't like it.").disliked == {NEAR.id}
    assert wanted("Do you know Low Tide (1996)?") == []


def test_an_answer_of_yes_takes_the_genre_of_the_question() -> None:
    assert wanted("Yes, I do.", asked="Do you like mysteries?") == ["mystery"]
    assert wanted("No.", asked="Do you like mysteries?") == []
    assert wanted("Yes, I do.", asked="I watched a mystery. Have you got a pet?") == []


def test_what_something_is_is_not_what_is_wanted() -> None:
    assert wanted("I like crime movies.") == ["crime"]
    assert wanted("Is that a comedy?") == []
    assert wanted("It IS a classic!") == []
    assert read("Just not horror!").refused == {"horror"}


def test_something_like_it_is_like_what_was_spoken_of() -> None:
    said = "That's one of my mum's favourites. Anything like it?"
    assert wanted(said, asked="Low Tide (1996)!") == ["Low Tide"]
    assert wanted("Soup's on. Thank you!", asked="Low Tide (1996)!") == []


def test_decades_and_surnames_are_wishes() -> None:
    assert wanted("I want one from the 80s.") == ["the 80s"]
    assert "Marsh" in wanted("Which Marsh is the fastest?")
    assert wanted("Which harbour is the fastest?") == []


def test_a_question_about_a_fact_is_kept() -> None:
    assert read("Who else stars in that series?").question == "Who else stars in that series?"
    assert read("Do you have any comedies?").question == ""
    assert answers("Who made it?", heard("Cy Marsh directed it."))
    assert not answers("Who made it?", heard("Try Low Tide (1996)."))


def test_an_unanswered_question_is_asked_again() -> None:
    history = (user_turn("Who stars in that series?"),)
    ignored = moment(system_turn("Try Laugh Track (1958)."), history=history)
    assert all("Who stars in that series?" in text for text in each_seed(ignored))
    answered = moment(system_turn("Ed Pike stars in Laugh Track (1958)."), history=history)
    assert not any("Who stars in that series?" in text for text in each_seed(answered))


def test_a_genre_that_the_system_brings_up_is_agreed_to() -> None:
    assert wanted("Sounds good", asked="Hello, what about a crime movie") == ["crime"]
    assert wanted("oh i like crimes do you have any") == ["crime"]


def test_a_time_that_the_person_praises_is_a_wish() -> None:
    assert wanted("90's movies are the best!") == ["the 90s"]
    assert wanted("Was that from the 90s?") == []


def test_hearsay_is_no_taste() -> None:
    assert wanted("I have heard it was good though.", asked="Low Tide (1996)?") == []
    assert wanted("I haven't seen it, but it looks good.", asked="Low Tide (1996)?") == []
    assert wanted("It was good.", asked="Low Tide (1996)?") == ["Low Tide"]


def test_a_request_that_runs_on_is_not_denied() -> None:
    said = "I'm not familiar with that do you have any more recent movies?"
    assert wanted(said, asked="Low Tide (1996)?") == ["a more recent movie"]


# --- wishes that fit the talk ---------------------------------------------------------------------


def test_it_does_not_ask_back_for_what_it_is_offered() -> None:
    history = (user_turn("I like crime movies."),)
    met = each_seed(moment(system_turn(f"Try {MANY[13].name}."), history=history), seeds=40)
    assert any(is_of("wish_met", text) for text in met)
    assert not any(is_of("wish", text) for text in met)
    other = each_seed(moment(system_turn(f"Try {MANY[40].name}."), history=history), seeds=40)
    assert not any(is_of("wish_met", text) for text in other)


def test_names_do_not_come_out_of_nothing() -> None:
    history = (user_turn("I like crime movies."),)
    turns: list[Turn] = []
    for _ in range(5):
        turns.append(system_turn(f"Try {MANY[len(turns) + 36].name}."))
        turns.append(user_turn(spoken(moment(*turns, history=history))))
    assert not any("Cy Marsh" in turn.text or "Ann Reed" in turn.text for turn in turns)
    asked = each_seed(moment(system_turn("Any favorite actor?"), history=history))
    assert any("Ann Reed" in text for text in asked)


def test_what_was_refused_is_not_wished_for() -> None:
    history = (user_turn("Anything, just not crime!"),)
    turns: list[Turn] = []
    for _ in range(6):
        turns.append(system_turn("What genre do you like?" if len(turns) < 3 else "I see. Hm."))
        turns.append(user_turn(spoken(moment(*turns, history=history))))
    assert not any("crime" in turn.text for turn in turns)


def test_a_film_is_not_too_new_for_who_liked_a_newer_one() -> None:
    old = film("Old Harbor (1950)", genres=("drama",))
    liked = film("Fresh Tide (2012)", genres=("comedy",))
    known = catalogue(*KNOWN, old, liked)
    new = system_turn("Try Zoe and Me (2001).")
    free = each_seed(moment(new, targets=(old,)), known, seeds=60)
    history = (user_turn("I liked Fresh Tide (2012)."),)
    bound = each_seed(moment(new, targets=(old,), history=history), known, seeds=60)
    assert any(is_of("reject_newer", text) for text in free)
    assert not any(is_of("reject_newer", text) for text in bound)


# --- how the system talks -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("It is tense and tense.", "tense and tense"),
        ("It is about a boy and a boy, I think.", "boy and a boy"),
        ("It is about a young man who have to be free.", "-"),
        ("It is a quiet and a.", "-"),
        ("It gets more and more sad.", ""),
        ("A thief and a policeman meet. Who is it for?", ""),
        ("Heat is a crime film about a thief and the man who hunts him.", ""),
    ],
)
def test_what_makes_no_sense(text: str, part: str) -> None:
    assert heard(text).garbled == part


def test_nonsense_and_templates_are_complained_of() -> None:
    sense, nonsense = "It is tense and sad.", "It is tense and tense."
    for text, many in ((nonsense, True), (sense, False)):
        said = each_seed(moment(system_turn(f"Try Laugh Track (1958). {text}")), seeds=40)
        found = [each for each in said if is_of("garbled", each) or is_of("garbled_quote", each)]
        assert (len(found) > 20) is many
        assert many or not found
    first, again = "Many like Laugh Track (1958). Seen it?", "Many like Low Tide (1996). Seen it?"
    turns = (system_turn(first), user_turn("No."))
    assert heard(again, first).template
    same = each_seed(moment(*turns, system_turn(again)))
    other = each_seed(moment(*turns, system_turn("Why not Low Tide (1996)?")))
    assert sum(is_of("template", text) for text in same) > 10
    assert not any(is_of("template", text) for text in other)


def test_a_film_of_comparison_is_no_suggestion() -> None:
    text = "Low Tide (1996) fits: Ann Reed is in it, as well as The Quiet Harbor (1994)."
    assert heard(text).named == (NEAR.id,)
    assert heard("Many people like Low Tide (1996).").named == (NEAR.id,)


def test_a_question_about_a_suggestion_that_is_ignored() -> None:
    person = Person(traits=PersonaTraits(openness="high"))
    offered, other = system_turn("Low Tide (1996)?"), system_turn("Laugh Track (1958)?")
    first = next(
        text for text in each_seed(moment(offered, person=person)) if is_of("curious_known", text)
    )
    ignored = each_seed(moment(offered, user_turn(first), other, person=person))
    assert all(is_of("curious_ignored", text) for text in ignored)
    told = system_turn("Low Tide (1996) is a film about two fishermen and their sister.")
    answered = each_seed(moment(offered, user_turn(first), told, person=person))
    assert not any(is_of("curious_ignored", text) for text in answered)
    assert all(is_of("reject_after_told", text) for text in answered)


# --- the target -----------------------------------------------------------------------------------


def test_a_taker_who_was_not_answered_does_not_sound_convinced() -> None:
    shown = system_turn("The Quiet Harbor (1994) is as quiet a harbor as any that you know.")
    asked = user_turn("What is it about?")
    told = system_turn("The Quiet Harbor (1994) is about two fishermen.")
    for reply, rule in (
        (told, "accept"),
        (system_turn("Low Tide (1996)?"), "accept_blind"),
        (system_turn("It is quiet and quiet, and it is a."), "accept_blind"),
        (system_turn("Do you like comedies?"), "accept_blind"),
    ):
        texts = each_seed(moment(shown, asked, reply, hit=TARGET.ref))
        assert all(is_of(rule, text) for text in texts), texts


def test_it_does_not_ask_what_it_was_just_told() -> None:
    told = system_turn(
        "The Quiet Harbor (1994) came out in 1994. Cy Marsh directed it. It is the one for you, "
        "because you asked for it."
    )
    context = moment(told, hit=TARGET.ref, introduce=True)
    for text in each_seed(context, seeds=40):
        assert not any(is_of(rule, text) for rule in ("more_age", "more_people", "more_fit"))


def test_another_film_of_that_name_is_noticed() -> None:
    other = film("The Quiet Harbor (1950)", genres=("western",))
    known = catalogue(TARGET, TWIN, NEAR, other)
    turns = (system_turn("The Quiet Harbor (1994)?", TARGET.ref), user_turn("Tell me about it."))
    wrong = system_turn("The Quiet Harbor (1950) is a western about a harbor.")
    context = moment(*turns, wrong, hit=TARGET.ref, introduce=True)
    assert all(is_of("other_version", text) for text in each_seed(context, known))
    right = system_turn("The Quiet Harbor (1994) is about a harbor.")
    context = moment(*turns, right, hit=TARGET.ref, introduce=True)
    assert not any(is_of("other_version", text) for text in each_seed(context, known))


def test_a_film_that_it_likes_already_is_not_described_to_it() -> None:
    shown = system_turn("The Quiet Harbor (1994)?", TARGET.ref)
    for said, known in (
        ("I liked The Quiet Harbor (1994).", True),
        ("I like crime movies.", False),
    ):
        context = moment(shown, history=(user_turn(said),), hit=TARGET.ref, introduce=True)
        for text in each_seed(context):
            assert is_of("likes_known", text) is known, text
            assert is_of("ask_known", text) or not known, text


@pytest.mark.parametrize(
    ("question", "rule", "not_rule"),
    [
        ("Would you watch it?", "would", "sounds"),
        ("Does that sound like your evening?", "sounds", "would"),
        ("If it is not for you, tell me what to change.", "told_enough", "would"),
    ],
)
def test_the_answer_fits_the_closing_question(question: str, rule: str, not_rule: str) -> None:
    shown = system_turn("The Quiet Harbor (1994)?", TARGET.ref)
    told = system_turn(f"The Quiet Harbor (1994) is about two fishermen. {question}")
    context = moment(shown, user_turn("Tell me."), told, hit=TARGET.ref, introduce=True)
    for text in each_seed(context):
        assert is_of(rule, text), text
        assert not is_of(not_rule, text), text


def test_a_famous_film_that_is_called_what_it_is_not_is_doubted() -> None:
    famous = film("Big Song (1960)", genres=("musical",), popularity=1.0)
    known = catalogue(*KNOWN, famous)
    wrong, right = "Big Song (1960) is a western.", "Big Song (1960) is a musical."
    for text, doubted in ((wrong, True), (right, False), ("Big Song, no western.", False)):
        said = each_seed(moment(system_turn(text)), known, seeds=40)
        assert any(is_of("doubt", each) for each in said) is doubted, text


# --- language -------------------------------------------------------------------------------------


def test_people_who_command_the_language_badly_speak_plainly_with_slips() -> None:
    low = Person(traits=PersonaTraits(language="low"))
    heard_ = system_turn("Try Laugh Track (1958).")
    plain = each_seed(moment(heard_, person=low), seeds=60)
    usual = each_seed(moment(heard_), seeds=60)
    assert sum(map(len, plain)) < sum(map(len, usual))
    slips = ("dont", "isnt", "cant", "Ive", "Id ", "Im ")
    assert any(slip in text for text in plain for slip in slips)
    assert not any(slip in text for text in usual for slip in slips)
    assert sum("Laugh Track" in text for text in plain) > 30  # names are spelled as they are


def test_a_slip_does_not_hide_that_a_sentence_was_said() -> None:
    said = "I dont think Heat is for me."
    assert is_of("reject_unconvinced", said)
    assert without_slips("The film isn't a comedy") == without_slips("Film isnt comedy")
    assert not is_of("reject_seen", said)


def test_the_rule_user_speaks_in_many_ways() -> None:
    context = moment(system_turn("Try Laugh Track (1958)."))
    texts = [spoken(context, RuleUser(KNOWN, seed=seed)) for seed in range(60)]
    assert len(set(texts)) > 55
    assert all(phrases().say.values())
