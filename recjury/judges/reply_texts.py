"""What can be computed of a reply's words: BLEU and ROUGE-L by libraries, and Distinct-n."""

import functools
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from recjury.records import Metric

TextName = Literal["bleu", "rouge_l", "distinct"]

LIBRARIES: Mapping[TextName, str] = {"bleu": "sacrebleu", "rouge_l": "rouge_score"}
"""The modules that must be installed (the extra `baselines`)."""

_GRAMS = (2, 3, 4)
_WORD = re.compile(r"\w+")


class ReplyText(NamedTuple):
    """Metrics, and the score of each for a reply and what people replied; None if it is too short.

    Without `needs_reference`, the reply alone counts.
    """

    metrics: Sequence[Metric]
    scores: Callable[[str, str], Sequence[float | None]]
    needs_reference: bool = True


def bleu(reply: str, reference: str) -> Sequence[float]:
    """BLEU-4 of one sentence, 0 to 100, as sacrebleu computes it by default."""
    import sacrebleu

    return [min(100.0, sacrebleu.sentence_bleu(reply, [reference]).score)]


def rouge_l(reply: str, reference: str) -> Sequence[float]:
    """ROUGE-L's F1 over words, 0 to 1."""
    return [float(_rouge().score(reference, reply)["rougeL"].fmeasure)]


def distinct(reply: str, reference: str) -> Sequence[float | None]:  # noqa: ARG001
    """The share of different n-grams of words among all, for n from 2 to 4 (Li et al. 2016)."""
    words = _words(reply)
    grams = [list(zip(*(words[i:] for i in range(n)), strict=False)) for n in _GRAMS]
    return [len(set(each)) / len(each) if each else None for each in grams]


TEXTS: Mapping[TextName, ReplyText] = {
    "bleu": ReplyText([Metric(name="bleu", title="BLEU-4", high=100)], bleu),
    "rouge_l": ReplyText([Metric(name="rouge_l", title="ROUGE-L", high=1)], rouge_l),
    "distinct": ReplyText(
        [Metric(name=f"distinct_{n}", title=f"Distinct-{n} of a reply", high=1) for n in _GRAMS],
        distinct,
        needs_reference=False,
    ),
}
"""What the key `text` of `offline` may name."""


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


@functools.cache
def _rouge() -> Any:
    from rouge_score.rouge_scorer import RougeScorer

    return RougeScorer(["rougeL"], tokenizer=_Words())


class _Words:
    """Words of any language; the tokenizer of rouge-score knows only the letters a to z."""

    def tokenize(self, text: str) -> list[str]:
        return _words(text)
