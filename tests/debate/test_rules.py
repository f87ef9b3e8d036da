"""When a debate is over and what its verdict is, also with roles that are missing."""

import asyncio
import functools
import itertools
import random
from collections.abc import Callable, Collection, Mapping, Sequence

import pytest

from recjury.debate import RatedLog, overall, run_debate
from recjury.debate.llm_debaters import LlmDebaters
from recjury.debate.roles import DebatePrompts
from recjury.debate.rules import NOT_SAID, RULE_PROTOCOL, mean_of_round, verdict_name
from recjury.errors import CallFailed
from recjury.llm.scripted import Line
from recjury.records import (
    JSON,
    ChatRequest,
    Debate,
    Rating,
    Role,
    Statement,
    Status,
)
from tests.debate.voices import answer
from tests.judges.cases import a_log, gateway_of, ratings_of

TODAY = "core-debate/3+0123456789abcdef; rules 2"
ROLES = tuple(Role)
GROUPS = [group for size in range(1, 5) for group in itertools.combinations(ROLES, size)]


def apart(role: Role, number: int) -> float:
    """A score of its own for each role and round."""
    return 20.0 * number + ROLES.index(role)


class Voices:
    """Speak as a table of missing statements says; without a model."""

    def __init__(
        self,
        missing: Mapping[int, Collection[Role]],
        *,
        status: Status = Status.UNREADABLE,
        score: Callable[[Role, int], float] = apart,
        protocol: str = TODAY,
    ):
        """`missing` has the roles that are missing in a round, with `status`."""
        self._missing, self._status, self._score = missing, status, score
        self._protocol = protocol
        self.shown: list[Statement] = []

    @property
    def protocol(self) -> str:
        return self._protocol

    @property
    def settings(self) -> Mapping[str, JSON]:
        return {"protocol": self._protocol}

    def speaker(self, role: Role) -> str:
        return f"model of the {role}"

    async def speak(
        self, role: Role, number: int, rated: RatedLog, said: Sequence[Statement]
    ) -> Statement:
        self.shown += said
        make = functools.partial(Statement, role=role, round=number, speaker="model")
        if role in self._missing.get(number, ()):
            return make(text="Hm.", score=None, status=self._status, reason=f"the {role} mumbles")
        return make(text="Well.", score=self._score(role, number))


def held(voices: Voices, ratings: Sequence[Rating] = (), rounds: int = 4) -> Debate:
    return asyncio.run(
        run_debate(RatedLog(a_log(), ratings or ratings_of()), voices, max_rounds=rounds)
    )


@pytest.mark.parametrize("number", [1, 2, 3, 4])
@pytest.mark.parametrize("group", GROUPS, ids=lambda group: "+".join(group))
def test_a_debate_survives_missing_roles(group: tuple[Role, ...], number: int) -> None:
    transcript, verdict = held(Voices({number: group}))
    if number == 1 and len(group) == 4:
        assert (verdict.rounds, verdict.status, verdict.spoke) == (1, Status.UNREADABLE, 0)
        return
    spoke = [role for role in ROLES if number < 4 or role not in group]
    assert (transcript.rounds, verdict.spoke, verdict.agreed) == (4, len(spoke), False)
    if len(spoke) >= 3:
        assert verdict.score == sum(apart(role, 4) for role in spoke) / len(spoke)
    else:
        assert (verdict.score, verdict.status) == (None, Status.UNREADABLE)
        assert verdict.reason.startswith(f"round 4 lacks {len(group)} of 4 statements (")
        assert all(f"{role}: the {role} mumbles" in verdict.reason for role in group)


def test_a_round_with_a_missing_role_is_no_agreement() -> None:
    missing = {1: [Role.LINGUIST], 2: [Role.HCI_EXPERT, Role.COMMON_USER]}
    _, verdict = held(Voices(missing, score=lambda _, __: 50.0))
    assert (verdict.score, verdict.agreed, verdict.rounds, verdict.spoke) == (50, True, 3, 4)
    _, verdict = held(Voices({2: [Role.LINGUIST]}, score=lambda _, n: 30.0 + n), rounds=2)
    assert (verdict.score, verdict.agreed, verdict.rounds, verdict.spoke) == (31, True, 1, 4)


def without(*roles: Role) -> list[Rating]:
    """Ratings in which these roles have no scored factor."""
    gone = {factor for role in roles for factor in role.factors}
    return [
        r.model_copy(update={"score": None, "status": Status.NOT_APPLICABLE, "reason": "none"})
        if r.factor in gone
        else r
        for r in ratings_of()
    ]


def test_a_role_that_abstains_is_not_missing() -> None:
    ratings = without(Role.DOMAIN_EXPERT, Role.HCI_EXPERT)
    _, verdict = held(Voices({4: [Role.LINGUIST]}), ratings)
    assert (verdict.score, verdict.spoke) == (apart(Role.COMMON_USER, 4), 1)
    _, verdict = held(Voices({4: [Role.LINGUIST, Role.COMMON_USER]}), ratings)
    assert (verdict.status, verdict.spoke) == (Status.UNREADABLE, 0)
    alone = without(*ROLES[1:])
    _, verdict = held(Voices({1: ROLES}), alone)
    assert (verdict.status, verdict.spoke, verdict.rounds) == (Status.UNREADABLE, 0, 1)
    _, verdict = held(Voices({1: ROLES}), without(*ROLES))
    assert (verdict.status, verdict.spoke, verdict.rounds) == (Status.ABSTAINED, 0, 1)


@pytest.mark.parametrize(
    ("protocol", "score"), [(TODAY, 20.0), ("rule-debate/4", 20.0), (RULE_PROTOCOL, None)]
)
def test_one_role_has_a_verdict_under_the_rules_of_its_protocol(
    protocol: str, score: float | None
) -> None:
    found = held(Voices({}, protocol=protocol), without(*ROLES[1:]))
    assert (found.verdict.score, found.verdict.spoke, found.verdict.agreed) == (score, 1, False)


def test_the_others_are_not_shown_why_a_role_is_missing() -> None:
    voices = Voices({1: [Role.LINGUIST]})
    transcript, _ = held(voices, without(Role.DOMAIN_EXPERT))
    shown = {each.role: each for each in voices.shown if each.round == 1}
    assert (shown[Role.LINGUIST].reason, shown[Role.LINGUIST].score) == (NOT_SAID, None)
    assert shown[Role.DOMAIN_EXPERT].reason.startswith("abstains")
    assert transcript.of_round(1)[2].reason == "the Linguist mumbles"


def test_a_role_that_is_refused_for_good_is_missing() -> None:
    everywhere = {number: [Role.LINGUIST] for number in range(1, 5)}
    _, verdict = held(Voices(everywhere, status=Status.REFUSED))
    assert (verdict.status, verdict.spoke, verdict.rounds) == (Status.SCORED, 3, 4)
    _, verdict = held(Voices({4: ROLES[:2]}, status=Status.REFUSED))
    assert (verdict.status, verdict.spoke) == (Status.REFUSED, 2)


def test_a_call_that_failed_ends_the_debate_at_once() -> None:
    voices = Voices({2: [Role.LINGUIST]}, status=Status.CALL_FAILED)
    _, verdict = held(voices)
    assert (verdict.status, verdict.rounds) == (Status.CALL_FAILED, 2)
    assert verdict.reason == "Linguist in round 2: the Linguist mumbles"


def test_a_long_reason_is_shortened_in_the_verdict() -> None:
    class Verbose(Voices):
        async def speak(self, *given: object) -> Statement:
            said = await super().speak(*given)  # type: ignore[arg-type]
            return said.model_copy(update={"reason": "no\n" * 500})

    _, verdict = held(Verbose({4: ROLES}))
    assert len(verdict.reason) < 700
    assert "\n" not in verdict.reason


def test_a_protocol_names_its_rules() -> None:
    gateway, _ = gateway_of([], "model")
    spoken = DebatePrompts(language="German; formal")
    debaters = LlmDebaters(gateway, dict.fromkeys(Role, "model"), spoken)
    assert debaters.protocol == f"{spoken.identity}; rules 2" == debaters.settings["protocol"]
    assert DebatePrompts.installed(debaters.protocol).identity == spoken.identity


@pytest.mark.parametrize(
    ("protocol", "rounds", "name"),
    [
        (RULE_PROTOCOL, 1, "rule verdict"),
        ("rule-debate/4", 1, "rule verdict"),
        ("rule-debate/3", 4, "rule verdict"),
        (TODAY, 4, "verdict"),
    ],
)
def test_only_debaters_by_rule_agree_while_near(protocol: str, rounds: int, name: str) -> None:
    near = functools.partial(Voices, {}, score=lambda role, _: 50.0 + ROLES.index(role))
    found = held(near(protocol=protocol))
    assert (found.verdict.rounds, found.verdict.agreed) == (rounds, rounds == 1)
    assert verdict_name(protocol) == name


def test_a_verdict_stands_beside_the_mean_before_the_debate() -> None:
    found = held(Voices({}))
    assert (mean_of_round(found.transcript, 1), found.verdict.score) == (21.5, 81.5)
    said = "mean of the roles: 21.5 before the debate, 81.5 after it"
    assert overall(found).rationale == said


def test_a_debate_that_changes_nothing_says_so() -> None:
    agreed = held(Voices({}, score=lambda *_: 57.0))
    said = "mean of the roles: 57.0, not changed by the debate"
    assert overall(agreed).rationale == said


def quarter_unusable(seed: int) -> Callable[[ChatRequest], Line]:
    """A model of which a quarter of the replies cannot be used, by a seeded lot."""
    lots = random.Random(seed)
    bad = ["", "I would say 70.", '{"statement": "Cut', '{"statement": "x", "score": 170}']

    def say(request: ChatRequest) -> Line:
        _, role, number = request.purpose.split("/")
        if lots.random() < 0.25:
            return lots.choice(bad)
        return answer(f"{role} in {number}.", apart(Role(role), int(number)))

    return say


def test_with_a_quarter_of_the_replies_unusable_debates_have_verdicts() -> None:
    verdicts = []
    for seed in range(28):
        gateway, _ = gateway_of(quarter_unusable(seed), "model")
        debaters = LlmDebaters(gateway, dict.fromkeys(Role, "model"))
        verdicts.append(asyncio.run(run_debate(RatedLog(a_log(), ratings_of()), debaters)).verdict)
    assert sum(verdict.status is Status.SCORED for verdict in verdicts) >= 26
    assert all(verdict.rounds == 4 for verdict in verdicts)


def test_a_prompt_shows_a_refused_role_as_missing() -> None:
    def say(request: ChatRequest) -> Line:
        _, role, number = request.purpose.split("/")
        if role == Role.LINGUIST:
            return CallFailed("HTTP 400: Content Exists Risk", permanent=True)
        return answer("Well.", apart(Role(role), int(number)))

    gateway, model = gateway_of(say, "model")
    debaters = LlmDebaters(gateway, dict.fromkeys(Role, "model"))
    _, verdict = asyncio.run(run_debate(RatedLog(a_log(), ratings_of()), debaters, max_rounds=2))
    assert (verdict.spoke, verdict.status) == (3, Status.SCORED)
    asked = "".join(m.text for m in model.requests[-1].messages)
    assert f'<statement by="Linguist" score="none">{NOT_SAID}</statement>' in asked
    assert "Risk" not in asked
