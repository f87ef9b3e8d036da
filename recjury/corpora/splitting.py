"""Split dialogues so that what is one conversation under two names lies on one side.

AB-ReDial has some dialogues twice under other names, and most of them again as sessions of USS:
what is tuned on one must not be tested on the other.
"""

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

_LONG = 20  # characters: "Hello, how are you?" recurs everywhere
_SHARED = 3
_EVERYWHERE = 30  # dialogues: an utterance in more of them tells nothing

_NO_WORD = re.compile(r"\W+")


class Split(NamedTuple):
    """The names of the dialogues on each side, in the order they were given."""

    train: tuple[str, ...]
    validation: tuple[str, ...]


def families(dialogues: Mapping[str, Sequence[str]], *, shared: int = _SHARED) -> dict[str, str]:
    """Each dialogue's family: the name of its first member.

    Dialogues that share at least `shared` long utterances (20 characters; case and punctuation
    aside) are of one family, and so are those that are linked through others. A dialogue with
    fewer long utterances than `shared` is of a family with those that hold all of them.
    """
    long = {name: _long(utterances) for name, utterances in dialogues.items()}
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
    """Split dialogues by family (see `families`), so that `share` of them are for training.

    Families are drawn by lot, the SHA-256 of seed and name, until the share is reached: the same
    on every machine.
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


def _long(utterances: Sequence[str]) -> frozenset[str]:
    plain = (_NO_WORD.sub(" ", utterance).strip().casefold() for utterance in utterances)
    return frozenset(text for text in plain if len(text) >= _LONG)


def _lot(seed: int, family: str) -> str:
    return hashlib.sha256(f"{seed}:{family}".encode()).hexdigest()


def _root(parent: dict[str, str], name: str) -> str:
    while parent[name] != name:
        name = parent[name]
    return name
