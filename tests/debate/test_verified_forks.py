"""Forks are verified against their originals, against what they say was changed, and recomputed."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from recjury.debate import Edit, Fork, RuleDebaters, fork_id, overall, run_fork
from recjury.debate.lookup import look_up_debates, with_forks
from recjury.debate.stored_debate import load_debate, verify
from recjury.errors import StoreError
from recjury.records import (
    ChatRequest,
    Debate,
    Role,
    StageResult,
    Statement,
)
from recjury.store import DebateSummary, ForkedEvaluation, Store
from tests.debate.stored import CONVERSATION, EVALUATION, fill

LINGUIST = list(Role).index(Role.LINGUIST)
FORK = Fork(
    round=1,
    max_rounds=4,
    edits={Role.LINGUIST: Edit(text="I changed my mind.", score=20)},
    debaters={"debaters": "rule"},
)
Change = Callable[[Debate], Debate]


def silent(request: ChatRequest) -> str:
    raise AssertionError(f"asked for {request.purpose}")


def stored(folder: Path) -> str:
    """The url of a store with a debate by rule, in which all agree at once."""
    url = f"sqlite:///{folder / 'runs.db'}"
    fill(url, None, script=silent)
    return url


def forked(
    url: str, fork: Fork = FORK, change: Change = lambda debate: debate, spec: Fork | None = None
) -> str:
    """The id of a fork that is kept as `change` leaves it, and as `spec` describes it."""

    async def keep(store: Store) -> str:
        original = load_debate(store, EVALUATION)
        held = await run_fork(fork, original.transcript, original.rated, RuleDebaters())
        debate = change(held)
        identity = fork_id(EVALUATION, fork)
        kept = (spec or fork).model_dump(mode="json")
        await store.save_fork(
            ForkedEvaluation(identity, EVALUATION, kept),
            StageResult((overall(debate),), debate=debate),
        )
        return identity

    with Store.open(url) as store:
        return asyncio.run(keep(store))


def said_otherwise(place: int, **values: object) -> Change:
    def change(debate: Debate) -> Debate:
        statements: list[Statement] = list(debate.transcript.statements)
        statements[place] = statements[place].model_copy(update=values)
        transcript = debate.transcript.model_copy(update={"statements": tuple(statements)})
        return Debate(transcript, debate.verdict)

    return change


def differences(url: str, fork: str) -> list[tuple[str, str]]:
    with Store.open(url, create=False) as store:
        return [(found.kind, found.where.partition(", ")[0]) for found in verify(store, fork)]


def test_a_fork_verifies_and_names_its_original(tmp_path: Path) -> None:
    url = stored(tmp_path)
    fork = forked(url)
    assert differences(url, fork) == []
    with Store.open(url, create=False) as store:
        found = load_debate(store, fork)
        assert found.forked is not None
        assert (found.forked.original, found.forked.fork) == (EVALUATION, FORK)
        assert found.ratings == load_debate(store, EVALUATION).ratings
        assert found.transcript.statements[LINGUIST].text == "I changed my mind."


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        (said_otherwise(0, text="I never said so."), "statement"),
        (said_otherwise(LINGUIST, text="I changed it twice."), "statement"),
        (said_otherwise(LINGUIST, score=21.0), "score"),
        (said_otherwise(4 + LINGUIST, text="I never said so."), "statement"),
        (
            lambda debate: debate._replace(
                verdict=debate.verdict.model_copy(update={"score": 99.0})
            ),
            "verdict",
        ),
        (
            lambda debate: debate._replace(
                transcript=debate.transcript.model_copy(update={"max_rounds": 9})
            ),
            "rounds",
        ),
    ],
)
def test_what_was_falsified_before_it_was_sealed_is_found(
    tmp_path: Path, change: Change, kind: str
) -> None:
    url = stored(tmp_path)
    found = [each for each, _ in differences(url, forked(url, change=change))]
    assert kind in found
    assert "store" not in found


def test_another_change_than_the_id_stands_for_is_found(tmp_path: Path) -> None:
    url = stored(tmp_path)
    spec = FORK.model_copy(update={"edits": {Role.LINGUIST: Edit(text="Another.", score=20)}})
    assert ("store", "fork") in differences(url, forked(url, spec=spec))


def test_a_fork_of_a_fork_verifies_down_to_its_original(tmp_path: Path) -> None:
    url = stored(tmp_path)
    first = forked(url)

    async def again(store: Store) -> str:
        original = load_debate(store, first)
        fork = Fork(round=2, max_rounds=4, edits={Role.COMMON_USER: Edit(score=1)})
        debate = await run_fork(fork, original.transcript, original.rated, RuleDebaters())
        identity = fork_id(first, fork)
        await store.save_fork(
            ForkedEvaluation(identity, first, fork.model_dump(mode="json")),
            StageResult((overall(debate),), debate=debate),
        )
        return identity

    with Store.open(url) as store:
        second = asyncio.run(again(store))
        assert verify(store, second) == ()
        assert set(store.debated()) == {EVALUATION, first, second}
        lines = with_forks(store.debates())
        assert [each.evaluation for each in lines] == [EVALUATION, first, second]


def test_what_is_wrong_in_the_original_is_wrong_in_the_fork(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'runs.db'}"

    def falsified(transcript, verdict):  # type: ignore[no-untyped-def]
        return said_otherwise(0, text="I never said so.")(Debate(transcript, verdict))

    fill(url, None, change=falsified, script=silent)
    assert differences(url, forked(url)) == [("statement", f"original {EVALUATION[:12]}")]


def test_a_conversation_stands_for_its_original_debate(tmp_path: Path) -> None:
    url = stored(tmp_path)
    fork = forked(url)
    with Store.open(url, create=False) as store:
        assert look_up_debates(store, CONVERSATION).debates == (EVALUATION,)
        assert look_up_debates(store, fork[:8]).debates == (fork,)
        with pytest.raises(StoreError, match="no conversation begins with zz"):
            look_up_debates(store, "zz")


def test_forks_of_what_is_not_listed_stand_by_themselves() -> None:
    def line(evaluation: str, of: str | None = None) -> DebateSummary:
        return DebateSummary(evaluation, "c", "s", "x#1", 50.0, 1, True, "core", of)

    listed = (line("a"), line("b"), line("a2", "a1"), line("a1", "a"), line("z", "gone"))
    assert [each.evaluation for each in with_forks(listed)] == ["a", "a1", "a2", "b", "z"]
