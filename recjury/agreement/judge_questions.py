"""Habits that spoil a judge's scores, and how exact scores are.

A habit is a mean over scenarios that is above 0 by more than chance: signs of whole scenarios are
flipped, and p-values are corrected for the number of judges by Holm's method.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from recjury.agreement.labels import agreement
from recjury.agreement.study import FEWEST, Study, check_enough, cluster_of
from recjury.errors import UserError
from recjury.records import DEBATE, part_name, variants
from recjury.results import Findings
from recjury.results.ratings import TRIAL
from recjury.stats import FEWEST_CLUSTERS, holm, interval, rounded, sign_flips

_LEVEL = 0.05
_TIMES = ("first", "second")  # judgings
_COMPUTED = ("outcome", "offline")  # kinds of evaluators that nobody judges for


def length(study: Study) -> Findings:
    """Whether a judge loves long replies: rho of its scores with the words of the system's turns,
    within systems.
    """
    turns = study.campaign.turns
    said = turns[turns["speaker"] == "system"]
    words = said.assign(words=said["text"].map(lambda text: len(text.split())))
    by_trial = words.groupby(TRIAL, observed=True)["words"].sum().reset_index()
    rated = _rated(study).merge(by_trial.astype({"scenario": str}), on=TRIAL)
    rows = [who | _rho(of, "score", "words", study) for who, of in _by_judge(rated)]
    return _flagged("judge.length", "Scores and length within systems", rows, "loves length")


def retest(study: Study) -> Findings:
    """Whether a judge repeats itself: scores of two judgings of the same log (`judgings: 2`), and
    rho of the conversations' means within systems.
    """
    frame = study.campaign.ratings
    rated = frame[frame["score"].notna()]
    single = _twice(rated, ["evaluator", "rater", "conversation", "metric", "turn"])
    apart = abs(rounded(single["first"]) - rounded(single["second"]))
    by_judge = single.assign(equal=apart == 0, difference=apart).groupby(["evaluator", "rater"])
    apart_by_judge = by_judge[["equal", "difference"]].mean()
    means = _twice(_rated(study, "judging"), [*TRIAL, "evaluator", "rater"])
    if not len(means):
        raise UserError(
            "needs logs that were rated twice: set `judgings: 2` for an evaluator with a model"
        )
    rows = [
        {**who, **apart_by_judge.loc[tuple(who.values())], **_rho(of, *_TIMES, study)}
        for who, of in _by_judge(means)
    ]
    heading = "The same log, rated again: equal scores, and rho of conversations' means"
    return _flagged("judge.retest", heading, rows, "repeats itself")


def _twice(rated: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """What was rated twice, with both scores."""
    wide = rated.astype(dict.fromkeys(["evaluator", "rater"], str))
    wide = wide.pivot_table("score", keys, "judging", observed=True).reindex(columns=[0, 1])
    return wide.set_axis(list(_TIMES), axis=1).dropna().reset_index()


def self_preference(study: Study) -> Findings:
    """Whether a judge prefers the system that runs on its own model: its scores less those of the
    other judges, there against elsewhere, paired by scenario. Needs two judges.
    """
    rated, rows = _rated(study), []
    keys = [*TRIAL, "evaluator"]
    for judge, systems in _systems_of_models(study).items():
        is_own = rated["rater"] == judge
        own, others = (
            rated[chosen].groupby(keys, observed=True)["score"].mean()
            for chosen in (is_own, ~is_own)
        )
        gap = (own - others).dropna().rename("gap").reset_index()
        here = gap["system"].isin(systems)
        by_scenario = (gap[side].groupby(cluster_of(gap))["gap"].mean() for side in (here, ~here))
        there, elsewhere = by_scenario
        difference = (there - elsewhere).dropna()
        if len(difference) >= FEWEST:
            who = {"rater": judge, "its systems": ", ".join(systems)}
            rows.append(who | _mean_of(difference, difference.index, study))
    if not rows:
        raise UserError(
            "needs two judges, one of which also runs a system, over ten scenarios: set `judges: "
            "[main, other]` and a system with `model: main`"
        )
    return _flagged("judge.self_preference", "Own systems", rows, "prefers its own systems")


def _systems_of_models(study: Study) -> dict[str, list[str]]:
    """The systems by the alias of the model that they run on."""
    found: dict[str, list[str]] = {}
    written = study.campaign.config.get("systems", ())
    for part in (variant for each in written for variant in variants(each)):
        if model := part.get("model") or (part["kind"] in ("chatcrs", "openai") and "main"):
            found.setdefault(str(model), []).append(part_name(part))
    return found


def position(study: Study) -> Findings:
    """Whether what is shown first is preferred: `paireval` with `position: first` less `second`."""
    table = study.campaign.scores
    by_position = {
        part.get("position"): part_name(part)
        for part in study.campaign.config.get("evaluators", ())
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
    difference = (first - second).dropna().rename("difference").reset_index()
    check_enough(len(difference))
    found = _mean_of(difference["difference"], cluster_of(difference), study)
    rows, verb = [{"rater": by_position["first"], **found}], "depends on the place"
    return _flagged("judge.position", "Shown first less second", rows, verb, either=True)


def over_turns(study: Study) -> Findings:
    """How scores of turns change in the course of a conversation: the slope over a system's turns
    of each conversation, by metric.
    """
    rated = study.campaign.ratings
    rated = rated[(rated["turn"] >= 0) & rated["score"].notna()]
    if not len(rated):
        raise UserError(f"{study.campaign.name} has no ratings of turns: rate it with `face`")
    number = (rated["turn"] // 2 + 1).astype(int)
    metric = rated["evaluator"].astype(str) + "." + rated["metric"].astype(str)
    rated = rated.assign(metric=metric, number=number)
    groups = rated.groupby(["metric", "system", "number"], observed=True)["score"]
    rows = []
    for name, of in rated.groupby("metric"):
        slopes = _slopes(of)
        if slopes["cluster"].nunique() >= FEWEST:
            rows.append({"rater": name, **_mean_of(slopes["slope"], slopes["cluster"], study)})
    verb = "changes over the turns"
    found = _flagged("judge.turns", "Slopes (FACE, section 5.3)", rows, verb, either=True)
    by_turn = groups.agg(["mean", "size"]).reset_index()
    data = {**found.data, "turns": by_turn.to_dict("records")}
    return replace(found, tables={**found.tables, "Mean scores by turn": by_turn}, data=data)


def _slopes(rated: pd.DataFrame) -> pd.DataFrame:
    """What a system's turn adds to a score, by conversation with two rated turns or more."""
    by_turn = rated.groupby([*TRIAL, "number"], observed=True)["score"].mean().reset_index()
    by_trial = by_turn.groupby(TRIAL, observed=True)
    late = by_turn["number"] - by_trial["number"].transform("mean")
    parts = by_turn.assign(up=late * by_turn["score"], square=late**2)
    sums = parts.groupby(TRIAL, observed=True)[["up", "square"]].sum().reset_index()
    sums = sums[sums["square"] > 0]
    return sums.assign(slope=sums["up"] / sums["square"], cluster=cluster_of(sums))


def samples(study: Study) -> Findings:
    """How many scenarios the intervals need: the expected half width at 10 to 1,000 of them."""
    by_scenario = study.campaign.scores.groupby(level=["corpus", "scenario"], observed=True).mean()
    by_scenario = by_scenario.loc[:, by_scenario.count() >= FEWEST]
    check_enough(len(by_scenario) if len(by_scenario.columns) else 0)
    spread = by_scenario.std()
    widths = {f"n = {n}": 1.96 * spread / math.sqrt(n) for n in (10, 30, 100, 300, 1000)}
    table = pd.DataFrame({"sd over scenarios": spread, **widths}).reset_index(names="metric")
    return Findings(
        title="judge.samples",
        answer=f"{table['metric'][0]}: 100 scenarios give a mean within {table['n = 100'][0]:.2f}.",
        tables={"Half widths of 95 % intervals by scenarios": table},
        data={"rows": table.to_dict("records")},
    )


def offline_table(study: Study) -> Findings:
    """Recall, nDCG and MRR by system, as papers print them."""
    table, frame = study.campaign.scores, study.campaign.ratings
    kinds = frame.drop_duplicates("evaluator").set_index("evaluator")["kind"].astype(str)
    offline = [str(name) for name in kinds.index if kinds[name] == "offline"]
    columns = [c for c in table if str(c).partition(".")[0] in offline]
    if not columns:
        raise UserError(f"{study.campaign.name} was not rated by `offline`")
    by_system = table[columns].groupby(level="system", observed=True).mean()
    best = by_system[columns[0]]
    return Findings(
        title="offline.table",
        answer=f"Highest {columns[0]}: {best.idxmax()} with {best.max():.3f}.",
        tables={"Offline": by_system.round(3).T.reset_index(names="metric")},
        data={"systems": by_system.to_dict("index")},
    )


def _rated(study: Study, *more: str) -> pd.DataFrame:
    """Each rater's mean over the metrics of an evaluator: trial, evaluator, rater, score."""
    frame = study.campaign.ratings
    is_judged = ~frame["kind"].isin(_COMPUTED) & (frame["rater"] != DEBATE)
    rows = frame[frame["score"].notna() & (frame["turn"] < 0) & is_judged]
    keys = [*TRIAL, "evaluator", "rater", *more]
    means = rows.groupby(keys, observed=True)["score"].mean().reset_index()
    return means.astype({"scenario": str})


def _by_judge(rated: pd.DataFrame) -> Iterator[tuple[dict[str, Any], pd.DataFrame]]:
    """The rows of each rater of an evaluator, if they are of enough scenarios."""
    for (evaluator, rater), of in rated.groupby(["evaluator", "rater"], observed=True):
        of = of.assign(cluster=cluster_of(of))
        if of["cluster"].nunique() >= FEWEST:
            yield {"evaluator": evaluator, "rater": rater}, of


def _rho(of: pd.DataFrame, one: str, other: str, study: Study) -> dict[str, Any]:
    """Rho of two columns within systems: the mean product of their ranks' deviations."""
    both = of.assign(score=of[one], label=of[other])
    rho = agreement(both, study.resampling).within_spearman
    by_system = both["system"].astype(str)
    x, y = (
        ranks - ranks.groupby(by_system).transform("mean")
        for ranks in (of[one].rank(), of[other].rank())
    )
    p = sign_flips((x * y).to_numpy()[:, None], of["cluster"], seed=study.resampling.seed)
    return {"rho": rho.value, "low": rho.low, "high": rho.high, "p": float(p[0])} | {
        "scenarios": of["cluster"].nunique()
    }


def _mean_of(values: "pd.Series[float]", clusters: Iterable[Any], study: Study) -> dict[str, Any]:
    """The mean of differences, or of slopes."""
    names = list(clusters)
    draws, number = study.resampling.draws(names).mean(values), len(set(names))
    low, high = interval(draws, clusters=number, fewest=FEWEST_CLUSTERS)
    p = sign_flips(values.to_numpy()[:, None], names, seed=study.resampling.seed)
    found = {"difference": float(draws[0]), "low": low, "high": high, "p": float(p[0])}
    return found | {"scenarios": number}


def _flagged(
    title: str,
    heading: str,
    rows: Sequence[Mapping[str, Any]],
    verb: str,
    *,
    either: bool = False,
) -> Findings:
    """Who is flagged: an effect above 0, or on either side, that chance does not explain."""
    check_enough(max((row["scenarios"] for row in rows), default=0))
    table = pd.DataFrame(rows)
    table["p"] = holm(table["p"])
    effect = table["rho" if "rho" in table else "difference"]
    flagged = table[(table["p"] < _LEVEL) & ((effect > 0) | either)]
    names = list(dict.fromkeys(map(str, flagged["rater"])))
    return Findings(
        title=title,
        answer=f"{', '.join(names)} {verb}." if names else f"No judge {verb}, as far as is seen.",
        tables={heading: table},
        data={"flagged": names, "rows": table.to_dict("records")},
    )
