"""Orders of words that no English sentence has."""

import time

import pytest

from recjury.judges.measured.nonsense import nonsense
from recjury.judges.measured.salad import salad
from recjury.judges.measured.syntax import syntax
from recjury.judges.measured.text import MaskedText, Sentence
from recjury.judges.measured.word_kinds import KINDS


def sentences(text: str) -> tuple[Sentence, ...]:
    """The sentences of a text; X stands for a title."""
    spans = [(at, at + 1) for at, letter in enumerate(text) if letter == "X"]
    return MaskedText(text, spans).sentences


@pytest.mark.parametrize(
    "text",
    [
        "It is about four sisters in a serious, and it is good.",
        "It is a small and very strange, but it is good.",
        "It also about an old who talk.",
        "It is about two men who wants money.",
        "It is about a man who are beautiful.",
        "It is about two brother and their mother.",
        "It is warm, and you funny at the same time.",
        "It is fast, and it never slow.",
        "It has very funny, and it is short.",
        "There is very tense, X.",
        "It is a wild film is a strange one.",
        "The two people is on the road.",
        "Both are long and tense crime story.",
        "It is about love and beautiful and it is good.",
        "There is a western, but it and sad.",
        "X is has a good story.",
        "It is very darker than the other.",
        "It is short and sweet, and.",
        "It was a good and.",
        "It is good, and it has strange part is warm.",
        "One is not so lonely man.",
        "I could you find a film.",
    ],
)
def test_what_is_no_sentence(text: str) -> None:
    found = [what for sentence in sentences(text) for _, what in syntax(sentence)]
    assert len(found) == 1, found


@pytest.mark.parametrize(
    "text",
    [
        "It is a quiet, sad film and it is good.",
        "It is a boy's story, and a girls' school is in it.",
        "It is about a boy and an old man who become friends.",
        "Of the two men who are in it one is old.",
        "They are good, strange and very funny.",
        "Is it also a horror film?",
        "It is a must for you, and a good one.",
        "I am not a fan of it, but he is.",
        "She has good and bad days.",
        "There is a good film, and there are strange ones.",
        "The best of the old ones, really.",
        "It might be good. Would the old one be better?",
        "It is much better than what it was.",
        "That is what it is about.",
        "It is sad what is in it.",
        "There is also hard, soft and medium.",
        "One of the people in the house is a thief.",
    ],
)
def test_what_is_one(text: str) -> None:
    assert [what for sentence in sentences(text) for _, what in syntax(sentence)] == []


@pytest.mark.parametrize(
    "text",
    [
        "It pretty much defines the genre.",
        "I pretty much love it.",
        "They long for a home.",
        "Thanks, you poor thing.",
        "It can slow down at times.",
        "It may slow a bit.",
        "You will warm to it.",
        "They brave the storm together.",
        "I bloody love it.",
        "It long outlives its welcome.",
        "It is really better.",
        "It is really darker than that.",
        "It is rather better than the first.",
        "So better luck next time.",
        "He is a has-been rock star.",
        "It is a who-dunnit.",
        "It is a short.",
        "Bao is a short about a mother.",
        "There is a calm in the storm.",
        "It is a dark and at times funny film.",
        "The bond between parents and children is strong.",
        "The story of the brothers and sisters is great.",
        "Friends is a sitcom.",
        "It is great everyone is so nice.",
        "It is sad love is so short.",
        "It has funny and sad and tender moments.",
        "It has funny and sad and thrilling moments.",
        "There is good, and there is evil.",
        "There is good and there is bad.",
        "How about funny?",
        "What about scary?",
        "It's about a man who... well, see for yourself.",
        "I could you know suggest another one.",
        "You should I think like it.",
        "He is a stranger and she is a stranger in town.",
    ],
)
def test_what_looks_like_none(text: str) -> None:
    """Adjectives that are verbs, adverbs or nouns, and clauses without a pause between them."""
    assert [what for sentence in sentences(text) for _, what in syntax(sentence)] == []


def test_no_word_is_of_two_kinds() -> None:
    words = [word for kind in KINDS.values() for word in kind.split()]
    assert sorted(set(words)) == sorted(words)


def test_slips_are_left_out() -> None:
    """What a learner of English writes who means something."""
    for text in ("It is good film, and I like it.", "It is about old man, I think."):
        (sentence,) = sentences(text)
        assert syntax(sentence)
        assert not syntax(sentence, slips=False)


@pytest.mark.parametrize(
    "text",
    [
        "I would pick X is a slow film.",
        "X is a son and it is about he has people.",
        "It is about people in a man.",
        "X is a dark and dark crime film.",
        "It is a musical at the fifties.",
        "It is short, but it is not too.",
        "The X has a great film.",
        "It is an oldadventure with music.",
        "It is about a family and a boy and a family.",
        "It is about a girl and his mother.",
        "It has music and a lot very sad songs.",
        "Then X and quiet.",
        "It takes place in it is slow.",
    ],
)
def test_more_salad(text: str) -> None:
    assert [what for sentence in sentences(text) for _, what in salad(sentence)]


@pytest.mark.parametrize(
    "text",
    [
        "It is about a girl who falls in love with a girl who looks for a girl.",
        "X is a great movie and a great action movie.",
        "X is another one that is also a great one.",
        "I've heard of that one was good.",
        "It is about a girl that's about a woman.",
    ],
)
def test_descriptions_in_circles(text: str) -> None:
    assert [what for sentence in sentences(text) for _, what in nonsense(sentence)]


@pytest.mark.parametrize(
    "words", ["very", "a", "it", "and", "sad and", "a very sad,", "girl", "it has sad and"]
)
def test_it_takes_linear_time(words: str) -> None:
    (long,) = sentences(f"{words} " * 20_000)
    begin = time.process_time()
    syntax(long)
    list(nonsense(long))
    assert time.process_time() - begin < 2
