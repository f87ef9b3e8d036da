"""What a table of means hides: scores that are all alike, ties, and what could not be seen."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from recjury.corpora import corpus_name
from recjury.records import Metric
from recjury.results.scores import RatedBy, sums_up, titles_of
from recjury.results.summary import CampaignSummary
from recjury.results.tally import Tally
from recjury.stats import MeanDifference

NO_CATALOGUE = "no catalogue"
"""How the reason of a rating begins that has no score because its log names no catalogue."""

SIGNIFICANT = 0.05
_ALIKE = 0.95  # the share of equal scores from which on a rater gives one score to everything
_WITHOUT_TRAINING = ("redial", "inspired")
_LEARNED_FROM = ("/train", "/valid")  # how the names of such splits end
_ENOUGH = 20  # scores below which that may be chance


class Caveat(NamedTuple):
    """One thing that a reader should know before using a number."""

    heading: str
    text: str


def about_campaign(summary: CampaignSummary) -> list[Caveat]:
    """The caveats of a campaign's tables."""
    return [
        *_about_splits(summary),
        *(about_training(summary.played) if _has_offline(summary) else ()),
        *_about_links(summary),
        *about_scores(summary.systems, {each.id: each.metric for each in summary.shown}),
        *_about_catalogues(summary),
        *_about_acts(summary),
    ]


def about_scores(tallies: Mapping[str, Tally], metrics: Mapping[str, Metric]) -> list[Caveat]:
    """What failed or lost ratings, who never lists, whose scores are alike, and which systems tie.

    `metrics` are by the ids of their measures.
    """
    shown = titles_of({id_: each for id_, each in metrics.items() if not each.detail})
    return [
        *about_lost(tallies, metrics),
        *_about_lists(tallies),
        *_about_raters(tallies, shown),
        *_about_ties(tallies, shown),
    ]


def about_lost(tallies: Mapping[str, Tally], metrics: Mapping[str, Metric]) -> list[Caveat]:
    """What failed, and the worst cases of means that lost ratings."""
    return [*_about_failures(tallies), *_about_losses(tallies, metrics)]


def _about_failures(tallies: Mapping[str, Tally]) -> Iterator[Caveat]:
    failed = {name: each for name, each in tallies.items() if each.failed}
    if failed:
        shares = [f"{each.failed} of {each.conversations} of {n}" for n, each in failed.items()]
        count = sum(each.failed for each in failed.values())
        total = sum(each.conversations for each in tallies.values())
        lost = sum(len(each.lost) for each in failed.values())
        why = (
            f"The ratings of {lost} are lost: the system failed, or the user's model had no usable "
            "answer to its words. " * bool(lost)
        )
        if lost < count:
            why += f"{count - lost} only lower the coverage: an endpoint failed, or the budget "
            why += "was spent. "
        yield Caveat(
            f"{count} of {total} conversations failed: {listed(shares)}",
            f"{why}If a system fails on the hard scenarios, its means cover only the easy ones.",
        )


def _about_losses(tallies: Mapping[str, Tally], metrics: Mapping[str, Metric]) -> Iterator[Caveat]:
    ordered = sorted(metrics.items(), key=lambda each: (each[1].detail, not sums_up(each[1])))
    for name, tally in tallies.items():
        lost = [
            f"{metric.title} {worst.text(metric.digits)}"
            for measure, metric in ordered
            if (worst := tally.worst_case(measure)) is not None
        ]
        if lost:
            yield Caveat(
                f"{name} lost ratings: {listed(lost)}",
                "Means and differences leave lost ratings out. The bounds are those of the mean if "
                "all of them had the lowest, or the highest, score of the scale.",
            )


def _about_lists(tallies: Mapping[str, Tally]) -> Iterator[Caveat]:
    silent = [name for name, each in tallies.items() if each.measured and not each.has_lists]
    if silent:
        yield Caveat(
            f"{listed(silent)} never listed an item",
            "What needs a list, such as Recall, was not measured there and has no value.",
        )


def _about_raters(tallies: Mapping[str, Tally], titles: Mapping[str, str]) -> Iterator[Caveat]:
    scores: dict[RatedBy, Counter[float]] = defaultdict(Counter)
    for tally in tallies.values():
        for rated, own in tally.given.items():
            scores[rated] += own
    given: dict[str, list[str]] = defaultdict(list)
    for (measure, rater), counts in scores.items():
        (score, times), total = counts.most_common(1)[0], counts.total()
        if measure in titles and total >= _ENOUGH and times >= _ALIKE * total:
            share = f"{titles[measure]} {score:g} ({times} of {total})"
            given[f"{measure.partition('.')[0]}, rated by {rater}"].append(share)
    for who, shares in given.items():
        yield Caveat(
            f"Nearly one score for everything by {who}: {', '.join(shares)}",
            "Such scores do not tell systems or conversations apart.",
        )


def _about_ties(tallies: Mapping[str, Tally], titles: Mapping[str, str]) -> Iterator[Caveat]:
    tied: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for measure, title in titles.items():
        groups: list[list[str]] = []
        for name, own in tallies.items():
            known = (g for g in groups if all(_tie(own, tallies[o], measure) for o in g))
            if (group := next(known, None)) is None:
                groups.append([name])
            else:
                group.append(name)
        for group in groups:
            if len(group) > 1:
                tied[tuple(group)].append(title)
    for names, on in tied.items():
        yield Caveat(
            f"{listed(names)} tie throughout on {listed(on)}",
            "They have the same score in each scenario, so there is no difference to test.",
        )


def _tie(a: Tally, b: Tally, measure: str) -> bool:
    x, y = a.both(measure, b, measure)
    return len(x) > 1 and all(map(partial(math.isclose, rel_tol=1e-12), x, y))


def _about_splits(summary: CampaignSummary) -> Iterator[Caveat]:
    seen = sorted(each for each in summary.played if each.endswith(_LEARNED_FROM))
    if seen:
        yield Caveat(
            f"Scenarios of {listed(seen)} were played",
            "Systems are trained on this split, or chosen by it: those that were have seen the "
            "targets. The split for results is `test`.",
        )


def _has_offline(summary: CampaignSummary) -> bool:
    return any(each.kind == "offline" for each in summary.evaluators)


def about_training(played: Iterable[str]) -> Iterator[Caveat]:
    """Which corpora ("redial/test") lack the training split that published systems learned from."""
    without = sorted({each for each in played if corpus_name(each) in _WITHOUT_TRAINING})
    if without:
        yield Caveat(
            f"Not the published protocol: no training split of {listed(without)} is here",
            "Built-in systems learn from the validation dialogues, or count in them which items "
            "are popular. Published figures are of systems that learned from the training split.",
        )


def _about_links(summary: CampaignSummary) -> Iterator[Caveat]:
    if summary.items_linked:
        yield Caveat(
            f"Items linked from the text in {summary.items_linked} of "
            f"{summary.conversations.planned} conversations",
            "Their systems gave no lists. A program found the items by their names in what the "
            "system said, and can miss a name or take it for another item. These lists are as "
            "long as what the text names: do not compare scores of lists, such as Recall@k, with "
            "those of systems that give lists. What compares a text with its list is not scored.",
        )


def lacks_catalogue(summary: CampaignSummary) -> Counter[str]:
    """How many ratings have no score for lack of a catalogue, by metric."""
    lacking: Counter[str] = Counter()
    for each, count in summary.unscored.items():
        if each.reason.startswith(NO_CATALOGUE):
            lacking[each.metric] += count
    return lacking


def _about_catalogues(summary: CampaignSummary) -> Iterator[Caveat]:
    lacking = lacks_catalogue(summary)
    if lacking:
        yield Caveat(
            f"{lacking.total()} ratings have no score for lack of a catalogue: "
            + ", ".join(f"{metric} {count}" for metric, count in lacking.most_common()),
            'Name one in each log, as "catalogue": "redial", "opendialkg", "sample" or a folder '
            "of your own (docs/data.md).",
        )


def _about_acts(summary: CampaignSummary) -> Iterator[Caveat]:
    dropped, differing = summary.acts
    if dropped or differing:
        yield Caveat(
            f"{differing} acts that the simulated user declared differ from its words, and "
            f"{dropped} could not be used",
            "Judges go by what is declared. An export has the acts of each turn, and both counts "
            "of each conversation.",
        )


def about_power(
    lead: Sequence[MeanDifference], others: Sequence[MeanDifference] = ()
) -> list[Caveat]:
    """Whether too few pairs differ for any p-value below .05, at least in one family of tests.

    The families are corrected on their own; `lead` are the tests of the headline. Their caveat
    stands for both.
    """
    for which, tests in (("", lead), (" on the other metrics" if lead else "", others)):
        smallest = min((each.smallest_p or 1.0 for each in tests), default=0.0)
        if smallest >= SIGNIFICANT:
            n, count = max(each.n for each in tests), len(tests)
            together = f" in {count} tests together" if count > 1 else ""
            return [
                Caveat(
                    f"{n} pairs, less ties, are too few for any p-value below .05{which}{together}",
                    f"However large a difference is, the smallest that these tests can give is "
                    f"{smallest:.2g}, with Holm's correction: play more scenarios, or test fewer "
                    "metrics and systems.",
                )
            ]
    return []


def listed(names: Sequence[str], most: int = 6) -> str:
    """Names as in a sentence: "a, b and c"; of many, the first and how many more."""
    shown = [*names[:most], *([f"{len(names) - most} more"] if len(names) > most else [])]
    return " and ".join(filter(None, (", ".join(shown[:-1]), shown[-1])))
