"""Word salad, formulas and recited facts: what is found, and what is left alone."""

import pytest

from recjury.judges.measured.fluency import learned_errors
from recjury.judges.measured.salad import salad
from recjury.judges.measured.syntax import syntax
from recjury.judges.measured.text import MaskedText
from recjury.records import Factor
from tests.judges.measured.logs import log, rating, replies, score

NATURALNESS = Factor.NATURALNESS


def found(text: str, *, slips: bool = True) -> list[str]:
    """What the patterns find in a text."""
    sentences = MaskedText(text, ()).sentences
    return [
        what
        for each in sentences
        for _, what in salad(each, slips=slips) or syntax(each, slips=slips)
    ]


@pytest.mark.parametrize(
    "text",
    [
        "It is tense and tense, and it has great music.",
        "It is about a boy and a boy.",
        "It is newer and it is newer.",
        "The story is about sport, about sport and growing up.",
        "The ending is warm, and the second is warm.",
        "It is sad and full of music is very sad.",
        "It is about a young man who have to be free.",
        "There are two people who is sad.",
        "It is a wild ending is a strange story.",
        "It is just here, which very short.",
        "It is a small, but it is also sad.",
        "It is a warm and funny.",
        "Without any new.",
        "It is about a young people in town.",
        "It is quiet film about love.",
        "You should the same time.",
        "You will about a quiet house.",
        "It is about a family but it",
        "There is not scary.",
        "It is about a boy and her mother.",
        "It is a crime film with a music and a little hope.",
        "It is about two young girl.",
        "It is about two tense without hope.",
        "It is about two people whoor the sixties.",
        "There is about a family.",
        "It is about sisters who about a mother.",
        "You are a long and quiet film with a story.",
        "The story has a little sad.",
        "It is about sports the road, and it is old.",
        "It is about a brave, and it is loud.",
        "It is strange, and white, and they are long.",
        "It takes less than three hours long.",
        "It is a story about a.",
        "It is about two brother and a father.",
    ],
)
def test_salad_is_found(text: str) -> None:
    assert len(found(text)) == 1


@pytest.mark.parametrize(
    "text",
    [
        "It gets better and better, again and again.",
        "It has great acting and great music.",
        "I like action movies and funny movies.",
        "It is about a man who wants to be free and the people who love him.",
        "It is one of the films of a man who have to be seen.",
        "It is a good and simple film, which very few people know.",
        "It is a small film, but it is also sad.",
        "Is it any good? There is a good one.",
        "The first one is good and the second is good too.",
        "It is a crime film with a music video in it.",
        "It is about two young girls and two sad people.",
        "I am a film student, and you are a movie lover.",
        "It is about two brothers and takes three hours. I like Vivica A. Fox.",
        "They are both great. I will, thanks.",
        "I would of course watch it. Do you like it and its sequel?",
        "This is really good. The story follows a boy and his mother.",
    ],
)
def test_sense_is_left_alone(text: str) -> None:
    assert found(text) == []


def test_a_slip_is_grammar_and_no_salad() -> None:
    """A single grammatical error does not make a turn unnatural (CoRE, appendix A.1.5)."""
    assert found("It is quiet film about love.", slips=False) == []
    assert score(NATURALNESS, replies("It is quiet film about love.")) == 4
    assert score(Factor.GRAMMATICAL_CORRECTNESS, replies("It is quiet film about love.")) == 3


def test_the_learned_model_does_not_count_names() -> None:
    """A sentence of names and few words is too short to be judged."""
    text = "Liane Moriarty wrote it, as well as Big Little Lies."
    assert not list(learned_errors(MaskedText(text, ()).sentences[0]))


def test_the_same_words_about_other_items_are_unnatural() -> None:
    """Half the second time, and a whole turn from the third time on; three words are needed."""
    canned = [f"Many people like {film}. Have you seen it?" for film in ("Heat", "Alien", "Amelie")]
    told = rating(NATURALNESS, replies(*canned))
    assert told.score == 2
    assert "1.5 of 3 turns unnatural: said before" in told.rationale
    assert "the words of turn 2 again (turn 6)" in told.rationale
    assert score(NATURALNESS, replies("Try Heat.", "Try Alien.", "Try Amelie.")) == 4


def test_the_same_words_again_are_unnatural() -> None:
    told = rating(NATURALNESS, replies("I like it a lot.", "I like it a lot."))
    assert told.score == 2
    assert "1 of 2 turns unnatural: the words of turn 2 again (turn 4)" in told.rationale


def test_a_phrase_again_and_again_counts_half() -> None:
    """In a quarter of one turn; a phrase of an earlier turn is nothing that nobody would write."""
    phrase = "it counts as {}, which you asked for"
    twice = f"There is Heat (1995): {phrase.format('crime')}; or Alien: {phrase.format('horror')}."
    told = rating(NATURALNESS, replies(twice, "A good evening to you."))
    assert told.score == 3
    assert "0.5 of 2 turns unnatural: again and again 'it counts as [kind]" in told.rationale
    again = (
        f"There is Heat (1995): {phrase.format('crime')}. A good evening to you.",
        f"Fair enough. What about Alien (1979)? Why? {phrase.format('horror')}.",
    )
    assert score(NATURALNESS, replies(*again)) == 4


def test_broken_turns_stand_for_others() -> None:
    """One may be a slip; where two are found of six, two more are taken to be broken."""
    fine = ["I would watch that one tonight.", "My sister lives by the sea.", "We had soup."]
    fine += ["Snow fell all night.", "Trains were late this morning."]
    broken = ["It is a small and strange, but it is good.", "It also about an old who talk."]
    assert score(NATURALNESS, replies(*fine, broken[0])) == 3
    told = rating(NATURALNESS, replies(*fine[:4], *broken))
    assert told.score == 1
    assert "4 of 6 turns unnatural (2 of them by estimate): no noun" in told.rationale


def test_recited_facts_count_half() -> None:
    """Three clauses of one fact each read like a data sheet; in a sentence, facts do not."""
    sheet = (
        "Heat (1995) came out in 1995. Michael Mann directed it. Al Pacino and Val Kilmer star in "
        "it. A thief meets a policeman."
    )
    told = rating(NATURALNESS, replies(sheet, "What would you like to know about the story?"))
    assert (told.score, "recites facts" in told.rationale) == (3, True)
    prose = (
        "Heat (1995) is the film in which Al Pacino chases Robert De Niro through Los Angeles, and "
        "Michael Mann directed it with a cold eye."
    )
    assert score(NATURALNESS, replies(prose)) == 4


def test_a_canned_answer_is_not_coherent() -> None:
    """The third time, whatever the user says; the same beginning twice may be chance."""
    texts = []
    for film in ("Heat (1995)", "The Insider (1999)", "Alien (1979)", "Amelie (2001)"):
        texts += ["Nice to hear.", f"Many people like {film}. Have you seen it?"]
    told = rating(Factor.COHERENCE, log(*texts))
    assert told.score == 2
    assert "2 missed turns of 4: the answer of turn 2 again" in told.rationale


@pytest.mark.parametrize(
    ("wish", "answer", "fits"),
    [
        ("I'd like a comedy.", "You could watch Heat (1995).", False),
        ("I'd like a comedy.", "You could watch Heat (1995) or Amelie (2001).", True),
        ("I'd rather have a comedy than a thriller.", "You could watch Heat (1995).", False),
        ("No comedies, please. I want a thriller.", "You could watch Heat (1995).", True),
        ("Heat isn't exactly a comedy, is it?", "You could watch Alien (1979).", False),
        ("Something from this century?", "You could watch Alien (1979).", False),
        ("Something from this century?", "You could watch Amelie (2001).", True),
        ("Something from the 90s?", "You could watch Alien (1979) or Heat (1995).", True),
        ("Something from the 90s?", "Alien (1979), Amelie (2001) or Heat (1995).", False),
        ("Something from the 90s?", "Heat (1995), Amelie (2001) or Alien (1979).", True),
        ("Something from the 70s, maybe.", "You could watch Amelie (2001).", False),
        ("Something from the seventies, maybe.", "You could watch Alien (1979).", True),
        ("Perhaps something by Ridley Scott?", "You could watch Heat (1995).", False),
        ("Perhaps something by Ridley Scott?", "You could watch Alien (1979).", True),
        ("I don't like Ridley Scott. Any other ideas?", "You could watch Heat (1995).", True),
        ("A film like Amelie (2001), please.", "You could watch Alien (1979).", False),
        ("A film like Amelie (2001), please.", "You could watch Notting Hill (1999).", True),
        ("I want a western.", "You could watch Heat (1995).", True),
        ("I'd like a comedy.", "Do you like romantic ones?", True),
    ],
)
def test_an_item_must_have_what_was_wished_for(wish: str, answer: str, *, fits: bool) -> None:
    """One of the items is enough; a genre that the catalogue never has cannot be missed."""
    told = rating(Factor.COHERENCE, log("Hello", "Hello, how can I help?", wish, answer))
    assert (told.score == 4) is fits, told.rationale


def test_a_wish_stands_until_the_next_one() -> None:
    """A turn that adds nothing leaves the last wish as it is."""
    asked = log("I want a comedy.", "Amelie (2001) is nice.", "Seen it.", "Then Heat (1995).")
    told = rating(Factor.COHERENCE, asked)
    assert "wished for comedy, offered 'Heat (1995)' (turn 4)" in told.rationale


@pytest.mark.parametrize(
    ("question", "answer", "answers"),
    [
        ("What is Heat (1995) like?", "Alien (1979) is about a ship.", False),
        ("What is Heat (1995) like?", "It is about a thief.", True),
        ("Is there anything I should know?", "Do you like comedy or drama?", False),
        ("Hold on, what about Heat (1995)?", "You might enjoy Alien (1979).", False),
        ("You haven't told me anything about it.", "You might enjoy Alien (1979).", False),
    ],
)
def test_questions_want_an_answer(question: str, answer: str, *, answers: bool) -> None:
    told = rating(Factor.COHERENCE, log("Hello", "There is Heat (1995).", question, answer))
    assert (told.score == 4) is answers, told.rationale


def test_leave_is_not_answered_by_another_item() -> None:
    bye = log("Hello", "There is Heat (1995).", "Thanks, goodbye!", "You could watch Alien (1979).")
    assert "after the goodbye" in rating(Factor.COHERENCE, bye).rationale
    bye = log("Hello", "There is Heat (1995).", "Thanks, goodbye!", "Enjoy it, and come back soon.")
    assert score(Factor.COHERENCE, bye) == 4
    more = log("Hello", "Take Heat (1995).", "Thanks, but another one?", "Alien (1979) is next.")
    assert score(Factor.COHERENCE, more) == 4


def test_salad_answers_nothing() -> None:
    told = rating(Factor.COHERENCE, log("Hello", "The film is tense and tense."))
    assert "makes no sense: 'tense and tense' (turn 2)" in told.rationale


def test_one_fact_twice_in_a_sentence_is_unnatural() -> None:
    text = "Why Heat (1995)? Michael Mann directed it; Michael Mann directed it, as well as Thief."
    told = rating(NATURALNESS, replies(text))
    assert "loop 'Michael Mann directed it'" in told.rationale
