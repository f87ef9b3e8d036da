"""Breaks fluent replies on purpose, in the ways that neural systems and templates break them."""

import random
import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path

import yaml

_LISTS = yaml.safe_load((Path(__file__).parent / "sentences" / "breaking.yaml").read_text("utf-8"))
_SWAPS = dict(pair.split(":") for pair in _LISTS["swaps"].split())
_FOREIGN = _LISTS["foreign"].split(" | ")
_RESIDUE = _LISTS["residue"].split()
_OPEN_ENDS = frozenset(_LISTS["open_ends"].split())
_VERBS = frozenset(_LISTS["verbs"].split())
_WEIGHTS = {
    "loop": 6,
    "residue": 6,
    "truncate": 6,
    "scramble": 10,
    "reorder": 24,
    "disagree": 24,
    "mix": 7,
    "drop": 8,
    "splice": 6,
    "copy": 5,
    "unname": 12,
}


class Breaker:
    """Draws one way of breaking a text, in proportion to `_WEIGHTS`."""

    def __init__(self, texts: Sequence[str], seed: int):
        """Words and their followers, and what is spliced in, are drawn from `texts`."""
        self._random = random.Random(seed)
        self._texts = texts
        self._words = [word for text in texts for word in text.split()]
        self._after: dict[str, list[str]] = defaultdict(list)
        for text in texts:
            words = text.split()
            for one, other in pairwise(words):
                self._after[one].append(other)

    def __call__(self, text: str) -> str | None:
        """A broken text; None if six tries changed nothing."""
        for _ in range(6):
            way = self._random.choices(list(_WEIGHTS), list(_WEIGHTS.values()))[0]
            change: Callable[[list[str]], list[str] | None] = getattr(self, f"_{way}")
            words = change(text.split())
            broken = " ".join(" ".join(words or ()).split())
            if broken and broken != " ".join(text.split()):
                return broken
        return None

    def _loop(self, words: list[str]) -> list[str] | None:
        if len(words) < 3:
            return None
        r = self._random
        length = r.choice((1, 2, 2, 3, 3, 4, 5, 6))
        at = r.randrange(max(1, len(words) - length))
        run = r.choice(([], [], ["and"])) + words[at : at + length]
        times = r.randint(2, 7) if length > 1 else r.randint(3, 9)
        rest = words[at + length :] if r.random() < 0.4 else []
        return words[: at + length] + run * times + rest

    def _residue(self, words: list[str]) -> list[str]:
        r = self._random
        left = r.choice(_RESIDUE).replace("{n}", str(r.randint(3, 99_999)))
        at = r.randrange(len(words) + 1)
        taken = r.choice((0, 0, 1, 1, 2))
        return [*words[:at], left, *words[at + taken :]]

    def _truncate(self, words: list[str]) -> list[str] | None:
        r = self._random
        ends = [at for at in range(2, len(words)) if words[at - 1].lower() in _OPEN_ENDS]
        if ends and r.random() < 0.6:
            return [*words[: r.choice(ends)]]
        if len(words) < 5:
            return None
        at = r.randrange(3, len(words))
        if len(words[at]) < 5:
            return None
        return [*words[:at], words[at][: r.randrange(2, len(words[at]) - 1)]]

    def _scramble(self, words: list[str]) -> list[str] | None:
        r = self._random
        draw = r.random()
        if draw < 0.3:
            return r.choices(self._words, k=r.randint(6, 20))
        if draw < 0.65:
            chain = [r.choice(self._words)]
            for _ in range(r.randint(7, 24)):
                follows = self._after.get(chain[-1]) if r.random() < 0.85 else None
                chain.append(r.choice(follows or self._words))
            return chain
        if len(words) < 6:
            return None
        start = r.randrange(len(words) - 4)
        part = words[start : start + r.randint(4, 10)]
        end = start + len(part)
        r.shuffle(part)
        return words[:start] + part + words[end:]

    def _reorder(self, words: list[str]) -> list[str] | None:
        if len(words) < 5:
            return None
        r = self._random
        for _ in range(r.choice((1, 1, 1, 2))):
            draw = r.random()
            if draw < 0.35:
                self._verb_last(words)
            elif draw < 0.55:
                at = r.randrange(len(words) - 1)
                words[at], words[at + 1] = words[at + 1], words[at]
            elif draw < 0.75:
                at = r.randrange(len(words))
                word = words.pop(at)
                words.insert(max(0, at + r.choice((-4, -3, -2, 2, 3, 4))), word)
            elif len(words) > 6:
                at, one, two = r.randrange(len(words) - 4), r.randint(1, 3), r.randint(1, 3)
                words[at : at + one + two] = words[at + one : at + one + two] + words[at : at + one]
        return words

    def _verb_last(self, words: list[str]) -> None:
        """Move a verb to the end of its clause, as speakers of other languages do."""
        verbs = [at for at, w in enumerate(words[:-1]) if w.lower().strip(".,!?") in _VERBS]
        if not verbs:
            return
        at = self._random.choice(verbs)
        ends = (i for i in range(at + 1, len(words)) if words[i][-1:] in ".,!?;")
        end = next(ends, len(words) - 1)
        if end - at < 2:
            return
        verb = words.pop(at)
        tail = words[end - 1]
        sign = tail[-1:] if tail.endswith((".", ",", "!", "?", ";")) else ""
        words[end - 1] = tail.removesuffix(sign)
        words.insert(end, verb + sign)

    def _disagree(self, words: list[str]) -> list[str] | None:
        r = self._random
        left = r.choice((1, 1, 2, 2, 3))
        places = list(range(len(words)))
        r.shuffle(places)
        for at in places:
            changed = self._wrong_form(words[at])
            if left and changed is not None:
                words[at] = changed
                left -= 1
        return words

    def _wrong_form(self, word: str) -> str | None:
        """Another form of a word, which its neighbours do not go with; None to leave it."""
        r = self._random
        lower = word.lower().strip(".,!?;:")
        if lower in ("the", "a", "an"):
            return "" if r.random() < 0.6 else _SWAPS.get(lower, "a")
        if lower in _SWAPS:
            return re.sub(re.escape(lower), _SWAPS[lower], word, flags=re.IGNORECASE)
        if not word.isalpha() or not word[0].islower() or len(word) < 4:
            return None
        if word.endswith("s") and not word.endswith("ss"):
            return word[:-1]
        for ending in ("ing", "ed"):
            if word.endswith(ending) and len(word) > 5 and r.random() < 0.6:
                return word.removesuffix(ending)
        if r.random() < 0.3 and not word.endswith(("s", "ly")):
            return word + "s"
        return f"{r.choice(('the', 'a'))} {word}" if r.random() < 0.06 else None

    def _mix(self, words: list[str]) -> list[str]:
        at = self._random.randrange(len(words) + 1)
        taken = self._random.choice((0, 0, 1, 2, 3))
        return [*words[:at], self._random.choice(_FOREIGN), *words[at + taken :]]

    def _drop(self, words: list[str]) -> list[str] | None:
        if len(words) < 6:
            return None
        at = self._random.randrange(1, len(words) - 2)
        return words[:at] + words[at + self._random.choice((1, 2, 2, 3)) :]

    def _splice(self, words: list[str]) -> list[str] | None:
        other = self._random.choice(self._texts).split()
        if len(words) < 4 or len(other) < 4:
            return None
        r = self._random
        return words[: r.randrange(2, len(words))] + other[r.randrange(1, len(other) - 1) :]

    def _copy(self, words: list[str]) -> list[str] | None:
        if len(words) < 6:
            return None
        r = self._random
        at = r.randrange(len(words) - 2)
        to = r.randrange(len(words))
        return words[:to] + words[at : at + r.randint(2, 4)] + words[to:]

    def _unname(self, words: list[str]) -> list[str] | None:
        """Leave a name out, as a system does that found no item for its sentence."""
        capital = [word[:1].isupper() and word.strip(".,!?'\"") != "I" for word in words]
        runs = [at for at in range(len(words)) if capital[at] and (not at or not capital[at - 1])]
        # A capital at the beginning is a name only if another one follows.
        runs = [at for at in runs if at or capital[1:2] == [True]]
        if not runs or len(words) < 3:
            return None
        at = end = self._random.choice(runs)
        while end < len(words) and (capital[end] or words[end][:1] in "(0123456789"):
            end += 1
        sign = words[end - 1][-1] if words[end - 1][-1] in ".,!?" else ""
        return [*words[:at], *([sign] if sign else []), *words[end:]]
