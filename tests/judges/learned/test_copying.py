"""How much of a reply stands in the dialogue before it. No library is needed."""

import pytest

from recjury.judges.learned.copying import TURNS, copied_share
from recjury.records import Speaker, Turn

ASKED = "I want a scary film from the 80s, nothing silly."


def history(*texts: str) -> list[Turn]:
    return [Turn(speaker=Speaker.USER, text=text) for text in texts]


@pytest.mark.parametrize(
    ("before", "reply", "share"),
    [
        ([ASKED], ASKED, 1.0),
        ([ASKED], "i WANT a scary film from the 80s nothing silly", 1.0),
        ([ASKED], "You should see The Shining (1980): slow and cold.", 0.0),
        ([ASKED], "A scary film from the sea is Jaws.", 5 / 8),  # "a scary film from the"
        (["Thanks a lot."], "Thanks a lot. You are welcome.", 0.5),
        (["Yes."], "Yes.", 0.0),
        ([ASKED], "a scary film from a sea", 0.0),
        ([ASKED], "", 0.0),
        ([ASKED], "!?", 0.0),
        ([], "Hello there.", 0.0),
        (["", "..."], "Hello there.", 0.0),
    ],
)
def test_the_share_of_copied_words(before: list[str], reply: str, share: float) -> None:
    assert copied_share(history(*before), reply) == pytest.approx(share)


def test_only_the_last_turns_count() -> None:
    later = ["Something else entirely."] * TURNS
    assert copied_share(history(ASKED, *later), ASKED) == 0
    assert copied_share(history(ASKED, *later[1:]), ASKED) == 1


def test_a_huge_reply_is_read_in_linear_time() -> None:
    assert copied_share(history("a b c d e " * 20_000), "a b c d e " * 20_000) == 1
