"""Worse versions of replies: each kind does what it says, on any dialogue."""

import random
from pathlib import Path

import pytest

from recjury.agreement.replies import worse_texts
from recjury.agreement.replies.entities import MentionedName, names_in
from recjury.agreement.replies.manipulations import Attack, Manipulator, SourceDialogue
from recjury.agreement.replies.thesaurus import stem, synonyms_of
from recjury.agreement.replies.worse_texts_analysis import FILE, pair_lines
from recjury.corpora.dialogues import alternating, read_robustness_pairs
from recjury.records import ItemRef, Speaker, Turn

CRS = SourceDialogue(
    "one",
    alternating(
        (
            "Hi! I like funny movies with a good story.",
            'I like them too. Have you seen "Airplane! (1980)" or The Big Lebowski (1998)?',
            "Yes, I have seen those movies. What else?",
            "You can watch a movie by Wes Anderson, he makes good ones.",
        ),
        Speaker.SYSTEM,
    ),
)
OTHER = SourceDialogue(
    "two",
    alternating(
        ("Any horror film?", 'Try "The Shining (1980)", it is scary. I love Stephen King.'),
        Speaker.SYSTEM,
    ),
)


def draw() -> random.Random:
    return random.Random(0)


def test_every_kind_changes_a_dialogue_with_a_recommender() -> None:
    pairs = list(Manipulator([CRS, OTHER]).pairs())
    assert {pair.attack for pair in pairs} == set(Attack)
    assert all(pair.worse != pair.original for pair in pairs)
    assert all(pair.history == pair.worse_history for pair in pairs)
    assert len({pair.id for pair in pairs}) == len(pairs)


def test_pairs_depend_on_the_seed_and_on_nothing_else() -> None:
    one, again = (list(Manipulator([CRS, OTHER], seed=1).pairs()) for _ in range(2))
    assert one == again
    assert one != list(Manipulator([CRS, OTHER], seed=2).pairs())
    alone = list(Manipulator([CRS, OTHER], seed=1).pairs([Attack.PRONOUN]))
    assert alone == [pair for pair in one if pair.attack == "pronoun"]


def test_the_other_speakers_words_come_first() -> None:
    [pair, _, _] = Manipulator([CRS, OTHER]).pairs([Attack.SPEAKER])
    assert pair.worse == f"{pair.history[-1].text} {pair.original}"


def test_a_reply_of_another_dialogue_does_not_follow() -> None:
    pairs = list(Manipulator([CRS, OTHER]).pairs([Attack.ENTAILMENT]))
    assert pairs[0].worse == OTHER.turns[1].text
    assert pairs[2].worse in {turn.text for turn in CRS.turns}


def test_dull_replies_answer_questions_with_nothing() -> None:
    asked = {worse_texts.dull(True, None, "At nine.", random.Random(n)) for n in range(50)}
    told = {worse_texts.dull(False, "Hi!", "Great, thanks.", random.Random(n)) for n in range(50)}
    assert "It depends." in asked
    assert "Hi!" in told
    assert not asked & told


def test_pronouns_keep_their_case_and_place() -> None:
    for seed in range(20):
        worse = worse_texts.wrong_pronouns("I saw him.", random.Random(seed))
        assert worse is not None
        first, _, last = worse.split(" ")
        assert first in ("We", "You", "He", "She", "It", "They")
        assert last in ("me.", "us.", "you.", "her.", "it.", "them.")
        middle = worse_texts.wrong_pronouns("So I went. You too.", random.Random(seed))
        assert middle is not None
        assert middle.split(" ")[1] in ("we", "you", "he", "she", "it", "they")
        assert middle.split(" ")[3][0].isupper()
    assert worse_texts.wrong_pronouns("Good films.", draw()) is None


def test_repetitions_only_add_words() -> None:
    for seed in range(20):
        worse = worse_texts.repeated("A very good film.", random.Random(seed))
        assert worse is not None
        assert len(worse) > len("A very good film.")
        assert set(worse.split()) <= {"A", "very", "good", "film.", "film"}
    assert worse_texts.repeated("?!", draw()) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It is good.", "It is not good."),
        ("It isn't good.", "It is good."),
        ("I can't go.", "I can go."),
        ("I do not know.", "I do know."),
        ("I like it.", "I do not like it."),
        ("We also  like it.", "We also  do not like it."),
        ("You're right.", "You're not right."),
    ],
)
def test_a_statement_is_negated_or_affirmed(text: str, expected: str) -> None:
    found = {worse_texts.contradicting(text, random.Random(seed)) for seed in range(20)}
    assert expected in found
    assert text not in found


def test_names_are_titles_and_capitalised_words() -> None:
    text = 'So "Airplane! (1980)" or Heat (1995) with Al Pacino. Yes, It Follows too.'
    turn = Turn(speaker=Speaker.SYSTEM, text=text, items=(ItemRef(id=None, name="It Follows"),))
    found = names_in(turn)
    assert MentionedName("It Follows", title=True) in found
    assert MentionedName("Airplane! (1980)", title=True) in found
    assert MentionedName("Heat", title=True) in found
    assert MentionedName("Al Pacino", title=False) in found


def test_a_title_becomes_another_title() -> None:
    names = [
        MentionedName("Heat", title=True),
        MentionedName("Alien", title=True),
        MentionedName("Bob", title=False),
    ]
    worse = worse_texts.with_other_names("I love Heat.", names[:1], names, draw())
    assert worse == "I love Alien."
    assert worse_texts.with_other_names("I love it.", (), names, draw()) is None


def test_a_shared_word_becomes_a_near_synonym() -> None:
    worse = worse_texts.not_entrained("I like movies.", ["movie"], draw())
    assert worse in ("I like films.", "I like pictures.")
    assert worse_texts.not_entrained("I like movies.", ["and", "train"], draw()) is None


def test_a_bad_paraphrase_takes_the_wrong_senses() -> None:
    worse = worse_texts.badly_paraphrased("Watch a great movie!", draw())
    assert worse == "Timepiece a large flick!"
    assert worse_texts.badly_paraphrased("A movie.", draw()) is None


def test_a_less_diverse_reply_says_what_was_said() -> None:
    said = worse_texts.words_of(["We want films"])
    assert worse_texts.less_diverse("I need movies.", said, draw()) == "I want films."
    assert worse_texts.less_diverse("Hello there.", said, draw()) is None
    # Other forms of the word itself are the second choice.
    said = worse_texts.words_of(["Good movies, a film"])
    assert worse_texts.less_diverse("A movie.", said, draw()) == "A film."
    assert worse_texts.less_diverse("A movie.", said[:2], draw()) == "A movies."


def test_inflections_are_derived() -> None:
    loved = synonyms_of("loved")
    assert loved is not None
    assert loved.near == ("adored", "liked")
    assert (stem("movies"), stem("stopped"), stem("Xyzs")) == ("movie", "stop", "xyzs")
    assert synonyms_of("xyz") is None


def test_pairs_are_written_as_they_are_read(tmp_path: Path) -> None:
    pairs = [
        pair for pair in Manipulator([CRS]).pairs() if pair.history[-1].speaker is Speaker.USER
    ]
    (tmp_path / FILE).write_bytes(pair_lines(pairs))
    assert list(read_robustness_pairs(tmp_path)) == pairs


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "?", "\u2028", "🙂", "a" * 10_000, "'s not n't"),
        # In quadratic time, each of these would take many minutes.
        *("A" * 300_000, "1" * 300_000, "I" + " " * 300_000 + "x", "a" + "\n" * 300_000 + "b"),
    ],
    ids=lambda text: f"{text[:2]!r}, {len(text)} characters",
)
def test_any_text_can_be_met(text: str) -> None:
    turns = alternating(("Hi " + text, text or "x", text, "Fine, " + text), Speaker.SYSTEM)
    for pair in Manipulator([SourceDialogue("x", turns)]).pairs():
        assert pair.worse != pair.original
