"""`recjury manipulate`: worse versions of the replies of recorded conversations."""

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from recjury.cli import options, output

_FILE = "robustness-pairs.jsonl"


def manipulate(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Recorded conversations.")],
    out: Annotated[Path, typer.Option(metavar="DIR", help=f"Where {_FILE} is written.")],
    attack: Annotated[
        list[str] | None,
        typer.Option("--attack", metavar="KIND", help="Only this kind; may be repeated."),
    ] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Only the first N of each file.")
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(envvar="RECJURY_DATA", metavar="DIR", help="The folder of public data."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of all random draws.")] = 0,
    as_json: options.Json = False,
) -> None:
    """Make worse versions of the system's replies, to see whether a scorer notices.

    Ten kinds, after Khalid and Lee (2022): dullness, pronoun, repetition, entailment,
    contradiction, speaker, entrainment, named_entities, bad_paraphrase, vocabulary_diversity.

    \b
    recjury manipulate logs.jsonl --out pairs
    recjury manipulate crs_arena_eval.json --out pairs --attack speaker --attack repetition
    recjury meta-evaluate --data DATA --pairs pairs
    """
    from recjury.agreement.replies.manipulations import Manipulator, SourceDialogue
    from recjury.agreement.replies.pair_files import attacks_named, write_pairs
    from recjury.corpora import read_recordings
    from recjury.errors import DataError

    kinds = attacks_named(attack)
    dialogues = [
        SourceDialogue(
            f"{place}:{each.log.scenario.record}",
            (*each.log.scenario.history, *each.log.interaction),
        )
        for place, each in enumerate(read_recordings(files, data=data, limit=limit))
    ]
    if not dialogues:
        raise DataError("holds no conversation", path=files[0])
    pairs = tuple(Manipulator(dialogues, seed=seed).pairs(kinds))
    write_pairs(out / _FILE, pairs)
    counts = Counter(pair.attack for pair in pairs)
    if as_json:
        output.emit_json({str(kind): counts[kind] for kind in kinds})
        return
    output.show_table(["kind", "pairs"], ([str(kind), str(counts[kind])] for kind in kinds))
    output.say(f"{out / _FILE}: for `recjury meta-evaluate --pairs {out}`")
