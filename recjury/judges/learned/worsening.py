"""Broken versions of a reply, and copies of its history, to learn from.

No list of words is needed: what is put in place of other words was counted in the replies of
people. The tests of robustness (Khalid and Lee 2022) are made by other code.
"""

import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from recjury.judges.learned.weak_writer import WeakWriter

_FREQUENT = 60
_WORDS = 20_000
_RESIDUE = ("<movie>", "@12345", "{title}", "[ITEM]", "%s", "None", "&amp;", "<unk>", "\ufffd")
_LONG_WORD = 4  # letters: an ending can be taken from it
_MOST_CHANGES = 3

Break = Callable[[list[str], random.Random], str | None]


class Worsener:
    """Makes broken versions of replies, with words that people use."""

    def __init__(self, replies: Sequence[str], lot: random.Random):
        """Counts the words of `replies`."""
        words = [word for text in replies for word in text.split()]
        counts = Counter(word for word in words if word.islower() and word.isalpha())
        self._small = [word for word, _ in counts.most_common(_FREQUENT)]
        self._words = lot.sample(words, min(_WORDS, len(words)))
        self._writers = [WeakWriter(replies, order) for order in (1, 2)]
        self._breaks: Mapping[str, Break] = {
            "repeat": _repeat,
            "loop": _loop,
            "shuffle": _shuffle,
            "drop": _drop,
            "cut": _cut,
            "ending": _ending,
            "residue": _residue,
            "small_word": self._small_word,
            "replace": self._replace,
            "write": self._write,
            "write_on": self._write_on,
        }

    @property
    def kinds(self) -> tuple[str, ...]:
        """The ways of breaking a reply."""
        return tuple(self._breaks)

    def broken(self, text: str, lot: random.Random, kind: str | None = None) -> str | None:
        """A broken version of `text`, of a kind drawn by lot if none is named.

        None if this way does not change it.
        """
        words = text.split()
        if not words:
            return None
        made = self._breaks[kind or lot.choice(self.kinds)](words, lot)
        return made if made and made.strip() and made != text else None

    def _small_word(self, words: list[str], lot: random.Random) -> str | None:
        """Frequent words are exchanged for others, left out, or put in: "a man and her mother"."""
        places = [place for place, word in enumerate(words) if word.lower() in self._small]
        if len(places) < 2:
            return None
        for place in sorted(lot.sample(places, lot.randint(1, min(_MOST_CHANGES, len(places))))):
            word = lot.choice(self._small)
            words[place] = lot.choice((word, word, "", f"{words[place]} {word}"))
        return " ".join(word for word in words if word)

    def _replace(self, words: list[str], lot: random.Random) -> str | None:
        share = lot.uniform(0.1, 0.4)
        if len(words) < 3 or not self._words:
            return None
        return " ".join(lot.choice(self._words) if lot.random() < share else w for w in words)

    def _write(self, words: list[str], lot: random.Random) -> str | None:
        """A text of about the same length that a weak model wrote."""
        return self._written([], len(words), lot)

    def _write_on(self, words: list[str], lot: random.Random) -> str | None:
        """The reply's first words, continued by a weak model."""
        return self._written(words[: max(1, len(words) // 3)], len(words), lot)

    def _written(self, begun: list[str], length: int, lot: random.Random) -> str | None:
        if not self._words or length < 3:
            return None
        return lot.choice(self._writers).write(lot, begun, length=length + lot.randint(0, 8))


def copies(history: Sequence[str], text: str, lot: random.Random) -> str | None:
    """A reply that repeats the last turns, wholly or in part, before or instead of `text`.

    It is not broken, and fits its history all too well. None without a history.
    """
    if not history:
        return None
    words, before = text.split(), history[-1].split()
    start = lot.randrange(max(1, len(before) - 3))
    begun = [*before[start : start + lot.randint(3, 8)], *words[: max(1, len(words) // 2)]]
    made = lot.choice((f"{history[-1]} {text}", lot.choice(history[-2:]), " ".join(begun)))
    return made if made.strip() and made != text else None


def _repeat(words: list[str], lot: random.Random) -> str | None:
    length, start = lot.choice((1, 1, 2, 3)), lot.randrange(len(words))
    part = words[start : start + length]
    times = lot.choice((1, 1, 2, 3))
    return " ".join(words[: start + length] + part * times + words[start + length :])


def _loop(words: list[str], lot: random.Random) -> str | None:
    """A few words come again and again, until the end."""
    start, length = lot.randrange(len(words)), lot.randint(2, 6)
    part = words[start : start + length]
    return " ".join(words[: start + length] + part * lot.randint(2, 5))


def _shuffle(words: list[str], lot: random.Random) -> str | None:
    if len(words) < 4:
        return None
    start = lot.randrange(len(words) - 3)
    end = start + lot.randint(3, 8)
    part = words[start:end]
    lot.shuffle(part)
    return " ".join(words[:start] + part + words[end:])


def _drop(words: list[str], lot: random.Random) -> str | None:
    if len(words) < 4:
        return None
    share = lot.uniform(0.15, 0.4)
    return " ".join(word for word in words if lot.random() > share)


def _cut(words: list[str], lot: random.Random) -> str | None:
    """The reply ends inside a sentence."""
    if len(words) < 6:
        return None
    end = lot.randint(len(words) // 2, len(words) - 2)
    return None if words[end - 1][-1] in ".!?" else " ".join(words[:end])


def _ending(words: list[str], lot: random.Random) -> str | None:
    """Words lose or get an s: "two film", "he like"."""
    places = [at for at, word in enumerate(words) if len(word) >= _LONG_WORD and word.isalpha()]
    if not places:
        return None
    for place in lot.sample(places, min(len(places), lot.randint(1, _MOST_CHANGES))):
        word = words[place]
        words[place] = word[:-1] if word.endswith("s") else f"{word}s"
    return " ".join(words)


def _residue(words: list[str], lot: random.Random) -> str | None:
    """A template was not filled in."""
    words[lot.randrange(len(words))] = lot.choice(_RESIDUE)
    return " ".join(words)
