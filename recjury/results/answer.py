"""The answer of a campaign in two lines: which system is best, and what could not be scored."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from recjury.records import JSON
from recjury.results.caveats import SIGNIFICANT, about_power, lacks_catalogue, listed
from recjury.results.comparison import Compared, compare_campaign, ranked
from recjury.results.scores import Measure, headline, titles_of
from recjury.results.summary import CampaignSummary
from recjury.stats import MeanDifference


class CampaignAnswer(NamedTuple):
    """Which system is best by the measure that sums up the others, and what has no score.

    `best` is None if no system has a score, or if several have the best mean. It is `decided` if
    its difference from each other system has a p-value below .05, corrected over the pairs of
    `compare_campaign`.
    """

    best: str | None
    decided: bool
    lines: tuple[str, str]

    def as_json(self) -> dict[str, JSON]:
        """All three."""
        return {**self._asdict(), "lines": list(self.lines)}


def answer(summary: CampaignSummary) -> CampaignAnswer:
    """The answer of a campaign."""
    lead = headline(summary.shown)
    order = [] if lead is None else ranked(summary.systems, lead)
    missing = _missing(summary, lead)
    if lead is None or not order:
        return CampaignAnswer(
            None, False, ("No system has a score yet: nothing can be compared.", missing)
        )
    best, *others = order
    mean = summary.systems[best].summary(lead.id).mean
    by = f"{mean:.{lead.metric.digits}f} by {lead.metric.title} ({lead.id})"
    if not others:
        said = f"{best} has {by}; there is no other system with a score to compare it with."
        return CampaignAnswer(best, False, (said, missing))
    level = [name for name in order if summary.systems[name].summary(lead.id).mean == mean]
    if len(level) > 1:
        return CampaignAnswer(
            None, False, (f"{listed(level)} are level: {by}; none is best.", missing)
        )
    tallies = {name: summary.systems[name] for name in order}
    compared = compare_campaign(tallies, lead, [Compared(lead.id, lead.id, lead.metric)])
    gaps = {other: compared[best, other].gaps[lead.id].difference for other in others}
    tested = [gap for each in compared.values() for gap in each.tested]
    ahead = f"ahead of {others[0]} by {_ahead(gaps[others[0]], lead)}"
    said = f"{best} is best: {by}, {ahead}. {_decided(gaps, tested)}"
    return CampaignAnswer(best, all(map(_is_shown, gaps.values())), (said, missing))


def _ahead(gap: MeanDifference, lead: Measure) -> str:
    """By how much the first of a difference is better, with the interval."""
    ends = [each for each in gap[:3] if each is not None]
    if not lead.metric.higher_is_better and ends:
        ends = [-ends[0], *(-each for each in reversed(ends[1:]))]
    value, *bounds = [f"{each:.{lead.metric.digits}f}" for each in ends] or ["an unknown amount"]
    return f"{value} [{', '.join(bounds)}]" if bounds else value


def _decided(gaps: Mapping[str, MeanDifference], tested: Sequence[MeanDifference]) -> str:
    """Whether all `gaps` of the best system are shown, if not, why; `tested` are those of all."""
    still_open = [name for name, gap in gaps.items() if not _is_shown(gap)]
    worst = max((gap.p for gap in gaps.values() if gap.p is not None), default=1.0)
    shown = "p < 0.001" if worst < 0.001 else f"p = {worst:.3f}"
    shown += f", corrected over {len(tested)} pairs" if len(tested) > 1 else ""
    power = about_power(tested)
    if not still_open:
        return f"This is decided ({shown})."
    if any(gap.n < 2 for gap in gaps.values()):
        return "This is not decided: one scenario is too few for a test."
    if power:
        return f"This is not decided: {power[0].heading}."
    return f"This is not decided against {listed(still_open)} ({shown})."


def _is_shown(gap: MeanDifference) -> bool:
    return gap.p is not None and gap.p < SIGNIFICANT


def _missing(summary: CampaignSummary, lead: Measure | None) -> str:
    """What could not be scored."""
    parts: list[str] = []
    if lead is not None:
        systems = summary.systems.values()
        of = sum(tally.conversations for tally in systems)
        scored = sum(tally.summary(lead.id).n for tally in systems)
        if scored < of:
            parts.append(f"{lead.metric.title} in {of - scored} of {of} conversations")
    measured = {each for tally in summary.systems.values() for each in tally.measured}
    titles = titles_of({each.id: each.metric for each in summary.shown if each != lead})
    if never := [title for measure, title in titles.items() if measure not in measured]:
        parts.append(f"{listed(never)} in all conversations")
    if lacking := lacks_catalogue(summary):
        parts.append(f"{lacking.total()} ratings for lack of a catalogue")
    return f"Not scored: {'; '.join(parts)}." if parts else "Every metric was scored."
