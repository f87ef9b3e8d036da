"""`recjury face score`: score conversations with FACE, or with what it is compared with."""

from collections.abc import Collection, Coroutine, Iterable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recjury.cli import options, output
from recjury.cli.aspects import aspect_named

if TYPE_CHECKING:
    from recjury.alignment.face_results import Scored
    from recjury.campaign.face import FaceSettings
    from recjury.campaign.progress import Progress
    from recjury.campaign.running import RunResult
    from recjury.records import Aspect, ConversationLog


class Form(StrEnum):
    """How conversations are written."""

    CRSARENA = "crsarena"
    JSONL = "jsonl"
    CONCEPT = "concept"


class Evaluator(StrEnum):
    """Who scores."""

    FACE = "face"
    DIRECT = "llm-direct"
    COT_ICL = "llm-cot-icl"


def score(
    path: Annotated[Path, typer.Argument(metavar="FILE", help="The conversations.")],
    config: Annotated[
        Path, typer.Option(metavar="CAMPAIGN.yaml", help="Whose model to use (`model` in it).")
    ],
    form: Annotated[Form, typer.Option("--format", help="How FILE is written.")] = Form.CRSARENA,
    evaluator: Annotated[Evaluator, typer.Option(help="Who scores.")] = Evaluator.FACE,
    aspect: Annotated[
        list[str] | None,
        typer.Option("--aspect", metavar="NAME", help="An aspect; may be repeated (default: all)."),
    ] = None,
    instructions: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Instructions: {aspect}.json files (default: ours)."),
    ] = None,
    particles: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Particles that are there already, not the model's."),
    ] = None,
    rules: Annotated[
        bool, typer.Option("--rules", help="Decompose turns by rules, without the model.")
    ] = False,
    samples: Annotated[int, typer.Option(min=1, help="Samples per score.")] = 5,
    logprobs: Annotated[
        bool, typer.Option("--logprobs", help="Expectation under log-probabilities, one call.")
    ] = False,
    one_by_one: Annotated[
        bool, typer.Option("--one-by-one", help="A request per sample (no `n`).")
    ] = False,
    limit: Annotated[int | None, typer.Option(min=1, help="At most N conversations.")] = None,
    store: options.Store = options.DEFAULT_STORE,
    concurrency: options.Concurrency = None,
    budget: options.Budget = None,
    runs: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write scores per instruction there.")
    ] = None,
    run_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write pooled scores as a run file.")
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Score conversations on the seven aspects, with every sample kept in the store.

    The same command goes on where it was interrupted.

    \b
    recjury face score crs_arena_eval.json --config model.yaml --aspect relevance --limit 20
    recjury face score mine.jsonl --format jsonl --config model.yaml --rules --runs scores
    """
    from recjury.campaign.face import FaceSettings, score_conversations
    from recjury.campaign.reading import read_config
    from recjury.cli.running import drive
    from recjury.records import Aspect

    base = read_config(config)
    changes = {"concurrency": concurrency, "budget": budget}
    raters = base.model_copy(update={k: v for k, v in changes.items() if v is not None})
    of_face = {
        "--instructions": instructions,
        "--particles": particles,
        "--rules": rules,
        "--logprobs": logprobs,
        "--runs": runs,
    }
    _check_options(evaluator, (name for name, value in of_face.items() if value))
    _check_places(runs, run_file, read=(path, config, particles))
    logs = _logs(path, form, limit)
    chosen = FaceSettings(
        kind=evaluator.value,
        aspects=tuple(dict.fromkeys(map(aspect_named, aspect or Aspect))),
        samples=samples,
        method="logprobs" if logprobs else "samples",
        together=not one_by_one,
    )
    chosen = _with_files(chosen, instructions, particles, rules=rules)

    def work(progress: "Progress") -> "Coroutine[None, None, RunResult]":
        return score_conversations(logs, chosen, raters, store, progress=progress)

    _finish(drive(work), chosen.aspects, store, runs, run_file, as_json=as_json)


def _check_options(evaluator: Evaluator, given: Iterable[str]) -> None:
    """Raise ConfigError for options that only particles make sense of, where there are none."""
    from recjury.errors import ConfigError

    idle = list(given)
    if idle and evaluator is not Evaluator.FACE:
        raise ConfigError(
            f"{evaluator} has neither particles nor instructions: leave out {idle[0]}"
        )


def _check_places(runs: Path | None, run_file: Path | None, *, read: Iterable[Path | None]) -> None:
    """Raise Fixable where scores could not be written in the end, or over something else of it.

    That is what they come from, and scores that are written to the same place.
    """
    from recjury.corpora.writing import check_writable
    from recjury.errors import ConfigError
    from recjury.records import Aspect

    places = [] if runs is None else [runs / f"{aspect}.jsonl" for aspect in Aspect]
    places += [] if run_file is None else [run_file]
    kept = {each.resolve() for each in read if each is not None}
    for place in places:
        check_writable(place)
        if place.resolve() in kept:
            raise ConfigError(f"{place} would be written over, and is read: name another place")
    if run_file is not None and run_file.resolve() in {each.resolve() for each in places[:-1]}:
        raise ConfigError(f"{run_file} is where --runs writes, too: name another place")


def _logs(path: Path, form: Form, limit: int | None) -> list["ConversationLog"]:
    if form is Form.CRSARENA:
        from recjury.corpora.crsarena import read_crsarena

        return list(read_crsarena(path).logs.values())[:limit]
    if form is Form.CONCEPT:
        from recjury.corpora import data_folder
        from recjury.corpora.concept import read_concept

        return list(read_concept(path, data_folder(), limit))
    from recjury.corpora.logs import read_logs

    return list(read_logs(path, limit))


def _with_files(
    settings: "FaceSettings", instructions: Path | None, particles: Path | None, *, rules: bool
) -> "FaceSettings":
    import hashlib
    from dataclasses import replace

    from recjury.corpora.crsarena_particles import by_conversation, read_particles
    from recjury.errors import ConfigError
    from recjury.judges.face import GivenDecomposer, RuleDecomposer, read_instruction_folder

    if rules and particles is not None:
        raise ConfigError("--rules and --particles both say where particles come from: keep one")
    if instructions is not None:
        settings = replace(settings, instructions=read_instruction_folder(instructions))
    if rules:
        return replace(settings, decomposer=RuleDecomposer())
    if particles is not None:
        given = by_conversation(read_particles(particles))
        digest = hashlib.sha256(particles.read_bytes()).hexdigest()[:12]
        return replace(settings, decomposer=GivenDecomposer(given, name=f"file {digest}"))
    return settings


def _finish(
    result: "RunResult",
    aspects: "Collection[Aspect]",
    url: str,
    runs: Path | None,
    run_file: Path | None,
    *,
    as_json: bool,
) -> None:
    """Write and show what came of a run, and end with the exit code that says it.

    Nothing at all that was scored on any of `aspects` is told apart from a result.
    """
    from recjury.alignment.face_results import pooled_scores, read_scored
    from recjury.cli.results import SOME_FAILED, say_failures
    from recjury.store import Store

    with Store.open(url, create=False) as kept:
        scored = list(read_scored(kept, result.campaign, trials=result.trials))
        _write(scored, runs, run_file)
        _show(result, scored, as_json=as_json)
        if result.failed:
            output.say(f"{result.failed} of {result.planned} conversations failed:")
            say_failures(kept, result.campaign)
            output.say("  the same command tries them again")
    nothing = not pooled_scores(scored).keys() & set(aspects)
    if nothing:
        output.say(f"nothing could be scored: no score of {', '.join(aspects)} came of it")
    if nothing or result.failed:
        output.stop(SOME_FAILED)


def _write(scored: list["Scored"], runs: Path | None, run_file: Path | None) -> None:
    from recjury.alignment.face_results import pooled_scores, scores_by_instruction
    from recjury.corpora.crsarena_run_file import write_run_file
    from recjury.corpora.crsarena_runs import write_run

    if runs is not None:
        for aspect, turns in scores_by_instruction(scored).items():
            write_run(runs / f"{aspect}.jsonl", turns.items())
    if run_file is not None:
        write_run_file(run_file, pooled_scores(scored), [each.conversation for each in scored])


def _show(result: "RunResult", scored: list["Scored"], *, as_json: bool) -> None:
    from recjury.alignment.face_results import coverage_of, problems_of
    from recjury.cli.problems import say_problems
    from recjury.corpora.problems import count_faults

    problems, covered = list(problems_of(scored)), coverage_of(scored)
    if as_json:
        counts = {"planned": result.planned, "done": result.done, "failed": result.failed}
        found = {str(aspect): own._asdict() for aspect, own in covered.items()}
        told = {"coverage": found, "problems": count_faults(problems)}
        output.emit_json({"campaign": result.campaign, **counts, **told})
    else:
        rows = (
            [
                str(aspect),
                f"{own.scored_places} of {own.places}",
                f"{own.scored_particles} of {own.particles}",
                f"{own.read_samples} of {own.samples}",
            ]
            for aspect, own in covered.items()
        )
        output.show_table(["aspect", "scored", "particles", "samples"], rows)
    say_problems(problems)
