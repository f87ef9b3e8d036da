"""Everything without an LLM that recjury has, against the people's ratings of AB-ReDial.

python -m benchmarks.ab_redial --data DATA [--resamples 1000] [--json]

The 200 dialogues are rated by `core` without a model (measured judges and the rule debate) and by
the small judge of replies; the 600 rated turns by the judge of replies, which alone rates turns.
The shipped judge of satisfaction is left out: it was trained on these ratings. Spearman's rho with
the mean rating of each aspect, with 95 % intervals over dialogues; what the number of words and a
single person reach stands beside it.
"""

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from recjury import judge
from recjury.agreement.agreement import AspectAgreement, agreements
from recjury.agreement.label_sets import LabelSet, ab_redial_labels
from recjury.agreement.score_files import Scores
from recjury.agreement.scored_run import run_of_store
from recjury.records import ConversationLog, Factor
from recjury.stats.resampled import CorrelationEstimates
from recjury.store import Store

_OF_DIALOGUES = (
    "dialogue_overall",
    "understanding",
    "task_completion",
    "interest_arousal",
    "efficiency",
)
_OF_TURNS = ("turn_overall", "relevance", "interestingness")


def main() -> None:
    """Rate the dialogues and turns, and print how far the scores agree with people."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--resamples", type=int, default=1_000)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    people = ab_redial_labels(given.data / "ab-redial")
    of_dialogues = rated(people, given.data, turns=False)
    of_turns = rated(people, given.data, turns=True)
    found = {
        aspect: held(scores, people, aspect, given.resamples)
        for scores, aspects in ((of_dialogues, _OF_DIALOGUES), (of_turns, _OF_TURNS))
        for aspect in aspects
    }
    if given.json:
        print(json.dumps({aspect: _as_json(each) for aspect, each in found.items()}))
        return
    for aspects in (_OF_DIALOGUES, _OF_TURNS):
        _show({aspect: found[aspect] for aspect in aspects})


def rated(people: LabelSet, data: Path, *, turns: bool, limit: int | None = None) -> Scores:
    """The scores of each dialogue, or of each rated turn, by metric. No label is read here.

    A rated turn is turn 0 of a conversation of its own.
    """
    logs = [log for name, log in people.logs.items() if ("#" in name) is turns][:limit]
    with TemporaryDirectory() as folder:
        store = f"sqlite:///{folder}/ab-redial.db"
        judge(
            [_of_redial(log) for log in logs],
            evaluators=["learned"] if turns else ["core", "learned"],
            link_items=True,
            store=store,
            data=str(data),
        )
        with Store.open(store, create=False) as kept:
            found = run_of_store(kept, None, by_log=False, details=True).all_oriented()
    return {metric: own for metric, own in found.items() if _is_shown(metric, turns=turns)}


def held(scores: Scores, people: LabelSet, aspect: str, resamples: int) -> AspectAgreement:
    """Each metric against one aspect."""
    pairs = dict.fromkeys(scores, aspect)
    (found,) = agreements(scores, people, pairs, resamples=resamples).values()
    return found[aspect]


def _of_redial(log: ConversationLog) -> ConversationLog:
    """The log, as one about ReDial's films."""
    scenario = log.scenario.model_copy(update={"corpus": "redial"})
    return log.model_copy(update={"scenario": scenario})


def _is_shown(metric: str, *, turns: bool) -> bool:
    evaluator, _, name = metric.partition(".")
    if evaluator == "learned":  # satisfaction was trained on these ratings
        return name == ("reply_quality" if turns else "dialogue_reply_quality")
    factors = {factor.value.lower().replace(" ", "_") for factor in Factor}
    return name == "overall" or (evaluator == "core" and name in factors)


def _as_json(found: AspectAgreement) -> dict[str, object]:
    own = {name: each.as_json() for name, each in found.metrics.items()}
    ceiling = None if found.ceiling is None else found.ceiling.as_json()
    return {**own, "length": found.predictors["length"].as_json(), "ceiling": ceiling}


def _show(found: Mapping[str, AspectAgreement]) -> None:
    """A table of rho: a row for each metric, a column for each aspect."""
    aspects = list(found)
    print(f"\n| | {' | '.join(aspects)} | scored |\n|---|{'---|' * (len(aspects) + 1)}")
    first = found[aspects[0]]
    rows = {name: [found[aspect].metrics[name] for aspect in aspects] for name in first.metrics}
    rows["length"] = [found[aspect].predictors["length"] for aspect in aspects]
    for name, row in rows.items():
        cells = [_cell(each.estimates) for each in row]
        print(f"| {name} | {' | '.join(cells)} | {row[0].coverage:.0%} |")
    people = [found[aspect].ceiling for aspect in aspects]
    alone = [None if each is None else each.one_against_the_rest for each in people]
    print(f"| one person and the rest | {' | '.join(map(_number, alone))} | |")


def _cell(found: CorrelationEstimates | None) -> str:
    if found is None or found.spearman.value is None:
        return "-"
    rho = found.spearman
    return f"{_number(rho.value)} [{_number(rho.low)}, {_number(rho.high)}]"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}".replace("0.", ".", 1)


if __name__ == "__main__":
    main()
