"""FACE's table 4: FACE and FACE* on the USR sets' "Maintains Context", with a model to ask."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import ClassVar

from pydantic import Field

from recjury.agreement.replies import RatedRow, read_rows_of
from recjury.agreement.replies.maintains_context import (
    USR_SETS,
    ByInstruction,
    context_rows,
    face_star,
    log_of,
    maintained_context,
    pooled,
    with_context_target,
)
from recjury.campaign import judge_logs
from recjury.campaign.config import EvaluationConfig
from recjury.campaign.estimate import estimate_evaluations
from recjury.campaign.model_work import check_aliases, config_of
from recjury.corpora.response_sets import sets_folder
from recjury.judges.face.evaluator import FaceEvaluator
from recjury.judges.face.instructions import read_instruction_folder
from recjury.llm import MAIN_MODEL
from recjury.papers.face.judged_labels import problems_of_run, rating_progress, without_checks
from recjury.papers.face.stored_scores import Scored, read_scored, scores_by_instruction
from recjury.papers.published import in_one_cell, published
from recjury.records import Aspect, ExpectedCalls
from recjury.store import Store
from recjury.tables import (
    Analysis,
    AnalysisInput,
    Cell,
    Column,
    Findings,
    Input,
    table_of,
)

FINAL = 16
_RELEASED = Path("crsarena-eval", "face-instructions")
_COLUMNS = (
    Column("set"),
    Column("subset"),
    Column("method"),
    Column("n"),
    Column("pearson", "r", 3),
    Column("spearman", "rho", 3),
    Column("published", "published: r; rho"),
)
_SUBSET = "all rows"  # what the published figures are over


class FaceTable4(Analysis):
    """How far FACE's relevance agrees with "Maintains Context" of the two USR sets.

    FACE takes the first `final` instructions for relevance, FACE* those of all of them that agree
    best with people on the other set. The paper's pool of 96 was not released: the default has its
    16 final ones, of which FACE* is FACE; `recjury train face` makes a pool of your own.
    """

    source: ClassVar[str] = "FACE, table 4"
    needs: ClassVar[tuple[Input, ...]] = (Input.CONFIG, Input.DATA)
    calls: ClassVar[str] = "one for each reply, and one for each particle and instruction"

    model: str = Field(MAIN_MODEL, description="the model that rates, by alias")
    instructions: Path | None = Field(
        None, description="a folder with relevance.json, the pool (default: the released one)"
    )
    final: int = Field(FINAL, ge=1, description="how many instructions FACE and FACE* take")
    votes: int = Field(1, ge=1, description="samples of a decomposition into particles")
    rules: bool = Field(False, description="particles by rules, without calls")
    limit: int | None = Field(None, ge=1, description="only the first replies of each set")
    resamples: int = Field(1_000, ge=2, description="behind the intervals")
    seed: int = Field(0, ge=0, description="of the resampling")

    def plan(self, given: AnalysisInput) -> Iterable[ExpectedCalls]:
        """The calls of FACE for the replies. Raises UserError."""
        logs = [log_of(row) for row in self._rows(given)]
        return without_checks(estimate_evaluations(self._config(given), logs, {}))

    async def run(self, given: AnalysisInput) -> Findings:
        """A row for each set and method. Calls that the store has are not made again."""
        rows = self._rows(given)
        logs, config = [log_of(row) for row in rows], self._config(given)
        result = await judge_logs(logs, config, given.store, progress=rating_progress(given))
        with Store.open(given.store, read_only=True) as store:
            scores = _by_instruction(list(read_scored(store, result.campaign)))
        names = [each.name for each in read_instruction_folder(self._pool(given))[Aspect.RELEVANCE]]
        star, chosen = face_star(rows, scores, self.final)
        by_method = {"FACE": pooled(rows, scores, names[: self.final]), "FACE*": star}
        table = maintained_context(rows, by_method, resamples=self.resamples, seed=self.seed)
        assert table is not None  # all rows have the rating
        found = [
            {
                "set": subset.set,
                "subset": subset.name,
                "method": method,
                "n": own.n,
                "pearson": own.pearson,
                "spearman": own.spearman,
                "published": _pair(method, subset.set) if subset.name == _SUBSET else None,
            }
            for subset, methods in table.subsets.items()
            for method, own in methods.items()
        ]
        notes = [f"FACE* on {name}: {', '.join(own)}" for name, own in chosen.items()]
        if len(names) <= self.final:
            notes = [f"the pool has {len(names)} instructions, no more than `final`: FACE* is FACE"]
        return Findings(
            tables=(table_of("table4", _COLUMNS, [*found, *_only_published()]),),
            notes=tuple(notes),
            problems=problems_of_run(result),
        )

    def _rows(self, given: AnalysisInput) -> list[RatedRow]:
        rows = read_rows_of(sets_folder(given.data), USR_SETS)
        rated = [with_context_target(rows[place]) for place in context_rows(rows)]
        return [
            row for name in USR_SETS for row in [r for r in rated if r.set == name][: self.limit]
        ]

    def _pool(self, given: AnalysisInput) -> Path:
        assert given.data is not None  # it needs data
        return self.instructions or given.data / _RELEASED

    def _config(self, given: AnalysisInput) -> EvaluationConfig:
        config = config_of(given)
        check_aliases(config, [self.model])
        face = FaceEvaluator(
            model=self.model,
            aspects=(Aspect.RELEVANCE,),
            instructions=str(self._pool(given)),
            rules=self.rules,
            votes=self.votes,
        )
        return config.model_copy(update={"evaluators": (face,), "name": "FACE, table 4"})


def _by_instruction(scored: Sequence[Scored]) -> ByInstruction:
    """The mean over a reply's particles, by reply and instruction."""
    found: dict[str, dict[str, list[float]]] = {}
    for place, particles in scores_by_instruction(scored).get(Aspect.RELEVANCE, {}).items():
        own = found.setdefault(place.conversation, {})
        for scores in particles.values():
            for name, score in scores.items():
                own.setdefault(name, []).append(score)
    return {
        reply: {name: fmean(scores) for name, scores in own.items()} for reply, own in found.items()
    }


def _only_published() -> Iterator[Mapping[str, Cell]]:
    """The rows of the paper that are not computed here."""
    for method in published("face")["table4"]:
        if method != "FACE":
            for name in USR_SETS:
                yield {
                    "set": name,
                    "subset": _SUBSET,
                    "method": method,
                    "published": _pair(method, name),
                }


def _pair(method: str, name: str) -> str | None:
    return in_one_cell(published("face")["table4"].get(method, {}).get(name))
