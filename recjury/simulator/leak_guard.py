"""The leak guard: finds where the simulated user's words would give a target item away.

It checks exactly the text that is sent to the system under test. docs/simulator.md defines a leak
and lists the leaks that the guard cannot find.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple, TypedDict, Unpack

from recjury.knowledge import Catalogue
from recjury.knowledge.folding import fold_disguises
from recjury.knowledge.tokenizer import tokenize_parts
from recjury.language.english import is_english
from recjury.language.hidden_titles import hides, told_over_turns
from recjury.language.plain_words import strange_passage, talk, words_in
from recjury.language.tokens import LONGEST, sentence_texts
from recjury.records import JSON, Attribute, Item, ItemRef, Turn, is_target
from recjury.simulator.detection import Detector, People, own_spans
from recjury.simulator.spoken_values import TargetValues
from recjury.simulator.title_variants import title_of

GUARD_VERSION = "5"
UniqueValues = Literal["block", "allow"]
"""Whether the user may say a value that the catalogue has for the targets alone."""

_HEARD = 2000
_TEXTS_KEPT = 128
_CATALOGUES_KEPT = 4
_CHECKERS_KEPT = 256
_SHOWN = 200
_NEUTRAL = (
    "Could you suggest something along those lines?",
    "What would you recommend?",
    "I am open to ideas.",
    "Please go on.",
    "Hmm, I see.",
)


class SpeechContext(TypedDict, total=False):
    """When something is said: the targets that may be named, and the turns before.

    `answering` is the turn that is answered ("Which one?"), `earlier` are the user's own turns.
    """

    spoken: Sequence[ItemRef]
    answering: str
    earlier: Sequence[str]


class LeakGuard:
    """Creates a `LeakChecker` for the targets of one scenario."""

    def __init__(self, catalogue: Catalogue, *, unique_values: UniqueValues = "block"):
        """`catalogue` has years and people: "Emma Stone" does not name a film called Emma."""
        self._catalogue = catalogue
        self._blocks_values = unique_values == "block"

    @property
    def settings(self) -> Mapping[str, JSON]:
        """The version of the guard, which determines which utterances are rewritten."""
        allowed = {} if self._blocks_values else {"unique_values": "allow"}
        return {"guard": GUARD_VERSION, **allowed}

    def watch(self, targets: Sequence[ItemRef], history: Sequence[Turn] = ()) -> "LeakChecker":
        """A watch for these targets, the same one each time.

        Attribute values that the `history` has named are public.
        """
        return _checker(self._catalogue, self._blocks_values, tuple(targets), tuple(history))


class _Vocabulary(NamedTuple):
    """The people of a catalogue by each word of their names, and all words of names and titles."""

    people: People
    words: frozenset[str]


@lru_cache(_CATALOGUES_KEPT)
def _vocabulary(catalogue: Catalogue) -> _Vocabulary:
    names = {
        name
        for item in catalogue
        for people in (item.actors, item.directors, item.writers)
        for name in people
    }
    index: dict[str, list[tuple[str, ...]]] = {}
    for name in names:
        words = tuple(word.key for word in tokenize_parts(fold_disguises(name)))
        for word in set(words) if len(words) > 1 else ():
            index.setdefault(word, []).append(words)
    titles = " ".join((*names, *(item.title for item in catalogue)))
    people = {word: tuple(found) for word, found in index.items()}
    return _Vocabulary(people, frozenset(words_in(titles)))


class LeakChecker:
    """Checks texts against the targets of one scenario, in time linear in their length."""

    def __init__(
        self,
        catalogue: Catalogue,
        targets: Sequence[ItemRef],
        history: Sequence[Turn],
        *,
        blocks_values: bool,
    ):
        """As `LeakGuard.watch`; it takes about a millisecond."""
        items = {target: _known_item(catalogue, target) for target in targets}
        self._titles = {
            target: title_of(target.name, item.year if item else None)
            for target, item in items.items()
        }
        texts = [turn.text for turn in history]
        self._known = _vocabulary(catalogue)
        self._texts = texts
        self._heard = frozenset(word for text in texts for word in words_in(text))
        self._detectors: dict[frozenset[ItemRef], Detector] = {}
        self._blocks_values = blocks_values
        self.target_values = TargetValues(catalogue, list(filter(None, items.values())), texts)
        self._found = lru_cache(_TEXTS_KEPT)(self._leaks)  # a text is checked several times
        self.gives_away = lru_cache(_TEXTS_KEPT)(self._gives_away)
        """Whether words of the catalogue name a target, or have a value that must not be said."""

    @property
    def is_speechless(self) -> bool:
        """Whether every known value of the targets gives one of them away, and is blocked."""
        return self._blocks_values and self.target_values.all_barred

    def barred(self, spoken: Sequence[ItemRef] = ()) -> frozenset[Attribute]:
        """The values that must not be said, when the user may name the targets in `spoken`."""
        if not self._blocks_values:
            return frozenset()
        return self.target_values.barred_without(ref.id for ref in spoken if ref.id is not None)

    def leaks(self, text: str, **context: Unpack[SpeechContext]) -> tuple[str, ...]:
        """The words by which `text` names a target, folded, in text order; () without a leak.

        What is not plain language is a leak, too. Words inside titles that may be named are none.
        """
        spoken = context.get("spoken", ())
        named = frozenset(ref for ref in self._titles if is_target(ref, spoken))
        said = self._found(text, named, context.get("answering", "")[-_HEARD:])
        titles = self._detector(named).titles
        spelled = not said and told_over_turns(titles, (*context.get("earlier", ()), text))
        return said or ((text[:_SHOWN],) if spelled else ())

    def _leaks(self, text: str, named: frozenset[ItemRef], answering: str) -> tuple[str, ...]:
        return self._names(text, named, answering) or self._hidden(text, named, answering)

    def _hidden(self, text: str, named: frozenset[ItemRef], answering: str) -> tuple[str, ...]:
        """The words that hide a title, or that are no plain language."""
        heard = {*self._heard, *words_in(answering)}
        known = self._known.words
        said = talk(text, lambda word: len(word) > 1 and (word in known or word in heard))
        if any(hides(title, text, said) for title in self._detector(named).titles):
            return (" ".join(said.unknown)[:_SHOWN] or text[:_SHOWN],)
        asked = self._texts or ([answering] if answering else [])
        passage = strange_passage(text, said, english=bool(asked) and all(map(is_english, asked)))
        return (passage[:_SHOWN],) if passage else ()

    def _names(self, text: str, named: frozenset[ItemRef], answering: str) -> tuple[str, ...]:
        folded = fold_disguises(text)
        spans = self._detector(named).spans(folded, fold_disguises(answering))
        if spans and named:
            free = [span for ref in named for span in own_spans(self._titles[ref], folded)]
            spans = tuple(
                span
                for span in spans
                if not any(said.start <= span.start and span.end <= said.end for said in free)
            )
        return tuple(dict.fromkeys(folded[start:end] for start, end in spans))

    def _detector(self, spoken: frozenset[ItemRef]) -> Detector:
        """Finds the titles of all targets but those in `spoken`."""
        if spoken not in self._detectors:
            others = (title for ref, title in self._titles.items() if ref not in spoken)
            self._detectors[spoken] = Detector(tuple(others), self._known.people)
        return self._detectors[spoken]

    def telling_values(self, text: str, *, spoken: Sequence[ItemRef] = ()) -> tuple[str, ...]:
        """The words in `text` for values that no item but the targets has, folded, in text order.

        Values of the targets in `spoken` are left out.
        """
        told = (ref.id for ref in spoken if ref.id is not None)
        barred = self.target_values.barred_without(told)
        found = self.target_values.spoken(text) if barred else ()
        return tuple(dict.fromkeys(each.words for each in found if each.attribute in barred))

    def _gives_away(self, text: str) -> bool:
        values = self._blocks_values and self.telling_values(text)
        return bool(values or self._names(text, frozenset(), ""))

    def blocked(self, text: str, **context: Unpack[SpeechContext]) -> tuple[str, ...]:
        """All words because of which `text` must not be sent: titles and, if blocked, values."""
        spoken = context.get("spoken", ())
        values = self.telling_values(text, spoken=spoken) if self._blocks_values else ()
        return (*self.leaks(text, **context), *values)

    def cut(self, text: str, **context: Unpack[SpeechContext]) -> str:
        """`text` without the sentences that give a target away, or a neutral sentence.

        The remaining text is also checked as a whole, because a title can span sentences.
        """
        sentences = sentence_texts(text) if len(text) <= LONGEST else []
        kept = " ".join(each for each in sentences if not self.blocked(each, **context)).strip()
        if any(sign.isalnum() for sign in kept) and not self.blocked(kept, **context):
            return kept
        return next((said for said in _NEUTRAL if not self.blocked(said, **context)), _NEUTRAL[-1])


@lru_cache(_CHECKERS_KEPT)
def _checker(
    catalogue: Catalogue,
    blocks_values: bool,
    targets: tuple[ItemRef, ...],
    history: tuple[Turn, ...],
) -> LeakChecker:
    """The checker that the session and the rule user share."""
    return LeakChecker(catalogue, targets, history, blocks_values=blocks_values)


def _known_item(catalogue: Catalogue, target: ItemRef) -> Item | None:
    known = target.id is not None and target.id in catalogue
    return catalogue.item(str(target.id)) if known else None
