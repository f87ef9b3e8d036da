"""People's labels of conversations and turns: what they are, and two data sets with texts."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

from recjury.corpora.ab_redial import SCALES, dialogue_log, read_ab_redial, turn_log
from recjury.corpora.crsarena import read_crsarena, subset_of, system_of
from recjury.corpora.splitting import families
from recjury.records import ConversationLog, ScoreTarget


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

    @property
    def aspects(self) -> list[str]:
        """The aspects that have labels."""
        return [aspect for aspect, own in self.labels.items() if own]

    def labels_of(self, aspect: str, subset: str) -> dict[ScoreTarget, float]:
        """The labels of one aspect in one subset."""
        return {
            place: label
            for place, label in self.labels[aspect].items()
            if self.subsets[place.conversation] == subset
        }


def crsarena_labels(path: Path) -> LabelSet:
    """CRSArena-Eval's labels; raises DataError as `read_crsarena`."""
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


def ab_redial_labels(folder: Path) -> LabelSet:
    """AB-ReDial's ratings; raises DataError as `read_ab_redial`."""
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
    return of_ratings(
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


def of_ratings(people: LabelSet) -> LabelSet:
    """With the means of the ratings as labels."""
    labels = {
        aspect: {place: float(np.mean(values)) for place, values in own.items()}
        for aspect, own in people.ratings.items()
    }
    return people._replace(labels=labels)
