"""Ratings from 1 to 5 as two classes: defects, and what satisfies (Jia et al. 2024, section 5)."""

import math

import pandas as pd

_HIGHEST = 3  # rating of a defect


def defects(both: pd.DataFrame) -> dict[str, float]:
    """The rate of defects among labels; precision, recall and F1 of the scores for both classes;
    F1 weighted by class, as a plain mean (macro) and over both (micro, which is the accuracy).

    Empty unless all scores and labels are from 1 to 5, with labels of both classes.
    """
    is_defect = both["label"] <= _HIGHEST
    values = both[["score", "label"]].to_numpy()
    if is_defect.nunique() < 2 or values.min() < 1 or values.max() > 5:
        return {}
    said = both["score"] <= _HIGHEST
    found, rate = {"rate": float(is_defect.mean())}, float(is_defect.mean())
    for name, truth, given in (("", is_defect, said), ("satisfied ", ~is_defect, ~said)):
        right = float((truth & given).sum())
        found[f"{name}precision"] = right / given.sum() if given.any() else math.nan
        found[f"{name}recall"] = right / truth.sum()
        found[f"{name}f1"] = 2 * right / (truth.sum() + given.sum())
    one, other = found["f1"], found["satisfied f1"]
    means = {"weighted f1": rate * one + (1 - rate) * other, "macro f1": (one + other) / 2}
    return found | means | {"micro f1": float((is_defect == said).mean())}
