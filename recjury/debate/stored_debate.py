"""Stored debates: watched again, and verified.

Verification trusts nothing that was derived. It holds every row and text of the evaluation against
its hash, reads the models' raw replies again, renders every prompt again from log, ratings and
transcript, and recomputes rule statements, the round the debate had to stop in, and the verdict.
Of a debate by an older version of the prompts or the rule, what that version made cannot be made
again: it is held against its hashes, and all the rest is recomputed. What a fork kept is held
against its original, and with the fork its original is verified.
"""

from collections.abc import Mapping, Sequence

from pydantic import ValidationError

from recjury.debate.discrepancy import Discrepancy, compare
from recjury.debate.forking import Fork, fork_id
from recjury.debate.recompute import DebateVerifier, installed_protocol
from recjury.errors import StoreError
from recjury.records import (
    ConversationLog,
    Debate,
    DebateTranscript,
    Factor,
    Rating,
    Record,
    StageResult,
    Verdict,
)
from recjury.store import Store

_DIGITS = 12  # of an id in a message


class ForkOf(Record):
    """What a debate is a fork of, and how they differ."""

    original: str
    fork: Fork


class ReplayedDebate(Record):
    """A debate as it was held: the log, the ratings the roles were given (one per factor, of the
    judges the transcript names), what was said, and the verdict.

    `forked` is None where it was held from its beginning.
    """

    evaluation: str
    conversation: str
    log: ConversationLog
    ratings: tuple[Rating, ...]
    transcript: DebateTranscript
    verdict: Verdict
    forked: ForkOf | None = None


def load_debate(store: Store, evaluation: str) -> ReplayedDebate:
    """The stored debate of an evaluation, to be watched round by round.

    Raises StoreError if the evaluation has no debate, or is not as it was written.
    """
    return _Stored(store, evaluation).replayed()


def verify(store: Store, evaluation: str) -> tuple[Discrepancy, ...]:
    """Everything in which a debate differs from itself recomputed; empty if nothing.

    Raises StoreError if the evaluation has no debate.
    """
    altered = tuple(_altered(evaluation, line) for line in store.integrity(evaluation))
    try:
        stored = _Stored(store, evaluation)
        debate = stored.replayed()
    except StoreError as problem:
        if not altered and store.debate(evaluation) is None:
            raise
        return altered or (_altered(evaluation, str(problem)),)
    held = Debate(debate.transcript, debate.verdict)
    recomputed = DebateVerifier(store, held, debate.log, debate.ratings)
    rated = stored.results["debate"].ratings
    if debate.forked is None:
        return altered + recomputed.differences(rated)
    original, fork = debate.forked.original, debate.forked.fork
    altered += compare("store", "fork", fork_id(original, fork), stored.row.identity)
    below = verify(store, original)
    if any(each.kind == "store" for each in below):
        return altered + _of_original(original, below)
    before = load_debate(store, original).transcript
    found = recomputed.differences_of_fork(fork, before, rated)
    return altered + found + _of_original(original, below)


def another_version(store: Store, evaluation: str) -> str | None:
    """The protocol of an evaluation's debate where the installed version is another; else None.

    Of such a debate `verify` can neither render the prompts nor compute rule statements again:
    that is no alteration, but whoever reads "verified" should know. None without a debate, too.
    """
    debate = store.debate(evaluation)
    if debate is None or debate.transcript.protocol == installed_protocol(
        debate.transcript.protocol
    ):
        return None
    return debate.transcript.protocol


class _Stored:
    """An evaluation as the store has it, with what its debate was held over."""

    def __init__(self, store: Store, evaluation: str):
        self._store = store
        self.row = store.evaluation(evaluation)
        self.results: Mapping[str, StageResult] = store.stage_results(self.row.id)

    def replayed(self) -> ReplayedDebate:
        """Its debate; raises StoreError where there is none."""
        kept = self.results["debate"].kept if "debate" in self.results else None
        if not isinstance(kept, Debate):
            raise StoreError(
                f"evaluation {self.row.id} has no debate in the store: resume its campaign first"
            )
        conversation = next(iter(self.row.conversations), "")
        log = self._store.log(conversation) if conversation else None
        if log is None:
            raise StoreError(f"evaluation {self.row.id} has a debate in the store, but no log")
        return ReplayedDebate(
            evaluation=self.row.id,
            conversation=conversation,
            log=log,
            ratings=_debate_ratings(self._rated(), kept.transcript),
            transcript=kept.transcript,
            verdict=kept.verdict,
            forked=self._forked(),
        )

    def _rated(self) -> tuple[Rating, ...]:
        """The ratings of the evaluation, or of that which it was forked from first."""
        row, seen = self.row, {self.row.id}
        while row.fork_of is not None:
            row = self._store.evaluation(row.fork_of)
            if row.id in seen:
                raise StoreError(f"evaluation {row.id} is not in the store as it was written")
            seen.add(row.id)
        results = self.results if row is self.row else self._store.stage_results(row.id)
        return results["rate"].ratings if "rate" in results else ()

    def _forked(self) -> ForkOf | None:
        if self.row.fork_of is None:
            return None
        kept = self.results["fork"].kept if "fork" in self.results else None
        try:
            return ForkOf(original=self.row.fork_of, fork=Fork.model_validate(kept))
        except ValidationError:
            raise StoreError(f"fork {self.row.id} is not in the store as it was written") from None


def _altered(evaluation: str, line: str) -> Discrepancy:
    return Discrepancy(kind="store", where=evaluation, expected="as it was written", found=line)


def _of_original(original: str, found: Sequence[Discrepancy]) -> tuple[Discrepancy, ...]:
    """What is wrong with the original of a fork is wrong with the fork."""
    place = f"original {original[:_DIGITS]}"
    return tuple(each.model_copy(update={"where": f"{place}, {each.where}"}) for each in found)


def _debate_ratings(ratings: Sequence[Rating], transcript: DebateTranscript) -> tuple[Rating, ...]:
    """The ratings that the roles were given."""
    given = {
        rating.factor: rating
        for rating in reversed(ratings)  # of two by one judge, the first stays
        if rating.evaluator in transcript.judges
    }
    return tuple(given[factor] for factor in Factor if factor in given)
