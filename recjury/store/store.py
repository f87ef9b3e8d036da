"""The store: everything a campaign leaves behind, in one SQLite file."""

import contextlib
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

from sqlalchemy import Connection, Engine

from recjury.errors import StoreError
from recjury.records import (
    Aspect,
    CallRecord,
    ConversationLog,
    DebateTranscript,
    Decomposition,
    ParticleScore,
    Rating,
    Verdict,
)
from recjury.store.calls import CallReader, call_identities
from recjury.store.campaigns import Campaign, begin, find_campaign, read_campaigns
from recjury.store.claim import claim
from recjury.store.contents import integrity
from recjury.store.debates import (
    Debate,
    DebateSummary,
    FinishedDebate,
    debate_summaries,
    debated,
    read_debates,
    write_debates,
)
from recjury.store.engine import (
    connect,
    for_writing,
    one_line_errors,
    store_path,
    use_write_ahead_log,
)
from recjury.store.face import (
    FinishedParticles,
    FinishedScores,
    StoredFace,
    read_face,
    write_particles,
    write_scores,
)
from recjury.store.failures import (
    FailedStage,
    Failure,
    Unfinished,
    read_failures,
    read_unfinished,
    unfinished_trials,
    write_failures,
)
from recjury.store.logs import FinishedLog, read_logs, write_logs
from recjury.store.migrate import is_current, upgrade
from recjury.store.outcomes import TrialOutcome, read_outcomes
from recjury.store.ratings import (
    FinishedRatings,
    is_rating_stage,
    read_ratings,
    seals_by_stage,
    write_ratings,
)
from recjury.store.recorder import StoreRecorder
from recjury.store.spending import Spent, read_spent
from recjury.store.stages import holds_particles
from recjury.store.texts import Interner, text_of_hash
from recjury.store.trials import (
    Planned,
    SetAside,
    Trial,
    add_trials,
    check_stages,
    find_trial,
    read_trials,
    set_aside,
    stages_done,
    superseded_trials,
    trial_ids,
)
from recjury.store.writer import Transaction, Work, Writer, write_all

T = TypeVar("T")


class Store:
    """Typed readers and writers over one store. Close it, or use it in a `with` statement.

    The `save_*` writers are for many trials at once: they share the transactions of one writer
    thread and return once committed. A finished stage is never overwritten.
    """

    def __init__(self, path: Path, engine: Engine):
        """See `open`, which checks and upgrades the schema."""
        self.path = path
        self._engine = engine
        self._writer = Writer(engine)
        self._calls = CallReader(engine)

    @classmethod
    def open(cls, url: str, *, create: bool = True) -> Self:
        """Open a store (`sqlite:///runs.db`, or a path), with its schema brought up to date.

        Its folder is made where `create` allows. Raises StoreError if there is no store and
        `create` is False, or it cannot be opened, is newer than this version, or is no store.
        """
        path = store_path(url)
        if not create and not path.is_file():
            raise StoreError(f"there is no store at {path}: run a campaign first, or name another")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(f"the store {path}: cannot make its folder: {error}") from error
        engine = connect(path)
        try:
            with one_line_errors(path), engine.connect() as connection:
                with connection.begin():
                    current = is_current(connection)
                if not current:
                    with for_writing(connection).begin():
                        upgrade(connection)
                    use_write_ahead_log(connection)
        except BaseException:
            engine.dispose()
            raise
        return cls(path, engine)

    def close(self) -> None:
        """Commit what is waiting, and close the file."""
        self._writer.close()
        self._calls.close()
        self._engine.dispose()

    def __enter__(self) -> Self:
        """The store itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close it."""
        self.close()

    def recorder(self) -> StoreRecorder:
        """Keeps model calls for a gateway; `async with` waits for the last ones."""
        return StoreRecorder(self._engine, self._writer)

    def claim(self, campaign: str) -> contextlib.AbstractContextManager[None]:
        """Hold a campaign while running it; StoreError if another live process holds it."""
        return claim(self.path, campaign)

    def begin(self, campaign: Campaign) -> None:
        """Add a campaign, or another run of it."""
        self._write(begin, campaign)

    def add_trials(self, campaign: str, planned: Sequence[Trial]) -> int:
        """Add a campaign's trials, in the plan's order; those it has already stay.

        Returns how many trials of an earlier version left the campaign: those of the same
        system, scenario and repeat as a planned one, under another id.
        """
        self._write(add_trials, Planned(campaign, planned))
        with self._reading() as connection:
            superseded = superseded_trials(connection, Planned(campaign, planned))
        self._write(set_aside, SetAside(campaign, superseded))
        return len(superseded)

    async def save_log(
        self, trial: str, log: ConversationLog, ratings: Sequence[Rating] = ()
    ) -> None:
        """Finish "converse": the log, and what the simulated user says of it (persuasiveness)."""
        await self._writer.submit(write_logs, FinishedLog(trial, log, tuple(ratings)))

    async def save_ratings(
        self, trial: str, given: Sequence[Rating], *, stage: str = "rate"
    ) -> None:
        """Finish "rate", or a stage of another name for evaluators that came later."""
        finished = FinishedRatings(trial, tuple(given), stage)
        await self._writer.submit(write_ratings, finished)

    async def save_particles(self, trial: str, decomposition: Decomposition) -> None:
        """Finish "face/particles": the log's system turns as particles."""
        await self._writer.submit(write_particles, FinishedParticles(trial, decomposition))

    async def save_scores(
        self,
        trial: str,
        aspect: Aspect,
        scores: Sequence[ParticleScore],
        ratings: Sequence[Rating],
    ) -> None:
        """Finish "face/{aspect}": every sample of every particle, and what they add up to."""
        finished = FinishedScores(trial, aspect, tuple(scores), tuple(ratings))
        await self._writer.submit(write_scores, finished)

    async def save_debate(self, trial: str, transcript: DebateTranscript, verdict: Verdict) -> None:
        """Finish "debate"."""
        finished = FinishedDebate(trial, Debate(transcript, verdict))
        await self._writer.submit(write_debates, finished)

    async def save_failure(
        self, trial: str, stage: str, reason: str, said: ConversationLog | None = None
    ) -> None:
        """Keep why a stage failed, and what was `said` until then; the stage stays to do."""
        failure = Failure(trial, stage, reason, time.time())
        await self._writer.submit(write_failures, FailedStage(failure, said))

    def stages_done(self, campaign: str) -> dict[str, set[str]]:
        """The finished stages of each of the campaign's trials that has any."""
        with self._reading() as connection:
            return stages_done(connection, campaign)

    def campaigns(self) -> tuple[Campaign, ...]:
        """All campaigns, the oldest first."""
        with self._reading() as connection:
            return read_campaigns(connection)

    def campaign(self, prefix: str) -> Campaign:
        """The one campaign whose id begins so; StoreError if there is none, or several."""
        with self._reading() as connection:
            return find_campaign(connection, prefix)

    def spent(self, campaign: str) -> Spent:
        """What the model calls of a campaign and its trials have cost so far."""
        with self._reading() as connection:
            return read_spent(connection, campaign)

    def trials(self, campaign: str | None = None, system: str | None = None) -> tuple[Trial, ...]:
        """A campaign's trials in the plan's order, or all."""
        with self._reading() as connection:
            ids = trial_ids(connection, campaign, system)
            return tuple(read_trials(connection, ids).values())

    def trial(self, prefix: str) -> Trial:
        """The one trial whose id begins so; StoreError if there is none, or several."""
        with self._reading() as connection:
            return find_trial(connection, prefix)

    def failures(self, trial: str) -> tuple[Failure, ...]:
        """Everything that failed in a trial, the oldest first."""
        with self._reading() as connection:
            return tuple(read_failures(connection, [trial]).get(trial, ()))

    def unfinished(self, trial: str) -> Unfinished | None:
        """What was said until a trial's conversation failed; None where it did not, or was held
        since. StoreError if it is not as it was written."""
        with self._reading() as connection:
            return read_unfinished(connection, trial)

    def unfinished_trials(self, campaign: str | None = None) -> tuple[str, ...]:
        """The trials of which `unfinished` has something, in the plan's order."""
        with self._reading() as connection:
            return unfinished_trials(connection, campaign)

    def log(self, trial: str) -> ConversationLog | None:
        """A trial's log, or None; StoreError if it is not as it was written."""
        with self._reading() as connection:
            stored = read_logs(connection, [trial]).get(trial)
            return None if stored is None else stored.log

    def ratings(self, trial: str) -> tuple[Rating, ...]:
        """A trial's ratings, in the order given; StoreError if one is not as it was written."""
        with self._reading() as connection:
            stored = read_ratings(connection, [trial]).get(trial, ())
            check_stages(connection, {trial: seals_by_stage(stored)}, concerned=is_rating_stage)
            return tuple(each.rating for each in stored)

    def face(self, trial: str) -> StoredFace:
        """A trial's particles and their scores; StoreError if one is not as it was written."""
        with self._reading() as connection:
            stored = read_face(connection, [trial]).get(trial, StoredFace(None, {}, {}))
            check_stages(connection, {trial: stored.seals}, concerned=holds_particles)
            return stored

    def debate(self, trial: str) -> Debate | None:
        """A trial's transcript and verdict, or None; StoreError if not as it was written."""
        with self._reading() as connection:
            stored = read_debates(connection, [trial]).get(trial)
            seals = {} if stored is None else {"debate": stored.seals}
            check_stages(connection, {trial: seals}, concerned="debate".__eq__)
            return None if stored is None else stored.debate

    def debates(self, campaign: str | None = None) -> tuple[DebateSummary, ...]:
        """A line per debate, in the plan's order; read without checking."""
        with self._reading() as connection:
            return debate_summaries(connection, trial_ids(connection, campaign))

    def debated(self, campaign: str | None = None) -> tuple[str, ...]:
        """The trials that must have a debate, by all that is left of them; without checking."""
        with self._reading() as connection:
            return debated(connection, campaign)

    def outcomes(
        self, campaign: str | None = None, system: str | None = None
    ) -> Iterator[TrialOutcome]:
        """What came of each trial, in the plan's order; StoreError for altered rows."""
        with one_line_errors(self.path):
            yield from read_outcomes(self._engine, campaign, system)

    def call(self, identity: str) -> CallRecord:
        """A recorded call, prompt parts as they were; StoreError if missing or altered."""
        return self._calls.call(identity)

    def calls(self, campaign: str | None = None) -> Iterator[CallRecord]:
        """The calls that a campaign or its trials were the first to make, or all, in order."""
        with self._reading() as connection:
            identities = call_identities(connection, campaign)
        return map(self._calls.call, identities)

    def text(self, digest: str) -> str:
        """The text of a SHA-256 in hex; StoreError if missing or altered."""
        with self._reading() as connection:
            return text_of_hash(connection, digest)

    def integrity(self, trial: str) -> tuple[str, ...]:
        """What is not as it was written in a trial and the calls behind it, a line each."""
        with self._reading() as connection:
            return integrity(connection, self._calls, trial)

    @contextlib.contextmanager
    def _reading(self) -> Iterator[Connection]:
        with one_line_errors(self.path), self._engine.connect() as connection:
            yield connection

    def _write(self, work: Work[T], item: T) -> None:
        with one_line_errors(self.path), self._engine.connect() as connection:
            transaction = Transaction(for_writing(connection), Interner(self._engine))
            write_all(transaction, lambda transaction: work(transaction, [item]))
