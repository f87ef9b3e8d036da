"""Grammatical Correctness, Naturalness and Appropriateness on boundary logs."""

import pytest

from recjury.judges.measured.anchors import from_errors, from_share
from recjury.judges.measured.appropriateness import offensive
from recjury.judges.measured.grammar import errors, rule_errors
from recjury.judges.measured.grammar_frames import text_errors
from recjury.judges.measured.naturalness import unnatural
from recjury.judges.measured.text import MaskedText
from recjury.records import Factor, Status
from tests.judges.measured.logs import log, rating, replies, score

GRAMMAR = Factor.GRAMMATICAL_CORRECTNESS

WRONG = (
    "It is a old story.",
    "You should see an movie.",
    "I think the the end is fine.",
    "He have made better ones.",
    "It was more better than that.",
)


@pytest.mark.parametrize(("count", "expected"), [(0, 4), (1, 3), (2, 2), (3, 1), (4, 0), (5, 0)])
def test_grammar_counts_errors(count: int, expected: int) -> None:
    """0 to 5 errors, in one turn and over several turns."""
    assert score(GRAMMAR, replies("That is fine. " + " ".join(WRONG[:count]))) == expected
    assert score(GRAMMAR, replies("That is fine.", *WRONG[:count])) == expected


def test_grammar_says_what_and_where() -> None:
    """The rationale lists each error with its turn."""
    found = rating(GRAMMAR, log("Hi", "It is a old story.", "Oh", "It is in the the end."))
    assert found.rationale == "2 errors: 'a old' (turn 2), repeated 'the the' (turn 4)"


@pytest.mark.parametrize(
    "text",
    [
        "They is good.",
        "I likes it.",
        "The movie are good.",
        "These movies was good.",
        "This movies rock.",
        "It is one of the best movie.",
        "There is many films like that.",
        "You can watches it tonight.",
        "It would likes that.",
        "She doesn't likes it.",
        "I didn't saw it.",
        "Did you liked it?",
        "Have you see it?",
        "I have went there.",
        "I want to went there.",
        "It was write by him.",
        "I seen it.",
        "You should of seen it.",
        "I don't know nothing.",
        "That is the most funniest.",
        "It's a very good.",
        "This is an good ones.",
        "He saw of the of the men.",
        "It is an unique film.",
        "I waited a hour.",
        "It is a the film.",
    ],
)
def test_grammar_finds(text: str) -> None:
    """One sentence for each rule."""
    assert len(errors(MaskedText(text, ()))) >= 1


@pytest.mark.parametrize(
    "text",
    [
        "It had had that that effect, and it was very, very good. No, no! Ha ha.",
        "A user saw a unique, one-off European film in an hour; an honest FBI man and an heir.",
        "You and I are fans, and those who liked it are happy, as you and he have said.",
        "What the actors in the movie are doing is great. If I were you, I would go.",
        "If it were up to me, he would have it be longer. Does he have it? Let it do that.",
        "The movies I have seen. The best movie is one of the movie classics that I love.",
        "Have you seen it? Have you read it? Did you like it? Do you want to watch it?",
        "Will Smith has a will of iron. The trash can has a lid. In May has it ended?",
        "It went on and on and on, day by day by day, again and again and again.",
        "There are a lot of films, there is many a slip, and there is a movie for you.",
        "I can't say no to it, and I don't mind nothing happening. More good films, please.",
        "I do love it. What you did went well. I would of course go. She's seen it.",
        "It's a good, funny film. It's a great one. It's a must.",
        "i love it so much its great u should watch :)",
    ],
)
def test_grammar_leaves_alone(text: str) -> None:
    """The rules find no error in correct or merely casual English."""
    utterance = MaskedText(text, ())
    assert [
        rule_errors(sentence) for sentence in utterance.sentences if rule_errors(sentence)
    ] == []
    assert text_errors(utterance) == []


@pytest.mark.parametrize(
    "text",
    [
        "is a romance.",
        "I never seen that movie.",
        ": It is a good one.",
        "I like it, , and the end.",
        "It is written byMark Twain.",
        "It's a thriller and a thriller.",
        "It is about a girl who is a girl.",
        "It's about a man who is a woman.",
        "I think it's a bit of a lot.",
        "I haven't seen it but I've seen it.",
    ],
)
def test_grammar_finds_broken_frames(text: str) -> None:
    """One sentence for each rule about how a sentence begins, what it lists, and circles."""
    utterance = MaskedText(text, ())
    assert text_errors(utterance) or any(map(rule_errors, utterance.sentences))


def test_an_article_before_a_title_with_an_article() -> None:
    text = "You would like The The Insider."
    start = text.index("The Insider")
    assert text_errors(MaskedText(text, [(start, len(text) - 1)])) == [
        "two articles 'The The Insider'"
    ]
    assert text_errors(MaskedText("I like the Insider.", [(11, 18)])) == []


def test_grammar_exempts_titles_of_the_catalogue() -> None:
    """A title that the catalogue has is right whatever it says; one it has not is judged."""
    assert score(GRAMMAR, replies("You would like A Apple a Day (2003).")) == 4
    assert score(GRAMMAR, replies("You would like The the Apple.")) == 3


def test_grammar_leaves_other_languages_unscored() -> None:
    """The rules know English only, and say so."""
    found = rating(GRAMMAR, replies("Puedes ver esta pelicula maravillosa con toda tu familia."))
    assert found.status is Status.NOT_MEASURED
    assert rating(GRAMMAR, replies("これはとても良い映画です")).score is None


PLAIN = (
    "I would watch that one tonight.",
    "My sister lives by the sea.",
    "Trains were late again this morning.",
    "We had soup and bread.",
    "He sings when he cooks.",
    "Snow fell all night long.",
    "Their garden needs more water.",
    "Nobody knows where the keys are.",
)


@pytest.mark.parametrize(
    ("bad", "total", "expected"),
    [(0, 8, 4), (1, 8, 3), (2, 8, 3), (3, 8, 2), (4, 8, 2), (5, 8, 2), (6, 8, 1), (8, 8, 0)],
)
def test_naturalness_is_a_share_of_turns(bad: int, total: int, expected: int) -> None:
    """All natural 4, a small part unnatural 3, half 2, most 1, all 0."""
    fine = list(PLAIN[: total - bad])
    loops = [text.replace(".", " man man man.") for text in PLAIN[:bad]]
    assert score(Factor.NATURALNESS, replies(*fine, *loops)) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "...",
        "E",
        "It is \ufffd\ufffd good",
        "I like <mask> very much.",
        "Try {title} tonight.",
        "ASSISTANT: &amp; so on &quot;",
        "A film of ororororor and more.",
        "It is good. It is good.",
        "It was was good and the the end is nice.",
        "A man who is a man with a man and his man.",
        "It is directed by",
        "Zodiac,  , and more.",
        "It is a bcdfg thing.",
        "Esta es una pelicula maravillosa para toda la familia",
        "x" * 40,
        "a good.Van is.Van was.Van",
    ],
)
def test_naturalness_finds(text: str) -> None:
    """One text for each reason."""
    assert unnatural(MaskedText(text, ())) is not None


@pytest.mark.parametrize(
    "text",
    [
        "Hi!",
        "Yes",
        "Sooooo good, hmm... I <3 it!!! :) ha ha",
        "What a film! The U.S. version came out on DVD in 1999, e.g. at Mr. Smith's.",
        "I didn't like that. Did you? I'd say it's one of the best films ever made",
        "Great 😀🎬 pick, enjoy!",
        "**Heat** is a crime film:\n1. It is long.\n2. It is good.",
    ],
)
def test_naturalness_leaves_alone(text: str) -> None:
    """Casual, marked up or emphatic English is natural."""
    assert unnatural(MaskedText(text, ())) is None


def test_naturalness_counts_turns_said_again() -> None:
    """The same turn again is unnatural; a short greeting again is not."""
    assert score(Factor.NATURALNESS, replies("I think you will like it.", "Hi")) == 4
    twice = replies("I think you will like it.", "I think you will like it!")
    assert score(Factor.NATURALNESS, twice) == 2


def test_appropriateness_is_unscored_with_its_finding() -> None:
    """Constant over recorded logs, so never a score; what was found is in the reason."""
    rude = rating(Factor.APPROPRIATENESS, replies("Shut up, you idiot."))
    assert rude.status is Status.NOT_MEASURED
    assert "'shut up' (turn 2)" in rude.reason
    assert rating(Factor.APPROPRIATENESS, replies("Please enjoy it.")).score is None
    assert offensive(MaskedText("The shell, the class and the cockpit of Scunthorpe.", ())) == []


@pytest.mark.parametrize(("count", "expected"), [(0, 4), (1, 3), (2, 2), (3, 1), (4, 0), (99, 0)])
def test_error_anchors(count: int, expected: int) -> None:
    """Four or more are 0."""
    assert from_errors(count) == expected


def test_share_anchors_are_monotone_and_only_the_ends_are_0_and_4() -> None:
    """Over every share of up to 40."""
    for total in range(1, 41):
        scores = [from_share(good, total) for good in range(total + 1)]
        assert scores == sorted(scores)
        assert (scores[0], scores[-1]) == (0, 4)
        assert {0, 4}.isdisjoint(scores[1:-1])
        if total % 2 == 0:
            assert scores[total // 2] == 2
