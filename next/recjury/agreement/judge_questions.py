"""How far a judge can be trusted: length, its own systems, positions, turns, samples, repeats."""

import math
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from recjury.agreement.given import Given
from recjury.errors import UserError
from recjury.records import DEBATE
from recjury.results import Findings, scores
from recjury.results.ratings import TRIAL
from recjury.stats import Draws, correlations, holm, interval, sign_flips

if TYPE_CHECKING:
    import pandas as pd

_FEWEST = 10  # scenarios
_LEVEL = 0.05


def length(given: Given) -> Findings:
    """Whether a judge loves long replies: rho of its scores with the words of the system's turns,
    within systems; tested for each judge, corrected by Holm.
    """
    import pandas as pd

    said = given.turns[given.turns["speaker"] == "system"]
    words = said.assign(words=said["text"].map(lambda text: len(text.split())))
    by_trial = words.groupby(TRIAL, observed=True)["words"].sum()
    rated = _rated(given).merge(by_trial.reset_index(), on=TRIAL)
    rows = []
    for (evaluator, rater), of in rated.groupby(["evaluator", "rater"], observed=True):
        if of["scenario"].nunique() < _FEWEST:
            continue
        draws = Draws(of["scenario"], times=given.resamples, seed=given.seed)
        columns = (of["score"], of["words"], of["scenario"], of["system"])
        found = correlations(*columns, draws=draws)
        p = _p_of_rank_correlation(of, given.seed)
        rho = found.within_spearman
        rows.append((evaluator, rater, rho.value, rho.low, rho.high, p, found.n))
    table = pd.DataFrame(rows, columns=["evaluator", "rater", "rho", "low", "high", "p", "n"])
    table["p"] = holm(table["p"])
    return _flagged("judge.length", "Scores and length within systems", table, "loves length")


def _p_of_rank_correlation(of: "pd.DataFrame", seed: int) -> float:
    """By shuffling lengths within systems; 1 if a side does not vary."""
    generator, times = np.random.default_rng(seed), 999
    system = of["system"].astype(str)
    x, y = (
        (ranks - ranks.groupby(system).transform("mean")).to_numpy()
        for ranks in (of["score"].rank(), of["words"].rank())
    )
    if not x.any() or not y.any():
        return 1.0
    observed, extreme = abs(float(x @ y)), 0
    places = [np.flatnonzero(system == name) for name in system.unique()]
    for _ in range(times):
        shuffled = y.copy()
        for place in places:
            shuffled[place] = generator.permutation(y[place])
        extreme += abs(float(x @ shuffled)) >= observed - 1e-9
    return (1 + extreme) / (1 + times)


def self_preference(given: Given) -> Findings:
    """Whether a judge prefers the system that runs on its own model: its scores less those of the
    other judges, there against elsewhere, paired by scenario. Needs two judges.
    """
    import pandas as pd

    rated = _rated(given)
    mine = _systems_of_models(given)
    rows = []
    for judge, systems in mine.items():
        others = rated[rated["rater"] != judge]
        keys = [*TRIAL, "evaluator"]
        gap = (
            rated[rated["rater"] == judge].groupby(keys, observed=True)["score"].mean()
            - others.groupby(keys, observed=True)["score"].mean()
        ).dropna()
        by_trial = gap.groupby(level=TRIAL).mean().rename("gap").reset_index()
        is_own = by_trial["system"].astype(str).isin(systems)
        own, rest = (
            by_trial[chosen].groupby("scenario", observed=True)["gap"].mean()
            for chosen in (is_own, ~is_own)
        )
        difference = (own - rest).dropna()
        if len(difference) < _FEWEST:
            continue
        draws = Draws(np.arange(len(difference)), times=given.resamples, seed=given.seed)
        low, high = interval(draws.mean(difference), clusters=len(difference))
        p = float(sign_flips(difference.to_numpy()[:, None], np.arange(len(difference)))[0])
        rows.append((judge, ", ".join(systems), difference.mean(), low, high, p, len(difference)))
    if not rows:
        raise UserError(
            "needs two judges, one of which also runs a system, over ten scenarios: set `judges: "
            "[main, other]` and a system with `model: main`"
        )
    columns = ["rater", "its systems", "difference", "low", "high", "p", "n"]
    table = pd.DataFrame(rows, columns=columns)
    table["p"] = holm(table["p"])
    return _flagged("judge.self_preference", "Own systems", table, "prefers its own systems")


def _systems_of_models(given: Given) -> dict[str, list[str]]:
    """The systems by the alias of the model that they run on."""
    found: dict[str, list[str]] = {}
    for part in given.store.config(given.campaign).get("systems", ()):
        name = part.get("name") or str(part["kind"]).rpartition(":")[2].lower()
        if model := part.get("model") or (part["kind"] in ("chatcrs", "openai") and "main"):
            found.setdefault(str(model), []).append(name)
    return found


def position(given: Given) -> Findings:
    """Whether what is shown first is preferred: `paireval` with `position: first` less `second`."""
    table = scores(given.frame)
    by_position = {
        part.get("position"): part.get("name") or "paireval"
        for part in given.store.config(given.campaign).get("evaluators", ())
        if part["kind"] == "paireval"
    }
    if not {"first", "second"} <= by_position.keys():
        raise UserError(
            "needs two evaluators of kind paireval, with `position: first` and `position: second`"
        )
    first, second = (
        table[[c for c in table if str(c).startswith(f"{by_position[each]}.")]].mean(axis=1)
        for each in ("first", "second")
    )
    difference = (first - second).dropna()
    _check_enough(len(difference))
    draws = Draws(np.arange(len(difference)), times=given.resamples, seed=given.seed)
    low, high = interval(draws.mean(difference), clusters=len(difference))
    decided = low > 0 or high < 0
    return Findings(
        title="judge.position",
        answer=f"A reply scores {difference.mean():+.3f} [{low:+.3f}, {high:+.3f}] if it is shown "
        f"first: {'decided' if decided else 'not decided'}.",
        data={"difference": difference.mean(), "low": low, "high": high, "flagged": decided},
    )


def turns(given: Given) -> Findings:
    """How scores of turns change in the course of a conversation, by metric and system."""
    rated = given.frame[(given.frame["turn"] >= 0) & given.frame["score"].notna()]
    if not len(rated):
        raise UserError(f"{given.campaign} has no ratings of turns: rate it with `face`")
    number = (rated["turn"] // 2 + 1).astype(int).rename("system turn")
    groups = [rated["evaluator"], rated["metric"], rated["system"], number]
    table = rated["score"].groupby(groups, observed=True).agg(["mean", "size"]).reset_index()
    late = table["system turn"].corr(table["mean"])
    return Findings(
        title="judge.turns",
        answer=f"Over turns, mean scores {'rise' if late > 0 else 'fall'} (r = {late:.2f}).",
        tables={"Mean scores by turn (FACE, section 5.3)": table},
        data={"rows": table.to_dict("records")},
    )


def samples(given: Given) -> Findings:
    """How many scenarios the intervals need: the expected half width at 10 to 1,000 of them."""
    import pandas as pd

    table, rows = scores(given.frame), []
    for metric in table:
        wide = table[metric].groupby(level=["corpus", "scenario"]).mean().dropna()
        if len(wide) >= _FEWEST:
            spread = float(wide.std())
            rows.append(
                {"metric": metric, "sd over scenarios": spread}
                | {f"n = {n}": 1.96 * spread / math.sqrt(n) for n in (10, 30, 100, 300, 1000)}
            )
    if not rows:
        _check_enough(len(table))
    lead = rows[0]
    return Findings(
        title="judge.samples",
        answer=f"{lead['metric']}: 100 scenarios give a mean within {lead['n = 100']:.2f}.",
        tables={"Half widths of 95 % intervals by scenarios": pd.DataFrame(rows)},
        data={"rows": rows},
    )


def retest(given: Given) -> Findings:
    """Whether a judge repeats itself: scores of two judgings of the same log (`judgings: 2`)."""
    import pandas as pd

    rated = given.frame[given.frame["score"].notna() & (given.frame["rater"] != DEBATE)]
    rows = []
    for (evaluator, metric), of in rated.groupby(["evaluator", "metric"], observed=True):
        wide = of.pivot_table(
            "score", ["conversation", "rater", "turn"], "judging", observed=True
        ).dropna()
        for one, other in combinations(wide, 2):
            if len(wide) >= _FEWEST:
                apart = (wide[one] - wide[other]).abs()
                rows.append(
                    {"metric": f"{evaluator}.{metric}", "equal": float((apart == 0).mean())}
                    | {"mean difference": float(apart.mean()), "n": len(wide)}
                )
    if not rows:
        raise UserError(
            "needs logs that were rated twice: set `judgings: 2` for an evaluator with a model"
        )
    table = pd.DataFrame(rows)
    return Findings(
        title="judge.retest",
        answer=f"{table['equal'].mean():.0%} of scores came out equal a second time.",
        tables={"The same log, rated again": table},
        data={"rows": rows},
    )


def offline_table(given: Given) -> Findings:
    """Recall, nDCG and MRR by system, as papers print them."""
    table = scores(given.frame)
    kinds = given.frame.drop_duplicates("evaluator").set_index("evaluator")["kind"].astype(str)
    offline = [str(name) for name in kinds.index if kinds[name] == "offline"]
    columns = [c for c in table if str(c).partition(".")[0] in offline]
    if not columns:
        raise UserError(f"{given.campaign} was not rated by `offline`")
    by_system = table[columns].groupby(level="system", observed=True).mean()
    best = by_system[columns[0]]
    return Findings(
        title="offline.table",
        answer=f"Highest {columns[0]}: {best.idxmax()} with {best.max():.3f}.",
        tables={"Offline": by_system.round(3).T.reset_index(names="metric")},
        data={"systems": by_system.to_dict("index")},
    )


_COMPUTED = ("outcome", "offline")  # kinds of evaluators that nobody judges for


def _rated(given: Given) -> "pd.DataFrame":
    """Each rater's mean over the metrics of an evaluator: trial, evaluator, rater, score."""
    frame = given.frame
    is_judged = ~frame["kind"].isin(_COMPUTED) & (frame["rater"] != DEBATE)
    rows = frame[frame["score"].notna() & (frame["turn"] < 0) & is_judged]
    keys = [*TRIAL, "evaluator", "rater"]
    means = rows.groupby(keys, observed=True)["score"].mean().reset_index()
    return means.astype({"scenario": str})


def _check_enough(number: int) -> None:
    if number < _FEWEST:
        raise UserError(f"{number} scenarios are too few, {_FEWEST} are needed: play more")


def _flagged(title: str, heading: str, table: "pd.DataFrame", verb: str) -> Findings:
    """Who is flagged: a difference above 0 that chance does not explain."""
    column = "rho" if "rho" in table else "difference"
    flagged = table[(table["p"] < _LEVEL) & (table[column] > 0)]
    names = list(dict.fromkeys(map(str, flagged["rater"])))
    return Findings(
        title=title,
        answer=f"{', '.join(names)} {verb}." if names else f"No judge {verb}, as far as is seen.",
        tables={heading: table},
        data={"flagged": names, "rows": table.to_dict("records")},
    )
