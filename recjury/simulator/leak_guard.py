"""The leak guard: finds where the simulated user's words would give a target item away.

It checks exactly the text that is sent to the system under test. docs/simulator.md defines a leak
and lists the leaks that the guard cannot find.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cached_property

from recjury.knowledge import Catalogue
from recjury.knowledge.folding import fold_disguises
from recjury.knowledge.tokenizer import tokenize_parts
from recjury.records import JSON, ItemRef
from recjury.simulator.detection import Detector, People, own_spans
from recjury.simulator.title_variants import Title, title_of

GUARD_VERSION = "1"

_LONGEST_TO_CUT = 4000
_HEARD = 2000
_SENTENCE = re.compile(r"[^.!?\n…]*[.!?\n…]+[\"'”’)\]*]*\s*|[^.!?\n…]+$")
_NEUTRAL = (
    "Could you suggest something along those lines?",
    "What would you recommend?",
    "I am open to ideas.",
    "Please go on.",
    "Hmm, I see.",
)


class LeakGuard:
    """Creates a `Watch` for the targets of one scenario."""

    def __init__(self, catalogue: Catalogue):
        """`catalogue` has years and people: "Emma Stone" does not name a film called Emma."""
        self._catalogue = catalogue

    @property
    def settings(self) -> Mapping[str, JSON]:
        """The version of the guard, which determines which utterances are rewritten."""
        return {"guard": GUARD_VERSION}

    def watch(self, targets: Sequence[ItemRef]) -> "Watch":
        """A watch for these targets; it takes about 0.1 ms for each target to create."""
        return Watch({target: self._title(target) for target in targets}, self._people)

    def _title(self, target: ItemRef) -> Title:
        if target.id is None or target.id not in self._catalogue:
            return title_of(target.name, None)
        return title_of(target.name, self._catalogue.item(target.id).year)

    @cached_property
    def _people(self) -> People:
        names = {
            name
            for item in self._catalogue
            for people in (item.actors, item.directors, item.writers)
            for name in people
        }
        index: dict[str, list[tuple[str, ...]]] = {}
        for name in names:
            words = tuple(word.key for word in tokenize_parts(fold_disguises(name)))
            for word in set(words) if len(words) > 1 else ():
                index.setdefault(word, []).append(words)
        return {word: tuple(found) for word, found in index.items()}


class Watch:
    """Checks texts against the targets of one scenario, in time linear in their length."""

    def __init__(self, titles: Mapping[ItemRef, Title], people: People):
        """`people` maps each lower-case word to the names of several words that contain it."""
        self._titles = dict(titles)
        self._detector = Detector(tuple(self._titles.values()), people)

    def leaks(
        self, text: str, *, spoken: ItemRef | None = None, answering: str = ""
    ) -> tuple[str, ...]:
        """The words by which `text` gives a target away, folded, in text order; () without a leak.

        `spoken` is the target that may be named: words inside its title are not a leak.
        `answering` is the turn that the text answers ("Which one?").
        """
        folded = fold_disguises(text)
        spans = self._detector.spans(folded, fold_disguises(answering[-_HEARD:]))
        own = next((t for ref, t in self._titles.items() if spoken and ref.same_item(spoken)), None)
        if spans and own is not None:
            free = own_spans(own, folded)
            spans = tuple(
                span
                for span in spans
                if not any(said.start <= span.start and span.end <= said.end for said in free)
            )
        return tuple(dict.fromkeys(folded[start:end] for start, end in spans))

    def cut(self, text: str, *, spoken: ItemRef | None = None, answering: str = "") -> str:
        """`text` without the sentences that give a target away, or a neutral sentence.

        The remaining text is also checked as a whole, because a title can span sentences.
        """
        sentences = _SENTENCE.findall(text) if len(text) <= _LONGEST_TO_CUT else []
        kept = "".join(
            sentence
            for sentence in sentences
            if not self.leaks(sentence, spoken=spoken, answering=answering)
        ).strip()
        says_something = any(sign.isalnum() for sign in kept)
        if says_something and not self.leaks(kept, spoken=spoken, answering=answering):
            return kept
        return next(
            (said for said in _NEUTRAL if not self.leaks(said, answering=answering)), _NEUTRAL[-1]
        )
