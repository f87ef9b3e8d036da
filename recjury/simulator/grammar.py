"""The grammar of the rule user: sentences with parts and slots, of which none is said twice."""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import product
from pathlib import Path
from random import Random
from typing import TypeVar

import yaml
from pydantic import BaseModel, ConfigDict

from recjury.simulator.slips import slipped, without_slips

T = TypeVar("T")

_SLOT = re.compile(r"\{(\w+)\}")
_CHOICE = re.compile(r"\(([^()]*\|[^()]*)\)")
_DOUBLE_STOP = re.compile(r"(?<!\.)([.!?])\.(?=\s|$)")  # "Robert Downey Jr..", but "Sally..."
_LETTERS = re.compile(r"[^\W\d_]")
_TOKEN = re.compile(r"\w+|[^\w\s]")
_HEAVIEST = 12
_SLIPS = 0.6


class KindOfItem(BaseModel):
    """A word for an item of some genre, such as "comedy"."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    one: str
    many: str


class Phrases(BaseModel):
    """The words and rules of the rule user, read from `phrases.yaml`, which explains them."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    genres: dict[str, str]
    alone: dict[str, KindOfItem]
    feels: dict[str, list[str]]
    times: dict[str, list[str]]
    heard: dict[str, str]
    near: list[list[str]]
    bare_request: tuple[str, ...]
    say: dict[str, list[str]]


@cache
def phrases() -> Phrases:
    """The phrases of the package."""
    folder = Path(__file__).parent
    read = yaml.safe_load((folder / "phrases.yaml").read_text("utf-8"))
    read["say"] = yaml.safe_load((folder / "sentences.yaml").read_text("utf-8"))
    return Phrases.model_validate(read | {"bare_request": read["bare_request"].split()})


class Grammar:
    """The sentences that are left to say in one conversation, after those that were `said`."""

    def __init__(self, draw: Random, said: Sequence[str], language: str = "medium"):
        """`said` are the user's earlier turns; `draw` chooses; `language` is the person's trait."""
        self._draw = draw
        self._said = without_slips(" ".join(said))
        self._language = language

    def say(self, rule: str, **slots: str) -> str:
        """A sentence of `rule` that was not said before; "" if there is none.

        Sentences with a slot that is missing or empty are left out. Those with more variants are
        drawn more often. A slot that begins with a capital is filled with a capital.
        """
        filled = {name: value for name, value in slots.items() if value}
        filled |= {name.capitalize(): capitalised(value) for name, value in filled.items()}
        known = frozenset(filled)
        fitting = [each for each in phrases().say[rule] if _needs(each) <= known]
        weights = {each: min(_HEAVIEST, variants(each)) for each in fitting}
        fitting.sort(key=lambda each: self._draw.random() ** (1 / weights[each]), reverse=True)
        left = [each for each in fitting if not _pattern(each).search(self._said)]
        if not left:
            return ""
        if self._language == "low":  # plain and short
            left = sorted(left[:3], key=len)
        plain = self._chosen(left[0], known)
        if self._language == "low" and self.happens(_SLIPS):
            plain = slipped(plain, self._draw)
        return _DOUBLE_STOP.sub(r"\1", capitalised(plain.format(**filled)))

    def _chosen(self, alternative: str, known: frozenset[str]) -> str:
        def choose(match: re.Match[str]) -> str:
            options = [each for each in match[1].split("|") if _slots(each) <= known]
            return self._draw.choice(options)

        return _joined(_CHOICE.sub(choose, alternative))

    def was_said(self, rule: str) -> bool:
        """Whether the user has said any sentence of `rule`."""
        return _is_of(rule, self._said)

    def is_of(self, rule: str, text: str) -> bool:
        """Whether a text has any sentence of `rule`."""
        return _is_of(rule, without_slips(text))

    def happens(self, chance: float) -> bool:
        """True with this probability."""
        return self._draw.random() < chance

    def choice(self, options: Sequence[T]) -> T:
        """One of the options."""
        return self._draw.choice(options)

    def pick(self, options: Sequence[tuple[float, T]]) -> T | None:
        """One of the options, by weight; None without any."""
        if not options:
            return None
        weights = [weight for weight, _ in options]
        return self._draw.choices([each for _, each in options], weights)[0]


def capitalised(text: str) -> str:
    """The text with a capital first letter, unless it is spelled in another way ("xXx")."""
    first = text.partition(" ")[0]
    if first[:1].islower() and any(sign.isupper() for sign in first):
        return text
    return text[:1].upper() + text[1:]


def with_article(noun: str) -> str:
    """The noun with "a" or "an" before it."""
    return f"{'an' if noun[:1].lower() in 'aeiou' else 'a'} {noun}"


def sentences(alternative: str) -> Iterator[str]:
    """All sentences of an alternative, with its slots."""
    parts = _CHOICE.split(alternative)
    options = [part.split("|") if place % 2 else [part] for place, part in enumerate(parts)]
    for chosen in product(*options):
        yield _joined("".join(chosen))


def _joined(text: str) -> str:
    """The text without the blanks that empty parts leave."""
    return re.sub(r" +(?=[ ,.!?]|$)", "", text).strip()


@cache
def variants(alternative: str) -> int:
    """The number of sentences of an alternative."""
    number = 1
    for options in _CHOICE.findall(alternative):
        number *= options.count("|") + 1
    return number


@cache
def _slots(text: str) -> frozenset[str]:
    return frozenset(_SLOT.findall(text))


@cache
def _needs(alternative: str) -> frozenset[str]:
    """The slots outside choices, and those that every option of some choice has."""
    needs = _slots(_CHOICE.sub("", alternative))
    for options in _CHOICE.findall(alternative):
        needs |= frozenset.intersection(*(_slots(each) for each in options.split("|")))
    return needs


def _is_of(rule: str, text: str) -> bool:
    return any(_pattern(each).search(text) for each in phrases().say[rule])


@cache
def _pattern(alternative: str) -> re.Pattern[str]:
    """What the alternative looks like when it was said, whatever filled its slots."""
    if not _LETTERS.search(_SLOT.sub("", alternative)):
        return re.compile(r"(?!)")  # nothing but slots: it looks like everything
    parts = _CHOICE.split(alternative)
    found = [
        "(?:" + "|".join(map(_spelled, part.split("|"))) + ")" if place % 2 else _spelled(part)
        for place, part in enumerate(parts)
    ]
    return re.compile(r"(?:^|(?<=[.!?,] ))" + r"\s*".join(each for each in found if each))


def _spelled(text: str) -> str:
    """A pattern for a part without choices, words and signs with any white space between."""
    pieces = _SLOT.split(text)
    found = [
        ".{1,120}?" if place % 2 else r"\s*".join(map(re.escape, _TOKEN.findall(piece)))
        for place, piece in enumerate(without_slips(piece) for piece in pieces)
    ]
    return r"\s*".join(each for each in found if each)
