"""People's scores from Python: tasks for raters, their labels, and judges held against them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from recjury.agreement.agreement import Agreements
from recjury.agreement.alignment import Alignment
from recjury.agreement.annotation import (
    Design,
    Exclusion,
    campaign_logs,
    collect_labels,
    draw_task,
    write_annotated,
)
from recjury.agreement.annotation.answers import read_answers
from recjury.agreement.annotation.design import rater_names
from recjury.agreement.annotation.files import write_task
from recjury.agreement.annotation.guide import RaterGuide
from recjury.agreement.annotation.labels import CollectedLabels
from recjury.agreement.annotation.task import read_key
from recjury.agreement.label_forms import read_labels
from recjury.agreement.scored_run import run_of_store
from recjury.errors import ConfigError
from recjury.store import Selection, Store


def import_labels(
    key: str | Path,
    answers: str | Path | Sequence[str | Path],
    *,
    out: str | Path = "labels.json",
    combine: Literal["mean", "majority"] = "mean",
    exclude_below: float = 0.3,
) -> CollectedLabels:
    """Read raters' answers back as labels, and write them to `out`.

    `key` is the key.json of the task (`Stored.annotate`), `answers` the files that raters saved, or
    filled tables. Raters with a smaller share than `exclude_below` of the gold questions right are
    left out. The result has `labels`, and by rater and by question what was answered and how far
    raters agree. Raises DataError for answers that do not belong to the task or were altered.
    """
    if combine not in ("mean", "majority"):
        raise ConfigError(f"combine must be mean or majority, got {combine!r}")
    if not 0 <= exclude_below <= 1:
        raise ConfigError(f"exclude_below must be from 0 to 1, got {exclude_below}")
    several = [answers] if isinstance(answers, str | Path) else answers
    read = read_key(Path(key))
    given = read_answers([Path(each) for each in several], read)
    found = collect_labels(read, given, combine=combine, exclusion=Exclusion(exclude_below))
    write_annotated(found.labels, Path(out))
    return found


def write_rater_task(
    store: Store,
    campaign: str,
    folder: Path,
    design: Design,
    *,
    questions: Sequence[str] = (),
    guideline: str = "core",
    selection: Selection,
) -> tuple[Path, ...]:
    """The files of a task about a campaign: the page, the table and the key."""
    logs = campaign_logs(store, campaign, selection)
    drawn = draw_task(list(logs.values()), RaterGuide(guideline, questions), design)
    return write_task(drawn, folder)


def task_design(
    kind: str, raters: int | str | Sequence[str] | None, raters_each: int | None, seed: int
) -> Design:
    """The design of these arguments; `raters` are a number or names. Raises ConfigError."""
    if kind not in ("all", "core"):
        raise ConfigError(f"design must be all or core, got {kind!r}")
    text = raters if raters is None or isinstance(raters, int | str) else ",".join(raters)
    names = None if text is None else rater_names(str(text))
    return Design("core" if kind == "core" else "all", names, raters_each, seed)


def align(
    store: Store,
    campaign: str | None,
    labels: str,
    pairs: Sequence[str],
    *,
    resamples: int,
    seed: int,
) -> Agreements:
    """How far metrics agree with labels, by subset and aspect."""
    people = read_labels(labels)
    run = run_of_store(store, campaign, by_log=people.by_log, details=True)
    found = Alignment.of(run.all_oriented(), people, pairs, resamples=resamples, seed=seed)
    return found.found
