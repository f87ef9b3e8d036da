"""The scorers of a meta-evaluation: a line each."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from recjury.agreement.replies.follow_ups import FollowUpScorer, follow_ups
from recjury.agreement.replies.similarity import BertScorer, ComparedWith, CosineScorer
from recjury.errors import ConfigError
from recjury.judges import overlap
from recjury.judges.learned.scorer import LearnedScorer
from recjury.judges.learned.shipped import judge_folder
from recjury.judges.surface import ConstantScorer, DistinctScorer, LengthScorer
from recjury.plugins.extras import require_minilm, require_neural
from recjury.records import ResponseScorer

if TYPE_CHECKING:
    from recjury.agreement.replies.encoder import MiniLmEncoder
    from recjury.agreement.replies.likelihood import FollowUpModel


class ScorerContext:
    """What scorers share: each model is loaded once, when it is needed.

    `model` is a folder with a causal language model, for FED and FULL; `data` is the folder of the
    sets; `replies` is one with a trained judge of replies, by default the one in the package.
    """

    def __init__(
        self, data: Path, model: Path | None = None, *, replies: Path | None = None, seed: int = 0
    ):
        """Nothing is loaded yet."""
        self.data = data
        self.model = model
        self.replies = replies
        self.seed = seed

        self._follow_up_model: FollowUpModel | None = None
        self._encoder: MiniLmEncoder | None = None

    def encoder(self) -> "MiniLmEncoder":
        """MiniLM."""
        from recjury.agreement.replies.encoder import MiniLmEncoder

        self._encoder = self._encoder or MiniLmEncoder()
        return self._encoder

    def follow_up_model(self) -> "FollowUpModel":
        """The causal model. Raises ConfigError if it cannot be loaded."""
        from recjury.agreement.replies.likelihood import FollowUpModel

        if self._follow_up_model is None:
            assert self.model is not None  # scorers without their model are not made
            self._follow_up_model = FollowUpModel(self.model)
        return self._follow_up_model

    @property
    def cut(self) -> int:
        """How many texts the causal model could not read as a whole."""
        return 0 if self._follow_up_model is None else self._follow_up_model.cut


class ScorerEntry(NamedTuple):
    """A scorer that can be named: how it is made, and what it is.

    `make` raises ConfigError, in one line, if a library is missing. With `needs_model` it is only
    made if there is a causal model. With `make_for_dialogues`, dialogues are scored as a whole, by
    the scorer that it makes; otherwise their score is the mean over the system's turns.
    `by_reference` scorers need a reference, which dialogues and pairs lack.
    """

    name: str
    make: Callable[[ScorerContext], ResponseScorer]
    what: str
    by_reference: bool = False
    needs_model: bool = False
    make_for_dialogues: Callable[[ScorerContext], ResponseScorer] | None = None


def _cosine(compared: ComparedWith) -> Callable[[ScorerContext], ResponseScorer]:
    def make(context: ScorerContext) -> ResponseScorer:
        require_minilm(f"cosine-{compared}")
        return CosineScorer(context.encoder, compared)

    return make


def _bertscore(context: ScorerContext) -> ResponseScorer:
    require_minilm("bertscore")
    return BertScorer(context.encoder)


def _learned(context: ScorerContext) -> ResponseScorer:
    require_minilm("learned")
    return LearnedScorer(judge_folder("replies", context.replies))


def _by_follow_ups(name: str, metric: str) -> Callable[[ScorerContext], ResponseScorer]:
    def make(context: ScorerContext) -> ResponseScorer:
        require_neural(name)
        return FollowUpScorer(name, follow_ups(metric), context.follow_up_model)

    return make


SCORERS: tuple[ScorerEntry, ...] = (
    ScorerEntry("constant", lambda _: ConstantScorer(), "1 for every reply"),
    ScorerEntry("length", lambda _: LengthScorer(), "words and punctuation marks"),
    ScorerEntry("distinct-1", lambda _: DistinctScorer(1), "different words by all words"),
    ScorerEntry("distinct-2", lambda _: DistinctScorer(2), "different pairs of words by all"),
    ScorerEntry("cosine-last", _cosine("last"), "MiniLM, with the last turn"),
    ScorerEntry("cosine-history", _cosine("history"), "MiniLM, with the last 256 tokens before"),
    ScorerEntry("cosine-reference", _cosine("reference"), "MiniLM", by_reference=True),
    ScorerEntry("learned", _learned, "the small judge"),
    ScorerEntry("bleu-2", lambda _: overlap.bleu(2), "sacrebleu", by_reference=True),
    ScorerEntry("bleu-4", lambda _: overlap.bleu(4), "sacrebleu", by_reference=True),
    ScorerEntry("rouge-l", lambda _: overlap.rouge_l(), "rouge-score", by_reference=True),
    ScorerEntry("meteor", lambda _: overlap.meteor(), "nltk, no synonyms", by_reference=True),
    ScorerEntry("bertscore", _bertscore, "with MiniLM", by_reference=True),
    ScorerEntry("fed", _by_follow_ups("fed", "fed, replies"), "follow-ups' likelihoods",
                needs_model=True, make_for_dialogues=_by_follow_ups("fed", "fed, dialogues")),
    ScorerEntry("full", _by_follow_ups("full", "full"), "displeased follow-ups' likelihoods",
                needs_model=True, make_for_dialogues=_by_follow_ups("full", "full")),
)  # fmt: skip


def chosen(names: Sequence[str] | None, *, model: bool) -> tuple[ScorerEntry, ...]:
    """The entries of those names; without names, all that can be made.

    Raises ConfigError for an unknown name, and for one that needs a model if there is none.
    """
    if names is None:
        return tuple(entry for entry in SCORERS if model or not entry.needs_model)
    known = {entry.name: entry for entry in SCORERS}
    for name in names:
        if name not in known:
            raise ConfigError(f"unknown scorer {name!r}: expected one of {', '.join(known)}")
        if known[name].needs_model and not model:
            raise ConfigError(f"{name} needs a causal language model: name its folder (--model)")
    return tuple(known[name] for name in dict.fromkeys(names))
