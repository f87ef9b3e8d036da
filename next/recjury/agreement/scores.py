"""Scores to hold against labels: of a store, of a run file as FACE's, or of a CSV file."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recjury.agreement.labels import Labels
from recjury.errors import UserError
from recjury.files import read_text
from recjury.results import ratings, scores
from recjury.results.ratings import factors_of
from recjury.store import Store

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ["conversation", "turn", "metric", "score"]


def read_scores(source: str, campaign: str = "", labels: Labels | None = None) -> "pd.DataFrame":
    """A row for each score: conversation, turn (-1: the dialogue), metric, score.

    `source` is a store, a run file (`[{"conv_id", "turns", "dial_level_pred"}, ...]`), or CSV with
    these columns. `labels` are those that they will be held against. Raises UserError.
    """
    path = Path(source)
    if "://" not in source and path.suffix in (".json", ".csv"):
        return _of_run_file(path) if path.suffix == ".json" else _of_csv(path)
    with Store(source, readonly=True) as store:
        return scores_of(ratings(store, store.campaign(campaign)), labels)


def scores_of(frame: "pd.DataFrame", labels: Labels | None = None) -> "pd.DataFrame":
    """The scores of a frame of ratings, by scenario: the mean over raters, judgings and systems.

    Where one rater of a place has no score, the place has none: raters differ in level. The mean
    of factors (`core.mean`) is there, too. If `labels` are of this campaign's own conversations,
    the scores are of these, by their ids.
    """
    import pandas as pd

    ids = frame["conversation"].astype(str)
    if labels is not None and (own := ids.isin(labels.frame["conversation"])).any():
        frame = frame[own].assign(scenario=ids[own])
    rated = frame[frame["metric"].notna()]
    ids = (rated["evaluator"].astype(str) + "." + rated["metric"].astype(str)).rename("metric")
    keys = [rated["scenario"].astype(str).rename("conversation"), rated["turn"], ids]
    by_rater = rated["score"].groupby([*keys, rated["rater"]], observed=True).mean()
    by_place = by_rater.groupby(level=["conversation", "turn", "metric"])
    whole = by_place.mean().where(by_place.count() == by_place.size()).dropna().reset_index()
    wide = scores(frame)
    means = [each for each in factors_of(frame) if each in wide]
    long = wide[means].reset_index().melt(id_vars=["scenario"], value_vars=means)
    long.columns = pd.Index(["conversation", "metric", "score"])
    parts = [whole, long.dropna().assign(turn=-1.0)] if means else [whole]
    return pd.concat(parts, ignore_index=True)[COLUMNS]


def _of_run_file(path: Path) -> "pd.DataFrame":
    import pandas as pd

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
    return pd.DataFrame(rows, columns=COLUMNS)


def _of_csv(path: Path) -> "pd.DataFrame":
    from recjury.agreement.forms import from_csv

    return from_csv(path).frame[COLUMNS]
