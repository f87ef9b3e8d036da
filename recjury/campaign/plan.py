"""The plan of a campaign: each trial is system x user x scenario x repeat."""

from collections.abc import Iterator
from typing import NamedTuple

from recjury.campaign.prepare import Prepared
from recjury.records import Scenario, digest
from recjury.store import PlannedConversation, PlannedEvaluator, Todo


class Trial(NamedTuple):
    """One conversation to be played and rated. `id` is the identity of all that can change it."""

    id: str
    system: str
    user: str
    scenario: Scenario
    repeat: int


def trials(ready: Prepared) -> Iterator[Trial]:
    """Scenario by scenario, so that a run that stops early has all systems on the same ones."""
    session = ready.config.session
    for corpus in ready.corpora.values():
        for scenario in corpus.scenarios:
            start = digest(scenario, corpus.digest, session)
            for repeat in range(ready.config.repeats):
                for user in ready.users.values():
                    for system in ready.systems_of(corpus.name):
                        parts = (system.version, user.version, start, repeat)
                        yield Trial(digest(*parts), system.name, user.name, scenario, repeat)


def trial_of(left: Todo, ready: Prepared) -> Trial:
    """The trial of a row of the plan."""
    scenario = ready.scenarios[left.corpus, left.scenario]
    return Trial(left.conversation, left.system, left.user, scenario, left.repeat)


def planned_conversations(ready: Prepared) -> Iterator[PlannedConversation]:
    """The rows of the plan. A version is of a system and of how conversations are held."""
    session = digest(ready.config.session)
    for ordinal, trial in enumerate(trials(ready)):
        corpus = trial.scenario.corpus
        yield PlannedConversation(
            conversation=trial.id,
            ordinal=ordinal,
            system=trial.system,
            version=digest(ready.systems[trial.system, corpus].version, session),
            user=trial.user,
            user_version=ready.users[trial.user].version,
            corpus=corpus,
            scenario=trial.scenario.id,
            repeat=trial.repeat,
        )


def planned_evaluators(ready: Prepared) -> Iterator[PlannedEvaluator]:
    """The rows of the evaluators."""
    for id_, evaluator in ready.evaluators.items():
        yield PlannedEvaluator(
            id=id_,
            kind=evaluator.kind,
            name=evaluator.name,
            settings=evaluator.model_dump(mode="json"),
            metrics=[metric.model_dump(mode="json") for metric in evaluator.metrics],
            judgings=evaluator.judgings,
        )
