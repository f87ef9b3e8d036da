"""A run's scores, with what analyses need of its conversations: systems, scenarios, lengths."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from types import MappingProxyType
from typing import NamedTuple

from recjury.agreement.label_sets import LabelSet
from recjury.agreement.score_files import Scale, Scores, read_scores
from recjury.corpora.crsarena import system_of
from recjury.errors import ConfigError, DataError
from recjury.records import ConversationLog, ScoreTarget, shown_ratings
from recjury.stats.score_table import ScoreRow, ScoreTable
from recjury.store import ConversationResult, Store

Words = Mapping[int, int]
"""The number of words of each system turn of a conversation, by the turn's index."""


class ScoredRun(NamedTuple):
    """The scores of a run as they were rated.

    `scales` are those that are known. `systems` names each conversation's system; `clusters` what
    is drawn together in a resample: the conversations of one scenario. `words` has the
    conversations whose texts are known. `parts` has scores of turns behind metrics of whole
    conversations, where they are known.
    """

    scores: Scores
    scales: Mapping[str, Scale]
    systems: Mapping[str, str]
    clusters: Mapping[str, str]
    words: Mapping[str, Words]
    parts: Scores = MappingProxyType({})

    def oriented(self, metric: str) -> Mapping[ScoreTarget, float]:
        """The scores of a metric, turned round if less is better."""
        scale = self.scales.get(metric)
        own = self.scores[metric]
        if scale is None or scale.higher_is_better:
            return own
        return {place: -score for place, score in own.items()}

    def all_oriented(self) -> Scores:
        """All scores, of which higher is better."""
        return {metric: self.oriented(metric) for metric in self.scores}

    def choose(self, wanted: Sequence[str]) -> "ScoredRun":
        """Only these metrics; "core" stands for all of `core`. All, if none is named.

        Raises ConfigError for a name that the run does not have.
        """
        found: dict[str, None] = {}
        for name in wanted:
            own = [metric for metric in self.scores if name in (metric, metric.rpartition(".")[0])]
            if not own:
                known = ", ".join(self.scores)
                raise ConfigError(f"the run has no such metric: {name} (has: {known})")
            found |= dict.fromkeys(own)
        return self._replace(scores={name: self.scores[name] for name in found or self.scores})

    def table(
        self,
        metric: str,
        scores: Mapping[ScoreTarget, float],
        labels: Mapping[ScoreTarget, float],
    ) -> ScoreTable:
        """Scores of places of this run beside their labels."""
        return score_table(metric, scores, labels, self.systems, self.clusters)


def score_table(
    metric: str,
    scores: Mapping[ScoreTarget, float],
    labels: Mapping[ScoreTarget, float],
    systems: Mapping[str, str],
    clusters: Mapping[str, str],
) -> ScoreTable:
    """The places that have a score and a label, in the labels' order.

    `systems` and `clusters` are by conversation.
    """
    return ScoreTable.of_rows(
        [
            ScoreRow(
                place.conversation,
                metric,
                scores[place],
                label,
                systems[place.conversation],
                clusters[place.conversation],
            )
            for place, label in labels.items()
            if place in scores
        ]
    )


def by_conversation(scores: Mapping[ScoreTarget, float]) -> dict[ScoreTarget, float]:
    """The mean score of each conversation over its turns, or its score."""
    given: dict[ScoreTarget, list[float]] = {}
    for place, score in scores.items():
        given.setdefault(ScoreTarget(place.conversation), []).append(score)
    return {place: fmean(values) for place, values in given.items()}


def run_of_store(
    store: Store, campaign: str | None, *, by_log: bool = True, details: bool = False
) -> ScoredRun:
    """The scores of a campaign, or of the store; metrics have their evaluator's label and a dot.

    Conversations are known by their log's id, or by their record. The mean counts, where one was
    played or judged more than once. Without `details`, metrics that are details are left out.
    Raises DataError if nothing was scored, or if a record was played with two systems.
    """
    scales = {
        f"{evaluator.label}.{metric.id}": Scale(metric.low, metric.high, metric.higher_is_better)
        for evaluator in store.evaluators(campaign)
        for metric in evaluator.metrics
        if details or not metric.detail
    }
    given: dict[str, dict[ScoreTarget, list[float]]] = {}
    systems: dict[str, str] = {}
    clusters: dict[str, str] = {}
    words: dict[str, Words] = {}
    for name, result in _named_results(store, campaign, by_log=by_log):
        _add_scores(result, name, given)
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
    """The scores at `path`, as `read_scores` reads them.

    Texts and systems are those of `people`, as far as these have them. Otherwise systems are a
    column of the CSV file, or part of the ids of CRSArena-Eval. Raises DataError.
    """
    read = read_scores(path)
    names = dict.fromkeys(place.conversation for own in read.scores.values() for place in own)
    systems, clusters = dict(read.systems), {name: name for name in names}
    logs: Mapping[str, ConversationLog] = {}
    if people is not None:
        systems = {**people.systems, **systems}
        clusters |= {name: people.clusters[name] for name in names if name in people.clusters}
        logs = people.logs
    return ScoredRun(
        read.scores,
        read.scales,
        {name: systems.get(name) or _system(name) for name in names},
        clusters,
        {name: words_of(logs[name]) for name in names if name in logs},
        read.parts,
    )


def words_of(log: ConversationLog) -> Words:
    """The words of each system turn; they are separated by white space."""
    return {turn: len(log.interaction[turn].text.split()) for turn in log.system_turn_indices}


def _named_results(
    store: Store, campaign: str | None, *, by_log: bool
) -> Iterator[tuple[str, ConversationResult]]:
    """The results with the names by which labels know conversations: the record, or the log's id.

    Raises DataError if a record was played with two systems.
    """
    systems: dict[str, str] = {}
    for result in store.results(campaign):
        name = (result.log or "") if by_log else result.scenario.partition("#")[2]
        if result.evaluations and systems.setdefault(name, result.system) != result.system:
            raise DataError(
                f"the record {name} was played with {systems[name]} and {result.system}, and "
                "a label is of one conversation: choose a campaign of recordings with --campaign"
            )
        yield name, result


def _add_scores(
    result: ConversationResult, name: str, given: dict[str, dict[ScoreTarget, list[float]]]
) -> None:
    """Add all scores of a conversation to `given`, by metric with its evaluator's label."""
    for evaluation in result.evaluations:
        for metric, ratings in shown_ratings(evaluation.ratings).items():
            own = given.setdefault(f"{evaluation.label}.{metric}", {})
            for rating in ratings:
                if rating.score is not None:
                    own.setdefault(ScoreTarget(name, rating.turn), []).append(rating.score)


def _system(conversation: str) -> str:
    try:
        return system_of(conversation)
    except DataError:
        raise DataError(
            f"the system of the conversation {conversation!r} is not known: give a column system, "
            "or --labels that name it"
        ) from None
