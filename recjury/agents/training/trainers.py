"""The trainings of the neural systems under test, as `recjury train` names them."""

from collections.abc import Iterator
from typing import ClassVar

from pydantic import Field

from recjury.agents.training.report import Recall, TrainingReport
from recjury.corpora import open_corpus
from recjury.plugins import Names
from recjury.records import Estimate
from recjury.tables import (
    AnalysisInput,
    Cell,
    Column,
    Findings,
    Input,
    LocalTrainer,
    Table,
    table_of,
)


class SystemTrainer(LocalTrainer):
    """The training of a system: its recommender, then its generator.

    ReDial's train split is not public in this form: for ReDial it trains on the validation split,
    stops early on a tenth of its dialogues, and says so. Without `backbones`, training starts from
    random weights, in a small configuration.
    """

    takes: ClassVar[tuple[Input, ...]] = (Input.DATA,)
    system: ClassVar[str]

    dataset: str = Field(description="redial, opendialkg, sample, sample-books, or a folder")
    seed: int = Field(0, ge=0, le=2**63 - 1, description="of all random numbers")
    epochs: int | None = Field(
        None, ge=1, description="the most epochs of recommender and generator each"
    )
    backbones: Names = Field(
        (), description="published models to start from: folders or hub names, or KIND=NAME"
    )
    half: bool = Field(False, description="store the weights in half precision: half the size")

    def train(self, given: AnalysisInput) -> Findings:
        """Train, and test on the test split. Raises UserError."""
        from recjury.agents.training.systems import TrainingOptions, train

        assert given.out is not None  # a trainer needs it
        options = TrainingOptions(
            seed=self.seed,
            epochs=self.epochs,
            generator=self.has_generator,
            backbones=self.backbones,
            half=self.half,
        )
        corpus = open_corpus(self.dataset, given.data)
        report = train(self.system, corpus, given.out, options, progress=given.progress)
        return Findings(
            tables=tuple(_recall_table(report)),
            notes=tuple(_notes(report)),
            report=report.model_dump(mode="json"),
        )

    @property
    def has_generator(self) -> bool:
        """Whether a generator is trained, too."""
        return True


class KbrdTrainer(SystemTrainer):
    """KBRD: a graph convolution recommends, and a BART that reads its state speaks."""

    source: ClassVar[str] = "Chen et al. (2019)"
    system: ClassVar[str] = "kbrd"

    generator: bool = Field(True, description="without one, KBRD replies with templates")

    @property
    def has_generator(self) -> bool:
        """As `generator` says."""
        return self.generator


class BarcorTrainer(SystemTrainer):
    """BARCOR: one BART recommends, another speaks; both small, or from a published one."""

    source: ClassVar[str] = "Wang et al. (2022)"
    system: ClassVar[str] = "barcor"


class UnicrsTrainer(SystemTrainer):
    """UniCRS: a GPT-2 and a RoBERTa, prompted by words and entities.

    By default both are small and are trained, too. Published ones (`backbones: [gpt2=NAME,
    roberta=NAME]`) are frozen and not part of the checkpoint, which stores where they are.
    """

    source: ClassVar[str] = "Wang et al. (2022)"
    system: ClassVar[str] = "unicrs"


def _notes(report: TrainingReport) -> Iterator[str]:
    yield f"trained on {report.trained_on}, stopped on {report.stopped_on}"
    if not report.test_instances:
        yield "not evaluated: no test split names an item that is known"
    for part in report.parts:
        yield f"{part.part}: epoch {part.best_epoch} of {len(part.epochs)}"
    seconds = f"{report.wall_seconds:.0f} s ({report.cpu_seconds:.0f} s of processor time)"
    yield f"{report.folder}: {seconds}"


def _recall_table(report: TrainingReport) -> Iterator[Table]:
    """Recall on the test split beside that of two methods without training."""
    if not report.test_instances:
        return
    by_name = {report.system: report.test, **report.floors}
    rows: list[dict[str, Cell]] = [
        {"turns": group, "system": name, "n": tested[group][0].n, **_cells(tested[group])}
        for group in report.test
        for name, tested in by_name.items()
        if tested[group]  # a group may be empty
    ]
    cutoffs = [Column(f"recall@{recall.k}", digits=3) for recall in report.test["all"]]
    yield table_of("recall", (Column("turns"), Column("system"), Column("n"), *cutoffs), rows)


def _cells(recalls: tuple[Recall, ...]) -> dict[str, Cell]:
    return {f"recall@{each.k}": Estimate(each.value, each.low, each.high) for each in recalls}
