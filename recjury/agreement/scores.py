"""Scores to hold against labels: of a store, of a run file as FACE's, or of a CSV file."""

import json
from pathlib import Path
from typing import Any

import pandas as pd

from recjury.agreement.forms import from_csv
from recjury.agreement.labels import Labels, some
from recjury.errors import UserError
from recjury.files import read_text
from recjury.results import ratings, scores
from recjury.results.ratings import TRIAL
from recjury.store import Store

_KEYS = ["conversation", "turn", "corpus", "system", "metric"]
_SHORTEST = 8  # characters of the ids of conversations, as lists have them


def read_scores(source: str, campaign: str = "", labels: Labels | None = None) -> pd.DataFrame:
    """A row for each score: conversation, turn (-1: the dialogue), corpus, system, metric, score.

    `source` is a store, a run file (`[{"conv_id", "turns", "dial_level_pred"}, ...]`), or CSV as
    labels have it. `labels` are those that they will be held against. Raises UserError.
    """
    path = Path(source)
    if "://" not in source and path.suffix in (".json", ".csv"):
        return _known(_of_run_file(path) if path.suffix == ".json" else _of_csv(path))
    with Store(source, readonly=True) as store:
        every = labels is not None
        return scores_of(ratings(store, store.campaign(campaign), all_versions=every), labels)


def scores_of(frame: pd.DataFrame, labels: Labels | None = None) -> pd.DataFrame:
    """The scores of a frame of ratings, by scenario: the mean over raters, judgings and repeats.

    Where one rater of a subject has no score, it has none: raters differ in level. The mean
    of factors (`core.mean`) is there, too. With `labels`, the scores are of the conversations that
    they name. Raises UserError if it is not known which version of a system they are of.
    """
    if labels is not None:
        names = named(frame.drop_duplicates("conversation"), labels)
        ids = frame["conversation"].astype(str)
        frame = frame.assign(scenario=ids.map(names["name"]), system=ids.map(names["system"]))
        frame = frame[frame["scenario"].notna()]
    by_turn = [
        scores(of).reset_index().melt(TRIAL, value_name="score").assign(turn=turn)
        for turn, of in frame.groupby("turn")
    ]
    long = pd.concat(by_turn or [pd.DataFrame(columns=_KEYS)], ignore_index=True)
    long = long.rename(columns={"id": "metric", "scenario": "conversation"})
    found = long.groupby(_KEYS, observed=True)["score"].mean().dropna().reset_index()
    return found.astype(dict.fromkeys(["conversation", "corpus", "system", "metric"], str))


def named(trials: pd.DataFrame, labels: Labels) -> pd.DataFrame:
    """By the ids of conversations: their `name` among labels, and their `system`.

    Labels name conversations by ids (or how these begin, as `recjury replay` lists them) or by
    scenarios, then of the newest versions of systems unless `system` is `name@version`. Raises
    UserError if a scenario was played by several versions of a labelled system, unless labels came
    with the dialogues.
    """
    trials = trials.astype(dict.fromkeys(["conversation", "system", "version", "scenario"], str))
    trials = trials.set_index("conversation")
    known = set(labels.frame["conversation"])
    sizes = sorted({len(name) for name in known if len(name) >= _SHORTEST})
    ids = trials.index.map(lambda id_: next((id_[:n] for n in sizes if id_[:n] in known), None))
    plain, is_newest = trials["system"].str.partition("@")[0], ~trials["system"].str.contains("@")
    version = plain + "@" + trials["version"].str[:8]
    is_chosen = version.isin(labels.frame["system"])
    trials = trials.assign(name=trials["scenario"], system=plain.mask(is_chosen, version))
    if ids.notna().any():
        return trials.assign(name=ids)[ids.notna()]
    labelled = trials["name"].isin(known) & ~is_chosen & (not labels.recordings)
    if plain.isin(labels.frame["system"]).any():
        labelled &= plain.isin(labels.frame["system"])
    versions = version[labelled].groupby([plain, trials["name"], trials["corpus"]], observed=True)
    for several in (each for each in versions.unique() if len(each) > 1):
        raise UserError(
            f"labels name scenarios, and {several[0].partition('@')[0]} has played them as "
            f"{some(set(several))}: say in the column `system` which one was labelled, or name "
            "conversations by their ids, as `recjury replay` lists them"
        )
    return trials[is_chosen | is_newest]


def _known(frame: pd.DataFrame) -> pd.DataFrame:
    """The scores that are numbers, the mean over the raters of each."""
    keys = [key for key in _KEYS if key in frame]
    return frame.dropna(subset="score").groupby(keys, sort=False)["score"].mean().reset_index()


def _of_run_file(path: Path) -> pd.DataFrame:
    rows: list[tuple[Any, ...]] = []
    try:
        for dialogue in json.loads(read_text(path)):
            id_ = str(dialogue["conv_id"])
            by_turn = [(-1, dialogue.get("dial_level_pred") or {})]
            by_turn += ((t["turn_ind"], t["turn_level_pred"]) for t in dialogue.get("turns", ()))
            for turn, found in by_turn:
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
