"""Own trainer: `recjury train own_trainer:Greeter --set words=3 --out greeter` runs it."""

from pydantic import Field

from recjury.corpora import open_corpus
from recjury.tables import AnalysisInput, Findings, LocalTrainer


class Greeter(LocalTrainer):
    """A system's opening: the words that systems of a corpus begin with most often."""

    dataset: str = Field("sample", description="a corpus, such as redial")
    words: int = Field(3, ge=1, description="how many words")

    def train(self, given: AnalysisInput) -> Findings:
        """Write opening.txt, and say how often it was seen."""
        assert given.out is not None  # a trainer is given one
        openings: dict[str, int] = {}
        for example in open_corpus(self.dataset, given.data).examples("train"):
            opening = " ".join(example.response.split()[: self.words])
            openings[opening] = openings.get(opening, 0) + 1
        best = max(sorted(openings), key=openings.__getitem__)
        given.out.mkdir(parents=True, exist_ok=True)
        (given.out / "opening.txt").write_text(best, "utf-8")
        return Findings(report={"opening": best, "seen": openings[best]})
