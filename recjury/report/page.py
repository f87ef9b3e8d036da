"""Everything a report page says, gathered from a store: its templates only place it."""

import re
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import combinations, islice
from typing import NamedTuple

from recjury.report.comparison import Comparison, compare_samples, corrected
from recjury.report.examples import Example, load_example, load_unfinished
from recjury.report.excerpt import one_line
from recjury.report.findings import Findings
from recjury.report.players import Players, model_names, players
from recjury.report.summary import SystemSummary, summaries
from recjury.report.tables import NAME_LENGTH, PairTable, Row, main_table, pair_table
from recjury.report.trust import Caution, cautions
from recjury.store import Campaign, Store
from recjury.store.spending import Spent

COMPARED_SYSTEMS = 6
"""Up to how many systems each is compared with each: beyond, only with the best."""

_REASONS = 40
_NUMBER = re.compile(r"\d+(?:\.\d+)?")


class CorpusLine(NamedTuple):
    """How many scenarios of a corpus were planned and played, and what is special about them."""

    corpus: str
    planned: int
    played: int
    target_seen: int
    without_target: int


class Leaks(NamedTuple):
    """Messages of a system's simulated users that named a target, by what became of them."""

    system: str
    caught: int
    through: int


class Reason(NamedTuple):
    """Something that went wrong `times` times, and by system ("kbrd 3, retrieval 1")."""

    what: str
    why: str
    times: int
    systems: str


class Reasons(NamedTuple):
    """The most frequent reasons, and how many occurrences lie behind those not shown."""

    shown: tuple[Reason, ...]
    others: int
    total: int


class Run(NamedTuple):
    """The campaign that the page is about."""

    id: str
    name: str
    begun: str
    recjury: str
    seeds: str
    spent: Spent
    skipped: Reasons


class Other(NamedTuple):
    """A campaign of the store that the page is not about."""

    id: str
    name: str
    trials: int


class Page(NamedTuple):
    """What stands on the page, from top to bottom."""

    title: str
    run: Run
    others: tuple[Other, ...]
    who: Players
    corpora: tuple[CorpusLine, ...]
    systems: Mapping[str, SystemSummary]
    rows: tuple[Row, ...]
    rows_by_corpus: Mapping[str, tuple[Row, ...]]
    cautions: tuple[Caution, ...]
    pairs: tuple[PairTable, ...]
    tests: int
    leaks: tuple[Leaks, ...]
    failures: Reasons
    unscored: Reasons
    examples: Mapping[str, tuple[Example, ...]]


def gather(store: Store, found: Findings, *, campaign: str, examples: int) -> Page:
    """The page about what was `found` in a campaign of `store`."""
    campaigns = {each.id: each for each in store.campaigns()}
    about = campaigns.pop(campaign)
    models = model_names(about.setup.config)
    who, systems = players(found, models), summaries(found.systems)
    compared = _comparisons(found, systems)
    by_corpus = {
        one_line(corpus, 80): main_table(summaries(tallies))
        for corpus, tallies in found.corpora.items()
    }
    return Page(
        title=one_line(about.name or "recjury", 120),
        run=_run(store, about),
        others=tuple(
            Other(each.id, one_line(each.name, 80), each.trials) for each in campaigns.values()
        ),
        who=who,
        corpora=tuple(_corpus_lines(found)),
        systems=systems,
        rows=main_table(systems),
        rows_by_corpus=by_corpus if len(by_corpus) > 1 else {},
        cautions=cautions(found, who, systems, wished=_any_wishes(store, found)),
        pairs=tuple(pair_table(a, b, gaps) for (a, b), gaps in compared.items()),
        tests=sum(gap.p is not None for c in compared.values() for gap in c.measures.values()),
        leaks=tuple(
            Leaks(one_line(name, NAME_LENGTH), each.leaks_caught, each.leaks_through)
            for name, each in systems.items()
        ),
        failures=_reasons((*why, by_system) for why, by_system in found.failures.items()),
        unscored=_reasons(
            (why.factor, f"{why.status.value.replace('_', ' ')}: {why.reason}", by_system)
            for why, by_system in found.unscored.items()
        ),
        examples=_examples(store, found, examples, models),
    )


def _any_wishes(store: Store, found: Findings) -> bool:
    """Whether a corpus has targets by attributes; its first log stands for all of them."""
    trials = (scenarios.of_trial for scenarios in found.scenarios.values())
    logs = (store.log(trial) for trial in trials if trial is not None)
    return any(log is not None and log.scenario.wishes for log in logs)


def _run(store: Store, campaign: Campaign) -> Run:
    begun = time.gmtime(campaign.created_at or 0)
    seeds = ", ".join(str(seed) for seed in campaign.setup.seeds.values())
    return Run(
        id=campaign.id,
        name=one_line(campaign.name, 80),
        begun=time.strftime("%Y-%m-%d %H:%M UTC", begun),
        recjury=campaign.setup.recjury,
        seeds=seeds or "–",
        spent=store.spent(campaign.id),
        skipped=_reasons(
            (one_line(f"{each.corpus} {each.record}", 80), each.reason, Counter({"": 1}))
            for each in campaign.setup.skipped
        ),
    )


def _corpus_lines(found: Findings) -> Iterable[CorpusLine]:
    for corpus, scenarios in found.scenarios.items():
        yield CorpusLine(
            corpus=one_line(corpus, 80),
            planned=len(scenarios.planned),
            played=len(scenarios.played),
            target_seen=len(scenarios.target_seen),
            without_target=len(scenarios.without_target),
        )


class _Pair(NamedTuple):
    a: str
    b: str


def _comparisons(found: Findings, systems: Mapping[str, SystemSummary]) -> dict[_Pair, Comparison]:
    scored = [name for name in systems if found.samples[name].values()]
    pairs = [_Pair(a, b) for a, b in combinations(scored, 2)]
    if len(scored) > COMPARED_SYSTEMS:
        best = max(scored, key=lambda name: systems[name].overall.mean or 0.0)
        pairs = [_Pair(best, other) for other in scored if other != best]
    raw = {pair: compare_samples(found.samples[pair.a], found.samples[pair.b]) for pair in pairs}
    return corrected(raw)


def _reasons(counted: Iterable[tuple[str, str, Counter[str]]]) -> Reasons:
    """Reasons by frequency; those that differ in their numbers alone are one, with … for them."""
    merged: dict[tuple[str, str], tuple[set[str], Counter[str]]] = {}
    for what, why, by_system in counted:
        said, times = merged.setdefault((what, _NUMBER.sub("…", why)), (set(), Counter()))
        said.add(why)
        times.update(by_system)
    ordered = sorted(
        (
            Reason(what, shape if len(said) > 1 else min(said), times.total(), _by_system(times))
            for (what, shape), (said, times) in merged.items()
        ),
        key=lambda reason: (-reason.times, reason.what, reason.why),
    )
    total = sum(reason.times for reason in ordered)
    shown = tuple(ordered[:_REASONS])
    return Reasons(shown, total - sum(reason.times for reason in shown), total)


def _by_system(counts: Counter[str]) -> str:
    return ", ".join(f"{one_line(name, 40)} {count}" for name, count in counts.most_common())


def _examples(
    store: Store, found: Findings, count: int, models: Mapping[str, str]
) -> dict[str, tuple[Example, ...]]:
    """Per system, conversations from the best to the worst, then some that failed."""
    shown: dict[str, tuple[Example, ...]] = {}
    for name, ranking in found.rankings.items():
        scored = [load_example(store, choice, models) for choice in ranking.choose(count)]
        kept = (load_unfinished(store, trial) for trial in found.unfinished.get(name, ()))
        failed = islice((each for each in kept if each is not None), count)
        examples = tuple(each for each in (*scored, *failed) if each is not None)
        if examples:
            shown[one_line(name, NAME_LENGTH)] = examples
    return shown
