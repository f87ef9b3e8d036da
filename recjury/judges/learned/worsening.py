"""Worse versions of a reply, to learn from. Other code than the tests of robustness have."""

import random
import re
from collections.abc import Callable, Mapping, Sequence

DULL = (
    "I see.", "Okay.", "That is great.", "I don't know.", "Yes.", "No.", "Thank you.", "Really?",
    "I am sorry to hear that.", "That sounds good.", "I don't know what you mean.", "Oh, I see.",
    "Great question!", "Nice.", "Sure.", "I am not sure.", "That's nice.", "Me too.",
    "What do you mean?", "I am glad to hear that.", "Wow, that is interesting.", "Good idea.",
    "All right.", "You are welcome.", "Of course.",
)  # fmt: skip

_OTHERS: Mapping[str, tuple[str, ...]] = {
    "i": ("you", "he", "we", "they"),
    "you": ("i", "he", "they", "she"),
    "he": ("she", "they", "i"),
    "she": ("he", "they", "you"),
    "we": ("they", "you", "it"),
    "they": ("we", "you", "it"),
    "my": ("your", "his", "their"),
    "your": ("my", "her", "our"),
    "his": ("her", "my"),
    "her": ("his", "your"),
    "our": ("their", "my"),
    "their": ("our", "your"),
    "me": ("him", "us", "you"),
    "him": ("me", "them"),
    "us": ("them", "me"),
    "them": ("us", "you"),
    "it": ("they", "she"),
}
_AUXILIARIES = frozenset(
    (
        *("is", "are", "was", "were", "am", "do", "does", "did", "have", "has", "had"),
        *("can", "could", "will", "would", "should"),
    )
)
_NEGATIONS = re.compile(r"not|never|.*n't")

Worse = Callable[[Sequence[str], list[str], random.Random], str | None]


class Worsener:
    """Makes worse versions; `words` and `names` are what it puts in place of others."""

    def __init__(self, words: Sequence[str], names: Sequence[str]):
        """Keep the words."""
        self._words = words
        self._names = names
        self._ways: dict[str, Worse] = {
            "dull": lambda history, words, lot: lot.choice(DULL),  # noqa: ARG005
            "repeat": _repeat,
            "shuffle": _shuffle,
            "drop": _drop,
            "replace": self._replace,
            "pronoun": _pronoun,
            "negate": _negate,
            "name": self._name,
            "speaker": _speaker,
            "echo": _echo,
            "begin_as_before": _begin_as_before,
            "cut": _cut,
        }

    @property
    def kinds(self) -> tuple[str, ...]:
        """The ways of making a reply worse."""
        return tuple(self._ways)

    def worse(self, kind: str, history: Sequence[str], text: str, lot: random.Random) -> str | None:
        """A worse `text`; None if this way does not change it."""
        words = text.split()
        made = self._ways[kind](history, words, lot) if words else lot.choice(DULL)
        return made if made and made.strip() and made != text else None

    def _replace(self, _: Sequence[str], words: list[str], lot: random.Random) -> str | None:
        share = lot.uniform(0.1, 0.4)
        if not self._words:
            return None
        return " ".join(lot.choice(self._words) if lot.random() < share else w for w in words)

    def _name(self, _: Sequence[str], words: list[str], lot: random.Random) -> str | None:
        places = [
            place
            for place, word in enumerate(words)
            if place and is_name(word) and word.lower() not in _OTHERS
        ]
        if not places or not self._names:
            return None
        words[lot.choice(places)] = lot.choice(self._names)
        return " ".join(words)


def is_name(word: str) -> bool:
    """Whether a word inside a sentence looks like a name."""
    return len(word) > 2 and word[0].isupper() and word.isalpha()


def _repeat(_: Sequence[str], words: list[str], lot: random.Random) -> str | None:
    length, start = lot.choice((1, 1, 2, 3)), lot.randrange(len(words))
    part = words[start : start + length]
    times = lot.choice((1, 1, 2, 3, 4))
    return " ".join(words[: start + length] + part * times + words[start + length :])


def _shuffle(_: Sequence[str], words: list[str], lot: random.Random) -> str | None:
    if len(words) < 3:
        return None
    start = lot.randrange(len(words) - 2)
    end = start + lot.randint(3, 8)
    part = words[start:end]
    lot.shuffle(part)
    return " ".join(words[:start] + part + words[end:])


def _drop(_: Sequence[str], words: list[str], lot: random.Random) -> str | None:
    if len(words) < 4:
        return None
    share = lot.uniform(0.15, 0.4)
    return " ".join(word for word in words if lot.random() > share)


def _pronoun(_: Sequence[str], words: list[str], lot: random.Random) -> str | None:
    return " ".join(
        lot.choice(_OTHERS[word.lower()]) if word.lower() in _OTHERS else word for word in words
    )


def _negate(_: Sequence[str], words: list[str], lot: random.Random) -> str | None:
    low = [word.lower() for word in words]
    denied = [place for place, word in enumerate(low) if _NEGATIONS.fullmatch(word)]
    if denied:
        words[denied[0]] = (
            low[denied[0]].removesuffix("n't").replace("never", "").replace("not", "")
        )
        return " ".join(word for word in words if word)
    verbs = [place for place, word in enumerate(low) if word in _AUXILIARIES]
    if not verbs:
        return None
    words.insert(lot.choice(verbs) + 1, "not")
    return " ".join(words)


def _speaker(history: Sequence[str], words: list[str], lot: random.Random) -> str | None:  # noqa: ARG001
    return f"{history[-1]} {' '.join(words)}" if history else None


def _echo(history: Sequence[str], words: list[str], lot: random.Random) -> str | None:  # noqa: ARG001
    return lot.choice(history[-2:]) if history else None


def _begin_as_before(history: Sequence[str], words: list[str], lot: random.Random) -> str | None:
    before = history[-1].split() if history else []
    if len(before) < 4:
        return None
    start = lot.randrange(len(before) - 3)
    return " ".join(before[start : start + lot.randint(3, 8)] + words[: max(1, len(words) // 2)])


def _cut(_: Sequence[str], words: list[str], lot: random.Random) -> str | None:  # noqa: ARG001
    return " ".join(words[: len(words) // 2]) if len(words) > 6 else None
