"""`recjury face explain`: what particles and instructions contribute to a score."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recjury.cli import options, output

if TYPE_CHECKING:
    from recjury.agreement.explanations import Explainable
    from recjury.judges.face.explain import Explanation

_WIDTH = 60


def explain(
    conversation: Annotated[
        str, typer.Argument(metavar="CONVERSATION", help="Its id, or the beginning of it.")
    ],
    aspect: Annotated[
        list[str] | None,
        typer.Option("--aspect", metavar="NAME", help="Only this aspect; may be repeated."),
    ] = None,
    turn: Annotated[
        int | None, typer.Option(min=0, metavar="N", help="Only this turn (0 is the first).")
    ] = None,
    store: options.Store = options.DEFAULT_STORE,
    campaign: options.Campaign = None,
    runs: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Read scores from this folder, not from the store."),
    ] = None,
    particles: Annotated[
        Path | None, typer.Option(metavar="FILE", help="With --runs: the particles.")
    ] = None,
    labels: Annotated[
        Path | None, typer.Option(metavar="FILE", help="With --runs: the dialogues.")
    ] = None,
    top: Annotated[int, typer.Option(min=1, metavar="N", help="Particles to show.")] = 5,
    as_json: options.Json = False,
) -> None:
    """Explain a score: what turns, particles and instructions contribute to it.

    A contribution is a part's share of the difference between the score and the mean of that
    aspect over all conversations at hand. The contributions of all turns add up to that
    difference; so do those of all particles, and those of all instructions.

    \b
    recjury face explain barcor_redial_03368a16 --aspect understanding
    recjury face explain barcor_redial_03368a16 --turn 3 --json
    """
    named = tuple(dict.fromkeys(map(options.aspect_named, aspect or ())))
    here = _source(store, campaign, runs, particles, labels)
    wanted = named or here.aspects(conversation, turn=turn)
    found = [here.explain(conversation, each, turn=turn) for each in wanted]
    if as_json:
        output.emit_json({each.aspect.value: each.as_json() for each in found})
        return
    for each in found:
        _show(each, top)


def _source(
    store: str,
    campaign: str | None,
    runs: Path | None,
    particles: Path | None,
    labels: Path | None,
) -> "Explainable":
    from recjury.agreement.explanations import explainable_files, explainable_store
    from recjury.errors import ConfigError
    from recjury.store import Store

    if runs is not None:
        if particles is None or labels is None:
            raise ConfigError("--runs needs --particles and --labels, too")
        if campaign is not None:
            raise ConfigError("--campaign is for the scores of a store: leave it out with --runs")
        return explainable_files(runs, particles, labels)
    if particles is not None or labels is not None:
        raise ConfigError("--particles and --labels go with --runs")
    with Store.open(store, create=False) as kept:
        return explainable_store(kept, kept.campaign(campaign).id if campaign else None)


def _show(found: "Explanation", top: int) -> None:
    place = found.conversation if found.turn is None else f"{found.conversation}, turn {found.turn}"
    output.show_table(
        ["turn", "score", "contribution", "text"],
        (
            [
                str(turn.turn),
                output.number(turn.part.score, 3),
                f"{turn.part.contribution:+.3f}",
                _short(turn.text),
            ]
            for turn in found.turns
        ),
        title=f"{found.aspect} {output.number(found.score, 3)} "
        f"(mean of all here {found.reference:.3f}): {place}",
    )
    output.show_table(
        ["particle", "act", "score", "contribution", "words", "feedback"],
        (
            [
                f"{turn.turn}.{each.number}",
                str(each.particle.act),
                output.number(each.part.score, 3),
                f"{each.part.contribution:+.3f}",
                _short(each.particle.mention),
                _short(each.particle.feedback or "-"),
            ]
            for turn, each in found.strongest(top)
        ),
    )
    ranked = sorted(found.instructions.items(), key=lambda pair: -abs(pair[1].contribution))
    output.show_table(
        ["instruction", "score", "contribution"],
        (
            [name, output.number(part.score, 3), f"{part.contribution:+.3f}"]
            for name, part in ranked[:top]
        ),
    )


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _WIDTH else line[: _WIDTH - 3] + "..."
