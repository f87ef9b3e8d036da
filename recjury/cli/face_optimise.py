"""`recjury face optimise`: better instructions from AB-ReDial's labels, or a new selection."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recjury.cli import options, output
from recjury.cli.progress_line import progress_line
from recjury.errors import ConfigError

if TYPE_CHECKING:
    from recjury.campaign.config import EvaluationConfig
    from recjury.judges.face.optimise.beam import Step
    from recjury.judges.face.optimise.optimisation import OptimisePlan
    from recjury.judges.face.optimise.optimisation_report import (
        InstructionReport,
        OptimisationReport,
    )
    from recjury.judges.face.optimise.select import Chosen
    from recjury.judges.face.optimise.settings import OptimiserSettings

_EVERY = 10.0  # seconds between lines if there is no terminal


def optimise(
    aspect: Annotated[str, typer.Argument(metavar="ASPECT", help="What to optimise for.")],
    config: Annotated[
        Path, typer.Option(metavar="CAMPAIGN.yaml", help="Whose models to use, by alias.")
    ],
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Where the journal, report and instructions go.")
    ],
    data: Annotated[
        Path | None,
        typer.Option(
            envvar="RECJURY_DATA", metavar="DIR", help="The folder that holds ab-redial/."
        ),
    ] = None,
    model: Annotated[
        str | None, typer.Option(metavar="ALIAS", help="The model that rates (default: main).")
    ] = None,
    rewriter: Annotated[
        str | None,
        typer.Option(
            metavar="ALIAS", help="The model that rewrites (default: the one that rates)."
        ),
    ] = None,
    rules: Annotated[
        bool, typer.Option("--rules", help="Decompose turns by rules, without the model.")
    ] = False,
    pool: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="FACE*: only select again from these instructions (pool.json)."
        ),
    ] = None,
    setting: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="NAME=VALUE", help="A setting, such as iterations=2 (may be repeated)."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the split and of all random draws.")] = 0,
    max_calls: Annotated[
        int | None, typer.Option(min=0, metavar="N", help="Send at most N calls in this run.")
    ] = None,
    budget: options.Budget = None,
    concurrency: options.Concurrency = None,
    store: options.Store = options.DEFAULT_STORE,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only show what would be asked, and what it may cost.")
    ] = False,
    as_json: options.Json = False,
) -> None:
    """Optimise FACE's instructions for one aspect: gradients, rewriting, UCB, beam search.

    If it was interrupted, killed or out of budget, the same command continues, and sends only
    calls again that were not stored. A budget covers all runs of the same optimisation, and
    `recjury status` shows what they have cost. Settings (--set) of the paper are
    iterations, beam, candidates, gradients, exploration, batches, final, temperature; ours are
    gradient_particles, sampled_particles, correlation, merged, averaging, tolerated_failures.

    \b
    recjury face optimise relevance --config model.yaml --data DATA --out face --dry-run
    recjury face optimise relevance --config model.yaml --data DATA --out face --budget 5
    recjury face optimise relevance --config other.yaml --data DATA --out star \\
        --pool face/relevance/pool.json
    """
    from recjury.campaign.config_file import read_models
    from recjury.campaign.optimise_face import check_models, choose_anew
    from recjury.campaign.optimise_face import optimise as run_optimisation
    from recjury.cli.async_work import await_work
    from recjury.judges.face.optimise.allowance import StepFailed
    from recjury.judges.face.optimise.optimisation import OptimisePlan
    from recjury.judges.face.optimise.training_data import read_training
    from recjury.llm import MAIN_MODEL

    chosen, rater = options.aspect_named(aspect), model or MAIN_MODEL
    plan = OptimisePlan(
        chosen,
        read_training(_ab_redial(data), chosen, seed=seed),
        _settings(setting or [], seed),
        rater,
        rewriter or rater,
        out,
        rules=rules,
        max_calls=max_calls,
    )
    changes = {"budget": budget, "concurrency": concurrency}
    base = read_models(config)
    check_models(plan, base)
    raters = base.model_copy(update={k: v for k, v in changes.items() if v is not None})
    if dry_run:
        _show_estimate(plan, raters, pool, as_json=as_json)
        return
    progress = _StepProgress()
    try:
        if pool is None:
            with progress_line(progress.line, progress.share, every=_EVERY):
                found = await_work(run_optimisation(plan, raters, store, watch=progress))
            _show(found, out, as_json=as_json)
        else:
            with progress_line(progress.line, progress.share, every=_EVERY):
                new = await_work(choose_anew(plan, raters, store, pool, watch=progress))
            _show_chosen(new, as_json=as_json)
    except StepFailed as failure:
        output.say(f"recjury: {failure}")
        output.stop(output.SOME_FAILED)


def _ab_redial(data: Path | None) -> Path:
    if data is None:
        raise ConfigError("where is the data? Give --data or set RECJURY_DATA")
    return data / "ab-redial"


def _settings(given: Sequence[str], seed: int) -> "OptimiserSettings":
    import yaml
    from pydantic import ValidationError

    from recjury.corpora.lines import what_is_wrong
    from recjury.judges.face.optimise.settings import OptimiserSettings

    values: dict[str, object] = {}
    for each in given:
        name, sign, value = each.partition("=")
        if not sign:
            raise ConfigError(f"--set: expected NAME=VALUE, got {each!r}")
        try:
            values[name.strip()] = yaml.safe_load(value)
        except yaml.YAMLError:
            raise ConfigError(f"--set {name.strip()}: {value!r} is not a YAML value") from None
    try:
        return OptimiserSettings.model_validate(values | {"seed": seed})
    except ValidationError as error:
        known = ", ".join(name for name in OptimiserSettings.model_fields if name != "seed")
        raise ConfigError(f"--set {what_is_wrong(error)} (settings: {known})") from None


class _StepProgress:
    """The current step, in one line; each step that is finished gets a line of its own."""

    def __init__(self) -> None:
        self._step: Step | None = None

    def __call__(self, step: "Step") -> None:
        self._step = step
        if step.done == step.of:
            output.say(self.line())

    def line(self) -> str:
        """What is done now, and how far it is."""
        step = self._step
        if step is None:
            return "reading the journal"
        where = "" if step.iteration is None else f"iteration {step.iteration}: "
        return f"{where}{step.doing} {step.done}/{step.of}"

    def share(self) -> float:
        """What part of the step is done, 0 to 1."""
        return self._step.done / max(1, self._step.of) if self._step else 0.0


def _show_estimate(
    plan: "OptimisePlan", config: "EvaluationConfig", pool: Path | None, *, as_json: bool
) -> None:
    import asyncio

    from recjury.cli.dry_run import show_calls
    from recjury.judges.face.instructions import read_instructions
    from recjury.judges.face.optimise.call_estimate import expected_calls
    from recjury.judges.face.optimise.optimisation import estimate_optimisation

    given = None if pool is None else len(read_instructions(pool))
    spent = asyncio.run(estimate_optimisation(plan.training, plan.settings, pool=given))
    expected = expected_calls(
        spent, model=plan.model, rewriter=plan.rewriter, attempts=config.attempts
    )
    counts = spent._asdict() | {"scored": spent.scored}
    if not as_json:
        output.say("with as many particles as the rule decomposer finds:")
        rows = [(name.replace("_", " "), f"{value:,}") for name, value in counts.items()]
        output.show_table(["", "at most"], rows)
    show_calls(config, expected, more=counts, as_json=as_json)


def _show(found: "OptimisationReport", out: Path, *, as_json: bool) -> None:
    if as_json:
        output.emit_json(found.model_dump(mode="json"))
        return
    head = ["instruction", "iteration", "ancestors", "bandit", "training", "validation", "rank"]
    output.show_table(head, map(_row, (found.initial, *found.pool)))
    output.say(f"the {len(found.chosen)} chosen, pooled: {output.number(found.together, 3)}")
    output.say(f"{out / 'instructions'}: for `instructions` of the evaluator face")


def _row(line: "InstructionReport") -> list[str]:
    return [
        "initial" if line.index is None else f"itr{line.index}",
        str(line.iteration),
        " < ".join(line.parents) or "-",
        output.number(line.value, 3),
        output.number(line.train, 3),
        output.number(line.validation, 3),
        "-" if line.rank is None else str(line.rank),
    ]


def _show_chosen(chosen: "Chosen", *, as_json: bool) -> None:
    ranks = {name: rank for rank, name in enumerate(chosen.names, start=1)}
    if as_json:
        rows = {name: list(one) for name, one in chosen.measured.items()}
        together = list(chosen.together)
        output.emit_json({"chosen": chosen.names, "measured": rows, "together": together})
        return
    output.show_table(
        ["instruction", "validation", "coverage", "rank"],
        (
            [name, output.number(one.correlation, 3), output.number(one.coverage),
             str(ranks.get(name, "-"))]
            for name, one in chosen.measured.items()
        ),
    )  # fmt: skip
    output.say(f"the {len(ranks)} chosen, pooled: {output.number(chosen.together.correlation, 3)}")
