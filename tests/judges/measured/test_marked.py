"""The judges against sentences and utterances that were marked by reading (marked/*.tsv)."""

from pathlib import Path
from typing import NamedTuple

import pytest

from benchmarks.fluency_training import unmarked
from recjury.judges.measured.fluency import shipped
from recjury.judges.measured.grammar import errors
from recjury.judges.measured.naturalness import unnatural
from recjury.judges.measured.objections import objection_in
from recjury.judges.measured.text import MaskedText

_MARKED = Path(__file__).with_name("marked")


class Marked(NamedTuple):
    """One marked text of a half ("dev" or "test")."""

    half: str
    mark: str
    source: str
    text: str


def marked(file: str, half: str) -> list[Marked]:
    """The marked texts of one half."""
    lines = (_MARKED / file).read_text("utf-8").splitlines()
    rows = [Marked(*line.split("\t")) for line in lines if not line.startswith("#")]
    return [row for row in rows if row.half == half]


class Found(NamedTuple):
    """How many of the texts that should be found are found, and of the others."""

    right: int
    wrong: int
    all: int

    @property
    def precision(self) -> float:
        """The share of right ones among those found."""
        return self.right / (self.right + self.wrong)

    @property
    def recall(self) -> float:
        """The share found of those that should be."""
        return self.right / self.all


def found_broken(half: str) -> Found:
    """What the rules and the learned model find together."""
    rows = marked("sentences.tsv", half)
    found = [row.mark for row in rows if is_broken(row.text)]
    return Found(found.count("broken"), found.count("fine"), len(rows) // 2)


def is_broken(text: str) -> bool:
    """Whether either judge finds something in a marked sentence."""
    utterance = unmarked(text)
    return bool(errors(utterance)) or unnatural(utterance) is not None


def test_the_marked_sentences() -> None:
    """60 broken and 60 fine ones in each half; the shares are those of docs/measured-judges.md."""
    for half in ("dev", "test"):
        marks = [row.mark for row in marked("sentences.tsv", half)]
        assert (marks.count("broken"), marks.count("fine")) == (60, 60)
    assert found_broken("dev").precision >= 0.9
    assert found_broken("dev").recall >= 0.7
    assert found_broken("test").precision >= 0.9
    assert found_broken("test").recall >= 0.5


def test_the_learned_model_needs_some_words() -> None:
    sentences = unmarked("No the the. And of the of a the is.").sentences
    assert shipped().strangeness(sentences[0]) == 0
    assert shipped().is_broken(sentences[1])


def test_the_marked_utterances() -> None:
    """50 rejections and 50 innocent ones in each half; titles are not linked here."""
    for half in ("dev", "test"):
        rows = marked("utterances.tsv", half)
        seen = [row.mark for row in rows if objection_in(MaskedText(row.text, ())) is not None]
        assert seen.count("rejection") >= 0.95 * 50
        assert seen.count("innocent") == 0


@pytest.mark.parametrize(
    "innocent",
    [
        "Yes, I've seen it.",
        "No, I haven't seen it.",
        "I have never heard of it. What is it about?",
        "I was hoping for a thriller, and that could be it.",
    ],
)
def test_what_is_no_objection(innocent: str) -> None:
    assert objection_in(MaskedText(innocent, ())) is None
