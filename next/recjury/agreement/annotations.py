"""`annotate import`: raters' answer files, checked and joined; the form `annotations` of labels."""

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, ValidationError

from recjury.agreement.annotate import KEY, Drawn, Key
from recjury.agreement.labels import Labels, labels_of
from recjury.corpora import Recording
from recjury.errors import UserError
from recjury.files import nearest, read_text
from recjury.mistakes import first_mistake
from recjury.records import ConversationLog, Record
from recjury.results import Findings
from recjury.stats import krippendorff_alpha

if TYPE_CHECKING:
    import pandas as pd

LABELS = "labels.json"

R = TypeVar("R", bound=BaseModel)

_ANSWERS = "recjury answers 1"
_LABELS = "recjury labels 1"


class _Row(Record):
    """A score as it stands in the file of labels, by the columns of `Labels`."""

    conversation: str
    turn: int
    metric: str
    rater: str
    score: float
    subset: str
    system: str
    cluster: str


class _LabelsFile(BaseModel):
    form: str
    rows: tuple[_Row, ...]
    recordings: tuple[Recording, ...]


def import_answers(folder: Path, files: Sequence[Path]) -> Findings:
    """Join the answers of an export's raters to `labels.json` in its folder.

    Replaces the labels of an earlier import. Scores that are missing and raters without a file are
    problems, not errors. Raises UserError for two files of one rater, a file of another export, and
    a score that was not asked for or is not on its scale.
    """
    key = _read_key(folder / KEY)
    given: dict[str, Mapping[str, Mapping[str, int]]] = {}
    whose: dict[str, Path] = {}
    for path in files:
        rater, answers = _read_answers(path, key)
        if rater in given:
            raise UserError(f"{path}: {whose[rater]} has the answers of {rater}, too: give one")
        given[rater], whose[rater] = answers, path
    rows = [row for rater, answers in given.items() for row in _rows(key, rater, answers)]
    if not rows:
        raise UserError(f"no score is given in {', '.join(map(str, files)) or 'no file'}")
    talks = {row.conversation for row in rows}
    kept = [drawn for drawn in key.conversations.values() if drawn.conversation in talks]
    labels = _LabelsFile(form=_LABELS, rows=tuple(rows), recordings=tuple(map(_recording, kept)))
    path = folder / LABELS
    try:
        path.write_text(json.dumps(labels.model_dump(mode="json")), "utf-8")
    except OSError as error:
        raise UserError(f"cannot write {path}: {error.strerror or error}") from None
    asked = sum(len(_asked(key, rater)) for rater in key.raters)
    return Findings(
        title=key.campaign,
        answer=f"{len(rows)} of {asked} scores by {len(given)} of {len(key.raters)} raters are in "
        f"{path}. How far the judges agree with them: recjury align STORE --campaign "
        f"{shlex.quote(key.campaign)} --labels {shlex.quote(f'annotations:{path}')}",
        tables={"Scores and agreement of raters": _table(key, annotations(path))},
        problems=tuple(_missing(key, given)),
        data={"labels": str(path), "scores": len(rows), "asked": asked, "raters": sorted(given)},
    )


def annotations(path: Path) -> Labels:
    """What `annotate import` has joined: its file, or the folder with it. Raises UserError.

    A conversation is that of the campaign, by its id.
    """
    path = path / LABELS if path.is_dir() else path
    hint = "`recjury annotate import` writes labels"
    found = _record(path, _LabelsFile, _LABELS, hint)
    return labels_of(
        "annotations", (tuple(dict(row).values()) for row in found.rows), found.recordings
    )


def _read_key(path: Path) -> Key:
    if not path.is_file():
        raise UserError(f"there is no {path}: name the folder that `recjury annotate export` wrote")
    return _record(path, Key, "recjury annotation 1", "`recjury annotate export` writes it")


def _record(path: Path, kind: type[R], form: str, hint: str) -> R:
    values = _json(path, form, hint)
    try:
        return kind.model_validate(values)
    except ValidationError as error:
        keys, message = first_mistake(error, kind)
        raise UserError(f"{path}: {'.'.join(map(str, keys))}: {message}: {hint}") from None


def _json(path: Path, form: str, hint: str) -> dict[str, Any]:
    """The object of a file that says it has this form. Raises UserError."""
    try:
        values = json.loads(read_text(path))
    except ValueError:
        raise UserError(f"{path}: is no JSON, such as a spreadsheet's copy: {hint}") from None
    if not isinstance(values, dict) or values.get("form") != form:
        raise UserError(f"{path}: expected an object with form {form!r}: {hint}")
    return values


def _read_answers(path: Path, key: Key) -> tuple[str, dict[str, dict[str, int]]]:
    """The rater of a file, and the scores by conversation and field. Raises UserError."""
    hint = "take the file that the page saved, as it was saved"
    values = _json(path, _ANSWERS, hint)
    rater, answers = values.get("rater"), values.get("answers")
    if values.get("export") != key.id:
        raise UserError(f"{path}: belongs to another export than {KEY}")
    if rater not in key.raters:
        raise UserError(
            f"{path}: there is no rater {rater!r}{nearest(str(rater), key.raters)}: "
            f"{', '.join(key.raters)}"
        )
    if not isinstance(answers, dict) or not all(
        isinstance(each, dict) for each in answers.values()
    ):
        raise UserError(f"{path}: `answers` has scores by conversation and field: {hint}")
    scales = {criterion.metric.name: criterion.scale for criterion in key.criteria}
    asked = _asked(key, rater)
    for place in ((name, field) for name, fields in answers.items() for field in fields):
        score, where = answers[place[0]][place[1]], ", ".join(place)
        if place not in asked:
            raise UserError(f"{path}: {where}: {rater} was not asked for it")
        low, high = scales[place[1]]
        if type(score) is not int or not low <= score <= high:
            raise UserError(
                f"{path}: {where}: expected a whole number from {low} to {high}, got {score!r}"
            )
    return rater, answers


def _asked(key: Key, rater: str) -> set[tuple[str, str]]:
    """The conversation and the field of each score that a rater is asked for."""
    return {(name, field) for name in key.raters[rater] for field in key.conversations[name].fields}


def _rows(key: Key, rater: str, answers: Mapping[str, Mapping[str, int]]) -> Iterator[_Row]:
    for name, scores in answers.items():
        drawn = key.conversations[name]
        scenario = drawn.log.scenario
        for metric, score in scores.items():
            yield _Row(
                conversation=drawn.conversation,
                turn=-1,
                metric=metric,
                rater=rater,
                score=score,
                subset=scenario.corpus,
                system=drawn.system,
                cluster=f"{scenario.corpus}/{scenario.id}",
            )


def _recording(drawn: Drawn) -> Recording:
    log: ConversationLog = drawn.log
    history, interaction = (
        [turn.model_dump(include={"speaker", "text", "items", "events"}) for turn in turns]
        for turns in (log.scenario.history, log.interaction)
    )
    return Recording.model_validate(
        {
            "id": drawn.conversation,
            "system": drawn.system,
            "corpus": log.scenario.corpus,
            "history": history,
            "interaction": interaction,
            "targets": [item.model_dump() for item in log.scenario.targets],
            "wishes": log.scenario.wishes,
            "ending": log.ending,
            "linked": log.linked,
        }
    )


def _table(key: Key, labels: Labels) -> "pd.DataFrame":
    """Each field's scores, their mean, and how far raters agree (Krippendorff's interval alpha)."""
    import pandas as pd

    rows = []
    for criterion in key.criteria:
        own = labels.frame[labels.frame["metric"] == criterion.metric.name]
        units = [list(of["score"]) for _, of in own.groupby("conversation")]
        alpha = krippendorff_alpha(units, "interval") if len(own) else None
        rows.append((criterion.name, len(own), own["score"].mean(), alpha))
    table = pd.DataFrame(rows, columns=["field", "scores", "mean", "interval alpha"])
    return table.astype({"interval alpha": float})


def _missing(key: Key, given: Mapping[str, Mapping[str, Mapping[str, int]]]) -> Iterator[str]:
    """One line for each rater whose scores are not all there."""
    for rater in key.raters:
        asked = len(_asked(key, rater))
        number = sum(map(len, given[rater].values())) if rater in given else 0
        if rater not in given:
            yield f"{rater}: there is no answer file; {asked} scores are missing"
        elif number < asked:
            yield f"{rater}: {asked - number} of {asked} scores are missing"
