"""Coherence, Recoverability, Proactiveness and Explainability on boundary logs."""

import pytest

from recjury.judges.measured.annotated_log import annotate
from recjury.judges.measured.asks import Ask, ask_of, clarifies, offers
from recjury.judges.measured.objections import objection_in
from recjury.judges.measured.text import MaskedText
from recjury.knowledge import Catalogue
from recjury.records import ConversationLog, Factor, Item, Speaker, Status, Turn
from tests.judges.measured.logs import log, rating, replies, score

ASKS = "I am looking for a good film, number {}. Can you recommend one?"
MISSES = (
    "The weather was nice on that day.",
    "My sister lives by the sea.",
    "Trains were late again this morning.",
    "We had soup and bread.",
    "He sings when he cooks.",
    "Snow fell all night long.",
    "Their garden needs more water.",
    "Nobody knows where the keys are.",
)
FILMS = (
    "Heat (1995)",
    "The Insider (1999)",
    "Amelie (2001)",
    "Notting Hill (1999)",
    "Alien (1979)",
)


def _asked(answers: list[str | None]) -> ConversationLog:
    texts: list[str | None] = []
    for number, answer in enumerate(answers):
        texts += [ASKS.format(number), answer]
    return log(*texts)


@pytest.mark.parametrize(("count", "expected"), [(0, 4), (1, 3), (2, 2), (3, 1), (4, 0), (5, 0)])
def test_coherence_counts_turns_that_do_not_answer(count: int, expected: int) -> None:
    """0 to 5 turns that name no film when asked for one, beside two that do."""
    good: list[str | None] = [f"You could watch {film}." for film in FILMS[:2]]
    missed: list[str | None] = list(MISSES[:count])
    assert score(Factor.COHERENCE, _asked(good + missed)) == expected
    assert score(Factor.COHERENCE, _asked(missed + good)) == expected


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("You could watch Heat (1995).", 4),
        ("What kind of film do you like?", 4),
        ("Have you seen Nobody Knows This One (2031)? I mean (2001).", 4),
        ("I hope you enjoy it.", 0),
        ("How are you today?", 0),
        ("", 0),
        (None, 0),
    ],
)
def test_what_answers_a_request(answer: str | None, expected: int) -> None:
    """A film or a question about wishes; small talk, nothing and a failure do not."""
    assert score(Factor.COHERENCE, _asked([answer])) == expected


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("It is about a thief and a policeman.", 4),
        ("Heat (1995) stars Al Pacino.", 4),
        ("It is a great movie.", 2),
        ("I would also recommend Alien (1979). It is a scary story.", 2),
    ],
)
def test_what_answers_a_question_about_a_film(answer: str, expected: int) -> None:
    """Something of its content; praise and another film do not."""
    asked = log("Hello", "Try Heat (1995).", "Can you tell me more about Heat (1995)?", answer)
    assert score(Factor.COHERENCE, asked) == expected


def test_coherence_wants_something_new_for_another_request() -> None:
    """The film named before does not answer a second request, nor do one's own words."""
    again = _asked(["You could watch Heat (1995).", "Heat (1995) is what I would choose."])
    assert score(Factor.COHERENCE, again) == 2
    same = replies("I think that you will like it.", "I think that you will like it.")
    assert score(Factor.COHERENCE, same) == 2


def test_the_history_counts_as_what_the_first_turn_answers() -> None:
    """The system opens after a history that ends on a request."""
    history = [Turn(speaker=Speaker.USER, text="Can you recommend a thriller?")]
    assert score(Factor.COHERENCE, log("Heat (1995).", system_opens=True, history=history)) == 4
    assert score(Factor.COHERENCE, log("Nice day.", system_opens=True, history=history)) == 0


OBJECTION = "No, that is not what I asked for, try number {}."


def _objections(answers: list[str]) -> ConversationLog:
    texts = ["Hello", "You could watch Heat (1995)."]
    for number, answer in enumerate(answers):
        texts += [OBJECTION.format(number), answer]
    return log(*texts, "Bye")


@pytest.mark.parametrize(
    ("ignored", "answered", "expected"),
    [(0, 0, 4), (0, 3, 4), (1, 0, 0), (1, 3, 3), (2, 3, 2), (2, 0, 0), (3, 2, 1), (4, 3, 0)],
)
def test_recoverability_counts_what_is_not_corrected(
    ignored: int, answered: int, expected: int
) -> None:
    """The lower score of the number of objections that are ignored and of the share answered."""
    good = ["Then Alien (1979).", "The Insider (1999), perhaps?", "Let me offer Amelie (2001)."]
    assert (
        score(Factor.RECOVERABILITY, _objections([*good[:answered], *MISSES[:ignored]])) == expected
    )


@pytest.mark.parametrize(
    ("corrected", "expected"),
    [("Then try Alien (1979).", 4), ("Oh, what genre do you like?", 4), ("Sorry about that.", 0)],
)
def test_what_corrects(corrected: str, expected: int) -> None:
    """Another film, or asking; an apology alone does not."""
    assert score(Factor.RECOVERABILITY, _objections([corrected])) == expected


@pytest.mark.parametrize(
    ("objection", "answer", "expected"),
    [
        ("Isn't that a thriller? I'd rather have a comedy.", "Then try Amelie (2001).", 4),
        ("Isn't that a thriller? I'd rather have a comedy.", "Then try The Insider (1999).", 0),
        ("I was thinking of something older than Heat (1995).", "Then try Alien (1979).", 4),
        ("I was thinking of something older than Heat (1995).", "Then try Amelie (2001).", 0),
        ("Is Russell Crowe in Heat (1995)? I don't think so.", "Then try The Insider (1999).", 4),
        ("Is Russell Crowe in Heat (1995)? I don't think so.", "Then try Amelie (2001).", 0),
        ("I've already seen it.", "Heat (1995) is what I would watch.", 0),
        ("That is wrong, it came out later.", "Sorry, you are right.", 4),
    ],
)
def test_a_correction_must_fit_the_objection(objection: str, answer: str, expected: int) -> None:
    """Another genre, era or person was asked for; the same film does not help."""
    asked = log("Hello", "You could watch Heat (1995).", objection, answer, "Bye")
    assert score(Factor.RECOVERABILITY, asked) == expected


@pytest.mark.parametrize(
    "words",
    [
        "I've already seen it.",
        "That's not what I wanted.",
        "I don't really like horror.",
        "You already recommended that one.",
        "That is wrong, it came out later.",
        "I'm still looking for a comedy.",
        "It doesn't really fit.",
    ],
)
def test_what_points_out_an_error(words: str) -> None:
    """Ways to reject, and what is none."""
    assert objection_in(MaskedText(words, ())) is not None
    assert objection_in(MaskedText("That sounds lovely, tell me more.", ())) is None


def test_asking_word_for_word_again_points_out_an_error() -> None:
    """The first request does not, and an unanswered last turn cannot."""
    ask = "Can you recommend a comedy for tonight?"
    assert score(Factor.RECOVERABILITY, log(ask, "Nice day.", ask, "Nice weather.", ask)) == 0
    assert score(Factor.RECOVERABILITY, log(ask, "Nice day.", "Thanks", "Bye", ask)) == 4


@pytest.mark.parametrize(
    ("leading", "total", "expected"), [(8, 8, 4), (6, 8, 3), (4, 8, 2), (2, 8, 1), (0, 8, 0)]
)
def test_proactiveness_is_a_share_of_turns(leading: int, total: int, expected: int) -> None:
    """Every turn, most, half, fewer, none."""
    questions = [text.replace(".", ", do you agree?") for text in MISSES[:leading]]
    others = list(MISSES[: total - leading])
    assert score(Factor.PROACTIVENESS, replies(*questions, *others)) == expected


def test_what_leads_on() -> None:
    """A question about wishes, an offer, a choice of films; small talk and praise do not."""
    assert clarifies(MaskedText("Do you like old films?", ())) is not None
    assert clarifies(MaskedText("How are you?", ())) is None
    assert clarifies(MaskedText("I do. You like it.", ())) is None
    assert offers(MaskedText("Let me know what you think.", ())) is not None
    assert offers(MaskedText("It is a great movie.", ())) is None
    choice = replies("Heat (1995) and Alien (1979) are good.")
    assert score(Factor.PROACTIVENESS, choice) == 2
    assert score(Factor.PROACTIVENESS, replies("Heat (1995) is good.")) == 1


@pytest.mark.parametrize(("explained", "expected"), [(4, 4), (3, 3), (2, 2), (1, 1), (0, 0)])
def test_explainability_is_a_share_of_recommending_turns(explained: int, expected: int) -> None:
    """Always, mostly, half, rarely, never; turns without a recommendation do not count."""
    texts = [f"{film} is good." for film in FILMS[explained:4]]
    texts += [f"I choose {film} because you want a long evening." for film in FILMS[:explained]]
    assert score(Factor.EXPLAINABILITY, replies(*texts, "What a day.")) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Alien (1979) is a horror classic.", 0),
        ("Alien (1979), with Sigourney Weaver.", 2),
        ("Alien (1979) is a romance classic.", 0),
        ("Alien (1979), with Hugh Grant.", 0),
    ],
)
def test_a_true_attribute_is_a_reason(text: str, expected: int) -> None:
    """An untrue one is none, nor is a bare genre."""
    assert score(Factor.EXPLAINABILITY, replies(text)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Alien (1979) is a horror classic.", 4),
        ("Amelie (2001) is a horror classic.", 0),
        ("Amelie (2001) fits, because it is horror.", 0),
        ("It has a lot of Alien (1979).", 0),
    ],
)
def test_a_wished_genre_that_the_film_has_is_a_reason(text: str, expected: int) -> None:
    """A genre that the film does not have spoils even an explaining phrase."""
    assert score(Factor.EXPLAINABILITY, log("I want horror.", text)) == expected


def test_a_film_that_the_user_asked_about_may_be_introduced() -> None:
    """It is not new, and a wish in the same turn needs no other film."""
    asked = "Heat (1995) sounds good, and I am looking for a thriller."
    told = log("Hello", "Try Heat (1995).", asked, "Heat (1995) is about a thief.")
    assert score(Factor.COHERENCE, told) == 4
    best = "One of your suggestions fits. Could you introduce the best match?"
    told = log("Hello", "I have some.", best, "Alien (1979) is a scary story.")
    assert score(Factor.COHERENCE, told) == 4


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("It follows a man who learns the truth.", 0),
        ("You would like The Truth.", 1),
        ("you would like the truth", 1),
        ('You would like "the truth".', 1),
        ("You would like It Follows.", 1),
    ],
)
def test_ordinary_words_are_no_titles(text: str, named: int) -> None:
    """Case and quotation marks decide, in texts that use capitals."""
    items = [
        Item(id=name, name=name, title=name, popularity=9.0) for name in ("The Truth", "It Follows")
    ]
    linked = annotate(text, Catalogue("test", items)).keys
    assert len(linked & {"The Truth", "It Follows"}) == named


def test_no_recommendation_needs_no_explanation() -> None:
    """Unscored, as is a film that the user named first."""
    assert rating(Factor.EXPLAINABILITY, replies("Hi!")).status is Status.NOT_APPLICABLE
    named = log("I liked Heat (1995).", "Heat (1995) is good.")
    assert rating(Factor.EXPLAINABILITY, named).status is Status.NOT_APPLICABLE


@pytest.mark.parametrize(
    ("text", "ask"),
    [
        ("Hello", Ask.NOTHING),
        ("Thanks, I'll watch it tonight!", Ask.NOTHING),
        ("Can you recommend a comedy?", Ask.RECOMMENDATION),
        ("I'm in the mood for something scary.", Ask.RECOMMENDATION),
        ("I love romantic movies.", Ask.RECOMMENDATION),
        ("Do you have any other recommendations?", Ask.OTHER_RECOMMENDATION),
        ("Can you tell me more about the plot?", Ask.ABOUT_ITEM),
        ("What's it about? I'm looking for suspense.", Ask.ABOUT_ITEM),
        ("I haven't heard of that movie.", Ask.NOTHING),
        ("That is a good thriller, I enjoyed that movie a lot.", Ask.NOTHING),
        ("I would love to see it.", Ask.NOTHING),
        ("I would love to see a comedy.", Ask.RECOMMENDATION),
        ("Great suggestion!", Ask.NOTHING),
        ("Any good suggestions?", Ask.RECOMMENDATION),
        ("Is it any good?", Ask.ABOUT_ITEM),
        ("She has it framed by the door. So that's settled.", Ask.NOTHING),
        ("She has it framed. I love romantic movies.", Ask.RECOMMENDATION),
    ],
)
def test_what_a_user_asks_for(text: str, ask: Ask) -> None:
    """The cues, in the words that simulated users use."""
    assert ask_of(MaskedText(text, ())) is ask
