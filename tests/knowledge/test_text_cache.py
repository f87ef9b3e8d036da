"""Long texts are read again and not kept."""

import gc
import weakref

from recjury.knowledge.text_cache import cached_by_text
from recjury.language import read_reply


class Found:
    """A result that can be watched."""


def test_a_short_text_is_read_once_and_a_long_one_is_not_kept() -> None:
    read: list[str] = []

    @cached_by_text(8)
    def find(text: str) -> Found:
        read.append(text)
        return Found()

    short, long = "drama", "drama " * 2000
    assert find(short) is find(short)
    watched = weakref.ref(find(long))
    gc.collect()
    assert watched() is None
    assert read == [short, long]


def test_a_long_reply_leaves_nothing_behind() -> None:
    reply = "Heat is a film. " * 500
    assert read_reply(reply) is not read_reply(reply)
    assert read_reply("Heat is a film.") is read_reply("Heat is a film.")
