"""Split dialogues so that copies of a conversation under several names are on the same side.

AB-ReDial has some dialogues twice under different names, and most of them are also sessions of
USS. An evaluator that is tuned on one copy must not be tested on another.
"""

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

_LONG = 20  # characters; shorter utterances such as "Hello, how are you?" are too common
_SHARED = 3
_EVERYWHERE = 30  # dialogues; an utterance that is in more of them is not informative

_NO_WORD = re.compile(r"\W+")


class Split(NamedTuple):
    """The names of the dialogues on each side, in the given order."""

    train: tuple[str, ...]
    validation: tuple[str, ...]


def families(dialogues: Mapping[str, Sequence[str]], *, shared: int = _SHARED) -> dict[str, str]:
    """Each dialogue's family: the name of its first member.

    Dialogues that share at least `shared` long utterances (20 characters; case and punctuation are
    ignored) belong to one family, directly or through other dialogues. If a dialogue has fewer
    than `shared` long utterances, it belongs to the family of the dialogues that have all of
    them.
    """
    long = {name: long_utterances(utterances) for name, utterances in dialogues.items()}
    held: dict[str, list[str]] = defaultdict(list)
    for name, utterances in long.items():
        for utterance in sorted(utterances):
            held[utterance].append(name)
    together = Counter(
        pair
        for names in held.values()
        if len(names) <= _EVERYWHERE
        for pair in combinations(names, 2)
    )
    parent = {name: name for name in dialogues}
    order = {name: place for place, name in enumerate(dialogues)}
    for (one, two), count in together.items():
        if count >= max(1, min(shared, len(long[one]), len(long[two]))):
            first, second = sorted((_root(parent, one), _root(parent, two)), key=order.__getitem__)
            parent[second] = first
    return {name: _root(parent, name) for name in dialogues}


def split(of: Mapping[str, str], *, share: float = 0.6, seed: int = 0) -> Split:
    """Split dialogues by family (see `families`); about `share` of them are for training.

    Families are drawn in the order of the SHA-256 of seed and name until the share is reached. The
    split is the same on every machine.
    """
    members: dict[str, list[str]] = defaultdict(list)
    for name, family in of.items():
        members[family].append(name)
    train: set[str] = set()
    for family in sorted(members, key=lambda family: _lot(seed, family)):
        if len(train) + len(members[family]) / 2 > share * len(of):
            break
        train.update(members[family])
    return Split(
        tuple(name for name in of if name in train),
        tuple(name for name in of if name not in train),
    )


def are_copies(one: frozenset[str], two: frozenset[str]) -> bool:
    """Whether two dialogues with these long utterances are copies, by the rule of `families`."""
    return len(one & two) >= max(1, min(_SHARED, len(one), len(two)))


def plain_utterance(utterance: str) -> str:
    """An utterance without case and punctuation."""
    return _NO_WORD.sub(" ", utterance).strip().casefold()


def long_utterances(utterances: Iterable[str]) -> frozenset[str]:
    """The utterances of at least 20 characters, without case and punctuation."""
    plain = map(plain_utterance, utterances)
    return frozenset(text for text in plain if len(text) >= _LONG)


def _lot(seed: int, family: str) -> str:
    return hashlib.sha256(f"{seed}:{family}".encode()).hexdigest()


def _root(parent: dict[str, str], name: str) -> str:
    while parent[name] != name:
        name = parent[name]
    return name
