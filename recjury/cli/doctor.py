"""`recjury doctor`: what is missing before a campaign runs, problems first."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, NamedTuple

import pandas as pd
import typer

from recjury import __version__
from recjury.campaign import Config, read_config
from recjury.campaign.prepare import Prepared, prepared
from recjury.cli.options import DEFAULT_STORE, JsonOutput, StoreOption
from recjury.cli.turns import take_turn
from recjury.errors import Stop, UserError
from recjury.files import YamlFile
from recjury.llm import Ask
from recjury.records import Unit
from recjury.results import Findings
from recjury.store import Store

_EXTRAS = {
    "neural": ("torch", "transformers"),
    "plots": ("matplotlib",),
    "frames": ("pyarrow",),
    "baselines": ("sacrebleu", "rouge_score"),
    "postgres": ("psycopg",),
    "cluster": ("ray",),
    "fine-tuning": ("peft",),
    "otel": ("opentelemetry.sdk", "opentelemetry.exporter"),
}
_PATIENCE = 5.0  # seconds that an endpoint has for an answer after a failed attempt
_SAYS = "Reply with the word yes."


class Check(NamedTuple):
    """What was looked at and what came of it; `problem` if it keeps a campaign from running."""

    what: str
    result: str
    problem: bool = False


def doctor(
    *,
    file: Annotated[Path | None, typer.Argument(help="A campaign file (YAML).")] = None,
    store: StoreOption = DEFAULT_STORE,
    ask: Annotated[bool, typer.Option(help="Send one short request to each model in use.")] = True,
    turn: Annotated[
        bool, typer.Option("--turn", help="Take a turn with each system: what it got and said.")
    ] = False,
    output: JsonOutput,
) -> None:
    """Look for problems: what is installed, the store, and all that a campaign file names.

    Examples: recjury doctor; recjury doctor campaign.yaml; recjury doctor campaign.yaml --no-ask;
    recjury doctor campaign.yaml --turn.
    """
    checks, turns = [*_installation(), *_data(), _store(store)], list[str]()
    if file is not None:
        checks += asyncio.run(_campaign(file, turns if turn else None, ask=ask))
    problems = [f"{check.what}: {check.result}" for check in checks if check.problem]
    fine = [(check.what, check.result) for check in checks if not check.problem]
    lines = [f"{len(problems) or 'No'} problem{'' if len(problems) == 1 else 's'}.", *problems]
    output.show(
        Findings(
            title="doctor",
            answer="\n".join(lines),
            text="\n\n".join(["", *turns]),
            tables={"In order": pd.DataFrame(fine, columns=["what", "result"])},
            data={"problems": problems, "fine": dict(fine), "turns": turns},
        )
    )
    if problems:
        raise typer.Exit(3)


def _installation() -> Iterator[Check]:
    yield Check("recjury", f"{__version__}, Python {sys.version.split()[0]}")
    for extra, modules in _EXTRAS.items():
        missing = [name for name in modules if not _is_there(name)]
        hint = f"not installed: pip install 'recjury[{extra}]'"
        yield Check(f"extra {extra}", hint if missing else "installed")


def _is_there(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # a package that it would be in
        return False


def _data() -> Iterator[Check]:
    folder = os.environ.get("RECJURY_DATA", "")
    if not folder:
        yield Check("RECJURY_DATA", "not set: redial, opendialkg and inspired are not at hand")
    elif not Path(folder).is_dir():
        yield Check("RECJURY_DATA", f"there is no folder {folder}", problem=True)
    else:
        yield Check("RECJURY_DATA", folder)


def _store(store: str) -> Check:
    if "://" not in store and not Path(store).exists():
        return Check(f"store {store}", "does not exist yet: the first run makes it")
    try:
        with Store(store, readonly=True) as opened:
            names = opened.campaigns()
    except UserError as error:
        return Check(f"store {store}", str(error), problem=True)
    return Check(f"store {store}", f"campaigns: {', '.join(names[:5]) or 'none'}")


async def _campaign(file: Path, turns: list[str] | None, *, ask: bool) -> list[Check]:
    """All that a campaign names, opened as a run opens it. Raises UserError for a bad file.

    With `turns`, a turn is taken with each system, and stands there.
    """
    values = YamlFile(file).values
    rates_only = isinstance(values, dict) and "evaluators" in values and "systems" not in values
    config = read_config(file, {"scenarios": [], "recordings": {"": ""}} if rates_only else None)
    patient = {
        alias: model.live.model_copy(update={"patience": min(model.patience, _PATIENCE)})
        for alias, model in config.models.items()
    }
    hasty = config.model_copy(update={"models": patient})
    try:
        with Store() as memory:
            async with prepared(hasty, memory) as ready:
                checks = [*_parts(ready, config)]
                if ask:
                    checks += [each async for each in _models(ready)]
                if turns is not None:
                    checks += [each async for each in _turns(ready, turns)]
                return checks
    except UserError as error:
        return [Check("campaign", str(error), problem=True)]


def _parts(ready: Prepared, config: Config) -> Iterator[Check]:
    for corpus in ready.corpora.values():
        counts = f"{len(corpus.scenarios)} scenarios, {len(corpus.catalogue.items)} items"
        yield Check(f"corpus {corpus.name}", counts)
    for system in dict.fromkeys(name for name, _ in ready.systems):
        yield Check(f"system {system}", "loaded")
    for user in ready.users:
        yield Check(f"user {user}", "loaded")
    for evaluator in ready.evaluators.values():
        yield Check(f"evaluator {evaluator.name}", f"{len(evaluator.metrics)} metrics")
    unused = sorted(config.models.keys() - ready.used)
    if unused:
        yield Check("models", f"in no use: {', '.join(unused)}")


async def _turns(ready: Prepared, turns: list[str]) -> AsyncIterator[Check]:
    """One turn with each system, in the first scenario of each corpus."""
    for (name, corpus), system in ready.systems.items():
        ask = Ask(ready.gateway, Unit("doctor"))
        taken = await take_turn(system, ready.corpora[corpus].scenarios[0], ask)
        turns.append(taken.text)
        yield Check(f"a turn of {name}", taken.failure or "taken", problem=bool(taken.failure))


async def _models(ready: Prepared) -> AsyncIterator[Check]:
    """One short request to each model in use."""
    for alias in sorted(ready.used & ready.config.models.keys()):
        name = ready.gateway.models[alias].name
        try:
            answer = await Ask(ready.gateway, Unit("doctor")).text(
                _SAYS, model=alias, purpose="doctor", max_tokens=16
            )
        except Stop as stop:
            yield Check(f"model {alias}", str(stop), problem=True)
            continue
        said = answer.reason if answer.value is None else f"{name} answers"
        yield Check(f"model {alias}", said, problem=answer.value is None)
