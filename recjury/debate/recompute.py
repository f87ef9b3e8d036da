"""Recompute a stored debate: statements, prompts, the last round, and the verdict.

A fork begins with edited statements and statements kept from its original. All later statements are
recomputed as in any debate.
"""

import re
from collections.abc import Callable, Sequence
from contextlib import suppress

from recjury.debate.discrepancy import Discrepancy, compare, compare_text
from recjury.debate.forking import Fork
from recjury.debate.rated_log import RatedLog, own_ratings
from recjury.debate.recheck import recheck_answer, recheck_prompts, recheck_rating
from recjury.debate.roles import PACKS, DebatePrompts
from recjury.debate.rounds import abstention, overall
from recjury.debate.rule_debaters import RULE, rule_statement
from recjury.debate.rules import (
    OVERALL,
    RULE_DEBATE,
    RULE_PROTOCOL,
    RULES,
    as_shown,
    is_by_rule,
    is_over,
    verdict,
)
from recjury.debate.shown_facts import shown_expert, shown_facts
from recjury.errors import StoreError
from recjury.records import (
    CallRecord,
    Debate,
    DebateTranscript,
    Rating,
    Role,
    Statement,
)
from recjury.store import Store

_WRITTEN = re.compile(
    rf"(?:{'|'.join(PACKS)})/[^/+]+\+[0-9a-f]{{16}}(?: in [^/+]+)?{RULES}|{RULE_DEBATE}\d+"
)


def installed_protocol(protocol: str) -> str:
    """The installed version of what `protocol` is a version of."""
    if is_by_rule(protocol):
        return RULE_PROTOCOL
    return f"{DebatePrompts.installed(protocol).identity}{RULES}"


class DebateVerifier:
    """Verifies one debate."""

    def __init__(self, store: Store, debate: Debate, rated: RatedLog):
        """`rated` is what the roles were given."""
        self._store = store
        self._rated = rated
        self._transcript, self._verdict = debate
        facts = shown_facts(store, self._transcript, rated.log)
        expert = shown_expert(store, self._transcript)
        self._prompts = DebatePrompts.installed(self._transcript.protocol, facts, expert)
        self._by_rule = is_by_rule(self._transcript.protocol)
        self._same_version = self._transcript.protocol == installed_protocol(
            self._transcript.protocol
        )

    def differences(self, rated: Sequence[Rating]) -> tuple[Discrepancy, ...]:
        """The discrepancies of a debate that is not a fork, in the debate's order.

        `rated` are the ratings that were stored with it.
        """
        found: tuple[Discrepancy, ...] = ()
        for rating in self._rated.ratings:
            found += recheck_rating(rating, self._calls(rating.calls), self._rated.log)
        return found + self._rounds({}) + self._outcome(rated)

    def differences_of_fork(
        self, fork: Fork, original: DebateTranscript, rated: Sequence[Rating]
    ) -> tuple[Discrepancy, ...]:
        """The discrepancies of a fork of `original`, whose ratings are verified separately."""
        given = {(said.round, said.role): said for said in fork.opening(original)}
        limit = self._transcript.max_rounds
        found = compare("rounds", "round limit", fork.max_rounds, limit)
        return found + self._rounds(given) + self._players(fork, given) + self._outcome(rated)

    def _rounds(self, given: dict[tuple[int, Role], Statement]) -> tuple[Discrepancy, ...]:
        transcript = self._transcript
        found = compare("rounds", "log", self._rated.log.id, transcript.log) + self._protocol()
        said: tuple[Statement, ...] = ()
        for number in range(1, transcript.rounds + 1):
            spoken = transcript.of_round(number)
            found += self._round(number, spoken, said, given)
            said += spoken
        return found + compare("rounds", "order", said, transcript.statements)

    def _protocol(self) -> tuple[Discrepancy, ...]:
        """A discrepancy if no version of recjury can have written this protocol."""
        protocol = self._transcript.protocol
        if _WRITTEN.fullmatch(protocol):
            return ()
        return compare("protocol", "debate", installed_protocol(protocol), protocol)

    def _players(
        self, fork: Fork, given: dict[tuple[int, Role], Statement]
    ) -> tuple[Discrepancy, ...]:
        """New statements whose speaker is not the model that the fork names for the role."""
        recomputed = [s for s in self._transcript.statements if (s.round, s.role) not in given]
        return _each(
            [said for said in recomputed if said.role in fork.models],
            lambda said: compare(
                "statement", f"{_where(said)}, speaker", fork.models[said.role], said.speaker
            ),
        )

    def _round(
        self,
        number: int,
        spoken: Sequence[Statement],
        said: Sequence[Statement],
        given: dict[tuple[int, Role], Statement],
    ) -> tuple[Discrepancy, ...]:
        where = f"round {number}"
        found = compare("rounds", where, list(Role), [statement.role for statement in spoken])
        if number < self._transcript.rounds:
            over = is_over(spoken, self._transcript.protocol)
            found += compare("rounds", f"{where} ends the debate", over, False)

        def checked(statement: Statement) -> tuple[Discrepancy, ...]:
            kept = given.get((number, statement.role))
            return self._new(statement, said) if kept is None else _same(kept, statement)

        return found + _each(spoken, checked)

    def _new(self, statement: Statement, said: Sequence[Statement]) -> tuple[Discrepancy, ...]:
        """The discrepancies of a statement that was made in this debate."""
        role, number = statement.role, statement.round
        if not self._rated.scored(role):
            speaker = RULE if self._by_rule else statement.speaker
            return _same(abstention(role, number, speaker), statement)
        if not self._by_rule:
            return self._by_a_model(statement, said)
        if not self._same_version:
            return ()  # another version of the rule makes other statements
        return _same(rule_statement(role, number, self._rated, said), statement)

    def _by_a_model(
        self, statement: Statement, said: Sequence[Statement]
    ) -> tuple[Discrepancy, ...]:
        calls = self._calls(statement.calls)
        if len(calls) < len(statement.calls):
            return ()  # an altered call: `integrity` reports it
        found = recheck_answer(statement, calls)
        if not self._same_version:
            return found  # the prompts that were sent are of another version
        log, own = self._rated.log, own_ratings(statement.role, self._rated.ratings)
        shown = as_shown(said)
        return found + recheck_prompts(statement, calls, self._prompts, log, own, shown)

    def _calls(self, identities: Sequence[str]) -> list[CallRecord]:
        """The unaltered calls; `integrity` reports the others."""
        calls: list[CallRecord] = []
        for identity in identities:
            with suppress(StoreError):
                calls.append(self._store.call(identity))
        return calls

    def _outcome(self, rated: Sequence[Rating]) -> tuple[Discrepancy, ...]:
        transcript = self._transcript
        last = transcript.of_round(transcript.rounds)
        found: tuple[Discrepancy, ...] = ()
        if not is_over(last, transcript.protocol):
            found += compare("rounds", "round limit", transcript.max_rounds, transcript.rounds)
        found += compare("verdict", "debate", verdict(transcript), self._verdict)
        expected = overall(Debate(transcript, self._verdict))
        for rating in rated:
            if rating.factor == OVERALL:
                found += compare("verdict", OVERALL, expected.score, rating.score)
                found += compare("verdict", f"{OVERALL}, status", expected.status, rating.status)
        return found


def _each(
    spoken: Sequence[Statement], check: Callable[[Statement], tuple[Discrepancy, ...]]
) -> tuple[Discrepancy, ...]:
    return tuple(difference for statement in spoken for difference in check(statement))


def _same(expected: Statement, found: Statement) -> tuple[Discrepancy, ...]:
    where = _where(found)
    differences = compare_text("statement", where, expected.text, found.text)
    differences += compare("score", where, expected.score, found.score)
    if differences:
        return differences
    return compare("statement", where, expected, found)


def _where(said: Statement) -> str:
    return f"{said.role} in round {said.round}"
