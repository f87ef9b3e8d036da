"""The plan of a campaign: each trial is system x user x scenario x repeat."""

from collections.abc import Iterator
from itertools import count, product

from recjury.campaign.prepare import Prepared
from recjury.records import digest
from recjury.store import PlannedConversation, PlannedEvaluator


def planned_conversations(ready: Prepared) -> Iterator[PlannedConversation]:
    """Scenario by scenario, so that a run that stops early has all systems on the same ones.

    An id is that of all that can change a conversation. A version is of a system and of how
    conversations are held.
    """
    session, ordinal = ready.config.session, count()
    of_session, repeats = digest(session), range(ready.config.repeats)
    for (name, _), scenario in ready.scenarios.items():
        start = digest(scenario, ready.corpora[name].digest, session)
        parts = product(repeats, ready.users.values(), list(ready.systems_of(name)))
        for repeat, user, system in parts:
            yield PlannedConversation(
                conversation=digest(system.version, user.version, start, repeat),
                ordinal=next(ordinal),
                system=system.name,
                version=digest(system.version, of_session),
                user=user.name,
                user_version=user.version,
                corpus=name,
                scenario=scenario.id,
                repeat=repeat,
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
