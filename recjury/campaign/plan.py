"""Which trials a campaign consists of, and what each of them is identified by."""

from collections.abc import Iterable, Iterator, Mapping

from recjury.records import JSON, ConversationLog, Record, Scenario, digest
from recjury.store import Trial as PlannedTrial

# Part of every trial's identity: raise it when a stage comes to compute something else.
IDENTITY_VERSION = 1


class Trial(Record):
    """One system in one scenario, once more for each repeat (0-based).

    `id` is a digest of everything that can change the trial's result. `settings` says what that
    was, stage by stage.
    """

    id: str
    system: str
    scenario: Scenario
    repeat: int
    settings: Mapping[str, JSON]

    def planned(self, seed: int) -> PlannedTrial:
        """The trial as the store keeps it; `seed` is the campaign's."""
        return PlannedTrial(
            id=self.id,
            system=self.system,
            scenario=self.scenario.id,
            corpus=self.scenario.corpus,
            repeat=self.repeat,
            seed=seed,
            settings=self.settings,
        )


def simulated_trials(
    *,
    scenarios: Iterable[Scenario],
    systems: Mapping[str, Mapping[str, JSON]],
    settings: Mapping[str, JSON],
    repeats: int,
) -> Iterator[Trial]:
    """Trials scenario by scenario, all systems of one together: a half-done run is comparable.

    `systems` maps each system's name to its settings; `settings` holds those of the stages that
    all trials share.
    """
    for repeat in range(repeats):
        for scenario in scenarios:
            for name, system in systems.items():
                own: dict[str, JSON] = {"system": system, **settings}
                identity = digest([IDENTITY_VERSION, name, scenario, repeat, own])
                yield Trial(
                    id=identity, system=name, scenario=scenario, repeat=repeat, settings=own
                )


def recorded_trial(log: ConversationLog, settings: Mapping[str, JSON]) -> Trial:
    """The trial of a conversation that was recorded elsewhere: it enters after the session."""
    return Trial(
        id=digest([IDENTITY_VERSION, log, settings]),
        system=log.system,
        scenario=log.scenario,
        repeat=0,
        settings=settings,
    )
