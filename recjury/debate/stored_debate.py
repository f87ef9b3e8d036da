"""Stored debates: replayed and verified.

Verification trusts no derived data. It compares every row and text of the evaluation with its hash,
parses the models' raw replies again, renders every prompt again from log, ratings and transcript,
and recomputes rule statements, the last round, and the verdict, under the rules that the debate was
held by. If the prompts or the rule of the debaters have an older version, their texts are only
compared with their hashes; everything else is recomputed. The statements that a fork kept are
compared with its original, which is verified, too.
"""

from collections.abc import Iterator, Sequence

from pydantic import ValidationError

from recjury.debate.discrepancy import Discrepancy, compare
from recjury.debate.forking import Fork, fork_id
from recjury.debate.rated_log import RatedLog
from recjury.debate.recompute import DebateVerifier, installed_protocol
from recjury.errors import StoreError
from recjury.records import (
    ConversationLog,
    Debate,
    DebateTranscript,
    Evidence,
    Factor,
    Rating,
    Record,
    StageResult,
    Verdict,
)
from recjury.store import Store, WholeEvaluation

_READ_AT_ONCE = 100  # evaluations, which limits memory
_DIGITS = 12  # of an id in a message


class ForkOf(Record):
    """The original of a fork, and how the two differ."""

    original: str
    fork: Fork


class ReplayedDebate(Record):
    """A debate as it was held: log, ratings, statements and verdict.

    The ratings are those that the roles were given: one per factor, of the judges that the
    transcript names; `evidence` is what these rest on. `forked` is None if the debate is not a
    fork.
    """

    evaluation: str
    conversation: str
    log: ConversationLog
    ratings: tuple[Rating, ...]
    transcript: DebateTranscript
    verdict: Verdict
    evidence: tuple[Evidence, ...] = ()
    forked: ForkOf | None = None

    @property
    def rated(self) -> RatedLog:
        """What the debate was held over."""
        return RatedLog(self.log, self.ratings, self.evidence)


def load_debate(store: Store, evaluation: str) -> ReplayedDebate:
    """The stored debate of an evaluation, to be replayed round by round.

    Raises StoreError if the evaluation has no debate, or was altered.
    """
    return _Stored(store, evaluation).replayed()


def verify(store: Store, evaluation: str) -> tuple[Discrepancy, ...]:
    """The differences between a stored debate and its recomputation; empty if there are none.

    Raises StoreError if the evaluation has no debate.
    """
    return Verification(store, evaluation).differences()


def verifications(store: Store, evaluations: Sequence[str]) -> Iterator["Verification"]:
    """The verification of each of `evaluations`, in order; the rows of many are read at once."""
    for start in range(0, len(evaluations), _READ_AT_ONCE):
        some = evaluations[start : start + _READ_AT_ONCE]
        whole = _read_whole(store, some)
        for each in some:
            yield Verification(store, each, whole.get(each))


def _read_whole(store: Store, evaluations: Sequence[str]) -> dict[str, WholeEvaluation]:
    """What `whole` reads; nothing if a row is unreadable, so that each is then read alone."""
    try:
        return store.whole(evaluations)
    except StoreError:
        return {}


class Verification:
    """Verifies one stored debate."""

    def __init__(self, store: Store, evaluation: str, whole: WholeEvaluation | None = None):
        """`whole` is the evaluation if nothing of it was altered; None if that is not known."""
        self.evaluation = evaluation
        self._store = store
        self._whole = whole

    @property
    def conversation(self) -> str | None:
        """The id of the conversation; None if its rows, or those of the evaluation, are missing."""
        try:
            stored = self._whole.stored if self._whole else self._store.evaluation(self.evaluation)
        except StoreError:
            return None
        return next(iter(stored.conversations), None)

    def another_version(self) -> str | None:
        """The protocol of its debate if its prompts are not the installed ones, or else None.

        For such a debate the prompts cannot be rendered, nor rule statements computed, again. That
        is not an alteration, but readers of "verified" should know it. None without a debate.
        """
        debate = self._stored().debate if self._whole else self._store.debate(self.evaluation)
        if debate is None:
            return None
        protocol = debate.transcript.protocol
        return None if protocol == installed_protocol(protocol) else protocol

    def differences(self) -> tuple[Discrepancy, ...]:
        """As `verify`."""
        store, evaluation = self._store, self.evaluation
        lines = () if self._whole else store.integrity(evaluation)
        altered = tuple(_altered(evaluation, line) for line in lines)
        try:
            stored = self._stored()
            debate = stored.replayed()
        except StoreError as problem:
            if not altered and store.debate(evaluation) is None:
                raise
            return altered or (_altered(evaluation, str(problem)),)
        held = Debate(debate.transcript, debate.verdict)
        recomputed = DebateVerifier(store, held, debate.rated)
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

    def _stored(self) -> "_Stored":
        return _Stored(self._store, self.evaluation, self._whole)


class _Stored:
    """A stored evaluation, with the ratings that its debate used."""

    def __init__(self, store: Store, evaluation: str, whole: WholeEvaluation | None = None):
        self._store = store
        self._whole = whole
        self.row = whole.stored if whole else store.evaluation(evaluation)
        self.results = whole.results if whole else store.stage_results(self.row.id)

    @property
    def debate(self) -> Debate | None:
        """Its debate as it is stored; None if there is none."""
        return self.results["debate"].debate if "debate" in self.results else None

    def replayed(self) -> ReplayedDebate:
        """Its debate. Raises StoreError if there is none."""
        kept = self.debate
        if kept is None:
            raise StoreError(
                f"evaluation {self.row.id} has no debate in the store: resume its campaign first"
            )
        conversation = next(iter(self.row.conversations), "")
        log = self._whole.log if self._whole else self._read_log(conversation)
        if log is None:
            raise StoreError(f"evaluation {self.row.id} has a debate in the store, but no log")
        rate = self._rate()
        return ReplayedDebate(
            evaluation=self.row.id,
            conversation=conversation,
            log=log,
            ratings=_debate_ratings(rate.ratings, kept.transcript),
            evidence=rate.evidence,
            transcript=kept.transcript,
            verdict=kept.verdict,
            forked=self._forked(),
        )

    def _read_log(self, conversation: str) -> ConversationLog | None:
        return self._store.log(conversation) if conversation else None

    def _rate(self) -> StageResult:
        """The ratings of the evaluation, or of the first original of a fork, and the evidence."""
        row, seen = self.row, {self.row.id}
        while row.fork_of is not None:
            row = self._store.evaluation(row.fork_of)
            if row.id in seen:
                raise StoreError(f"evaluation {row.id} was changed after it was written")
            seen.add(row.id)
        results = self.results if row is self.row else self._store.stage_results(row.id)
        return results.get("rate", StageResult())

    def _forked(self) -> ForkOf | None:
        if self.row.fork_of is None:
            return None
        fork = self.results["fork"].output if "fork" in self.results else None
        try:
            return ForkOf(original=self.row.fork_of, fork=Fork.model_validate(fork))
        except ValidationError:
            raise StoreError(f"fork {self.row.id} was changed after it was written") from None


def _altered(evaluation: str, line: str) -> Discrepancy:
    return Discrepancy(kind="store", where=evaluation, expected="as it was written", found=line)


def _of_original(original: str, found: Sequence[Discrepancy]) -> tuple[Discrepancy, ...]:
    """The discrepancies of a fork's original, as discrepancies of the fork."""
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
