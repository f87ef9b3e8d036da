"""All content of a report page, gathered from a store; the templates only place it."""

import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import NamedTuple

from recjury.report.caveats import caveats
from recjury.report.examples import ExampleLoader, ShownExample, load_example, load_unfinished
from recjury.report.excerpt import one_line
from recjury.report.findings import CampaignFindings, MissingResult, ReasonCounts
from recjury.report.participants import Participants, model_names, participants
from recjury.report.people import PeopleSection
from recjury.report.table_cells import (
    NAME_LENGTH,
    Means,
    PairTable,
    SystemPair,
    means_table,
    pair_table,
)
from recjury.results import Counts, is_newest
from recjury.results.answer import answer
from recjury.results.budget_use import budget_use, left_text
from recjury.results.caveats import Caveat
from recjury.results.comparison import newest_measures
from recjury.results.differences import about_tests, compare_campaign, tested_families
from recjury.results.noise import NoiseFloor, noise_source
from recjury.results.scores import headline
from recjury.results.unscored import merged_forms, merged_reasons
from recjury.store import Campaign, CampaignCalls, CampaignEvaluator, Spent, Store

_REASONS = 40


class CorpusLine(NamedTuple):
    """How many scenarios of a corpus were planned and played, and how many are special."""

    corpus: str
    planned: int
    played: int
    target_seen: int
    without_target: int


class SystemLine(NamedTuple):
    """A system, its conversations, and how many of them failed."""

    system: str
    conversations: int
    failed: int


class Section(NamedTuple):
    """One evaluator's results: means by system, overall, by corpus, and of details."""

    label: str
    kind: str
    is_newest: bool
    counts: Counts
    means: Means
    by_corpus: Mapping[str, Means]
    details: Means | None


class CountedReason(NamedTuple):
    """Something that failed `times` times, and how often by system ("kbrd 3, retrieval 1")."""

    what: str
    why: str
    times: int
    systems: str


class Reasons(NamedTuple):
    """The most frequent reasons, and the number of occurrences of all others."""

    shown: tuple[CountedReason, ...]
    others: int
    total: int


class VerdictLine(NamedTuple):
    """The missing verdicts of an evaluator, and the most frequent reasons."""

    evaluator: str
    planned: int
    missing: int
    reasons: tuple[tuple[str, int], ...]


class CampaignInfo(NamedTuple):
    """The campaign that the page is about."""

    id: str
    name: str
    begun: str
    recjury: str
    seeds: str
    spent: Spent
    left: str
    skipped: Reasons


class OtherCampaign(NamedTuple):
    """Another campaign of the store."""

    id: str
    name: str
    conversations: int


class Page(NamedTuple):
    """The content of the page, from top to bottom; `headline` is the measure in the list of pairs
    of systems; `noise` says what the noise floors are from, and is empty if there are none; `tests`
    counts those on the headline and those on other metrics."""

    title: str
    run: CampaignInfo
    others: tuple[OtherCampaign, ...]
    who: Participants
    corpora: tuple[CorpusLine, ...]
    systems: tuple[SystemLine, ...]
    sections: tuple[Section, ...]
    answer: tuple[str, ...]
    caveats: tuple[Caveat, ...]
    headline: str
    pairs: tuple[PairTable, ...]
    noise: str
    tests: tuple[int, int]
    failures: Reasons
    verdicts: tuple[VerdictLine, ...]
    unscored: Reasons
    calls: CampaignCalls
    examples: Mapping[str, tuple[ShownExample, ...]]
    people: PeopleSection | None


def build_page(
    store: Store,
    found: CampaignFindings,
    *,
    campaign: str,
    examples: int,
    people: PeopleSection | None = None,
) -> Page:
    """The page about a campaign of `store` and what was `found` in it."""
    campaigns = {each.id: each for each in store.campaigns()}
    about = campaigns.pop(campaign)
    models = model_names(about.setup.config, found.evaluators)
    who, lead = participants(found, models), headline(found.measures)
    noise = found.summary.noise()
    compared = compare_campaign(found.systems, lead, newest_measures(found.evaluators))
    leads = {lead.id} if lead else set()
    tested = tested_families(compared.values(), leads)
    wished = _any_wishes(store, found)
    return Page(
        title=one_line(about.name or "recjury", 120),
        run=_run(store, about, found),
        others=tuple(
            OtherCampaign(each.id, one_line(each.name, 80), each.conversations)
            for each in campaigns.values()
        ),
        who=who,
        corpora=tuple(_corpus_lines(found)),
        systems=tuple(
            SystemLine(one_line(name, NAME_LENGTH), tally.conversations, tally.failed)
            for name, tally in found.systems.items()
        ),
        sections=tuple(_section(found, each, noise) for each in found.summary.evaluators),
        answer=tuple(one_line(line, 600) for line in answer(found.summary, compared).lines),
        caveats=(*about_tests(compared.values(), leads), *caveats(found, who, wished=wished)),
        headline=lead.id if lead else "",
        pairs=tuple(
            pair_table(SystemPair(a, b, found.systems), each, noise)
            for (a, b), each in compared.items()
        ),
        noise=noise_source(noise.values()) if noise else "",
        tests=(len(tested.lead), len(tested.others)),
        failures=_reasons(found.failures),
        verdicts=tuple(_verdict_lines(found)),
        unscored=_reasons(found.unscored),
        calls=store.call_counts(campaign),
        examples=_examples(store, found, examples, ExampleLoader(store, campaign, found, models)),
        people=people,
    )


def _verdict_lines(found: CampaignFindings) -> Iterable[VerdictLine]:
    for label, verdicts in found.summary.verdicts.items():
        missing = verdicts.planned - verdicts.scored
        if missing:
            why = Counter({one_line(each, 300): n for each, n in verdicts.missing.items()})
            reasons = tuple(merged_reasons(why).most_common(_REASONS))
            yield VerdictLine(label, verdicts.planned, missing, reasons)


def _section(
    found: CampaignFindings, evaluator: CampaignEvaluator, noise: Mapping[str, NoiseFloor]
) -> Section:
    measures = [each for each in found.summary.measures if each.evaluator == evaluator.label]
    shown = [each for each in measures if not each.metric.detail]
    details = [each for each in measures if each.metric.detail]
    corpora = found.corpora if len(found.corpora) > 1 else {}
    return Section(
        label=evaluator.label,
        kind=evaluator.kind,
        is_newest=is_newest(evaluator),
        counts=found.summary.evaluations[evaluator.label],
        means=means_table(found.systems, shown, noise),
        by_corpus={one_line(c, 80): means_table(own, shown, noise) for c, own in corpora.items()},
        details=means_table(found.systems, details, noise) if details else None,
    )


def _any_wishes(store: Store, found: CampaignFindings) -> bool:
    """Whether the targets of a corpus are given by attributes; its first log decides."""
    first = (scenarios.conversation for scenarios in found.scenarios.values())
    logs = (store.log(conversation) for conversation in first if conversation is not None)
    return any(log is not None and log.scenario.wishes for log in logs)


def _run(store: Store, campaign: Campaign, found: CampaignFindings) -> CampaignInfo:
    begun = time.gmtime(campaign.created_at or 0)
    spent = store.spent(campaign.id)
    seeds = ", ".join(str(seed) for seed in campaign.setup.seeds.values())
    return CampaignInfo(
        id=campaign.id,
        name=one_line(campaign.name, 80),
        begun=time.strftime("%Y-%m-%d %H:%M UTC", begun),
        recjury=campaign.setup.recjury,
        seeds=seeds or "–",
        spent=spent,
        left=left_text(found.summary.counts, budget_use(campaign, spent)),
        skipped=_reasons(
            {
                MissingResult(one_line(f"{each.corpus} {each.record}", 80), each.reason): Counter(
                    {"": 1}
                )
                for each in campaign.setup.skipped
            }
        ),
    )


def _corpus_lines(found: CampaignFindings) -> Iterable[CorpusLine]:
    for corpus, scenarios in found.scenarios.items():
        yield CorpusLine(
            corpus=one_line(corpus, 80),
            planned=len(scenarios.planned),
            played=len(scenarios.played),
            target_seen=len(scenarios.target_seen),
            without_target=len(scenarios.without_target),
        )


def _reasons(counted: ReasonCounts) -> Reasons:
    """Reasons by frequency; those of one result that differ only in numbers are one."""
    reasons: dict[str, list[str]] = defaultdict(list)
    for what, why in counted:
        reasons[what].append(why)
    merged: dict[MissingResult, Counter[str]] = defaultdict(Counter)
    for what, own in reasons.items():
        for why, form in merged_forms(own).items():
            merged[MissingResult(what, form)].update(counted[MissingResult(what, why)])
    ordered = sorted(
        (CountedReason(*each, times.total(), _by_system(times)) for each, times in merged.items()),
        key=lambda reason: (-reason.times, reason.what, reason.why),
    )
    total = sum(reason.times for reason in ordered)
    shown = tuple(ordered[:_REASONS])
    return Reasons(shown, total - sum(reason.times for reason in shown), total)


def _by_system(counts: Counter[str]) -> str:
    return ", ".join(f"{one_line(name, 40)} {count}" for name, count in counts.most_common())


def _examples(
    store: Store, found: CampaignFindings, count: int, reading: ExampleLoader
) -> dict[str, tuple[ShownExample, ...]]:
    """Per system, conversations from the best to the worst, then some that failed."""
    shown: dict[str, tuple[ShownExample, ...]] = {}
    for name, ranking in found.rankings.items():
        scored = [load_example(reading, choice) for choice in ranking.choose(count)]
        kept = (load_unfinished(store, each) for each in found.unfinished.get(name, ()))
        failed = islice((each for each in kept if each is not None), count)
        examples = tuple(each for each in (*scored, *failed) if each is not None)
        if examples:
            shown[one_line(name, NAME_LENGTH)] = examples
    return shown
