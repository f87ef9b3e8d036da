"""`recjury factors`: the questions of the CoRE paper, asked of a store."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recjury.cli import options, output
from recjury.errors import ConfigError

if TYPE_CHECKING:
    from recjury.agreement.factor_questions import FactorAnswers
    from recjury.agreement.factor_scores import JudgedFactors
    from recjury.agreement.factors import NamedCoupling
    from recjury.records import JSON
    from recjury.stats.clustered import BootstrapEstimate


def factors(
    labels: Annotated[
        str | None,
        typer.Option(
            metavar="FORM:PATH", help="People's scores, as for `recjury align`: annotations:FILE."
        ),
    ] = None,
    people_only: Annotated[
        bool, typer.Option("--people-only", help="Only how people's scores move together.")
    ] = False,
    routing: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Write the best judge of each factor, as `judges.routing` reads."
        ),
    ] = None,
    published: Annotated[
        bool, typer.Option("--published", help="Show the paper's figures beside.")
    ] = False,
    store: options.Store = options.DEFAULT_STORE,
    campaign: options.Campaign = None,
    resamples: Annotated[int, typer.Option(min=100, max=1_000_000, help="Of intervals.")] = 1_000,
    seed: Annotated[int, typer.Option(min=0, max=2**63 - 1, help="Seed of the resampling.")] = 0,
    as_json: options.Json = False,
) -> None:
    """Ask CoRE's four questions of a store whose conversations `core` rated.

    How far factors move together, for each judge and for people, and how much of it one general
    impression explains; how far each judge agrees with people on each factor, and which is best;
    what agrees with people's overall score (means of factors, debate, Recall, Persuasiveness); and
    each system's factors and roles, with standard deviations.

    \b
    recjury factors
    recjury factors --labels annotations:labels.json --routing routing.yaml
    recjury factors --people-only --labels crsarena-eval:crs_arena_eval.json
    """
    from recjury.agreement.factor_questions import answer_questions
    from recjury.agreement.label_forms import read_labels

    if labels is None and (people_only or routing is not None):
        raise ConfigError("--people-only and --routing need --labels")
    people = None if labels is None else read_labels(labels)
    judged = None if people_only else _judged(store, campaign)
    found = answer_questions(judged, people, resamples=resamples, seed=seed)
    if routing is not None and judged is not None:
        _write_routing(routing, found, judged)
    if as_json:
        output.emit_json(_as_json(found, published=published))
        return
    _show_coupling(found, published=published)
    _show_agreement(found, published=published)
    _show_systems(found)
    if routing is not None:
        output.say(f"{routing}: judges: {{models: [...], routing: {routing}}}")


def _judged(url: str, campaign: str | None) -> "JudgedFactors":
    from recjury.agreement.factor_scores import read_judged
    from recjury.store import Store

    with Store.open(url, create=False) as kept:
        return read_judged(kept, kept.campaign(campaign).id if campaign else None)


def _write_routing(path: Path, found: "FactorAnswers", judged: "JudgedFactors") -> None:
    from recjury.agreement.factors import routing_text

    if not found.best:
        raise ConfigError("no judge has a correlation with people: there is nothing to route")
    evaluators = {each.judge.rpartition(":")[0] for each in found.best.values()}
    if len(evaluators) > 1 or any("measured" in each.judge for each in found.best.values()):
        raise ConfigError("--routing is for judges that are models of one `core` evaluator")
    try:
        path.write_text(routing_text(found.best, judged.single), "utf-8")
    except OSError as error:
        raise ConfigError(f"{path} cannot be written: {error.strerror}") from None


def _as_json(found: "FactorAnswers", *, published: bool) -> "dict[str, JSON]":
    from recjury.agreement import factors as work

    shown: dict[str, JSON] = {
        "coupling": {name: _coupling_json(each) for name, each in found.coupling.items()},
        "agreement": {
            factor: {name.rpartition(".")[0]: each.as_json() for name, each in own.metrics.items()}
            for factor, own in found.agreement.items()
        },
        "ceiling": {
            factor: own.ceiling.as_json() if own.ceiling else None
            for factor, own in found.agreement.items()
        },
        "best": {factor: dict(each._asdict()) for factor, each in found.best.items()},
        "overall": {name: each.as_json() for name, each in found.overall.metrics.items()}
        if found.overall
        else None,
        "systems": {
            system: {name: dict(each._asdict()) for name, each in own.items()}
            for system, own in found.systems.items()
        },
    }
    return {**shown, "published": work.published()} if published else shown


def _coupling_json(found: "NamedCoupling") -> "dict[str, JSON]":
    own = found.coupling
    return {
        "mean": {"value": own.mean.value, "low": own.mean.low, "high": own.mean.high},
        "pairs": own.pairs,
        "below_0.2": own.low,
        "at_least_0.5": own.high,
        "halo": own.halo,
        "n": own.n,
        "names": list(found.names),
        "matrix": [
            [None if value != value else float(value) for value in row] for row in own.matrix
        ],
    }


def _show_coupling(found: "FactorAnswers", *, published: bool) -> None:
    from recjury.agreement import factors as work

    rows = [
        [
            name,
            _estimate(each.coupling.mean),
            f"{each.coupling.low} of {each.coupling.pairs}",
            f"{each.coupling.high} of {each.coupling.pairs}",
            "-" if each.coupling.halo is None else f"{each.coupling.halo:.0%}",
            str(each.coupling.n),
        ]
        for name, each in found.coupling.items()
    ]
    if published:
        paper = work.published()["coupling"]
        for name, own in paper.items():
            if isinstance(own, dict):
                low, high = own.get("below_0.2"), own.get("at_least_0.5")
                cells = ("-" if each is None else f"{each} of 66" for each in (low, high))
                rows.append([f"{name} (paper)", f"{own['mean']:.2f}", *cells, "-", "80"])
    output.show_table(
        ["coupling", "mean r", "under .2", "at least .5", "general impression", "n"], rows
    )


def _show_agreement(found: "FactorAnswers", *, published: bool) -> None:
    from recjury.agreement import factors as work

    paper = work.published() if published else None
    judges = list(
        dict.fromkeys(
            name.rpartition(".")[0] for own in found.agreement.values() for name in own.metrics
        )
    )
    if found.agreement:
        rows = []
        for factor, own in found.agreement.items():
            row = [factor]
            for judge in judges:
                each = own.metrics.get(f"{judge}.{factor}")
                row.append(_estimate(each.estimates.spearman if each and each.estimates else None))
            best = found.best.get(factor)
            row += ["-", "-"] if best is None else [best.judge, output.number(best.held_out, 3)]
            row.append(output.number(own.ceiling.one_against_the_rest if own.ceiling else None, 3))
            if paper is not None:
                row.append(
                    "; ".join(f"{v['spearman']:.3f}" for v in paper["factors"][factor].values())
                )
            rows.append(row)
        names = list(next(iter(paper["factors"].values()))) if paper else []
        output.show_table(
            ["rho", *judges, "best", "held out", "one person with others",
             *([f"paper: {'; '.join(names)}"] if paper else [])],
            rows,
        )  # fmt: skip
    if found.overall is not None:
        output.show_table(
            ["overall", "rho", "tau", "n"],
            (
                [
                    name,
                    _estimate(each.estimates.spearman if each.estimates else None),
                    _estimate(each.estimates.kendall if each.estimates else None),
                    str(each.estimates.n if each.estimates else 0),
                ]
                for name, each in found.overall.metrics.items()
            ),
        )
        for name, each in (paper["overall"] if paper else {}).items():
            output.say(f"paper: {name}: rho {each['spearman']:.3f}, tau {each['kendall']:.3f}")


def _show_systems(found: "FactorAnswers") -> None:
    if not found.systems:
        return
    names = list(dict.fromkeys(name for own in found.systems.values() for name in own))
    output.show_table(
        ["mean (sd)", *found.systems],
        (
            [
                name,
                *(
                    f"{own[name].mean:.2f} ({output.number(own[name].sd)})" if name in own else "-"
                    for own in found.systems.values()
                ),
            ]
            for name in names
        ),
    )


def _estimate(found: "BootstrapEstimate | None") -> str:
    if found is None or found.value is None:
        return "-"
    if found.low is None or found.high is None:
        return f"{found.value:.3f}"
    return f"{found.value:.3f} [{found.low:.2f}, {found.high:.2f}]"
