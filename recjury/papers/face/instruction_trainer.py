"""FACE's optimiser of instructions, as `recjury train` names it."""

import asyncio
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import ClassVar

from pydantic import Field

from recjury.campaign.model_work import check_aliases, config_of, do_with_models
from recjury.judges.face.instructions import read_instructions
from recjury.llm import MAIN_MODEL
from recjury.papers.face.optimise.allowance import StepFailed
from recjury.papers.face.optimise.call_estimate import estimate_optimisation, expected_calls
from recjury.papers.face.optimise.measuring import Chosen
from recjury.papers.face.optimise.optimisation import Optimisation
from recjury.papers.face.optimise.optimisation_report import InstructionReport, OptimisationReport
from recjury.papers.face.optimise.search import Step
from recjury.papers.face.optimise.settings import OptimiserSettings
from recjury.papers.face.optimise.training_data import read_training
from recjury.records import Aspect, ExpectedCalls
from recjury.tables import AnalysisInput, Cell, Column, Findings, Input, Trainer, table_of

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
        asked = self._read(given)
        pool = None if self.pool is None else len(read_instructions(self.pool))
        most = asyncio.run(estimate_optimisation(asked.training, asked.settings, pool=pool))
        return expected_calls(
            most, model=asked.model, rewriter=asked.rewriter, attempts=asked.config.attempts
        )

    async def run(self, given: AnalysisInput) -> Findings:
        """Each instruction with its correlations; the chosen ones are in the folder."""
        asked = self._read(given)
        try:
            if self.pool is not None:
                anew = asked.choice(self.pool)
                return _chosen_anew(await do_with_models(anew, asked.config, given.store))
            found = await do_with_models(asked.work, asked.config, given.store)
        except StepFailed as failure:
            return Findings(problems={str(failure): 1})
        return _optimised(asked, found)

    def _read(self, given: AnalysisInput) -> Optimisation:
        assert given.data is not None
        assert given.out is not None
        config, rewriter = config_of(given), self.rewriter or self.model
        training = read_training(given.data / "ab-redial", self.aspect, seed=self.seed)
        check_aliases(config, (self.model, rewriter))
        settings = self.model_dump(include=set(OptimiserSettings.model_fields))
        return Optimisation(
            self.aspect,
            training,
            OptimiserSettings.model_validate(settings),
            config,
            self.model,
            rewriter,
            given.out,
            rules=self.rules,
            max_calls=self.max_calls,
            watch=_watch(given),
        )


def _watch(given: AnalysisInput) -> Callable[[Step], None]:
    def watch(step: Step) -> None:
        where = "" if step.iteration is None else f"iteration {step.iteration}: "
        doing = f"{where}{step.doing} {step.done}/{step.of}"
        given.progress.at(step.done / max(1, step.of), doing)
        if step.done == step.of:
            given.progress.say(doing)

    return watch


def _optimised(asked: Optimisation, found: OptimisationReport) -> Findings:
    together = "-" if found.together is None else f"{found.together:.3f}"
    return Findings(
        tables=(
            table_of("instructions", _INSTRUCTIONS, list(map(_row, (found.initial, *found.pool)))),
        ),
        notes=(
            f"the {len(found.chosen)} chosen, pooled: {together}",
            f"{asked.folder / 'instructions'}: for `instructions` of the evaluator face",
        ),
        report=found.model_dump(mode="json"),
    )


def _row(line: InstructionReport) -> dict[str, Cell]:
    return {
        "instruction": "initial" if line.index is None else f"itr{line.index}",
        "iteration": line.iteration,
        "ancestors": " < ".join(line.parents) or "-",
        "bandit": line.value,
        "training": line.train,
        "validation": line.validation,
        "rank": line.rank,
    }


def _chosen_anew(chosen: Chosen) -> Findings:
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
            "measured": {name: list(one[:2]) for name, one in chosen.measured.items()},
            "together": list(chosen.together[:2]),
        },
    )
