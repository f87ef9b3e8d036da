"""Scorers of replies held against people's ratings, and against worse versions of replies."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from pydantic import Field

from recjury.agreement.replies.agreement import (
    RESAMPLES,
    AgreementTable,
    ScorerAgreement,
    agreement_table,
    system_means,
)
from recjury.agreement.replies.maintains_context import maintained_context
from recjury.agreement.replies.registry import ScorerContext, ScorerEntry, chosen
from recjury.agreement.replies.robustness import RobustnessTable, different, drawn, robustness_table
from recjury.agreement.replies.rows import SETS, RatedRow, RowSubset, read_rows_of, subsets_of
from recjury.agreement.replies.scatter import scatter_plots
from recjury.agreement.replies.scoring import ScoringStep, Watch, score_rows
from recjury.corpora.dialogues import RobustnessPair, read_robustness_pairs
from recjury.corpora.response_sets import sets_folder
from recjury.errors import DataError
from recjury.plugins import Names
from recjury.tables import (
    Analysis,
    AnalysisInput,
    Cell,
    Column,
    Findings,
    Input,
    Table,
    table_of,
)

_CONTEXT = "maintains_context"

_COEFFICIENTS = (Column("pearson", "r", 3), Column("spearman", "rho", 3))
_OF_SCORERS = (
    Column("set", detail=True),
    Column("subset"),
    Column("scorer"),
    Column("n"),
    *_COEFFICIENTS,
    Column("within_pearson", "r within systems", 3),
    Column("within_spearman", "rho within systems", 3),
    Column("rows", detail=True),
    Column("groups", detail=True),
)
_OF_ATTACKS = (
    Column("scorer"),
    Column("attack"),
    Column("n"),
    Column("accuracy", "original preferred", 3),
    Column("ties"),
    Column("unscored"),
)


class _OfScorers(Analysis):
    """An analysis of scorers that need no LLM."""

    needs: ClassVar[tuple[Input, ...]] = (Input.DATA,)

    scorers: Names = Field((), description="only these scorers (default: all that can be made)")
    model: Path | None = Field(None, description="a causal language model, for fed and full")
    replies: Path | None = Field(
        None, description="a judge of replies that `train paireval` made, for `learned`"
    )
    seed: int = Field(0, ge=0, description="of resamples and drawn pairs")

    def entries(self, context: ScorerContext) -> tuple[ScorerEntry, ...]:
        """The scorers, each made once, with the model if one needs it. Raises UserError."""
        entries = chosen(self.scorers or None, model=self.model is not None)
        for entry in entries:
            entry.make(context)
        if any(entry.needs_model for entry in entries):
            context.follow_up_model()
        return entries

    def context(self, given: AnalysisInput) -> ScorerContext:
        """What the scorers share."""
        folder = sets_folder(given.data)
        return ScorerContext(folder, self.model, replies=self.replies, seed=self.seed)


class Correlations(_OfScorers):
    """How far scorers of replies that need no LLM agree with people's ratings, by set.

    Over all rows and over what models wrote, with 95 % intervals from a bootstrap of dialogues.
    Knowing only who wrote a reply is a row, too.
    """

    sets: Names = Field(SETS, description="the sets of rated replies and dialogues")
    resamples: int = Field(RESAMPLES, ge=2, description="behind the intervals")
    scatter: bool = Field(False, description="also plot each scorer's scores of each set")

    async def run(self, given: AnalysisInput) -> Findings:
        """A table for each set, for the means over sets, and for "Maintains Context"."""
        context, watch = self.context(given), _watch(given)
        entries = self.entries(context)
        sets = tuple(dict.fromkeys(self.sets))
        rows = read_rows_of(sets_folder(given.data), sets)
        scored = await score_rows(entries, context, rows, watch)
        scores = {**scored.scores, **system_means(rows)}
        watch(ScoringStep("intervals", f"{self.resamples} resamples", 0, 1))
        table = agreement_table(
            rows, scores, subsets_of(sets), resamples=self.resamples, seed=self.seed
        )
        took = [{"scorer": name, **own._asdict()} for name, own in scored.took.items()]
        cut = f"{context.cut} texts were too long for the model and lost their oldest tokens"
        return Findings(
            tables=(
                *_tables_by_set(table),
                *_means(table),
                *self._maintained_context(rows, scores),
                table_of(
                    "seconds", (Column("scorer"), Column("wall"), Column("cpu")), took, detail=True
                ),
            ),
            figures=scatter_plots(rows, scores) if self.scatter else {},
            notes=(cut,) if context.cut else (),
        )

    def _maintained_context(
        self, rows: Sequence[RatedRow], scores: Mapping[str, Sequence[float | None]]
    ) -> Iterator[Table]:
        table = maintained_context(rows, scores, resamples=self.resamples, seed=self.seed)
        if table is None:
            return
        cells = [row for subset in table.subsets for row in _rows(table, subset)]
        columns = (Column("set"), *_OF_SCORERS[1:])
        yield table_of(_CONTEXT, columns, cells, title="Maintains Context")


class Robustness(_OfScorers):
    """How often scorers that need no LLM prefer a reply to a worse version of it.

    "Shorter is better" is a row, too. Scorers that need a reference are left out.
    """

    pairs: Path | None = Field(
        None, description="a folder with robustness-pairs.jsonl, as replies.worse_texts writes it"
    )
    pairs_each: int | None = Field(None, ge=1, description="the most pairs of each kind, drawn")

    async def run(self, given: AnalysisInput) -> Findings:
        """A row for each scorer and kind of change, and each scorer's mean."""
        context = self.context(given)
        entries, pairs = self.entries(context), self._pairs(given)
        table = await robustness_table(entries, context, pairs, _watch(given))
        dropped: list[dict[str, Cell]] = [
            {"attack": name, "pairs": count} for name, count in table.dropped.items()
        ]
        columns = (Column("attack"), Column("pairs"))
        return Findings(
            tables=(
                table_of("robustness", _OF_ATTACKS, list(_accuracies(table))),
                table_of("equal_replies", columns, dropped, detail=True),
            )
        )

    def _pairs(self, given: AnalysisInput) -> tuple[RobustnessPair, ...]:
        folder = self.pairs or sets_folder(given.data)
        pairs = tuple(read_robustness_pairs(folder))
        if not different(pairs):
            raise DataError("there is no pair of two different replies", path=folder)
        return pairs if self.pairs_each is None else drawn(pairs, self.pairs_each, self.seed)


def _watch(given: AnalysisInput) -> Watch:
    def watch(step: ScoringStep) -> None:
        doing = f"{step.scorer}: {step.what} ({step.done + 1}/{step.of})"
        given.progress.at(step.done / max(1, step.of), doing)

    return watch


def _tables_by_set(table: AgreementTable) -> Iterator[Table]:
    for name in dict.fromkeys(subset.set for subset in table.subsets):
        subsets = [subset for subset in table.subsets if subset.set == name]
        rows = [row for subset in subsets for row in _rows(table, subset)]
        yield table_of(name, _OF_SCORERS, rows, title=name)


def _means(table: AgreementTable) -> Iterator[Table]:
    rows: list[dict[str, Cell]] = [
        {"over": name, "scorer": scorer, **each._asdict()}
        for name, row in table.averages.items()
        for scorer, each in row.items()
    ]
    if rows:
        columns = (Column("over", "mean over"), Column("scorer"), *_COEFFICIENTS)
        yield table_of("means", columns, rows)


def _rows(table: AgreementTable, subset: RowSubset) -> Iterator[dict[str, Cell]]:
    for scorer, found in table.subsets[subset].items():
        yield {
            "set": subset.set,
            "subset": subset.name,
            "scorer": scorer,
            "rows": table.rows[subset],
            "groups": table.groups[subset],
            **_agreement_cells(found),
        }


def _agreement_cells(found: ScorerAgreement) -> dict[str, Cell]:
    return {
        "n": found.n,
        "pearson": found.pearson,
        "spearman": found.spearman,
        "within_pearson": found.within.pearson,
        "within_spearman": found.within.spearman,
    }


def _accuracies(table: RobustnessTable) -> Iterator[dict[str, Cell]]:
    for scorer, attacks in table.scorers.items():
        for attack, found in attacks.items():
            yield {"scorer": scorer, "attack": attack, **found._asdict()}
        yield {"scorer": scorer, "attack": "mean over attacks", "accuracy": table.means[scorer]}
