"""A weak language model, whose texts the judge of replies learns to tell from people's."""

import random
from collections.abc import Sequence

_END = ""


class WeakWriter:
    """Continues a text by words that followed its last words in what it has read."""

    def __init__(self, texts: Sequence[str], order: int):
        """`order` is how many of the last words decide on the next one, at least 1."""
        self._order = order
        self._next: dict[tuple[str, ...], list[str]] = {}
        for text in texts:
            words = [*[_END] * order, *text.split(), _END]
            for at in range(order, len(words)):
                self._next.setdefault(tuple(words[at - order : at]), []).append(words[at])

    def write(self, lot: random.Random, begun: Sequence[str] = (), *, length: int) -> str:
        """At most `length` words, `begun` included.

        Where a sentence ends early, or nobody ever went on, a new one begins.
        """
        words = list(begun)
        start = (_END,) * self._order
        last = (*start, *words)[-self._order :]
        while len(words) < length:
            word = lot.choice(self._next.get(last, [_END]))
            if word == _END:
                if last == start:
                    break
                last = start
                continue
            words.append(word)
            last = (*last[1:], word)
        return " ".join(words)
