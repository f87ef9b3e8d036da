"""Stored debates: watched again, and verified.

Verification trusts nothing that was derived. It holds every row and text of the trial against
its hash, reads the models' raw replies again, renders every prompt again from log, ratings and
transcript, and recomputes rule statements, the round the debate had to stop in, and the verdict.
Of a debate by an older version of the prompts or the rule, what that version made cannot be made
again: it is held against its hashes, and all the rest is recomputed.
"""

import re
from collections.abc import Callable, Sequence

from recjury.debate.debate import abstention, is_over, verdict
from recjury.debate.difference import Difference, compared, compared_text
from recjury.debate.recheck import recheck_answer, recheck_prompts, recheck_rating
from recjury.debate.roles import PACK, DebatePrompts, own_ratings
from recjury.debate.rule_debaters import PROTOCOL as RULE_PROTOCOL
from recjury.debate.rule_debaters import RULE, RULE_DEBATE, rule_statement
from recjury.errors import StoreError
from recjury.records import (
    CallRecord,
    ConversationLog,
    DebateTranscript,
    Factor,
    Rating,
    Record,
    Role,
    Statement,
    Status,
    Verdict,
)
from recjury.store import Store

_WRITTEN = re.compile(rf"{PACK}/[^/+]+\+[0-9a-f]{{16}}|{RULE_DEBATE}\d+")


class ReplayedDebate(Record):
    """A debate as it was held: the log, the ratings the roles were given (one per factor, of the
    judges the transcript names), what was said, and the verdict."""

    trial: str
    log: ConversationLog
    ratings: tuple[Rating, ...]
    transcript: DebateTranscript
    verdict: Verdict


def replay(store: Store, trial: str) -> ReplayedDebate:
    """The stored debate of a trial, to be watched round by round.

    Raises StoreError if the trial has no debate, or is not as it was written.
    """
    debate, log = store.debate(trial), store.log(trial)
    if debate is None:
        raise StoreError(f"trial {trial} has no debate in the store: resume its campaign first")
    if log is None:
        raise StoreError(f"trial {trial} has a debate in the store, but no log")
    return ReplayedDebate(
        trial=trial,
        log=log,
        ratings=_fed(store.ratings(trial), debate.transcript),
        transcript=debate.transcript,
        verdict=debate.verdict,
    )


def verify(store: Store, trial: str) -> tuple[Difference, ...]:
    """Everything in which a trial's debate differs from itself recomputed; empty if nothing.

    Raises StoreError if the trial has no debate.
    """
    altered = tuple(_altered(trial, line) for line in store.integrity(trial))
    try:
        debate = replay(store, trial)
    except StoreError as problem:
        if not altered and store.debate(trial) is None:
            raise
        return altered or (_altered(trial, str(problem)),)
    return altered + _Recomputed(store, debate).differences()


def another_version(store: Store, trial: str) -> str | None:
    """The protocol of a trial's debate where the installed version is another; else None.

    Of such a debate `verify` can neither render the prompts nor compute rule statements again:
    that is no alteration, but whoever reads "verified" should know. None without a debate, too.
    """
    debate = store.debate(trial)
    if debate is None or debate.transcript.protocol == installed(debate.transcript.protocol):
        return None
    return debate.transcript.protocol


def installed(protocol: str) -> str:
    """The installed version of what `protocol` is a version of."""
    return RULE_PROTOCOL if protocol.startswith(RULE_DEBATE) else DebatePrompts().identity


def _altered(trial: str, line: str) -> Difference:
    return Difference(kind="store", where=trial, expected="as it was written", found=line)


def _fed(ratings: Sequence[Rating], transcript: DebateTranscript) -> tuple[Rating, ...]:
    given = {
        rating.factor: rating
        for rating in reversed(ratings)  # of two by one judge, the first stays
        if rating.evaluator in transcript.judges
    }
    return tuple(given[factor] for factor in Factor if factor in given)


class _Recomputed:
    """One debate on its way through verification."""

    def __init__(self, store: Store, debate: ReplayedDebate):
        self._store = store
        self._log = debate.log
        self._ratings = debate.ratings
        self._transcript = debate.transcript
        self._verdict = debate.verdict
        self._prompts = DebatePrompts()
        self._by_rule = self._transcript.protocol.startswith(RULE_DEBATE)
        self._same_version = self._transcript.protocol == installed(self._transcript.protocol)

    def differences(self) -> tuple[Difference, ...]:
        """All of them, in the order in which the debate was held."""
        transcript = self._transcript
        found = compared("rounds", "log", self._log.id, transcript.log)
        found += self._protocol()
        for rating in self._ratings:
            found += recheck_rating(rating, self._calls(rating.calls), self._log)
        said: tuple[Statement, ...] = ()
        for number in range(1, transcript.rounds + 1):
            spoken = transcript.of_round(number)
            found += self._round(number, spoken, said)
            said += spoken
        found += compared("rounds", "order", said, transcript.statements)
        return found + self._outcome()

    def _protocol(self) -> tuple[Difference, ...]:
        """A protocol that no version of recjury could have written."""
        protocol = self._transcript.protocol
        if _WRITTEN.fullmatch(protocol):
            return ()
        return compared("protocol", "debate", installed(protocol), protocol)

    def _round(
        self, number: int, spoken: Sequence[Statement], said: Sequence[Statement]
    ) -> tuple[Difference, ...]:
        where = f"round {number}"
        found = compared("rounds", where, list(Role), [statement.role for statement in spoken])
        if number < self._transcript.rounds:
            found += compared("rounds", f"{where} ends the debate", is_over(spoken), False)
        check = self._by_the_rule if self._by_rule else self._by_a_model
        return found + _each(spoken, lambda statement: check(statement, said))

    def _by_the_rule(
        self, statement: Statement, said: Sequence[Statement]
    ) -> tuple[Difference, ...]:
        if not self._same_version:
            return ()  # another version of the rule said other things
        own = own_ratings(statement.role, self._ratings)
        if not _any_scored(own):
            return _same(abstention(statement.role, statement.round, RULE), statement)
        return _same(rule_statement(statement.role, statement.round, own, said), statement)

    def _by_a_model(
        self, statement: Statement, said: Sequence[Statement]
    ) -> tuple[Difference, ...]:
        own = own_ratings(statement.role, self._ratings)
        if not _any_scored(own):
            expected = abstention(statement.role, statement.round, statement.speaker)
            return _same(expected, statement)
        calls = self._calls(statement.calls)
        if len(calls) < len(statement.calls):
            return ()  # an altered call: the store has said so
        found = recheck_answer(statement, [call.reply for call in calls])
        if not self._same_version:
            return found  # other prompts than these were sent
        return found + recheck_prompts(statement, calls, self._prompts, self._log, own, said)

    def _calls(self, identities: Sequence[str]) -> list[CallRecord]:
        """The calls that are as they were written; the others were reported already."""
        calls: list[CallRecord] = []
        for identity in identities:
            try:
                calls.append(self._store.call(identity))
            except StoreError:
                continue
        return calls

    def _outcome(self) -> tuple[Difference, ...]:
        transcript = self._transcript
        last = transcript.of_round(transcript.rounds)
        found: tuple[Difference, ...] = ()
        if not is_over(last):
            found += compared("rounds", "round limit", transcript.max_rounds, transcript.rounds)
        return found + compared("verdict", "debate", verdict(transcript), self._verdict)


def _each(
    spoken: Sequence[Statement], check: Callable[[Statement], tuple[Difference, ...]]
) -> tuple[Difference, ...]:
    return tuple(difference for statement in spoken for difference in check(statement))


def _any_scored(ratings: Sequence[Rating]) -> bool:
    return any(rating.status is Status.SCORED for rating in ratings)


def _same(expected: Statement, found: Statement) -> tuple[Difference, ...]:
    where = f"{found.role} in round {found.round}"
    differences = compared_text("statement", where, expected.text, found.text)
    differences += compared("score", where, expected.score, found.score)
    if differences:
        return differences
    return compared("statement", where, expected, found)
