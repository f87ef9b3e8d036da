"""What is computed by rule has a version in every trial's identity, raised by hand.

Each test holds a digest of what one rule does with fixed inputs, beside the version it did it
under. Where the digest changes and the version does not, old results would be taken for new ones.
"""

import asyncio
import functools
from collections.abc import Mapping

from recjury.agents import SystemContext
from recjury.agents.retrieval import Retrieval
from recjury.agents.retrieval import recommender as retrieval
from recjury.corpora import Corpus, open_corpus
from recjury.debate import RatedLog, RuleDebaters, run_debate
from recjury.debate.rules import RULE_PROTOCOL
from recjury.judges.face import rule_decomposer
from recjury.judges.face.rule_decomposer import RuleDecomposer
from recjury.judges.measured import MeasuredPanel
from recjury.judges.measured.panel import RUBRIC
from recjury.records import (
    JSON,
    Conversation,
    ConversationLog,
    Ending,
    Evidence,
    Factor,
    Rating,
    Scenario,
    Speaker,
    SystemReply,
    digest,
)
from recjury.simulator import LeakGuard, RuleUser, converse
from recjury.simulator.leak_guard import GUARD_VERSION
from recjury.simulator.rule_persuasiveness import RULE_RUBRIC
from recjury.simulator.rule_user import RULES_VERSION
from tests.simulator.ways import WAYS

SCENARIOS = 40
KNOWN = {
    "guard": ("5", "c84d17ef5805a753"),
    "rule user": ("8", "7dcf790c4d4447f2"),
    "rule persuasiveness": ("rule-persuasiveness/1", "536cb118e3113be3"),
    "measured judges": ("measured-6", "00386657b65f80f2"),
    "rule debate": ("rule-debate/6", "3c539915d37873db"),
    "rule decomposer": ("2", "753ab3ce65b3c207"),
    "retrieval": ("3", "6b0f6adf660b6bdd"),
}


def held(what: str, version: object, behaviour: object) -> None:
    """Compare what a rule does with what it did when its version was last raised."""
    now = (str(version), digest(behaviour)[:16])
    assert now == KNOWN[what], (
        f"{what}: not what version {KNOWN[what][0]} did. Raise the version where the rule says it, "
        f"and write {now} into KNOWN. (Or its words or the sample have changed.)"
    )


@functools.cache
def sample() -> Corpus:
    """The films and dialogues that ship."""
    return open_corpus("sample")


@functools.cache
def scenarios() -> tuple[Scenario, ...]:
    """Fixed starting points, each with a target."""
    return tuple(sample().scenarios(limit=SCENARIOS).scenarios)


@functools.cache
def logs() -> tuple[ConversationLog, ...]:
    """The scenarios' histories as if they had been played, each system turn with a list."""
    refs = [item.ref for item in sample().catalogue]
    return tuple(
        ConversationLog(
            system="fixed",
            scenario=scenario.model_copy(update={"history": ()}),
            interaction=tuple(
                turn
                if turn.speaker is Speaker.USER
                else turn.model_copy(update={"items": tuple(refs[7 * n : 7 * n + 10])})
                for n, turn in enumerate(scenario.history, start=place)
            ),
            ending=Ending.ROUND_LIMIT,
        )
        for place, scenario in enumerate(scenarios())
    )


class Browsing:
    """Recommends what comes next in the catalogue, and asks something now and then."""

    name = "browsing"
    settings: Mapping[str, JSON] = {}

    async def respond(self, conversation: Conversation) -> SystemReply:
        """Five items, the further the conversation the later; the first one is named."""
        items = list(sample().catalogue)
        first = 5 * sum(len(turn.text) for turn in conversation.turns) % (len(items) - 5)
        shown = tuple(item.ref for item in items[first : first + 5])
        asked = ("", " Do you like comedies?", " Any actor?")[len(conversation.turns) % 3]
        return SystemReply(text=f"How about {shown[0].name}?{asked}", items=shown)

    async def aclose(self) -> None:
        """Nothing to release."""


def test_the_guard() -> None:
    guard = LeakGuard(sample().catalogue)
    caught = [
        [guard.watch([item.ref]).leaks(way(item.name)) for way in WAYS]
        for item in list(sample().catalogue)[::5]
    ]
    held("guard", GUARD_VERSION, caught)


def test_the_rule_user() -> None:
    known = sample().catalogue
    user, guard = RuleUser(known, seed=7), LeakGuard(known)
    played = [
        asyncio.run(converse(user, Browsing(), scenario, guard, known)) for scenario in scenarios()
    ]
    said = [[turn.text for turn in log.interaction[1::2]] for log in played]
    held("rule user", RULES_VERSION, said)


def test_the_rule_users_persuasiveness() -> None:
    user = RuleUser(sample().catalogue)
    rated = [asyncio.run(user.persuasiveness(log)) for log in logs()]
    held("rule persuasiveness", RULE_RUBRIC, [_of(one) for one in rated])


def test_the_measured_judges() -> None:
    panel = MeasuredPanel(sample().catalogue)
    rated = [[_of(one) for one in panel.measure(log)] for log in logs()]
    held("measured judges", RUBRIC, rated)


def _of(rating: Rating) -> list[object]:
    return [rating.factor, rating.score, rating.status, rating.rationale, rating.reason]


def test_the_rule_debate() -> None:
    ratings = (
        tuple(
            Rating(evaluator="measured", factor=factor, score=float((n * (place + 3)) % 5))
            for place, factor in enumerate(Factor)
        )
        for n in range(20)
    )
    debates = [
        asyncio.run(run_debate(RatedLog(log, each, _evidence(log)), RuleDebaters()))
        for each, log in zip(ratings, logs(), strict=False)
    ]
    said = [
        [[one.role, one.round, one.score, one.text] for one in transcript.statements]
        for transcript, _ in debates
    ]
    held("rule debate", RULE_PROTOCOL, said)


def _evidence(log: ConversationLog) -> list[Evidence]:
    """A finding for each factor in the first turns of a log."""
    turns = range(len(log.interaction))
    return [Evidence(factor=f, label="said", turn=n) for n, f in zip(turns, Factor, strict=False)]


def test_the_retrieval_system() -> None:
    system = Retrieval().prepared(SystemContext(sample()))
    replies = [
        asyncio.run(system.respond(Conversation(turns=scenario.history)))
        for scenario in scenarios()
    ]
    told = [[reply.text, [item.id for item in reply.items]] for reply in replies]
    held("retrieval", retrieval._VERSION, told)


def test_the_rule_decomposer() -> None:
    decomposed = [asyncio.run(RuleDecomposer().decompose(log)) for log in logs()]
    said = [each.model_dump(mode="json") for each in decomposed]
    held("rule decomposer", rule_decomposer.VERSION, said)
