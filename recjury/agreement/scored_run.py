"""A run's scores, with what analyses need of its conversations: systems, scenarios, lengths."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from recjury.agreement.label_sets import LabelSet
from recjury.agreement.predictions import add_scores, keyed_results, of_file
from recjury.corpora.crsarena import system_of
from recjury.corpora.crsarena_runs import AspectRun, read_runs
from recjury.corpora.csv_rows import read_csv_rows
from recjury.errors import ConfigError, DataError
from recjury.judges.aspects import pool, pool_places
from recjury.records import Aspect, ConversationLog, ScoreTarget
from recjury.store import Store

Words = Mapping[int, int]
"""The number of words of each system turn of a conversation, by the turn's index."""


class Scale(NamedTuple):
    """The lowest and the highest score of a metric; `high` is None without an upper bound."""

    low: float
    high: float | None
    higher_is_better: bool = True

    def share(self, value: float) -> float:
        """A value as a share of the scale, from the worst (0) to the best (1).

        Raises ValueError without an upper bound.
        """
        if self.high is None:
            raise ValueError("a scale without an upper bound has no shares")
        share = (value - self.low) / (self.high - self.low)
        return share if self.higher_is_better else 1 - share


class ScoredRun(NamedTuple):
    """The scores of a run as they were rated, by metric and place.

    `scales` are those that are known. `systems` names each conversation's system; `clusters` what
    is drawn together in a resample: the conversations of one scenario. `words` has the
    conversations whose texts are known. `parts` has scores of turns behind metrics of whole
    conversations, where they are known.
    """

    scores: Mapping[str, Mapping[ScoreTarget, float]]
    scales: Mapping[str, Scale]
    systems: Mapping[str, str]
    clusters: Mapping[str, str]
    words: Mapping[str, Words]
    parts: Mapping[str, Mapping[ScoreTarget, float]] = {}

    def oriented(self, metric: str) -> Mapping[ScoreTarget, float]:
        """The scores of a metric, turned round if less is better."""
        scale = self.scales.get(metric)
        own = self.scores[metric]
        if scale is None or scale.higher_is_better:
            return own
        return {place: -score for place, score in own.items()}

    def choose(self, wanted: Sequence[str]) -> "ScoredRun":
        """Only these metrics; "core" stands for all of `core`. All, if none is named.

        Raises ConfigError for a name that the run does not have.
        """
        found: dict[str, None] = {}
        for name in wanted:
            own = [each for each in self.scores if name in (each, each.rpartition(".")[0])]
            if not own:
                known = ", ".join(self.scores)
                raise ConfigError(f"--metric {name}: the run has no such metric (has: {known})")
            found |= dict.fromkeys(own)
        chosen = {name: self.scores[name] for name in found or self.scores}
        return self._replace(scores=chosen)


def run_of_store(
    store: Store, campaign: str, *, by_log: bool = True, details: bool = False
) -> ScoredRun:
    """The scores of a campaign; metrics have their evaluator's label and a dot.

    Conversations are known by their log's id, or by their record. The mean counts, where one was
    judged more than once. Without `details`, metrics that are details are left out. Raises
    DataError if nothing was scored, or as `keyed_results`.
    """
    scales = {
        f"{each.label}.{metric.id}": Scale(metric.low, metric.high, metric.higher_is_better)
        for each in store.evaluators(campaign)
        for metric in each.metrics
        if details or not metric.detail
    }
    given: dict[str, dict[ScoreTarget, list[float]]] = {}
    systems: dict[str, str] = {}
    clusters: dict[str, str] = {}
    words: dict[str, Words] = {}
    for name, result in keyed_results(store, campaign, by_log=by_log):
        add_scores(result, name, given)
        log = store.log(result.conversation) if result.evaluations else None
        if log is not None:
            systems[name], clusters[name] = result.system, result.pair or result.scenario
            words[name] = words_of(log)
    scores = {
        metric: {place: fmean(values) for place, values in given[metric].items()}
        for metric in scales
        if given.get(metric)
    }
    if not scores:
        raise DataError("nothing was scored here: run `recjury judge FILE` first")
    return ScoredRun(scores, scales, systems, clusters, words)


def run_of_file(path: Path, people: LabelSet | None = None) -> ScoredRun:
    """The scores of a run file, of a folder of {aspect}.jsonl files, or of a CSV file.

    Texts and systems are those of `people`, as far as these have them. Otherwise systems are a
    column of the CSV file, or part of the ids of CRSArena-Eval. Raises DataError.
    """
    if path.suffix.lower() == ".csv":
        scores, scales, systems = _of_csv(path)
        parts: dict[str, dict[ScoreTarget, float]] = {}
    elif path.is_dir():
        runs = read_runs(path)
        scores = {str(a): pool_places(run.turns, a.level) for a, run in runs.items()}
        parts = {str(a): parts_of(run) for a, run in runs.items()}
        scales, systems = {str(a): aspect_scale(a) for a in runs}, {}
    else:
        scores = {metric: dict(own) for metric, own in of_file(path).items()}
        scales, systems, parts = {name: aspect_scale(Aspect(name)) for name in scores}, {}, {}
    names = dict.fromkeys(place.conversation for own in scores.values() for place in own)
    known = {} if people is None else people.systems
    return ScoredRun(
        scores,
        scales,
        {name: systems.get(name) or known.get(name) or _system(name) for name in names},
        {name: name if people is None else people.clusters.get(name, name) for name in names},
        {
            name: words_of(people.logs[name])
            for name in (() if people is None else names)
            if people is not None and name in people.logs
        },
        parts,
    )


def words_of(log: ConversationLog) -> Words:
    """The words of each system turn; they are separated by white space."""
    return {turn: len(log.interaction[turn].text.split()) for turn in log.system_turn_indices}


def aspect_scale(aspect: Aspect) -> Scale:
    """The scale of one of CRSArena-Eval's aspects."""
    return Scale(aspect.low, aspect.high)


def parts_of(run: AspectRun) -> dict[ScoreTarget, float]:
    """The score of each turn with scored particles."""
    pooled = {
        place: pool(score for own in particles.values() for score in own.values())
        for place, particles in run.turns.items()
    }
    return {place: score for place, score in pooled.items() if score is not None}


def by_conversation(
    scores: Mapping[ScoreTarget, float], among: Iterable[str] | None = None
) -> dict[str, float]:
    """The mean score of each conversation over its turns, or its score."""
    given: dict[str, list[float]] = {}
    for place, score in scores.items():
        given.setdefault(place.conversation, []).append(score)
    kept = given if among is None else (name for name in among if name in given)
    return {name: fmean(given[name]) for name in kept}


def _of_csv(
    path: Path,
) -> tuple[dict[str, dict[ScoreTarget, float]], dict[str, Scale], dict[str, str]]:
    """Columns conversation, metric, score; turn, system, low and high may be left out."""
    scores = {metric: dict(own) for metric, own in of_file(path).items()}
    scales: dict[str, Scale] = {}
    systems: dict[str, str] = {}
    for row in read_csv_rows(path, ("conversation", "metric", "score")):
        name, system = row["conversation"], row["system"]
        if system and systems.setdefault(name, system) != system:
            raise row.error(f"{name} is of {systems[name]!r} in an earlier row, now {system!r}")
        if row["low"] and row["high"]:
            scale = Scale(row.number("low"), row.number("high"))
            if scale.high is None or scale.high <= scale.low:
                raise row.error(f"high: must be above low, got {scale.low:g} to {scale.high:g}")
            if scales.setdefault(row["metric"], scale) != scale:
                raise row.error(f"{row['metric']} has another scale in an earlier row")
            if row["score"] and not scale.low <= row.number("score") <= scale.high:
                raise row.error(f"score: {row['score']} is outside {scale.low:g} to {scale.high:g}")
    return scores, scales, systems


def _system(conversation: str) -> str:
    try:
        return system_of(conversation)
    except DataError:
        raise DataError(
            f"the system of the conversation {conversation!r} is not known: give a column system, "
            "or --labels that name it"
        ) from None
