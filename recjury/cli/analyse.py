"""`recjury analyse`: what an evaluator's scores say of systems, and what else they follow."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from recjury.cli import analyse_input as given
from recjury.cli import options, output
from recjury.cli.analyse_input import chosen_campaign, read_given
from recjury.cli.analyse_tables import (
    show_length,
    show_metrics,
    show_samples,
    show_self_bias,
    show_turns,
)
from recjury.errors import ConfigError

T = TypeVar("T")

_TURNS_SHOWN = 4  # metrics of turns, if none was named

app = typer.Typer(
    help="What the scores of a run say of systems, and what else they follow: rankings from few "
    "conversations, systems by metric and by turn, length bias, self-bias.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.command("samples")
def samples(
    run: given.Run = None,
    metric: given.Metric = None,
    labels: given.Labels = None,
    pair: given.Pair = None,
    sizes: Annotated[
        str, typer.Option(metavar="N,N,...", help="Conversations of each system.")
    ] = "1,2,3,5,8,10,15,20,30,40",
    draws: Annotated[int, typer.Option(min=10, max=100_000, help="Random draws a size.")] = 1_000,
    plot: given.Plot = None,
    store: options.Store = options.DEFAULT_STORE,
    campaign: options.Campaign = None,
    seed: given.Seed = 0,
    as_json: options.Json = False,
) -> None:
    """How few conversations rank the systems as all do (FACE, figure 4).

    For each number of conversations a system, Spearman's rho of the ranking by their mean score
    with the ranking by all scores: its mean over random draws, and the range of 95 % of them. With
    --labels, the ranking by all of people's labels is the one to reach, and people's labels of the
    drawn conversations are beside.

    \b
    recjury analyse samples --metric core.overall --plot samples.svg
    recjury analyse samples --metric core --sizes 1,5,20 --json
    recjury analyse samples --labels annotations:labels.json --pair core.overall=overall
    """
    from recjury.agreement.sample_sizes import sample_curves

    scores = read_given(run, store, campaign, metric, labels, pair)
    chosen = scores.run if scores.people is None else scores.run.choose(list(scores.pairs))
    found = sample_curves(
        chosen, scores.people, scores.pairs, sizes=_sizes(sizes), draws=draws, seed=seed
    )
    left_out = [name for name in chosen.scores if name not in found]
    if left_out:
        output.say(f"left out, because fewer than three systems have it: {', '.join(left_out)}")
    if plot is not None:
        from recjury.agreement.analysis_plots import sample_plot

        _save(sample_plot(found), plot)
    if as_json:
        output.emit_json({name: each.as_json() for name, each in found.items()})
    else:
        show_samples(found)


@app.command("radar")
def radar(
    run: given.Run = None,
    metric: given.Metric = None,
    system: given.System = None,
    labels: given.Labels = None,
    pair: given.Pair = None,
    plot: given.Plot = None,
    store: options.Store = options.DEFAULT_STORE,
    campaign: options.Campaign = None,
    as_json: options.Json = False,
) -> None:
    """Systems by metric, as shares of each metric's scale (FACE, section 5.3).

    0 is the worst end of a scale and 1 the best; intervals (95 %) are over scenarios. With
    --labels, people's means are beside, of aspects on the same scale. Metrics without an upper
    bound are left out.

    \b
    recjury analyse radar --metric core --plot radar.svg
    recjury analyse radar --system kbrd --system retrieval --json
    recjury analyse radar face_run.json --system barcor_redial --system unicrs_redial
    """
    from recjury.agreement.profiles import by_metric, people_beside
    from recjury.errors import DataError

    scores = read_given(run, store, campaign, metric, labels, pair)
    panels = {"scores": _of_systems(by_metric(scores.run), system)}
    if not panels["scores"]:
        raise DataError("no metric has a scale with an upper bound: give columns low and high")
    if scores.people is not None:
        beside = people_beside(scores.run, scores.people, scores.pairs)
        if lost := [name for name in scores.pairs if name not in beside.scores]:
            output.say(f"no labels on the scale of {', '.join(lost)}: left out of people's means")
        if beside.scores:
            panels["people"] = _of_systems(by_metric(beside), system)
    if plot is not None:
        from recjury.agreement.analysis_plots import radar_plot

        _save(radar_plot(panels), plot)
    if as_json:
        output.emit_json(
            {
                panel: {
                    name: {each: mean.as_json() for each, mean in row.items()}
                    for name, row in systems.items()
                }
                for panel, systems in panels.items()
            }
        )
    else:
        show_metrics(panels)


@app.command("turns")
def turns(
    run: given.Run = None,
    metric: given.Metric = None,
    system: given.System = None,
    labels: given.Labels = None,
    fewest: Annotated[
        int, typer.Option(min=1, help="Leave out turns with scores of fewer scenarios.")
    ] = 5,
    plot: given.Plot = None,
    store: options.Store = options.DEFAULT_STORE,
    campaign: options.Campaign = None,
    as_json: options.Json = False,
) -> None:
    """The mean score of the first, second, ... system turn, by system (FACE, section 5.3).

    For metrics that rate turns. A folder of {aspect}.jsonl (`recjury face table --out`) also has
    the turns behind its scores of whole conversations. Means are shares of the scale, with 95 %
    intervals over scenarios; later turns are of fewer, longer conversations. A run file has no
    texts: --labels names labels that have them.

    \b
    recjury analyse turns --metric face.relevance --plot turns.svg
    recjury analyse turns scores --labels crsarena-eval:crs_arena_eval.json --metric understanding
    """
    from recjury.agreement.profiles import by_turn, turn_metrics

    scores = read_given(run, store, campaign, metric, labels, None, texts_only=True)
    known = turn_metrics(scores.run)
    if metric is None and not known:
        raise ConfigError(
            f"no metric has scores of turns (rated: {', '.join(scores.run.scores)}): evaluators of "
            "turns are in `recjury evaluators`"
        )
    wanted = list(scores.run.scores if metric is not None else known[:_TURNS_SHOWN])
    found = {name: _of_systems(by_turn(scores.run, name, fewest=fewest), system) for name in wanted}
    if metric is None and len(known) > _TURNS_SHOWN:
        output.say(f"not shown: {', '.join(known[_TURNS_SHOWN:])}; choose by --metric")
    if plot is not None:
        from recjury.agreement.analysis_plots import turn_plot

        _save(turn_plot(found), plot)
    if as_json:
        output.emit_json(
            {
                name: {each: [mean.as_json() for mean in row] for each, row in systems.items()}
                for name, systems in found.items()
            }
        )
    else:
        show_turns(found)


@app.command("length-bias")
def length_bias(
    run: given.Run = None,
    metric: given.Metric = None,
    labels: given.Labels = None,
    pair: given.Pair = None,
    plot: given.Plot = None,
    store: options.Store = options.DEFAULT_STORE,
    campaign: options.Campaign = None,
    resamples: given.Resamples = 2_000,
    seed: given.Seed = 0,
    as_json: options.Json = False,
) -> None:
    """How far scores follow the number of words, overall, within and between systems.

    The length is the words of the turn, or the mean words of the conversation's system turns. With
    --labels, the same of people's labels is beside: a correlation is a bias if it is above theirs.
    Scores are turned round if less is better. A run file has no texts: --labels names labels that
    have them.

    \b
    recjury analyse length-bias --metric core
    recjury analyse length-bias --labels annotations:labels.json --pair core.overall=overall
    recjury analyse length-bias face_run.json --labels crsarena-eval:crs_arena_eval.json
    """
    from recjury.agreement.length_correlations import length_biases
    from recjury.errors import DataError

    scores = read_given(run, store, campaign, metric, labels, pair)
    found = length_biases(scores.run, scores.people, scores.pairs, resamples=resamples, seed=seed)
    if not found:
        raise DataError(
            "no scored conversation has a known text: take scores of a store, or --labels that "
            "have texts"
        )
    if plot is not None:
        from recjury.agreement.analysis_plots import Line, interval_rows

        rows = [
            Line(f"{name}, {who}", *own.estimates.pearson[:3])
            for name, each in found.items()
            for who, own in (("scores", each.evaluator), ("people", each.people))
            if own is not None
        ]
        _save(interval_rows(rows, title="Scores and length", axis="Pearson's r with words"), plot)
    if as_json:
        output.emit_json({name: each.as_json() for name, each in found.items()})
    else:
        show_length(found)


@app.command("self-bias")
def self_bias(
    metric: Annotated[
        list[str] | None,
        typer.Option(metavar="ID", help="Only this metric (core.overall: its kind, not its name)."),
    ] = None,
    system_model: Annotated[
        list[str] | None,
        typer.Option(metavar="SYSTEM=MODEL", help="The model that a system runs; may be repeated."),
    ] = None,
    plot: given.Plot = None,
    store: options.Store = options.DEFAULT_STORE,
    campaign: options.Campaign = None,
    resamples: given.Resamples = 2_000,
    seed: given.Seed = 0,
    as_json: options.Json = False,
) -> None:
    """How much higher a judge rates systems that run its own model than other judges do.

    For each judge whose model a system runs: its score minus that of the other judges, on
    conversations of that system, minus the same on conversations of the other systems, with a 95 %
    interval over scenarios. The other judges are those whose model no system runs, if there are
    any. It needs a campaign that several judges have rated; models are compared by name.

    \b
    recjury analyse self-bias
    recjury analyse self-bias --system-model mine=gpt-4o-mini --json
    """
    from recjury.agreement.self_preference import read_judges, self_preferences
    from recjury.store import Store

    told = _models(system_model or ())
    with Store.open(store, create=False) as kept:
        judged = read_judges(kept, chosen_campaign(kept, campaign), system_models=told)
    found = self_preferences(judged, metric or (), resamples=resamples, seed=seed)
    if plot is not None:
        from recjury.agreement.analysis_plots import Line, interval_rows

        rows = [Line(f"{each.judge}, {each.metric}", *each.bias[:3]) for each in found]
        _save(interval_rows(rows, title="Self-bias", axis="difference of differences"), plot)
    if as_json:
        output.emit_json({"self_bias": [each.as_json() for each in found]})
    else:
        show_self_bias(found)


def _of_systems(found: Mapping[str, T], wanted: list[str] | None) -> dict[str, T]:
    from recjury.store.choice import require

    require("system", wanted or (), found)
    return {name: found[name] for name in wanted or found}


def _sizes(text: str) -> list[int]:
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isascii() and part.isdigit() and int(part) > 0 for part in parts):
        raise ConfigError(f"--sizes {text}: expected whole numbers above 0, such as 1,5,20")
    return [int(part) for part in parts]


def _models(given: Sequence[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for each in given:
        system, equals, model = each.partition("=")
        if not (system and equals and model):
            raise ConfigError(f"--system-model {each}: expected SYSTEM=MODEL")
        found[system] = model
    return found


def _save(svg: str, path: Path) -> None:
    from recjury.figures import save

    output.say(f"figure: {save(svg, path)}")
