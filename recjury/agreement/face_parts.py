"""`face.explain`: what pulls FACE's scores up and down, since each is a mean over its parts.

A part with n of the N scores of an aspect and a system, whose mean is m, contributes n / N times m
less the mean of all systems. The contributions of all turns add up to the system's distance from
that mean; so do those of all dialogue acts, all instructions, and all particles.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from recjury.agreement.study import Study
from recjury.errors import UserError
from recjury.records import Evidence
from recjury.results import Findings

_STRONGEST = 10  # particles in a table
_LONGEST = 60  # characters of a particle there
_PARTS: Mapping[str, list[str]] = {
    "systems": [],
    "turn": ["turn"],
    "act": ["act"],
    "instruction": ["instruction"],
    "particles": ["conversation", "turn", "act", "particle"],
}


def explained(study: Study) -> Findings:
    """Turns, acts, instructions and particles by what they contribute (FACE, sections 2.2, 5.3)."""
    scores = pd.DataFrame(_scores(study))
    if not len(scores):
        raise UserError(f"{study.campaign.name} has no particles: rate it with `face`")
    means = scores.groupby("aspect")["score"].transform("mean")
    sizes = scores.groupby(["aspect", "system"])["score"].transform("size")
    scores = scores.assign(contribution=(scores["score"] - means) / sizes)
    found = {name: _by(scores, ["aspect", "system", *keys]) for name, keys in _PARTS.items()}
    least = found["systems"].iloc[0]
    acts = found["act"].query("aspect == @least.aspect and system == @least.system")
    worst = acts.iloc[0]
    strongest = found["particles"].sort_values("contribution", key=abs, ascending=False)
    short = {"conversation": lambda frame: frame["conversation"].str[:8]}
    short["particle"] = lambda frame: frame["particle"].str[:_LONGEST]
    shown = {**found, "particles": strongest.head(_STRONGEST).assign(**short)}
    return Findings(
        title="face.explain",
        answer=f"{least.system} is {least.contribution:+.2f} from the mean in {least.aspect}; "
        f"{worst.act} contributes {worst.contribution:+.2f}.",
        tables={f"What contributes: {name}": table for name, table in shown.items()},
        data={name: table.to_dict("records") for name, table in found.items()},
    )


def _scores(study: Study) -> Iterator[dict[str, Any]]:
    """The score of each particle by each instruction."""
    rated = study.campaign.ratings
    trials = rated[rated["kind"] == "face"]
    systems = dict(zip(trials["conversation"], trials["system"].astype(str), strict=True))
    names = set(trials["evaluator"].astype(str))
    for row in study.campaign.store.evaluations(study.campaign.name):
        if row.name not in names or row.conversation not in systems:
            continue
        about = {"conversation": row.conversation, "system": systems[row.conversation]}
        for found in study.campaign.store.findings(row.id):
            if isinstance(found, Evidence) and "by" in found.value:
                value = found.value
                about |= {"aspect": f"{row.name}.{found.name.partition('.')[0]}"}
                about |= {"turn": value["turn"], "act": value["act"], "particle": value["mention"]}
                for instruction, score in value["by"].items():
                    yield {**about, "instruction": instruction, "score": score}


def _by(scores: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """The parts, the one that pulls down most first."""
    by_part = scores.groupby(keys, sort=False)
    parts = by_part.agg(score=("score", "mean"), contribution=("contribution", "sum"))
    parts = parts.assign(scores=by_part.size()).reset_index()
    return parts.sort_values("contribution", ignore_index=True)
