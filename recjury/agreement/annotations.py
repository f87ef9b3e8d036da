"""`annotate import`: raters' answer files, checked and joined; the form `annotations` of labels."""

import json
import math
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeVar

import pandas as pd
from pydantic import BaseModel, StrictInt, ValidationError

from recjury.agreement.annotate import KEY, Key
from recjury.agreement.labels import Labels, labels_of
from recjury.corpora import Recording
from recjury.errors import UserError
from recjury.files import nearest, read_text
from recjury.mistakes import first_mistake
from recjury.records import Record
from recjury.results import Findings, recorded
from recjury.stats import krippendorff_alpha

LABELS = "labels.json"

R = TypeVar("R", bound=BaseModel)

Scores = dict[str, dict[str, StrictInt]]
"""Scores by conversation and field."""


class Answers(Record):
    """What a rater's page saves."""

    form: Literal["recjury answers 1"]
    export: str
    rater: str
    answers: Scores


class LabelFile(Record):
    """The file of labels: an export's key, and the scores of each rater."""

    form: Literal["recjury labels 2"] = "recjury labels 2"
    key: Key
    scores: dict[str, Scores]

    def rows(self) -> Iterator[tuple[Any, ...]]:
        """The scores in the columns of `Labels`."""
        for rater, scores in self.scores.items():
            for name, given in scores.items():
                drawn = self.key.conversations[name]
                corpus, record = drawn.log.scenario.corpus, drawn.log.scenario.id
                about = (corpus, drawn.system, f"{corpus}/{record}")
                for metric, score in given.items():
                    yield (drawn.conversation, -1, metric, rater, float(score), *about)

    def recordings(self) -> Iterator[Recording]:
        """The dialogues that were rated."""
        rated = {name for scores in self.scores.values() for name in scores}
        for drawn in (self.key.conversations[name] for name in sorted(rated)):
            about = {"id": drawn.conversation, "system": drawn.system}
            about["corpus"] = drawn.log.scenario.corpus
            yield Recording.model_validate(about | recorded(drawn.log))


def import_answers(folder: Path, files: Sequence[Path]) -> Findings:
    """Join the answers of an export's raters to `labels.json` in its folder.

    Replaces the labels of an earlier import. Scores that are missing and raters without a file are
    problems, not errors. Raises UserError for two files of one rater, a file of another export, and
    a score that was not asked for or is not on its scale.
    """
    if not (folder / KEY).is_file():
        raise UserError(
            f"there is no {folder / KEY}: name the folder that `recjury annotate export` wrote"
        )
    key = _read(folder / KEY, Key, "`recjury annotate export` writes it")
    given: dict[str, Scores] = {}
    whose: dict[str, Path] = {}
    for path in files:
        read = _read(path, Answers, "take the file that the page saved, as it was saved")
        _check(path, read, key)
        if read.rater in given:
            other = whose[read.rater]
            raise UserError(f"{path}: {other} has the answers of {read.rater}, too: give one")
        given[read.rater], whose[read.rater] = read.answers, path
    number = sum(len(fields) for scores in given.values() for fields in scores.values())
    if not number:
        raise UserError(f"no score is given in {', '.join(map(str, files)) or 'no file'}")
    path = folder / LABELS
    try:
        path.write_text(LabelFile(key=key, scores=given).model_dump_json(), "utf-8")
    except OSError as error:
        raise UserError(f"cannot write {path}: {error.strerror or error}") from None
    asked = sum(len(_asked(key, rater)) for rater in key.raters)
    return Findings(
        title=key.campaign,
        answer=f"{number} of {asked} scores by {len(given)} of {len(key.raters)} raters are in "
        f"{path}. How far the judges agree with them: recjury align STORE --campaign "
        f"{shlex.quote(key.campaign)} --labels {shlex.quote(f'annotations:{path}')}",
        tables={"Scores and agreement of raters": _table(key, annotations(path))},
        problems=tuple(_missing(key, given)),
        data={"labels": str(path), "scores": number, "asked": asked, "raters": sorted(given)},
    )


def annotations(path: Path) -> Labels:
    """What `annotate import` has joined: its file, or the folder with it. Raises UserError.

    A conversation is that of the campaign, by its id.
    """
    path = path / LABELS if path.is_dir() else path
    found = _read(path, LabelFile, "`recjury annotate import` writes labels")
    return labels_of("annotations", found.rows(), found.recordings())


def _read(path: Path, kind: type[R], hint: str) -> R:
    """The record of a file. Raises UserError."""
    try:
        return kind.model_validate(json.loads(read_text(path)))
    except ValidationError as error:
        keys, message = first_mistake(error, kind)
        where = ".".join(map(str, keys))
        raise UserError(f"{path}: {where and where + ': '}{message}: {hint}") from None
    except (ValueError, RecursionError):
        raise UserError(f"{path}: is no JSON, such as a spreadsheet's copy: {hint}") from None


def _check(path: Path, read: Answers, key: Key) -> None:
    """Raises UserError for answers that the export did not ask for."""
    if read.export != key.id:
        raise UserError(f"{path}: belongs to another export than {KEY}")
    if read.rater not in key.raters:
        near = nearest(read.rater, key.raters)
        raise UserError(f"{path}: there is no rater {read.rater!r}{near}: {', '.join(key.raters)}")
    scales = {criterion.metric.name: criterion.scale for criterion in key.criteria}
    asked = _asked(key, read.rater)
    for name, fields in read.answers.items():
        for field, score in fields.items():
            if (name, field) not in asked:
                raise UserError(f"{path}: {name}, {field}: {read.rater} was not asked for it")
            low, high = scales[field]
            if not low <= score <= high:
                raise UserError(
                    f"{path}: {name}, {field}: expected a number from {low} to {high}, got {score}"
                )


def _asked(key: Key, rater: str) -> set[tuple[str, str]]:
    """The conversation and the field of each score that a rater is asked for."""
    return {(name, field) for name in key.raters[rater] for field in key.conversations[name].fields}


def _table(key: Key, labels: Labels) -> pd.DataFrame:
    """Each field's scores, their mean, and how far raters agree (Krippendorff's alpha)."""
    rows = []
    for criterion in key.criteria:
        own = labels.frame[labels.frame["metric"] == criterion.metric.name]
        units = [list(of["score"]) for _, of in own.groupby("conversation")]
        alpha = krippendorff_alpha(units) if len(own) else None
        mean = float(own["score"].mean())
        found = {"mean": mean, "alpha": math.nan if alpha is None else alpha}
        rows.append({"field": criterion.name, "scores": len(own), **found})
    return pd.DataFrame(rows)


def _missing(key: Key, given: Mapping[str, Scores]) -> Iterator[str]:
    """One line for each rater whose scores are not all there."""
    for rater in key.raters:
        asked = len(_asked(key, rater))
        number = sum(map(len, given[rater].values())) if rater in given else 0
        if rater not in given:
            yield f"{rater}: there is no answer file; {asked} scores are missing"
        elif number < asked:
            yield f"{rater}: {asked - number} of {asked} scores are missing"
