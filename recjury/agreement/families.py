"""Families: copies of one dialogue under several names, which are drawn together in a resample.

AB-ReDial has some dialogues twice, and most of them are sessions of USS as well.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import combinations

_SHARED = 3  # long utterances of two copies
_LONG = 20  # characters; shorter utterances, such as "Hello, how are you?", are too common
_EVERYWHERE = 30  # dialogues; an utterance that is in more of them tells nothing


def families(dialogues: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """The first member of each dialogue's family: dialogues that share three long utterances.

    An utterance counts from 20 letters on, without case and punctuation, and if at most 30
    dialogues have it. Of a dialogue with fewer than three of them, all must be shared.
    """
    long = {name: _long(texts) for name, texts in dialogues.items()}
    having: dict[str, list[str]] = defaultdict(list)
    for name, texts in long.items():
        for text in sorted(texts):
            having[text].append(name)
    together = Counter(
        pair
        for names in having.values()
        if len(names) <= _EVERYWHERE
        for pair in combinations(names, 2)
    )
    order = {name: place for place, name in enumerate(dialogues)}
    first = {name: name for name in dialogues}
    for (one, two), count in together.items():
        if count >= max(1, min(_SHARED, len(long[one]), len(long[two]))):
            kept, joined = sorted((first[one], first[two]), key=order.__getitem__)
            first.update((name, kept) for name, each in first.items() if each == joined)
    return first


def _long(texts: Sequence[str]) -> frozenset[str]:
    plain = (re.sub(r"\W+", " ", text).strip().casefold() for text in texts)
    return frozenset(text for text in plain if len(text) >= _LONG)
