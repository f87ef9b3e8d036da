"""Who rates which conversations, in which order."""

import random
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from recjury.agreement.annotation.guide import RaterGuide
from recjury.agreement.annotation.task import AnnotationTask, unseen_digest
from recjury.errors import ConfigError, DataError, StoreError
from recjury.records import ConversationLog
from recjury.store import Selection, Store

_RATER = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,30}\Z")
_ALL = Selection()
_CORE_RECORDS = 10  # of each corpus (CoRE, section 6.6)
_CORE_LOGS = 16  # for each rater
_CORE_RATERS = 2  # of each log (our reading of CoRE: it gives no number)


class Design(NamedTuple):
    """How conversations are drawn and given to raters.

    `core` draws ten records of each corpus that all systems have played (CoRE, section 6.6), and
    needs as many raters as give each 16 conversations. `all` takes every conversation. With both,
    the conversations of one record go to the same raters. `raters` are names, or None for as many
    as `core` needs; `raters_each` is how many rate a conversation, None for two.
    """

    kind: Literal["core", "all"] = "all"
    raters: tuple[str, ...] | None = None
    raters_each: int | None = None
    seed: int = 0


class DrawnTask(NamedTuple):
    """A task, and the log behind each name in it."""

    task: AnnotationTask
    logs: Mapping[str, ConversationLog]
    gold: Mapping[str, Mapping[str, int]]


def rater_names(text: str) -> tuple[str, ...]:
    """The raters of "anna,ben" or "8" (r1 to r8). Raises ConfigError for unusable names."""
    names = text.split(",")
    if text.isascii() and text.isdigit():
        names = [f"r{number}" for number in range(1, int(text) + 1)]
    names = [name.strip() for name in names]
    for name in names:
        if not _RATER.match(name):
            raise ConfigError(
                f"--raters: {name[:40]!r} is no name of a rater: expected letters and digits"
            )
    if len(set(names)) < len(names) or not names:
        raise ConfigError(f"--raters {text}: expected a number from 1, or different names")
    return tuple(names)


def campaign_logs(
    store: Store, campaign: str, selection: Selection = _ALL
) -> dict[str, ConversationLog]:
    """The selected conversations of a campaign by their ids. Raises StoreError if none is held."""
    planned = store.planned(campaign, store.selected(campaign, selection))
    logs = {each.id: log for each in planned if (log := store.log(each.id)) is not None}
    if not logs:
        raise StoreError("no conversation is held here: run `recjury run FILE` first")
    return logs


def draw_task(
    logs: Sequence[ConversationLog],
    guide: RaterGuide,
    design: Design,
    *,
    gold: Mapping[str, Mapping[str, int]] | None = None,
    only: Mapping[str, Sequence[str]] | None = None,
) -> DrawnTask:
    """A task about `logs`.

    `gold` has known scores by log id and question: these conversations go to every rater, and are
    drawn for nothing else. `only` gives, by log id, the questions that are asked of it. Raises
    ConfigError for a design that cannot be, DataError if there is too little to rate.
    """
    rng = random.Random(f"annotation {design.seed}")
    by_id = {log.id: log for log in logs}
    known = dict(gold or {})
    missing = [name for name in known if name not in by_id]
    if missing:
        raise DataError(f"no conversation {missing[0]!r} of the gold scores is among those to rate")
    groups = _records([log for log in by_id.values() if log.id not in known])
    if design.kind == "core":
        groups = _core(groups, rng)
    shown = {
        name: guide.shown(by_id[name], None if only is None else only.get(name, ()))
        for name in (*(log.id for group in groups for log in group), *known)
    }
    shown = {name: each for name, each in shown.items() if each.questions}
    groups = [kept for group in groups if (kept := [log for log in group if log.id in shown])]
    if not groups:
        raise DataError("there is no conversation to rate")
    _check_gold(known, {name: each.questions for name, each in shown.items()})
    given = _given(groups, design, rng)
    names = _opaque(list(shown), rng)
    behind = {names[each]: by_id[each] for each in shown}
    scores = {names[each]: dict(own) for each, own in known.items()}
    task = AnnotationTask(
        guideline=guide.identity,
        questions=guide.questions,
        conversations={names[each]: shown[each] for each in sorted(shown, key=names.__getitem__)},
        raters={
            rater: tuple(_shuffled([names[each] for each in (*own, *known)], design.seed, rater))
            for rater, own in given.items()
        },
        unseen=unseen_digest(behind, scores),
    )
    return DrawnTask(task, behind, scores)


def _records(logs: Sequence[ConversationLog]) -> list[list[ConversationLog]]:
    """The conversations of each record, as systems are paired."""
    found: dict[str, list[ConversationLog]] = defaultdict(list)
    for log in logs:
        found[log.scenario.pair_id].append(log)
    return list(found.values())


def _core(groups: list[list[ConversationLog]], rng: random.Random) -> list[list[ConversationLog]]:
    systems = {log.system for group in groups for log in group}
    by_corpus: dict[str, list[list[ConversationLog]]] = defaultdict(list)
    for group in groups:
        one = {log.system: log for log in reversed(group)}  # the first of repeats
        if one.keys() == systems:
            by_corpus[group[0].scenario.corpus].append([one[name] for name in sorted(one)])
    corpora = {group[0].scenario.corpus for group in groups}
    drawn: list[list[ConversationLog]] = []
    for corpus in sorted(corpora):
        complete = by_corpus[corpus]
        if len(complete) < _CORE_RECORDS:
            raise DataError(
                f"{corpus}: {len(complete)} records were played with all {len(systems)} systems, "
                f"and the design `core` needs {_CORE_RECORDS}: play more, or take --design all"
            )
        drawn += rng.sample(complete, _CORE_RECORDS)
    return drawn


def _given(
    groups: Sequence[Sequence[ConversationLog]], design: Design, rng: random.Random
) -> dict[str, list[str]]:
    """The logs of each rater. Each record goes to those who have the fewest conversations."""
    each = design.raters_each or _CORE_RATERS
    raters = design.raters
    if raters is None:
        if design.kind != "core":
            raise ConfigError("--raters is missing: a number, or names (anna,ben)")
        needed = -(-sum(map(len, groups)) * each // _CORE_LOGS)
        raters = tuple(f"r{number}" for number in range(1, max(needed, each) + 1))
    if len(raters) < each:
        named = ", ".join(raters)
        raise ConfigError(f"{each} raters a conversation, but only {len(raters)}: {named}")
    given: dict[str, list[str]] = {rater: [] for rater in raters}
    for group in rng.sample(list(groups), len(groups)):
        order = sorted(raters, key=lambda rater: (len(given[rater]), rng.random()))
        for rater in order[:each]:
            given[rater] += [log.id for log in group]
    return given


def _opaque(ids: list[str], rng: random.Random) -> dict[str, str]:
    """Names that say nothing about system or record."""
    width = len(str(len(ids)))
    return {each: f"c{number:0{width}}" for number, each in enumerate(rng.sample(ids, len(ids)), 1)}


def _shuffled(names: list[str], seed: int, rater: str) -> list[str]:
    return random.Random(f"order {seed} {rater}").sample(names, len(names))


def _check_gold(gold: Mapping[str, Mapping[str, int]], asked: Mapping[str, Sequence[str]]) -> None:
    for name, scores in gold.items():
        for question in scores:
            if question not in asked.get(name, ()):
                raise DataError(f"the gold score of {name} for {question!r} is not asked for")
