"""People's labels of conversations and turns, from a known data set or a CSV file."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

from recjury.annotation import read_annotated
from recjury.corpora.ab_redial import SCALES, dialogue_log, read_ab_redial, turn_log
from recjury.corpora.crsarena import read_crsarena, subset_of, system_of
from recjury.corpora.csv_rows import read_csv_rows
from recjury.corpora.splitting import families
from recjury.errors import ConfigError, DataError
from recjury.records import ConversationLog, ScoreTarget

FORMS = ("crsarena-eval", "ab-redial", "annotations", "csv")


class LabelSet(NamedTuple):
    """The labels by aspect and place; the mean, where several people rated a place.

    `subsets` names the subset of each conversation, `systems` its system. `clusters` names what is
    drawn together in a resample: conversations of one family have the same. `logs` has the
    conversations whose texts are known. `ratings` has the single ratings behind labels, where the
    data have them. `by_log` says that conversations are known by their log's id, not their record.
    """

    name: str
    labels: Mapping[str, Mapping[ScoreTarget, float]]
    subsets: Mapping[str, str]
    systems: Mapping[str, str]
    clusters: Mapping[str, str]
    logs: Mapping[str, ConversationLog]
    ratings: Mapping[str, Mapping[ScoreTarget, tuple[float, ...]]]
    by_log: bool = False


def read_labels(source: str) -> LabelSet:
    """The labels of `source`: a form of `FORMS`, a colon, and a path ("ab-redial:FOLDER").

    Raises ConfigError for another form, and DataError for files that cannot be used.
    """
    form, colon, path = source.partition(":")
    if form not in FORMS or not colon or not path:
        known = ", ".join(f"{each}:PATH" for each in FORMS)
        raise ConfigError(f"--labels {source}: expected one of {known}")
    readers = {
        "crsarena-eval": _crsarena,
        "ab-redial": _ab_redial,
        "annotations": _annotations,
        "csv": _csv,
    }
    return readers[form](Path(path))


def _crsarena(path: Path) -> LabelSet:
    read = read_crsarena(path)
    labels = {
        aspect: {place: float(label) for place, label in own.items()}
        for aspect, own in read.labels.items()
    }
    return LabelSet(
        "crsarena-eval",
        labels,
        {conversation: subset_of(conversation) for conversation in read.logs},
        {conversation: system_of(conversation) for conversation in read.logs},
        {conversation: conversation for conversation in read.logs},
        read.logs,
        {},
    )


def _ab_redial(folder: Path) -> LabelSet:
    read = read_ab_redial(folder)
    logs = {each.id: dialogue_log(each) for each in read.dialogues}
    logs |= {each.id: turn_log(each) for each in read.turns}
    # 13 dialogues are there twice, and three turns of a dialogue are rated.
    family = families({each.id: [turn.text for turn in each.turns] for each in read.dialogues})
    clusters = {**family, **{each.id: family[each.dialogue] for each in read.turns}}
    ratings: dict[str, dict[ScoreTarget, tuple[float, ...]]] = {aspect: {} for aspect in SCALES}
    for dialogue in read.dialogues:
        _keep(ratings, ScoreTarget(dialogue.id), dialogue.ratings)
    for turn in read.turns:
        _keep(ratings, ScoreTarget(turn.id, 0), turn.ratings)
    return _of_ratings(
        LabelSet(
            "ab-redial",
            {},
            dict.fromkeys(logs, "ab-redial"),
            dict.fromkeys(logs, "person"),
            clusters,
            logs,
            ratings,
        )
    )


def _keep(
    ratings: dict[str, dict[ScoreTarget, tuple[float, ...]]],
    place: ScoreTarget,
    given: Mapping[str, tuple[int, ...]],
) -> None:
    for aspect, values in given.items():
        if values:
            ratings[aspect][place] = tuple(map(float, values))


def _of_ratings(people: LabelSet) -> LabelSet:
    """With the means of the ratings as labels."""
    labels = {
        aspect: {place: float(np.mean(values)) for place, values in own.items()}
        for aspect, own in people.ratings.items()
    }
    return people._replace(labels=labels)


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
    return _of_ratings(LabelSet(path.stem, {}, subsets, systems, clusters, {}, ratings))
