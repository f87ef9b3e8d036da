"""The forms of `--labels`: which reader reads which file or folder."""

from collections.abc import Callable
from pathlib import Path

from recjury.agreement.annotation import read_annotated
from recjury.agreement.label_sets import LabelSet, of_ratings
from recjury.corpora.csv_rows import read_csv_rows
from recjury.errors import ConfigError, DataError, UserError
from recjury.plugins import Registry, describe_exception
from recjury.records import ScoreTarget

_HERE = "recjury.agreement"
LABEL_FORMS: Registry[Callable[[Path], LabelSet]] = Registry(
    "form of labels",
    "recjury.labels",
    {
        "crsarena-eval": f"{_HERE}.label_sets:crsarena_labels",
        "ab-redial": f"{_HERE}.label_sets:ab_redial_labels",
        "uss": f"{_HERE}.rated_sets:uss_labels",
        "dialogue-eval": f"{_HERE}.rated_sets:dialogue_eval_labels",
        "annotations": f"{_HERE}.label_forms:annotated_labels",
        "csv": f"{_HERE}.label_forms:csv_labels",
    },
)
"""The readers of labels by form: each takes a path and returns a `LabelSet`."""


def read_labels(source: str) -> LabelSet:
    """The labels of `source`: a form, a colon, and a path ("ab-redial:FOLDER").

    The form of an own reader is "module:function", or the name that an installed package offers.
    Raises ConfigError for another form, and DataError for files that cannot be used.
    """
    form, _, path = source.partition(":")
    if form not in LABEL_FORMS.names and ":" in path:
        function, _, path = path.partition(":")
        form = f"{form}:{function}"
    if not path or (form not in LABEL_FORMS.names and ":" not in form):
        known = ", ".join(f"{each}:PATH" for each in LABEL_FORMS.names)
        raise ConfigError(f"--labels {source}: expected one of {known}, or module:function:PATH")
    reader = LABEL_FORMS.load(form)
    if form in LABEL_FORMS.built_in:
        return reader(Path(path))
    return _read_own(form, reader, Path(path))


def _read_own(form: str, reader: Callable[[Path], object], path: Path) -> LabelSet:
    try:
        labels = reader(path)
    except UserError:
        raise
    except Exception as error:  # a reader may do anything
        raise DataError(f"{form}: {describe_exception(error)}", path=path) from error
    if not isinstance(labels, LabelSet):
        raise ConfigError(f"{form} must return a LabelSet, got {type(labels).__name__}")
    return labels


def annotated_labels(path: Path) -> LabelSet:
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


def csv_labels(path: Path) -> LabelSet:
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
