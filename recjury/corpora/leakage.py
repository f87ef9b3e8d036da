"""Which training dialogues hold what a set of rated replies is about: nobody may train on them.

Texts are compared by their letters and digits alone, because the sets differ in case, tokenisation
and punctuation ("it 's", "don ’ t").
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from itertools import accumulate
from pathlib import Path

from recjury.corpora.dialogues import read_robustness_pairs
from recjury.corpora.response_sets import RESPONSE_SETS, read_rated_dialogues, read_response_set

_NOTHING_SAID = re.compile(r"[\W_]+")
_LEAST = 20  # letters and digits; shorter histories such as "Hi. How are you?" are too common
_LAST = 2  # utterances


class RatedHistories:
    """The histories of rated replies: a history counts by its whole text and by its last two turns.

    Histories of fewer than 20 letters and digits do not count, because they are in many dialogues.
    """

    def __init__(self, histories: Iterable[Sequence[str]]):
        """Each history is a sequence of texts, the oldest first."""
        self._keys: set[str] = set()
        for history in histories:
            plain = [letters(text) for text in history]
            self._keys.update(("".join(plain), "".join(plain[-_LAST:])))
        self._keys = {key for key in self._keys if len(key) >= _LEAST}
        self._longest = max(map(len, self._keys), default=0)

    def __len__(self) -> int:
        """How many texts are looked for."""
        return len(self._keys)

    def are_in(self, texts: Sequence[str]) -> bool:
        """Whether successive utterances of a dialogue are one of the histories."""
        plain = [letters(text) for text in texts]
        return any(
            run in self._keys
            for start in range(len(plain))
            for run in accumulate(plain[start:])
            if len(run) <= self._longest
        )


def rated_histories(folder: Path, *, robustness: bool = True) -> RatedHistories:
    """The histories of all rated sets in `folder`, and of the worsened replies if `robustness`.

    Raises DataError for a set that is missing or malformed.
    """
    found = [
        [turn.text for turn in row.response.history]
        for name in RESPONSE_SETS
        for row in read_response_set(folder, name)
    ]
    found += [[turn.text for turn in each.turns] for each in read_rated_dialogues(folder)]
    if robustness:
        found += [[turn.text for turn in pair.history] for pair in read_robustness_pairs(folder)]
    return RatedHistories(found)


def letters(text: str) -> str:
    """The letters and digits of `text` in one case."""
    return _NOTHING_SAID.sub("", unicodedata.normalize("NFKC", text).casefold())
