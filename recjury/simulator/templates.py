"""The sentences of the rule user, from `templates.yaml`: by rule, filled in, none said twice."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import product
from pathlib import Path
from random import Random
from string import Formatter

import yaml
from pydantic import BaseModel, ConfigDict

from recjury.records import Act, PersonaTraits

_CHOICE = re.compile(r"\(([^()]*\|[^()]*)\)")
_HEAVIEST = 12
_OWN = 0.7  # how often somebody speaks in the way of such people, if there is one
_LABELS = {
    ("verbosity", "low"): "brief",
    ("verbosity", "high"): "chatty",
    ("language", "low"): "simple",
    ("mood", "low"): "grumpy",
    ("mood", "high"): "cheerful",
}


class TemplateRule(BaseModel):
    """Sentences that all do the same `acts`: for everybody, and by label for some."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    acts: tuple[Act, ...]
    say: tuple[str, ...]
    also: dict[str, tuple[str, ...]] = {}

    @property
    def templates(self) -> Iterator[str]:
        """Every template of the rule."""
        yield from self.say
        for templates in self.also.values():
            yield from templates


@cache
def rules() -> Mapping[str, TemplateRule]:
    """The rules of the package, by name."""
    read = yaml.safe_load(Path(__file__).with_name("templates.yaml").read_text("utf-8"))
    return {name: TemplateRule.model_validate(rule) for name, rule in read.items()}


class Speech:
    """Chooses the sentences of one turn."""

    def __init__(self, draw: Random, said: Sequence[str], traits: PersonaTraits, domain: str):
        """`said` are the user's earlier turns, `domain` is the name of what it looks for."""
        self._draw = draw
        self._said = [text.lower() for text in said]
        self._domain = domain
        self._labels = [
            label for (trait, degree), label in _LABELS.items() if getattr(traits, trait) == degree
        ]

    def say(self, rule: str, slots: Mapping[str, str]) -> str:
        """A sentence of `rule` that was not said before; "" if there is none.

        Templates with more variants are drawn more often.
        """
        found = rules()[rule]
        own = [text for label in self._labels for text in found.also.get(label, ())]
        pools = [own, [*found.say, *found.also.get(self._domain, ())]]
        if self._draw.random() > _OWN:
            pools.reverse()
        filled = {name: value for name, value in slots.items() if value}
        known = frozenset(filled)
        for pool in pools:
            for template in self._shuffled(pool):
                if needs(template) <= known and not self._was_said(template):
                    return fill(self._chosen(template, known), filled)
        return ""

    def happens(self, chance: float) -> bool:
        """True with this probability."""
        return self._draw.random() < chance

    def _shuffled(self, templates: Sequence[str]) -> list[str]:
        weights = {each: min(_HEAVIEST, len(variants(each))) for each in templates}
        return sorted(
            weights, key=lambda each: self._draw.random() ** (1 / weights[each]), reverse=True
        )

    def _chosen(self, template: str, known: frozenset[str]) -> str:
        return self._draw.choice([each for each in variants(template) if slots_of(each) <= known])

    def _was_said(self, template: str) -> bool:
        return any(_has(text, pieces) for text in self._said for pieces in _pieces(template))


def fill(sentence: str, slots: Mapping[str, str]) -> str:
    """The sentence with its slots filled, and one stop where a value brings its own.

    A slot that begins with a capital is filled with a capital.
    """
    capitals = {name.capitalize(): capitalised(value) for name, value in slots.items()}
    text = sentence.format_map({**slots, **capitals})
    for value in slots.values():
        if value[-1] in ".!?":
            text = text.replace(f"{value}.", value)
    return capitalised(text)


def capitalised(text: str) -> str:
    """The text with a capital first letter, unless it is spelled in another way ("xXx")."""
    first = text.partition(" ")[0]
    if first[:1].islower() and first[1:] != first[1:].lower():
        return text
    return text[:1].upper() + text[1:]


@cache
def variants(template: str) -> tuple[str, ...]:
    """All sentences of a template, with their slots."""
    parts = _CHOICE.split(template)
    options = [part.split("|") if place % 2 else [part] for place, part in enumerate(parts)]
    return tuple(_without_gaps("".join(chosen)) for chosen in product(*options))


@cache
def slots_of(text: str) -> frozenset[str]:
    """The names of the slots of a template or a part of one, in lower case."""
    return frozenset(name.lower() for _, name, _, _ in Formatter().parse(text) if name)


@cache
def needs(template: str) -> frozenset[str]:
    """The slots without which a template has no sentence."""
    return frozenset.intersection(*(slots_of(each) for each in variants(template)))


@cache
def _pieces(template: str) -> tuple[tuple[str, ...], ...]:
    """What stands before, between and behind the slots of each variant, in lower case."""
    found = [
        tuple(text.strip().lower() for text, *_ in Formatter().parse(each))
        for each in variants(template)
    ]
    return tuple(pieces for pieces in found if any(sign.isalpha() for sign in "".join(pieces)))


def _has(text: str, pieces: Sequence[str]) -> bool:
    """Whether the pieces stand in the text in this order, the first where a sentence begins."""
    at = text.find(pieces[0])
    while at > 0 and pieces[0] and text[at - 2] not in ".!?":
        at = text.find(pieces[0], at + 1)
    for piece in pieces:
        at = text.find(piece, at) if at >= 0 else at
        at += len(piece) if at >= 0 else 0
    return at >= 0


def _without_gaps(text: str) -> str:
    """The text without the blanks that empty parts leave."""
    joined = " ".join(text.split())
    for sign in ",.!?":
        joined = joined.replace(f" {sign}", sign)
    return joined
