"""FACE's scores of conversations with their particles, from a store or from files."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from recjury.corpora.crsarena import read_crsarena
from recjury.corpora.crsarena_particles import by_conversation, read_crsarena_particles
from recjury.corpora.crsarena_runs import ParticleScores, read_runs
from recjury.errors import DataError
from recjury.judges.aspects import pool
from recjury.papers.face.contributions import Contributions, explain_score
from recjury.papers.face.stored_scores import read_scores
from recjury.records import (
    Aspect,
    ConversationLog,
    Decomposition,
    InstructionScore,
    Particle,
    ParticleScore,
    ScoreTarget,
)
from recjury.tables import AnalysisInput

_LISTED = 3


class Scoring(NamedTuple):
    """A conversation's scores on one aspect, with its log and its particles."""

    log: ConversationLog
    particles: Decomposition | None
    scores: tuple[ParticleScore, ...]

    def particle(self, turn: int, number: int) -> Particle:
        """A scored particle. Raises DataError if there is none."""
        decomposed = () if self.particles is None else self.particles.turns
        own = next((each.particles for each in decomposed if each.turn == turn), ())
        if number >= len(own):
            raise DataError(f"{self.log.scenario.record}: the scores belong to other particles")
        return own[number]


class Scorings(NamedTuple):
    """Conversations by id, and per aspect how each of them was scored."""

    conversations: tuple[str, ...]
    by_aspect: Mapping[Aspect, Mapping[str, Scoring]]

    def explain(
        self, conversation: str, aspect: Aspect, *, turn: int | None = None
    ) -> tuple[str, Scoring, Contributions]:
        """The id of the conversation, its scoring, and the contributions to its score.

        The reference is the mean of all scores of the aspect in this collection. The beginning
        of an id is enough to name a conversation. Raises DataError if the conversation is unknown,
        or if it has no score on the aspect or in that turn.
        """
        name = self._named(conversation)
        scored = self._scored_turns(name)
        if aspect not in scored:
            raise DataError(f"{name} is not scored on {aspect}, but on {', '.join(scored)}")
        if turn is not None and turn not in scored[aspect]:
            there = ", ".join(map(str, scored[aspect]))
            raise DataError(f"{name} is not scored on {aspect} in turn {turn}, but in {there}")
        own = self.by_aspect[aspect]
        if own[name].particles is None:
            raise DataError(f"{name} has scores but no particles")
        values = (by.score for each in own.values() for score in each.scores for by in score.by)
        reference = pool(value for value in values if value is not None) or 0.0
        return name, own[name], explain_score(own[name].scores, reference=reference, turn=turn)

    def aspects(self, conversation: str, *, turn: int | None = None) -> tuple[Aspect, ...]:
        """The aspects on which `conversation`, or one of its turns, is scored.

        Raises DataError if there are none.
        """
        name = self._named(conversation)
        scored = self._scored_turns(name)
        found = tuple(each for each, turns in scored.items() if turn is None or turn in turns)
        if not found:
            turns = sorted({number for some in scored.values() for number in some})
            there = ", ".join(map(str, turns))
            raise DataError(f"{name} is not scored in turn {turn}, but in {there}")
        return found

    def _named(self, conversation: str) -> str:
        """The id of the scored conversation with that name."""
        alike = [conversation] if conversation in self.conversations else []
        alike = alike or [name for name in self.conversations if name.startswith(conversation)]
        if len(alike) == 1 and self._scored_turns(alike[0]):
            return alike[0]
        scored = [name for name in self.conversations if self._scored_turns(name)]
        if not scored:
            raise DataError(
                "nothing is scored by FACE: run `recjury judge` with the evaluator face first"
            )
        if len(alike) > 1:
            which = f"{len(alike)} conversations begin with {conversation!r}"
            raise DataError(f"{which} ({_listed(alike)}): give more of the id")
        problem = f"{alike[0]} has no score" if alike else f"no id begins with {conversation!r}"
        raise DataError(f"{problem}; conversations with scores: {_listed(scored)}")

    def _scored_turns(self, name: str) -> dict[Aspect, tuple[int, ...]]:
        """The scored turns of the conversation, by aspect."""
        found: dict[Aspect, tuple[int, ...]] = {}
        for aspect in Aspect:
            own = self.by_aspect.get(aspect, {}).get(name)
            turns = {each.turn for each in own.scores if each.score is not None} if own else ()
            if turns:
                found[aspect] = tuple(sorted(turns))
        return found


def _listed(names: Iterable[str]) -> str:
    """The first few of `names`, and the number of the others."""
    every = list(names)
    more = f" and {len(every) - _LISTED} more" if len(every) > _LISTED else ""
    return ", ".join(every[:_LISTED]) + more


def scorings_of_files(runs: Path, particles: Path, labels: Path) -> Scorings:
    """From per-instruction scores (a folder), particles, and the dialogues of a label file."""
    given, logs = by_conversation(read_crsarena_particles(particles)), read_crsarena(labels).logs
    scorings = {
        aspect: {
            name: Scoring(logs[name], given.get(name), scores)
            for name, scores in _by_conversation(run.turns.items()).items()
            if name in logs
        }
        for aspect, run in read_runs(runs).items()
    }
    return Scorings(tuple(logs), scorings)


def scorings_of_store(given: AnalysisInput) -> Scorings:
    """From FACE's results in a store; if a conversation was scored several times, the newest."""
    names: dict[str, None] = {}
    scorings: dict[Aspect, dict[str, Scoring]] = {}
    for each in read_scores(given):
        if each.face.decomposition is not None:
            names[each.conversation] = None
            for aspect, scores in each.face.scores.items():
                own = scorings.setdefault(aspect, {})
                own[each.conversation] = Scoring(each.log, each.face.decomposition, scores)
    return Scorings(tuple(names), scorings)


def _by_conversation(
    turns: Iterable[tuple[ScoreTarget, ParticleScores]],
) -> dict[str, tuple[ParticleScore, ...]]:
    found: dict[str, tuple[ParticleScore, ...]] = {}
    for place, own in turns:
        assert place.turn is not None
        scores = tuple(
            ParticleScore(
                place.turn,
                number,
                tuple(InstructionScore(name, (), score) for name, score in given.items()),
            )
            for number, given in own.items()
        )
        found[place.conversation] = (*found.get(place.conversation, ()), *scores)
    return found
