"""Stored debates are watched again and verified, down to one altered byte."""

import functools
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from recjury.debate import DebatePrompts
from recjury.debate.llm_debaters import LlmDebaters
from recjury.debate.stored_debate import Verification, load_debate, verify
from recjury.errors import StoreError
from recjury.judges.core.panel import Panel
from recjury.knowledge import expert_of, known_domain
from recjury.records import (
    ChatRequest,
    ConversationLog,
    DebateTranscript,
    Factor,
    Role,
    StageResult,
    Status,
    Verdict,
)
from recjury.store import Store
from tests.debate.stored import EVALUATION, EVIDENCE, Change, an_empty_store, fill, unchanged
from tests.debate.voices import answer
from tests.judges.cases import a_log

Script = Callable[[ChatRequest], str]


def speak(request: ChatRequest) -> str:
    """Judges give 3 and the Linguist once mumbles; nobody ever agrees."""
    kind, role, *number = request.purpose.split("/")
    if kind == "judge":
        return f"What speaks for {role}.\n<rating>3</rating>"
    if role == Role.LINGUIST and number == ["2"] and request.attempt == 0:
        return "Let me think."
    place = list(Role).index(Role(role))
    return answer(f"{role} says so in round {number[0]}.", 10 * int(number[0]) + place)


def stored(
    folder: Path,
    *,
    rule: bool = False,
    models: tuple[str, ...] = ("model",),
    change: Change = unchanged,
    script: Script = speak,
    panel: type[Panel] = Panel,
) -> str:
    """The url of a store with one conversation and its debate."""
    url = f"sqlite:///{folder / 'runs.db'}"
    judges = functools.partial(panel, models=models, source_judge=models[-1])
    fill(url, None if rule else judges, models=models, change=change, script=script)
    return url


def alter(url: str, statement: str) -> None:
    """Run one SQL statement that must change a row, past the store."""
    with sqlite3.connect(url.removeprefix("sqlite:///")) as connection:
        changed = connection.execute(statement).rowcount
    connection.close()
    assert changed > 0


def differences(url: str) -> list[tuple[str, str]]:
    with Store.open(url, create=False) as store:
        return [(found.kind, found.where) for found in verify(store, EVALUATION)]


@pytest.mark.parametrize("rule", [True, False])
def test_a_fresh_debate_verifies(tmp_path: Path, rule: bool) -> None:
    assert differences(stored(tmp_path, rule=rule)) == []


def test_a_debate_about_restaurants_verifies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prompts = DebatePrompts(expert=expert_of(known_domain("restaurant")))
    monkeypatch.setattr(
        "tests.debate.stored.LlmDebaters", functools.partial(LlmDebaters, prompts=prompts)
    )
    url = stored(tmp_path)

    with Store.open(url, create=False) as store:
        said = load_debate(store, EVALUATION).transcript.of_round(1)
        sent = store.call(said[1].calls[0]).request.messages[0].text

    assert "You know restaurants as a celebrated chef does." in sent
    assert differences(url) == []


def test_a_debate_fed_by_the_second_of_two_judges_verifies(tmp_path: Path) -> None:
    url = stored(tmp_path, models=("first", "second"))
    with Store.open(url, create=False) as store:
        debate = load_debate(store, EVALUATION)
    assert debate.transcript.judges == ("second",)
    assert {rating.evaluator for rating in debate.ratings} == {"second"}
    assert differences(url) == []


def test_replay_gives_back_what_was_said(tmp_path: Path) -> None:
    with Store.open(stored(tmp_path), create=False) as store:
        debate = load_debate(store, EVALUATION)
    assert debate.log == a_log()
    assert [rating.factor for rating in debate.ratings] == list(Factor)
    assert [s.round for s in debate.transcript.statements] == [n for n in range(1, 5) for _ in Role]
    assert debate.transcript.of_round(2)[2].text == "Linguist says so in round 2."
    assert debate.verdict.score == 41.5


def test_an_evaluation_without_a_debate_says_so(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'runs.db'}"
    an_empty_store(url, rated=True)
    with Store.open(url) as store, pytest.raises(StoreError, match="has no debate"):
        verify(store, EVALUATION)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE statement SET text = replace(text, 'so', 'sO') WHERE position = 5",
        "UPDATE statement SET score = score + 1 WHERE position = 15",
        "UPDATE statement SET status = 'abstained', score = NULL WHERE position = 15",
        "UPDATE statement SET role = 'Linguist' WHERE position = 0",
        "DELETE FROM statement WHERE position > 11",
        "UPDATE debate SET score = score + 0.5",
        "UPDATE debate SET max_rounds = 5",
        "UPDATE debate SET protocol = 'other'",
        "UPDATE rating SET score = 4 WHERE factor = 'Novelty'",
        "UPDATE rating SET rationale = rationale || '!' WHERE factor = 'Novelty'",
        "UPDATE log SET body = replace(body, 'Ronin', 'Heist')",
        "DELETE FROM log",
        "DELETE FROM call WHERE purpose = 'debate/Linguist/3'",
        "UPDATE call SET finish_reason = 'length' WHERE purpose = 'debate/Linguist/3'",
    ],
)
def test_an_altered_row_is_found(tmp_path: Path, statement: str) -> None:
    url = stored(tmp_path)
    alter(url, statement)
    assert differences(url) != []


@pytest.mark.parametrize("purpose", ["debate/Linguist/2", "debate/HCI Expert/4", "judge/Novelty"])
@pytest.mark.parametrize("which", ["reply", "prompt"])
def test_one_altered_byte_of_a_raw_reply_or_a_prompt_part_is_found(
    tmp_path: Path, purpose: str, which: str
) -> None:
    url = stored(tmp_path)
    number = "reply" if which == "reply" else "json_extract(request, '$[1][1]')"
    text = f"(SELECT {number} FROM call WHERE purpose = '{purpose}')"
    path = url.removeprefix("sqlite:///")
    with sqlite3.connect(path) as connection:
        (body,) = connection.execute(f"SELECT body FROM text WHERE id = {text}").fetchone()
        flipped = body[:-1] + bytes([body[-1] ^ 1])
        connection.execute(f"UPDATE text SET body = ? WHERE id = {text}", (flipped,))
    connection.close()
    found = differences(url)
    assert [kind for kind, _ in found if kind == "store"] != []


def said_otherwise(
    transcript: DebateTranscript, position: int, **values: object
) -> DebateTranscript:
    statements = list(transcript.statements)
    statements[position] = statements[position].model_copy(update=values)
    return transcript.model_copy(update={"statements": tuple(statements)})


@pytest.mark.parametrize(
    ("change", "kind", "where"),
    [
        (
            lambda t, v: (said_otherwise(t, 5, text="No."), v),
            "statement",
            "Domain Expert in round 2",
        ),
        (lambda t, v: (said_otherwise(t, 15, score=99.0), v), "score", "HCI Expert in round 4"),
        (lambda t, v: (t, v.model_copy(update={"score": 99.0})), "verdict", "debate"),
        (lambda t, v: (t, v.model_copy(update={"agreed": True})), "verdict", "debate"),
        (lambda t, v: (t.model_copy(update={"max_rounds": 7}), v), "rounds", "round limit"),
        (lambda t, v: (t.model_copy(update={"log": "1" * 32}), v), "rounds", "log"),
        (
            lambda t, v: (t.model_copy(update={"protocol": "core-debate/0"}), v),
            "protocol",
            "debate",
        ),
    ],
)
def test_what_was_falsified_before_it_was_sealed_is_found(
    tmp_path: Path, change: Change, kind: str, where: str
) -> None:
    """The store is intact here: only recomputing can tell."""
    found = differences(stored(tmp_path, change=change))
    assert (kind, where) in [(k, place.partition(", ")[0]) for k, place in found]
    assert "store" not in [k for k, _ in found]


def test_a_changed_statement_shows_in_the_prompts_of_the_next_round(tmp_path: Path) -> None:
    url = stored(tmp_path, change=lambda t, v: (said_otherwise(t, 0, text="No."), v))
    prompts = [where for kind, where in differences(url) if kind == "prompt"]
    # Rounds 2 to 4 of all four roles; the Linguist was asked twice in round 2.
    assert len(prompts) == 13


@pytest.mark.parametrize(
    ("change", "kinds"),
    [
        (lambda t, v: (said_otherwise(t, 0, text="I like it."), v), ["statement"]),
        (lambda t, v: (said_otherwise(t, 0, score=99.0), v), ["rounds", "score", "verdict"]),
        (lambda t, v: (t, v.model_copy(update={"score": 99.0})), ["verdict"]),
        (lambda t, v: (t.model_copy(update={"protocol": "rule-debate/x"}), v), ["protocol"]),
    ],
)
def test_a_falsified_debate_by_rule_is_found(
    tmp_path: Path, change: Change, kinds: list[str]
) -> None:
    url = stored(tmp_path, rule=True, change=change)
    assert sorted({kind for kind, _ in differences(url)}) == sorted(kinds)


def test_statements_by_rule_are_computed_again_with_the_stored_evidence(tmp_path: Path) -> None:
    url = stored(tmp_path, rule=True)
    with Store.open(url, create=False) as store:
        debate = load_debate(store, EVALUATION)
    assert "I cite 1 finding; what weighs most is turn 1, system: “I would watch" in str(
        debate.transcript
    )
    assert debate.evidence == EVIDENCE
    assert differences(url) == []


def test_a_debate_by_rule_without_its_evidence_is_found(tmp_path: Path) -> None:
    url = stored(tmp_path, rule=True)
    alter(url, "DELETE FROM evidence")
    assert differences(url) != []


def test_a_falsified_rating_is_found(tmp_path: Path) -> None:
    """The judge is said to have rated Novelty 4, and the debate believed it; the reply says 3."""

    class Generous(Panel):
        async def rate(self, log: ConversationLog) -> StageResult:
            honest = await super().rate(log)
            return StageResult(
                tuple(
                    r.model_copy(update={"score": 4.0}) if r.factor == Factor.NOVELTY else r
                    for r in honest.ratings
                )
            )

    found = differences(stored(tmp_path, panel=Generous))
    assert found == [("rating", "Novelty by model")]


def mumbling(*places: tuple[Role, int]) -> Script:
    """As `speak`, but these roles cannot be read in these rounds."""

    def say(request: ChatRequest) -> str:
        silent = any(request.purpose == f"debate/{role}/{number}" for role, number in places)
        return "Hm." if silent else speak(request)

    return say


EVERY_ROUND = tuple((Role.LINGUIST, number) for number in range(1, 5))
TWO_AT_THE_END = ((Role.LINGUIST, 4), (Role.HCI_EXPERT, 4))
NOBODY = tuple((role, 1) for role in Role)


@pytest.mark.parametrize(
    ("places", "rounds", "spoke", "status"),
    [
        (EVERY_ROUND, 4, 3, Status.SCORED),
        (((Role.LINGUIST, 1), (Role.COMMON_USER, 2)), 4, 4, Status.SCORED),
        (TWO_AT_THE_END, 4, 2, Status.UNREADABLE),
        (NOBODY, 1, 0, Status.UNREADABLE),
    ],
)
def test_a_debate_with_missing_roles_verifies(
    tmp_path: Path, places: tuple[tuple[Role, int], ...], rounds: int, spoke: int, status: Status
) -> None:
    with Store.open(stored(tmp_path, script=mumbling(*places)), create=False) as store:
        debate = load_debate(store, EVALUATION)
        assert verify(store, EVALUATION) == ()
    verdict = debate.verdict
    assert (verdict.rounds, verdict.spoke, verdict.status) == (rounds, spoke, status)
    silent = next(s for s in debate.transcript.statements if (s.role, s.round) == places[0])
    assert (silent.status, silent.text) == (Status.UNREADABLE, "Hm.")


OLDER = {True: "rule-debate/0", False: "core-debate/0+0123456789abcdef; rules 2"}


def held_before(change: Change, *, rule: bool) -> Change:
    """`change`, of a debate that another version held."""

    def changed(t: DebateTranscript, v: Verdict) -> tuple[DebateTranscript, Verdict]:
        return change(t.model_copy(update={"protocol": OLDER[rule]}), v)

    return changed


@pytest.mark.parametrize("rule", [True, False])
def test_a_debate_of_another_version_is_not_altered_by_that(tmp_path: Path, rule: bool) -> None:
    url = stored(tmp_path, rule=rule, change=held_before(unchanged, rule=rule))
    assert differences(url) == []
    with Store.open(url, create=False) as store:
        assert Verification(store, EVALUATION).another_version() == OLDER[rule]


def test_the_installed_version_is_no_other(tmp_path: Path) -> None:
    with Store.open(stored(tmp_path), create=False) as store:
        assert Verification(store, EVALUATION).another_version() is None
        assert Verification(store, "f" * 32).another_version() is None


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        (lambda t, v: (said_otherwise(t, 5, text="No."), v), "statement"),
        (lambda t, v: (said_otherwise(t, 15, score=99.0), v), "score"),
        (lambda t, v: (t, v.model_copy(update={"score": 99.0})), "verdict"),
    ],
)
def test_a_falsified_debate_of_another_version_is_found(
    tmp_path: Path, change: Change, kind: str
) -> None:
    url = stored(tmp_path, change=held_before(change, rule=False))
    assert kind in [found for found, _ in differences(url)]


def test_an_altered_prompt_of_another_version_is_found(tmp_path: Path) -> None:
    url = stored(tmp_path, change=held_before(unchanged, rule=False))
    part = "(SELECT json_extract(request, '$[1][1]') FROM call WHERE purpose LIKE 'debate/%')"
    alter(url, f"UPDATE text SET body = body || 'x' WHERE id = {part}")
    assert "store" in [found for found, _ in differences(url)]
