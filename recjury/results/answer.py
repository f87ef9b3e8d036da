"""The answer of a campaign in two lines: which system is best, and what could not be scored."""

from collections.abc import Mapping
from typing import NamedTuple

from recjury.records import JSON
from recjury.results.caveats import SIGNIFICANT, about_power, lacks_catalogue, listed
from recjury.results.differences import Compared, Comparison, compare_campaign, ranked
from recjury.results.scores import Measure, headline, titles_of
from recjury.results.summary import CampaignSummary
from recjury.stats import MeanDifference


class CampaignAnswer(NamedTuple):
    """Which system is best by the measure that sums up the others, and what has no score.

    `best` is None if no system has a score, if several have the best mean, or if the system with
    the best mean is not better than each other one on the scenarios of both, or would not be with
    its lost ratings at their worst. It is `decided` if on these
    scenarios it is better than each other system, with a p-value below .05 (`comparison.corrected`
    says over what it is corrected).
    """

    best: str | None
    decided: bool
    lines: tuple[str, str]

    def as_json(self) -> dict[str, JSON]:
        """All three."""
        return {**self._asdict(), "lines": list(self.lines)}


class _Lead(NamedTuple):
    """By how much the best system is better than another one; below 0 if it is worse."""

    gap: MeanDifference
    is_paired: bool

    @property
    def is_shown(self) -> bool:
        better = self.gap.difference is not None and self.gap.difference > 0
        return self.is_paired and better and self.gap.p is not None and self.gap.p < SIGNIFICANT

    def is_level(self, digits: int) -> bool:
        """Whether the difference is 0 as it is shown, and no test says otherwise."""
        gap = self.gap.difference
        is_zero = gap is not None and not float(f"{gap:.{digits}f}")
        return is_zero and self.is_paired and not self.is_shown

    def text(self, digits: int) -> str:
        """The difference with its interval."""
        known = [f"{each:.{digits}f}" for each in self.gap[:3] if each is not None]
        value, *ends = known or ["an unknown amount"]
        return f"{value} [{', '.join(ends)}]" if ends else value


_Pairs = Mapping[tuple[str, str], Comparison]


def answer(summary: CampaignSummary, compared: _Pairs | None = None) -> CampaignAnswer:
    """The answer of a campaign; `compared` is its `compare_campaign`, if that is known."""
    lead = headline(summary.shown)
    order = [] if lead is None else ranked(summary.systems, lead)
    missing = _missing(summary, lead)
    if lead is None or not order:
        said = "No system has a score yet: nothing can be compared."
        return CampaignAnswer(None, False, (said, missing))
    best, *others = order
    mean = summary.systems[best].summary(lead.id).mean
    by = f"{mean:.{lead.metric.digits}f} by {lead.metric.title} ({lead.id})"
    if (worst := summary.systems[best].worst_case(lead.id)) is not None:
        by += f", {worst.text(lead.metric.digits)}"
    if not others:
        said = f"{best} has {by}; there is no other system with a score to compare it with."
        return CampaignAnswer(best, False, (said, missing))
    tied = [name for name in order if summary.systems[name].summary(lead.id).mean == mean]
    if len(tied) > 1:
        said = f"{listed(tied)} are level: {by}; none is best."
        return CampaignAnswer(None, False, (said, missing))
    if compared is None:
        measures = [Compared(lead.id, lead.id, lead.metric)]
        compared = compare_campaign(summary.systems, lead, measures)
    leads = {other: _lead(compared, best, other, lead) for other in others}
    if doubt := _doubt(summary, best, leads, lead):
        said = f"{best} has the best mean, {by}, but {doubt}; none is best."
        return CampaignAnswer(None, False, (said, missing))
    ahead = f"ahead of {others[0]} by {leads[others[0]].text(lead.metric.digits)}"
    said = f"{best} is best: {by}, {ahead}. {_decided(leads, compared, lead)}"
    return CampaignAnswer(best, all(each.is_shown for each in leads.values()), (said, missing))


def _lead(compared: _Pairs, best: str, other: str, lead: Measure) -> _Lead:
    first = (best, other) in compared
    comparison = compared[(best, other) if first else (other, best)]
    gap = comparison.gaps[lead.id].difference
    favours_first = first == lead.metric.higher_is_better
    return _Lead(gap if favours_first else gap.negated(), comparison.is_paired and gap.n > 0)


def _doubt(summary: CampaignSummary, best: str, leads: Mapping[str, _Lead], lead: Measure) -> str:
    """Why the system with the best mean is not the best one; empty if it is."""
    level = [name for name, each in leads.items() if each.is_level(lead.metric.digits)]
    worse = [name for name, (gap, _) in leads.items() if (gap.difference or 0) < 0]
    better = [name for name in worse if name not in level]
    for names, how in ((better, "better"), (level, "level with it")):
        if names:
            are = "is" if len(names) == 1 else "are"
            return f"{listed(names)} {are} {how} on the scenarios of both"
    own, is_up = summary.systems[best], lead.metric.higher_is_better
    means = {name: summary.systems[name].summary(lead.id).mean for name in leads}
    behind = [
        name
        for name, mean in means.items()
        if mean is not None and own.may_be_behind(lead.id, mean, higher_is_better=is_up)
    ]
    return f"its lost ratings may put it behind {listed(behind)}" if behind else ""


def _decided(leads: Mapping[str, _Lead], compared: _Pairs, lead: Measure) -> str:
    """Whether the best system is shown to be better than each other one; if not, why."""
    gaps = [each.gaps[lead.id].difference for each in compared.values()]
    tested = [gap for gap in gaps if gap.p is not None]
    still_open = [name for name, each in leads.items() if not each.is_shown]
    apart = [name for name in still_open if not leads[name].is_paired]
    worst = max((gap.p for gap, _ in leads.values() if gap.p is not None), default=1.0)
    shown = "p < 0.001" if worst < 0.001 else f"p = {worst:.3f}"
    shown += f", corrected over {len(tested)} pairs" if len(tested) > 1 else ""
    if not still_open:
        return f"This is decided ({shown})."
    if apart:
        return f"This is not decided: no scenario in common with {listed(apart)}."
    if any(gap.n < 2 for gap, _ in leads.values()):
        return "This is not decided: one scenario is too few for a test."
    if power := about_power(tested):
        return f"This is not decided: {power[0].heading}."
    return f"This is not decided against {listed(still_open)} ({shown})."


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
