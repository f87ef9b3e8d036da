"""Scores to hold against labels: of a store, of a run file as FACE's, or of a CSV file."""

import json
from pathlib import Path
from typing import Any

import pandas as pd

from recjury.agreement.forms import from_csv
from recjury.agreement.labels import Labels
from recjury.errors import UserError
from recjury.files import read_text
from recjury.results import ratings, scores
from recjury.results.ratings import TRIAL
from recjury.store import Store

_KEYS = ["conversation", "turn", "corpus", "system", "metric"]


def read_scores(source: str, campaign: str = "", labels: Labels | None = None) -> pd.DataFrame:
    """A row for each score: conversation, turn (-1: the dialogue), corpus, system, metric, score.

    `source` is a store, a run file (`[{"conv_id", "turns", "dial_level_pred"}, ...]`), or CSV as
    labels have it. `labels` are those that they will be held against. Raises UserError.
    """
    path = Path(source)
    if "://" not in source and path.suffix in (".json", ".csv"):
        return _known(_of_run_file(path) if path.suffix == ".json" else _of_csv(path))
    with Store(source, readonly=True) as store:
        return scores_of(ratings(store, store.campaign(campaign)), labels)


def scores_of(frame: pd.DataFrame, labels: Labels | None = None) -> pd.DataFrame:
    """The scores of a frame of ratings, by scenario: the mean over raters, judgings and repeats.

    Where one rater of a place has no score, the place has none: raters differ in level. The mean
    of factors (`core.mean`) is there, too. If `labels` are of this campaign's own conversations,
    the scores are of these, by their ids.
    """
    if labels is not None and (own := labels.of_conversations(frame)).any():
        frame = frame[own].assign(scenario=frame["conversation"][own].astype(str))
    by_turn = [
        scores(of).reset_index().melt(TRIAL, value_name="score").assign(turn=turn)
        for turn, of in frame.groupby("turn")
    ]
    long = pd.concat(by_turn or [pd.DataFrame(columns=_KEYS)], ignore_index=True)
    long = long.rename(columns={"id": "metric", "scenario": "conversation"})
    found = long.groupby(_KEYS, observed=True)["score"].mean().dropna().reset_index()
    return found.astype(dict.fromkeys(["conversation", "corpus", "system", "metric"], str))


def _known(frame: pd.DataFrame) -> pd.DataFrame:
    """The scores that are numbers, the mean over the raters of each."""
    keys = [key for key in _KEYS if key in frame]
    return frame.dropna(subset="score").groupby(keys, sort=False)["score"].mean().reset_index()


def _of_run_file(path: Path) -> pd.DataFrame:
    rows: list[tuple[Any, ...]] = []
    try:
        for dialogue in json.loads(read_text(path)):
            id_ = str(dialogue["conv_id"])
            places = [(-1, dialogue.get("dial_level_pred") or {})]
            places += ((t["turn_ind"], t["turn_level_pred"]) for t in dialogue.get("turns", ()))
            for turn, found in places:
                rows += ((id_, turn, metric, float(score)) for metric, score in found.items())
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UserError(
            f"{path}: expected a list of objects with `conv_id`, `turns` and `dial_level_pred`: "
            f"{type(error).__name__} {error}"
        ) from None
    return pd.DataFrame(rows, columns=["conversation", "turn", "metric", "score"])


def _of_csv(path: Path) -> pd.DataFrame:
    frame = from_csv(path).frame.rename(columns={"subset": "corpus"})
    return frame[["conversation", "turn", "corpus", "system", "metric", "score"]]
