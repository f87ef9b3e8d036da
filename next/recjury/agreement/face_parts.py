"""`face.explain`: what pulls FACE's scores up and down, since each is a mean over its parts.

A part with n of the N scores of an aspect and a system, whose mean is m, contributes n / N times m
less the mean of all systems. The contributions of all turns add up to the system's distance from
that mean; so do those of all dialogue acts, all instructions, and all particles.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from recjury.agreement.given import Given
from recjury.errors import UserError
from recjury.records import Evidence
from recjury.results import Findings

if TYPE_CHECKING:
    import pandas as pd

_STRONGEST = 10  # particles in a table
_LONGEST = 60  # characters of a particle there
_PARTS = {"system turn": "turn", "act": "act", "instruction": "instruction"}


def explained(given: Given) -> Findings:
    """Turns, acts, instructions and particles by what they contribute (FACE, sections 2.2, 5.3)."""
    import pandas as pd

    scores = pd.DataFrame(_scores(given))
    if not len(scores):
        raise UserError(f"{given.campaign} has no particles: rate it with `face`")
    means = scores.groupby("aspect")["score"].transform("mean")
    sizes = scores.groupby(["aspect", "system"])["score"].transform("size")
    scores = scores.assign(contribution=(scores["score"] - means) / sizes)
    tables = {
        f"By {name}": _by(scores, ["aspect", "system", column]) for name, column in _PARTS.items()
    }
    places = ["aspect", "system", "conversation", "turn", "act", "particle"]
    particles = _by(scores, places).sort_values("contribution", key=abs, ascending=False)
    shown = particles.head(_STRONGEST).assign(
        conversation=lambda frame: frame["conversation"].str[:8],
        particle=lambda frame: frame["particle"].str[:_LONGEST],
    )
    tables["The strongest particles"] = shown
    systems = _by(scores, ["aspect", "system"])
    least = systems.sort_values("contribution").iloc[0]
    acts = tables["By act"]
    act = acts[(acts["aspect"] == least.aspect) & (acts["system"] == least.system)]
    worst = act.sort_values("contribution").iloc[0]
    return Findings(
        title="face.explain",
        answer=f"{least.system} is {least.contribution:+.2f} from the mean in {least.aspect}; "
        f"{worst.act} contributes {worst.contribution:+.2f}.",
        tables={"By system": systems, **tables},
        data={
            "systems": systems.to_dict("records"),
            **{column: tables[f"By {name}"].to_dict("records") for name, column in _PARTS.items()},
            "particles": particles.to_dict("records"),
        },
    )


def _scores(given: Given) -> Iterator[dict[str, Any]]:
    """The score of each particle by each instruction."""
    trials = given.frame[given.frame["kind"] == "face"]
    systems = dict(zip(trials["conversation"], trials["system"].astype(str), strict=True))
    names = set(trials["evaluator"].astype(str))
    for row in given.store.evaluations(given.campaign):
        if row.name not in names or row.conversation not in systems:
            continue
        about = {"conversation": row.conversation, "system": systems[row.conversation]}
        for found in given.store.findings(row.id):
            if isinstance(found, Evidence) and "by" in found.value:
                value = found.value
                about |= {"aspect": f"{row.name}.{found.name.partition('.')[0]}"}
                about |= {"turn": value["turn"], "act": value["act"], "particle": value["mention"]}
                for instruction, score in value["by"].items():
                    yield {**about, "instruction": instruction, "score": score}


def _by(scores: "pd.DataFrame", keys: list[str]) -> "pd.DataFrame":
    by_part = scores.groupby(keys, sort=False)
    parts = by_part.agg(score=("score", "mean"), contribution=("contribution", "sum"))
    return parts.assign(scores=by_part.size()).reset_index()
