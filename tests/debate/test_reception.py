"""What the user did with the system's turns, and what the Common User makes of it."""

import pytest

from recjury.debate import RatedLog
from recjury.debate.reception import RECEPTION, TAKEN_UP, TURNED_DOWN, reception_of
from recjury.debate.rule_debaters import rule_statement
from recjury.records import Act, ConversationLog, DeclaredAct, Evidence, Role, Speaker, Turn
from tests.judges.cases import a_log, ratings_of


def answered(*turns: tuple[str, tuple[Act, ...]]) -> ConversationLog:
    """A conversation with these turns of the user, each after one of the system."""
    said: list[Turn] = []
    for text, acts in turns:
        said.append(Turn(speaker=Speaker.SYSTEM, text="What about Ronin?"))
        declared = tuple(DeclaredAct(act=act) for act in acts)
        said.append(Turn(speaker=Speaker.USER, text=text, acts=declared))
    return a_log().model_copy(update={"interaction": tuple(said)})


def found(log: ConversationLog) -> list[tuple[int | None, str]]:
    return [(each.turn, each.label) for each in reception_of(log)]


@pytest.mark.parametrize(
    ("acts", "label"),
    [
        ({Act.ACCEPT}, TAKEN_UP),
        ({Act.THANK, Act.BYE}, TAKEN_UP),
        ({Act.REFUSE, Act.WISH}, TURNED_DOWN),
        ({Act.COMPLAIN}, TURNED_DOWN),
        ({Act.REFUSE, Act.THANK}, TURNED_DOWN),  # polite
        ({Act.ACCEPT, Act.COMPLAIN}, None),
        ({Act.SEEN}, None),
        ({Act.ASK}, None),
    ],
)
def test_declared_acts_decide_whatever_the_text_says(acts: set[Act], label: str | None) -> None:
    log = answered(("I hate it.", tuple(sorted(acts))))
    assert found(log) == ([] if label is None else [(0, label)])


def test_undeclared_turns_are_read_and_doubtful_ones_left_out() -> None:
    texts = (
        "Sounds great, I'll watch it tonight!",
        "What is it about?",
        "No, not that one. I don't like thrillers.",
        "Das möchte ich heute Abend gern sehen, vielen Dank.",
    )
    assert found(answered(*((text, ()) for text in texts))) == [(0, TAKEN_UP), (4, TURNED_DOWN)]


def test_only_turns_that_answer_a_turn_of_the_interaction_count() -> None:
    log = answered(("Fine.", (Act.ACCEPT,)))
    user, system = log.interaction[1], log.interaction[0]
    before = log.scenario.model_copy(update={"history": (user, system)})
    begun = log.model_copy(update={"scenario": before, "interaction": (user, *log.interaction)})
    assert found(begun) == [(1, TAKEN_UP)]
    assert reception_of(begun)[0] == Evidence(
        factor=RECEPTION, label=TAKEN_UP, note="taken up by the user in turn 3", turn=1
    )


def test_the_common_user_alone_begins_halfway_to_what_the_user_did() -> None:
    acts = (Act.ACCEPT,), (Act.REFUSE,), (Act.COMPLAIN,), (Act.ASK,), (Act.REFUSE,)
    rated = RatedLog(answered(*(("Well.", each) for each in acts)), ratings_of(3))
    first = {role: rule_statement(role, 1, rated, ()) for role in Role}
    assert [each.score for each in first.values()] == [50, 75, 75, 75]
    said = first[Role.COMMON_USER].text
    assert "Their plain mean is 75 of 100. Of the system's turns, the user takes up 1 and" in said
    assert "turns down 3, so I begin at 50. I cite 4 findings; what weighs most is turn 1" in said


def test_the_turns_that_the_user_took_up_or_turned_down_are_cited() -> None:
    rated = RatedLog(answered(("Fine.", (Act.ACCEPT,)), ("Well.", (Act.ASK,))), ratings_of(2))
    first = [rule_statement(role, 1, rated, ()) for role in Role]
    heard = rule_statement(Role.LINGUIST, 2, rated, first).text
    assert "Common User 75, citing 1 of 2 turns, Domain Expert 50, citing 0 of 2 turns" in heard
