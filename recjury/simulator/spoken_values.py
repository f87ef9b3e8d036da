"""Finds the attribute values of the targets that a text speaks of."""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

from recjury.knowledge import Catalogue, attributes_of, plain_value
from recjury.knowledge.folding import fold_disguises
from recjury.knowledge.ordinary_words import is_ordinary_word
from recjury.knowledge.tokenizer import Token, tokenize_parts
from recjury.language import vocabulary
from recjury.records import Attribute, Item

_LEAST_OF_A_SURNAME = 4
_TEXTS_KEPT = 64
_FULL_YEARS = 2000  # from then on, decades are said in full


class SpokenValue(NamedTuple):
    """An attribute that a text speaks of, and the words by which it does, folded."""

    attribute: Attribute
    words: str


class _Form(NamedTuple):
    """One way to speak of an attribute; with a `mark`, it counts only if it is marked so."""

    words: tuple[str, ...]
    attribute: Attribute
    mark: Literal["", "capital", "before an item"] = ""


class TargetValues:
    """The attribute values of some targets: which are theirs alone, and which a text speaks of."""

    def __init__(self, catalogue: Catalogue, targets: Sequence[Item], said: Iterable[str] = ()):
        """`targets` are those that the catalogue has; values in the texts `said` tell no more."""
        self._index = index = catalogue.attributes
        self._ids = frozenset(item.id for item in targets)
        of_item = {item.id: attributes_of(item, catalogue.domain_of(item)) for item in targets}
        self._of_item = {id_: frozenset(values) for id_, values in of_item.items()}
        self.every = tuple(dict.fromkeys(each for values in of_item.values() for each in values))
        self._forms: dict[str, list[_Form]] = {}
        for form in (form for each in self.every for form in self._forms_of(each)):
            self._forms.setdefault(form.words[0], []).append(form)
        self.spoken = lru_cache(_TEXTS_KEPT)(self._spoken)
        """The values that a text speaks of, in text order, in time linear in its length."""
        public = {index.meaning(each.attribute) for text in said for each in self.spoken(text)}
        self.barred = frozenset(
            each
            for each in self.every
            if index.is_of_alone(each, self._ids) and index.meaning(each) not in public
        )

    @property
    def all_barred(self) -> bool:
        """Whether the targets have known values, and each of them gives a target away."""
        return bool(self.every) and len(self.barred) == len(self.every)

    def barred_without(self, told: Iterable[str]) -> frozenset[Attribute]:
        """The values that give a target away, without those of the targets with these ids."""
        free = frozenset[Attribute]().union(*(self._of_item.get(id_, ()) for id_ in told))
        return self.barred - free

    def _spoken(self, text: str) -> tuple[SpokenValue, ...]:
        folded = fold_disguises(text)
        tokens = tokenize_parts(folded)
        found: list[SpokenValue] = []
        for at, token in enumerate(tokens):
            for form in self._forms.get(token.key, ()):
                end = at + len(form.words)
                if tuple(each.key for each in tokens[at:end]) != form.words:
                    continue
                if not form.mark or _is_marked(folded, tokens, at, end, form):
                    words = folded[token.start : tokens[end - 1].end]
                    found.append(SpokenValue(form.attribute, words))
        return tuple(found)

    def pairs(self, said: Iterable[Attribute]) -> int:
        """How many pairs of these values, none of them barred, no item but the targets has."""
        free = sorted({each for each in said if each not in self.barred})
        meant = [frozenset(self._index.items_meant_by(each)) for each in free]
        return sum(
            self._ids.issuperset(meant[a] & meant[b])
            for a in range(len(free))
            for b in range(a + 1, len(free))
        )

    def _forms_of(self, attribute: Attribute) -> Iterator[_Form]:
        kind, value = attribute
        if kind == "decade":
            yield from _decade_forms(attribute)
            return
        if self._index.is_name(attribute):
            yield from self._name_forms(attribute)
            return
        for spelled in dict.fromkeys((plain_value(value), value)):
            words = _words(spelled)
            if words:
                ordinary = len(words) == 1 and is_ordinary_word(words[0]) and kind != "year"
                yield _Form(words, attribute, "before an item" if ordinary else "")

    def _name_forms(self, attribute: Attribute) -> Iterator[_Form]:
        words = _words(attribute.value)
        if len(words) < 2:
            yield from (_Form(words, attribute, "capital") for _ in words[:1])
            return
        yield _Form(words, attribute)
        plain = tuple(word for word in words if len(word) > 1)
        if plain != words and len(plain) > 1:
            yield _Form(plain, attribute)
        last = words[-1]
        telling = len(last) >= _LEAST_OF_A_SURNAME and not is_ordinary_word(last)
        if telling and self._index.is_one_person(last):
            yield _Form((last,), attribute, "capital")


def _decade_forms(attribute: Attribute) -> Iterator[_Form]:
    decade = attribute.value
    yield _Form((decade[:-1], "s"), attribute)
    for name, year in vocabulary.decades().items():
        if decade == f"{year}s" and year < _FULL_YEARS:
            yield _Form((decade[2:-1], "s"), attribute)
            yield _Form((name,), attribute)


def _words(text: str) -> tuple[str, ...]:
    return tuple(token.key for token in tokenize_parts(fold_disguises(text)))


def _is_marked(folded: str, tokens: Sequence[Token], at: int, end: int, form: _Form) -> bool:
    """Whether a name is written with a capital, or a kind of item before a word for items."""
    if form.mark == "before an item":
        return end < len(tokens) and tokens[end].key in vocabulary.words("item_words")
    capital = tokens[at].text[:1].isupper()
    if not is_ordinary_word(tokens[at].key):
        return capital
    before = folded[: tokens[at].start].rstrip(" \"'*(")
    return capital and bool(before) and before[-1] not in ".!?:\n"
