"""In-context examples: drawn at random, by BM25, or by sentence embeddings (section 4)."""

import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from recjury.corpora.splitting import are_copies, long_utterances
from recjury.corpora.uss import UssSession
from recjury.errors import ConfigError
from recjury.judges.dialogue_quality.subjects import (
    LabelledSubject,
    Subject,
    labelled_subjects,
)
from recjury.plugins.extras import INSTALL_BASELINES, require_minilm, require_packages
from recjury.records import JSON, Level, digest

if TYPE_CHECKING:
    import bm25s

Select = Literal["random", "bm25", "embedding"]
Encode = Callable[[Sequence[str]], NDArray[np.float32]]

_BATCH = 32
_TOKENS = 256  # of a text that are embedded: its last ones, in which satisfaction shows
_WORD = re.compile(r"\w+")


class ExamplePools(NamedTuple):
    """What examples are chosen from, by level, and what identifies their content and the choice."""

    pools: "Mapping[Level, ExamplePool]"
    identity: str


def examples_of(
    sessions: Sequence[UssSession],
    levels: Iterable[Level],
    select: Select,
    *,
    seed: int = 0,
    encode: "Encode | None" = None,
) -> ExamplePools:
    """The examples that sessions of USS give. Raises ConfigError if a package is missing."""
    shown: list[JSON] = [
        [[[str(turn.speaker), turn.text] for turn in each.turns], each.ratings, each.overall]
        for each in sessions
    ]
    return ExamplePools(
        {
            level: ExamplePool(labelled_subjects(sessions, level), select, seed=seed, encode=encode)
            for level in levels
        },
        digest([shown, select, seed if select == "random" else None]),
    )


class ExamplePool:
    """Rated subjects of one level, from which examples are chosen.

    No example is of the same dialogue as what is rated, or of a copy of it (see
    `corpora.splitting.families`).
    """

    def __init__(
        self,
        pool: Sequence[LabelledSubject],
        select: Select,
        *,
        seed: int = 0,
        encode: Encode | None = None,
    ):
        """`encode` makes vectors of texts, by default MiniLM's. Raises ConfigError if a package is
        missing."""
        if select == "bm25":
            require_packages("examples by BM25", ("bm25s",), INSTALL_BASELINES)
        if select == "embedding" and encode is None:
            require_minilm("examples by embeddings")
        self._pool = tuple(pool)
        self._select = select
        self._seed = seed
        self._encode = encode
        self._alone = threading.Lock()

    def __len__(self) -> int:
        """How many there are to choose from."""
        return len(self._pool)

    def typical(self, k: int) -> tuple[LabelledSubject, ...]:
        """`k` of them, evenly spread, to plan a prompt by: similar ones take long to find."""
        return self._pool[:: max(1, len(self._pool) // max(1, k))][:k]

    def choose(self, subject: Subject, k: int, run: int = 0) -> tuple[LabelledSubject, ...]:
        """`k` examples for `subject`; of similar ones, the most similar is last, beside it.

        `run` distinguishes random draws. It may be called by several threads. Raises ConfigError if
        there are too few.
        """
        with self._alone:
            return self._choose(subject, k, run) if k else ()

    def _choose(self, subject: Subject, k: int, run: int) -> tuple[LabelledSubject, ...]:
        chosen: list[LabelledSubject] = []
        said = long_utterances(turn.text for turn in subject.whole)
        for place in self._ranked(subject, run):
            example = self._pool[place]
            other = example.subject.dialogue
            is_copy = are_copies(said, self._utterances[other])
            if other != subject.dialogue and not is_copy:
                chosen.append(example)
                if len(chosen) == k:
                    return tuple(reversed(chosen))
        raise ConfigError(
            f"{k} examples are wanted, and there are {len(chosen)} of other dialogues: lower `k` "
            "or take another subset"
        )

    @cached_property
    def _utterances(self) -> dict[str, frozenset[str]]:
        """The long utterances of each dialogue of the pool."""
        whole = {each.subject.dialogue: each.subject.whole for each in self._pool}
        return {name: long_utterances(turn.text for turn in turns) for name, turns in whole.items()}

    def _ranked(self, subject: Subject, run: int) -> Iterator[int]:
        if self._select == "random":
            named = digest([self._seed, run, subject.dialogue, str(subject.level), subject.text])
            yield from np.random.default_rng(int(named, 16)).permutation(len(self._pool)).tolist()
            return
        scores = self._bm25(subject) if self._select == "bm25" else self._cosines(subject)
        yield from np.argsort(-scores, kind="stable").tolist()

    def _bm25(self, subject: Subject) -> NDArray[np.float64]:
        words = _words(subject.text)
        if not words:  # bm25s raises IndexError for none
            return np.zeros(len(self._pool))
        found = self._index.get_scores(words)
        return np.asarray(found, dtype=np.float64)

    def _cosines(self, subject: Subject) -> NDArray[np.float64]:
        (own,) = self._encoded([subject.text])
        return np.asarray(self._vectors @ own, dtype=np.float64)

    @cached_property
    def _index(self) -> "bm25s.BM25":
        import bm25s

        index = bm25s.BM25()
        index.index([_words(each.subject.text) for each in self._pool], show_progress=False)
        return index

    @cached_property
    def _vectors(self) -> NDArray[np.float32]:
        return self._encoded([each.subject.text for each in self._pool])

    def _encoded(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if self._encode is None:
            from recjury.language.minilm import load_encoder

            self._encode = load_encoder(_TOKENS, last=True)
        batches = range(0, len(texts), _BATCH)
        return np.concatenate([self._encode(texts[start : start + _BATCH]) for start in batches])


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())
