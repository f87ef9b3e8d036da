"""Runs: what is done once, what is done again, and what becomes of failures."""

import asyncio
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from recjury.campaign import run
from recjury.campaign.prepare import prepared
from recjury.errors import Stop, UserError
from recjury.llm import AttemptError, Remedy
from recjury.records import Request
from recjury.store import Store
from tests.campaign.campaigns import Counting, config, contents, honest, play, said


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "s.db"


def counts(path: Path, table: str, column: str = "state") -> dict[str, int]:
    from sqlalchemy import text

    with Store(path, readonly=True) as store, store.connection() as connection:
        rows = connection.execute(text(f"SELECT {column}, COUNT(*) FROM {table} GROUP BY 1"))
        return dict(map(tuple, rows))


def test_every_trial_gets_a_verdict(path: Path) -> None:
    finished = play(path, config())
    assert (finished.planned, finished.left) == (4, 0)
    assert counts(path, "conversation") == {"done": 4}
    assert counts(path, "evaluation") == {"done": 8}
    ratings = counts(path, "rating", "metric")
    assert ratings["overall"] == 4
    assert ratings["coherence"] == 4


def test_a_finished_campaign_asks_nothing(path: Path) -> None:
    play(path, config())
    again = play(path, config())
    assert (again.left_before, again.sent, again.reused) == (0, 0, 0)


def test_a_longer_run_reuses_a_shorter_one(path: Path, tmp_path: Path) -> None:
    """`--limit 1`, then all: equal to all at once, and nothing is asked twice."""
    first = play(path, config(), limit=1)
    rest = play(path, config())
    at_once = play(tmp_path / "other.db", config())
    assert first.sent + rest.sent == at_once.sent
    assert contents(path) == contents(tmp_path / "other.db")


def test_equal_repeats_share_their_judgements(path: Path) -> None:
    """Two repeats of one text-only system: equal logs are judged by the same calls."""
    script = Counting()
    both = config(systems=["popular"], users=[{"kind": "llm", "temperature": 0}], repeats=2)
    with Store(path) as store:
        asyncio.run(run(both, store, open_provider=script))
    asked = Counter(request.purpose for request in script.requests)
    assert counts(path, "rating", "metric")["coherence"] == 4
    assert asked["judge"] < 4 * 12


def unreadable(times: int) -> Any:
    """A script whose judges of Naturalness say nothing usable the first `times` times a log."""
    asked: Counter[str] = Counter()

    def script(request: Request, code: str) -> str:
        if request.purpose == "judge" and "judge one factor: Naturalness" in said(request):
            about = said(request).split("Your last reply")[0].replace(code, "").strip()
            asked[about] += 1
            if asked[about] <= times:
                return "I would rather not say."
        return honest(request, code)

    return script


def test_what_cannot_be_read_is_asked_again(path: Path) -> None:
    finished = play(path, config(), unreadable(2))
    assert finished.left == 0
    assert counts(path, "rating", "status")["ok"] > 0
    assert counts(path, "rating", "status").get("unreadable", 0) == 0


def test_what_stays_unreadable_has_no_score_and_is_asked_again_by_the_next_run(path: Path) -> None:
    script = unreadable(4)
    first = play(path, config(), script)
    assert first.left == 4
    assert counts(path, "rating", "status")["unreadable"] == 4
    assert counts(path, "evaluation")["incomplete"] == 4
    second = play(path, config(), script)
    assert second.left == 0
    assert counts(path, "rating", "status").get("unreadable", 0) == 0
    # Two more replies each, the fourth unreadable and the fifth read; then the debates' rounds.
    assert second.sent <= 4 * (2 + 2 * 4)


def test_failed_evaluations_stay_without_retry(path: Path) -> None:
    play(path, config(), unreadable(4))
    again = play(path, config(), honest, retry=False)
    assert again.sent == 0
    assert counts(path, "evaluation")["incomplete"] == 4


class Down:
    """A model that answers `calls` times, and then refuses the key."""

    def __init__(self, calls: int):
        self._left = calls

    def __call__(self, request: Request, code: str) -> str:
        self._left -= 1
        if self._left < 0:
            raise AttemptError(Remedy("stop", "the credit is used up"))
        return honest(request, code)


def test_a_stop_keeps_what_is_done_and_the_same_call_goes_on(path: Path, tmp_path: Path) -> None:
    with pytest.raises(Stop, match="credit"):
        play(path, config(), Down(50))
    with Store(path, readonly=True) as store:
        assert store.runs("small")[0].state == "stopped"
        assert store.spent("small").calls == 50
    play(path, config())
    play(tmp_path / "unbroken.db", config())
    assert contents(path) == contents(tmp_path / "unbroken.db")


def test_a_user_who_cannot_speak_leaves_the_conversation_planned(path: Path) -> None:
    def mute(request: Request, code: str) -> str:
        return "" if request.purpose == "user" else honest(request, code)

    finished = play(path, config(), mute)
    assert finished.left == 4
    assert counts(path, "conversation") == {"planned": 4}
    assert play(path, config()).left == 0


def test_a_system_that_fails_is_a_failed_conversation(path: Path) -> None:
    campaign = config(systems=["popular", "tests.campaign.systems:broken"])
    finished = play(path, campaign)
    assert finished.left == 2
    assert counts(path, "conversation") == {"done": 2, "failed": 2}
    with Store(path, readonly=True) as store:
        reasons = {row.reason for row in store.conversations("small") if row.state == "failed"}
    assert len(reasons) == 1
    assert "out of order" in reasons.pop()


def test_a_system_whose_model_said_nothing_is_asked_anew(path: Path) -> None:
    def silent(request: Request, code: str) -> str:
        return "" if request.purpose == "system" else honest(request, code)

    play(path, config(), silent)
    assert counts(path, "conversation") == {"done": 2, "failed": 2}
    assert play(path, config()).left == 0
    assert counts(path, "conversation") == {"done": 4}


def test_a_fresh_system_is_played_anew(path: Path) -> None:
    play(path, config())
    again = play(path, config(), fresh=["popular"])
    assert again.left_before == 2
    assert counts(path, "conversation") == {"done": 6}
    assert play(path, config()).left_before == 0
    assert play(path, config(), fresh=["popular"]).left_before == 2
    with pytest.raises(UserError, match="populr"):
        play(path, config(), fresh=["populr"])


def test_another_model_is_another_version(path: Path) -> None:
    play(path, config())
    again = play(path, config(model={"name": "other", "price_in": 1.0, "price_out": 1.0}))
    assert again.left_before == 4
    assert again.sent > 0


def test_another_name_is_the_same_system(path: Path) -> None:
    play(path, config())
    renamed = config(systems=[{"kind": "popular", "name": "well-known"}])
    assert play(path, renamed).left_before == 0


def test_only_one_process_runs_a_campaign(path: Path) -> None:
    with Store(path) as store:
        store.start("small", {}, {})
        with pytest.raises(UserError, match="small"):
            play(path, config())


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"systems": ["populr"]}, "systems.0.*did you mean popular"),
        ({"systems": ["popular", "popular"]}, "systems.1: two systems are called 'popular'"),
        ({"evaluators": ["cor"]}, "evaluators.0.*did you mean core"),
        ({"evaluators": [{"kind": "core", "judges": ["gpt"]}]}, "no model 'gpt'"),
        ({"evaluators": [{"kind": "core", "judgs": ["main"]}]}, "judgs.*did you mean judg"),
        ({"scenarios": ["sampel"]}, "scenarios.0.corpus.*sampel"),
        ({"users": [{"kind": "llm", "persona": 7}]}, "users.0.persona"),
        ({"systems": ["tests.campaign.systems:nothing"]}, "nothing"),
        ({"evaluators": [{"kind": "core", "debate": {"max_rounds": 9}}]}, "max_rounds"),
        ({"evaluators": [{"kind": "core", "debate": {"roles": {"Lingist": "main"}}}]}, "Linguist"),
    ],
)
def test_a_campaign_that_cannot_begin_writes_nothing(
    path: Path, changes: dict[str, Any], words: str
) -> None:
    with pytest.raises(UserError, match=words) as found:
        play(path, config(**changes))
    assert "\n" not in str(found.value)
    with Store(path, readonly=True) as store:
        assert store.campaigns() == []


def test_the_budget_is_that_of_all_runs(path: Path, tmp_path: Path) -> None:
    whole = play(tmp_path / "whole.db", config())
    assert whole.left == 0
    campaign = config(budget={"tokens": 100})
    with pytest.raises(Stop, match="budget"):
        play(path, campaign)
    play(path, config(budget={"tokens": 10_000_000}))
    assert contents(path) == contents(tmp_path / "whole.db")


def test_a_system_is_limited_over_all_corpora(path: Path) -> None:
    async def open_at_once() -> int:
        limited = config(
            systems=[{"kind": "popular", "concurrency": 1}], scenarios=["sample", "sample-books"]
        )
        with Store() as store:
            async with prepared(limited, store, open_provider=Counting(honest)) as ready:
                one, other = ready.systems.values()
                async with one.place():
                    with pytest.raises(TimeoutError):
                        async with asyncio.timeout(0.01), other.place():
                            pass
                return len(ready.systems)

    assert asyncio.run(open_at_once()) == 2
