"""FACE's optimiser of instructions, as `recjury train` names it."""

import asyncio
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from pydantic import Field

from recjury.campaign.config import EvaluationConfig
from recjury.campaign.model_work import config_of
from recjury.judges.face.instructions import read_instructions
from recjury.llm import MAIN_MODEL
from recjury.papers.face.optimise.allowance import StepFailed
from recjury.papers.face.optimise.call_estimate import expected_calls
from recjury.papers.face.optimise.optimisation import OptimisePlan, estimate_optimisation
from recjury.papers.face.optimise.settings import OptimiserSettings
from recjury.papers.face.optimise.training_data import read_training
from recjury.papers.face.optimise.work import check_models, choose_anew, optimise
from recjury.records import Aspect, ExpectedCalls
from recjury.tables import AnalysisInput, Cell, Column, Findings, Input, Trainer, table_of

if TYPE_CHECKING:
    from recjury.papers.face.optimise.beam import Step
    from recjury.papers.face.optimise.optimisation_report import (
        InstructionReport,
        OptimisationReport,
    )
    from recjury.papers.face.optimise.select import Chosen

_INSTRUCTIONS = (
    Column("instruction"),
    Column("iteration"),
    Column("ancestors"),
    Column("bandit", digits=3),
    Column("training", digits=3),
    Column("validation", digits=3),
    Column("rank"),
)
_CHOSEN = (
    Column("instruction"),
    Column("validation", digits=3),
    Column("coverage"),
    Column("rank"),
)


class InstructionTrainer(OptimiserSettings, Trainer):
    """Better instructions for FACE from AB-ReDial's labels: gradients, rewriting, UCB, beam search.

    If it was interrupted, killed or out of budget, the same command continues. A budget covers all
    runs of the same optimisation. With `pool`, it only chooses anew among instructions (FACE*).
    """

    source: ClassVar[str] = "FACE, section 2.3"
    needs: ClassVar[tuple[Input, ...]] = (Input.OUT, Input.CONFIG, Input.DATA)
    calls: ClassVar[str] = "thousands: see --dry-run"

    aspect: Aspect = Field(description="what to optimise for")
    model: str = Field(MAIN_MODEL, description="the model that rates, by alias")
    rewriter: str | None = Field(None, description="the model that rewrites (default: `model`)")
    rules: bool = Field(False, description="decompose turns by rules, without the model")
    pool: Path | None = Field(None, description="only choose again from these (pool.json)")
    max_calls: int | None = Field(None, ge=0, description="the most calls that this run sends")

    def plan(self, given: AnalysisInput) -> Iterable[ExpectedCalls]:
        """The most calls, with as many particles as the rule decomposer finds."""
        plan, config = self._read(given)
        pool = None if self.pool is None else len(read_instructions(self.pool))
        most = asyncio.run(estimate_optimisation(plan.training, plan.settings, pool=pool))
        return expected_calls(
            most, model=plan.model, rewriter=plan.rewriter, attempts=config.attempts
        )

    async def run(self, given: AnalysisInput) -> Findings:
        """Each instruction with its correlations; the chosen ones are in the folder."""
        plan, config = self._read(given)
        watch = _watch(given)
        try:
            if self.pool is not None:
                anew = await choose_anew(plan, config, given.store, self.pool, watch=watch)
                return _chosen_anew(anew)
            return _optimised(plan, await optimise(plan, config, given.store, watch=watch))
        except StepFailed as failure:
            return Findings(problems={str(failure): 1})

    def _read(self, given: AnalysisInput) -> tuple[OptimisePlan, EvaluationConfig]:
        assert given.data is not None
        assert given.out is not None
        config = config_of(given)
        settings = self.model_dump(include=set(OptimiserSettings.model_fields))
        plan = OptimisePlan(
            self.aspect,
            read_training(given.data / "ab-redial", self.aspect, seed=self.seed),
            OptimiserSettings.model_validate(settings),
            self.model,
            self.rewriter or self.model,
            given.out,
            rules=self.rules,
            max_calls=self.max_calls,
        )
        check_models(plan, config)
        return plan, config


def _watch(given: AnalysisInput) -> "Callable[[Step], None]":
    def watch(step: "Step") -> None:
        where = "" if step.iteration is None else f"iteration {step.iteration}: "
        doing = f"{where}{step.doing} {step.done}/{step.of}"
        given.progress.at(step.done / max(1, step.of), doing)
        if step.done == step.of:
            given.progress.say(doing)

    return watch


def _optimised(plan: OptimisePlan, found: "OptimisationReport") -> Findings:
    together = "-" if found.together is None else f"{found.together:.3f}"
    return Findings(
        tables=(
            table_of("instructions", _INSTRUCTIONS, list(map(_row, (found.initial, *found.pool)))),
        ),
        notes=(
            f"the {len(found.chosen)} chosen, pooled: {together}",
            f"{plan.folder / 'instructions'}: for `instructions` of the evaluator face",
        ),
        report=found.model_dump(mode="json"),
    )


def _row(line: "InstructionReport") -> dict[str, Cell]:
    return {
        "instruction": "initial" if line.index is None else f"itr{line.index}",
        "iteration": line.iteration,
        "ancestors": " < ".join(line.parents) or "-",
        "bandit": line.value,
        "training": line.train,
        "validation": line.validation,
        "rank": line.rank,
    }


def _chosen_anew(chosen: "Chosen") -> Findings:
    ranks = {name: rank for rank, name in enumerate(chosen.names, start=1)}
    rows: list[dict[str, Cell]] = [
        {
            "instruction": name,
            "validation": one.correlation,
            "coverage": one.coverage,
            "rank": ranks.get(name),
        }
        for name, one in chosen.measured.items()
    ]
    together = chosen.together.correlation
    pooled = "-" if together is None else f"{together:.3f}"
    return Findings(
        tables=(table_of("chosen", _CHOSEN, rows),),
        notes=(f"the {len(ranks)} chosen, pooled: {pooled}",),
        report={
            "chosen": list(chosen.names),
            "measured": {name: list(one) for name, one in chosen.measured.items()},
            "together": list(chosen.together),
        },
    )
