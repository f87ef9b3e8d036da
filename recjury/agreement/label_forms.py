"""The forms of `--labels`: which reader reads which file or folder."""

from pathlib import Path

from recjury.agreement.annotation import read_annotated
from recjury.agreement.label_sets import (
    LabelSet,
    ab_redial_labels,
    crsarena_labels,
    of_ratings,
)
from recjury.agreement.rated_sets import dialogue_eval_labels, uss_labels
from recjury.corpora.csv_rows import read_csv_rows
from recjury.errors import ConfigError, DataError
from recjury.records import ScoreTarget

FORMS = ("crsarena-eval", "ab-redial", "uss", "dialogue-eval", "annotations", "csv")


def read_labels(source: str) -> LabelSet:
    """The labels of `source`: a form of `FORMS`, a colon, and a path ("ab-redial:FOLDER").

    Raises ConfigError for another form, and DataError for files that cannot be used.
    """
    form, colon, path = source.partition(":")
    if form not in FORMS or not colon or not path:
        known = ", ".join(f"{each}:PATH" for each in FORMS)
        raise ConfigError(f"--labels {source}: expected one of {known}")
    readers = {
        "crsarena-eval": crsarena_labels,
        "ab-redial": ab_redial_labels,
        "uss": uss_labels,
        "dialogue-eval": dialogue_eval_labels,
        "annotations": _annotations,
        "csv": _csv,
    }
    return readers[form](Path(path))


def _annotations(path: Path) -> LabelSet:
    """Conversations of one record are drawn together: the same person rated them."""
    read = read_annotated(path)
    return LabelSet(
        "annotations",
        {
            question: {ScoreTarget(log): label for log, label in own.items()}
            for question, own in read.labels().items()
            if own
        },
        {name: log.scenario.corpus for name, log in read.logs.items()},
        {name: log.system for name, log in read.logs.items()},
        {name: log.scenario.pair_id for name, log in read.logs.items()},
        read.logs,
        {
            question: {ScoreTarget(log): tuple(map(float, scores)) for log, scores in own.items()}
            for question, own in read.scores().items()
        },
        by_log=True,
    )


def _csv(path: Path) -> LabelSet:
    """Columns conversation, aspect, label; turn, rater, system, subset may be left out."""
    ratings: dict[str, dict[ScoreTarget, tuple[float, ...]]] = {}
    subsets: dict[str, str] = {}
    systems: dict[str, str] = {}
    seen: set[tuple[str, ScoreTarget, str]] = set()
    for row in read_csv_rows(path, ("conversation", "aspect", "label")):
        place = ScoreTarget(row["conversation"], row.count("turn"))
        key = (row["aspect"], place, row["rater"])
        if key in seen:
            by = f" by rater {row['rater']}" if row["rater"] else ""
            raise row.error(f"a second label of {place} for {row['aspect']}{by}")
        seen.add(key)
        own = ratings.setdefault(row["aspect"], {})
        own[place] = (*own.get(place, ()), row.number("label"))
        for names, name in (
            (subsets, row["subset"] or "all"),
            (systems, row["system"] or "unknown"),
        ):
            if names.setdefault(place.conversation, name) != name:
                other = names[place.conversation]
                raise row.error(
                    f"{place.conversation} is of {other!r} in an earlier row, now {name!r}"
                )
    if not ratings:
        raise DataError("has no labels", path=path)
    clusters = {conversation: conversation for conversation in subsets}
    return of_ratings(LabelSet(path.stem, {}, subsets, systems, clusters, {}, ratings))
