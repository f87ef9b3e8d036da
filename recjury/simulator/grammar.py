"""The grammar of the rule user: sentences with slots, of which none is said twice."""

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from random import Random
from typing import TypeVar

import yaml
from pydantic import BaseModel, ConfigDict

T = TypeVar("T")

_SLOT = re.compile(r"\{(\w+)\}")
_DOUBLE_STOP = re.compile(r"([.!?])\.(?=\s|$)")  # "Robert Downey Jr.."
_LETTERS = re.compile(r"[^\W\d_]")


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
    heard: dict[str, str]
    small_talk: tuple[str, ...]
    bare_request: tuple[str, ...]
    say: dict[str, list[str]]


@cache
def phrases() -> Phrases:
    """The phrases of the package."""
    text = Path(__file__).with_name("phrases.yaml").read_text("utf-8")
    read = yaml.safe_load(text)
    words = {key: read[key].split() for key in ("small_talk", "bare_request")}
    return Phrases.model_validate(read | words)


class Grammar:
    """The sentences that are left to say in one conversation, after those that were `said`."""

    def __init__(self, draw: Random, said: Sequence[str]):
        """`said` are the user's earlier turns; `draw` chooses between alternatives."""
        self._draw = draw
        self._said = " ".join(said)

    def say(self, rule: str, **slots: str) -> str:
        """A sentence of `rule` that was not said before; "" if there is none.

        Alternatives with a slot that is missing or empty are left out. A slot that begins with a
        capital is filled with a capital.
        """
        filled = {name: value for name, value in slots.items() if value}
        filled |= {name.capitalize(): capitalised(value) for name, value in filled.items()}
        fitting = [each for each in phrases().say[rule] if _slots(each) <= filled.keys()]
        self._draw.shuffle(fitting)
        for each in fitting:
            if not _pattern(each).search(self._said):
                return _DOUBLE_STOP.sub(r"\1", capitalised(each.format(**filled)))
        return ""

    def was_said(self, rule: str) -> bool:
        """Whether the user has said any sentence of `rule`."""
        return self.is_of(rule, self._said)

    def is_of(self, rule: str, text: str) -> bool:
        """Whether a text has any sentence of `rule`."""
        return any(_pattern(each).search(text) for each in phrases().say[rule])

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
    """The text with a capital first letter."""
    return text[:1].upper() + text[1:]


@cache
def _slots(alternative: str) -> frozenset[str]:
    return frozenset(_SLOT.findall(alternative))


@cache
def _pattern(alternative: str) -> re.Pattern[str]:
    """What the alternative looks like when it was said, whatever filled its slots."""
    parts = _SLOT.split(alternative)
    literal = [re.escape(part) for part in parts[::2]]
    if not any(_LETTERS.search(part) for part in parts[::2]):
        return re.compile(r"(?!)")  # nothing but slots: it looks like everything
    return re.compile(r"(?<!\w)" + ".{1,120}?".join(literal), re.IGNORECASE)
