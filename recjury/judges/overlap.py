"""Scorers that compare a reply with its reference, from kept libraries.

BLEU by sacrebleu, ROUGE-L by rouge-score, METEOR by nltk: the extra `baselines`. Without a
reference there is no score.
"""

from collections.abc import Callable, Sequence
from typing import Any

from recjury.judges.surface import words
from recjury.plugins.extras import require_baselines
from recjury.records import Response

_FLOOR = 0.1  # counted for an n-gram order without a match, so that replies are still told apart

Compare = Callable[[str, str], float]
"""The score of a text (first) against a reference (second)."""


class OverlapScorer:
    """A score of each reply against its reference."""

    def __init__(self, name: str, load: Callable[[], Compare]):
        """`load` is called for the first reply. Raises ConfigError if the libraries are missing."""
        require_baselines(name)
        self.name = name
        self._load = load
        self._compare: Compare | None = None

    async def scores(self, responses: Sequence[Response]) -> list[float | None]:
        """None for a reply without a reference."""
        if self._compare is None:
            self._compare = self._load()
        compare = self._compare
        return [
            None if each.reference is None else compare(each.text, each.reference)
            for each in responses
        ]


def bleu(n: int) -> OverlapScorer:
    """Sentence BLEU (Papineni et al. 2002) up to n-grams, 0 to 100, over `words`.

    An order without a match counts 0.1; orders longer than the reply are left out.
    """

    def load() -> Compare:
        from sacrebleu.metrics.bleu import BLEU

        metric = BLEU(
            tokenize="none",
            force=True,  # no warning that texts are tokenised
            max_ngram_order=n,
            smooth_method="floor",
            smooth_value=_FLOOR,
            effective_order=True,
        )
        return lambda text, reference: float(
            metric.sentence_score(_parted(text), [_parted(reference)]).score
        )

    return OverlapScorer(f"bleu-{n}", load)


def rouge_l() -> OverlapScorer:
    """ROUGE-L (Lin 2004): F1 of the longest common subsequence of stemmed words, 0 to 1."""

    def load() -> Compare:
        from rouge_score.rouge_scorer import RougeScorer

        scorer = RougeScorer(["rougeL"], use_stemmer=True)
        return lambda text, reference: float(scorer.score(reference, text)["rougeL"].fmeasure)

    return OverlapScorer("rouge-l", load)


def meteor() -> OverlapScorer:
    """METEOR (Banerjee and Lavie 2005), 0 to 1, by its stages for equal words and equal stems.

    nltk's third stage, for synonyms, needs WordNet, which is no Python package: it is left out
    everywhere, so that scores are the same on every machine.
    """

    def load() -> Compare:
        from nltk.translate.meteor_score import single_meteor_score

        class NoSynonyms:
            """Stands in place of nltk's reader of WordNet."""

            def synsets(self, word: str) -> list[Any]:  # noqa: ARG002 (the reader's method)
                return []

        without = NoSynonyms()
        return lambda text, reference: float(
            single_meteor_score(words(reference), words(text), wordnet=without)
        )

    return OverlapScorer("meteor", load)


def _parted(text: str) -> str:
    return " ".join(words(text))
