"""What a run may send is counted exactly, so that what is paid for twice shows."""

from collections import Counter
from pathlib import Path

import pytest

from recjury.debate import OVERALL
from recjury.records import Role, Turn
from tests.habits.campaign import HabitCampaign, Trial, Trials, healthy_trials
from tests.habits.habit import HABITS
from tests.habits.left_to_send import left_to_send
from tests.habits.meaning import meaning
from tests.habits.server import Alone
from tests.scripted_server import Body

SETTINGS: dict[str, object] = {"scenarios": 2, "systems": 2}


@pytest.fixture(scope="module")
def healthy(tmp_path_factory: pytest.TempPathFactory) -> Trials:
    return healthy_trials(tmp_path_factory.mktemp("habits") / "healthy", **SETTINGS)


def kinds(sent: list[Body]) -> dict[str, int]:
    return dict(Counter(meaning(body).kind for body in sent))


def test_a_campaign_from_the_beginning_sends_what_its_trials_need(
    healthy: Trials, tmp_path: Path
) -> None:
    with HabitCampaign(tmp_path / "again", **SETTINGS) as campaign:
        campaign.run()
        sent = kinds(campaign.asked)
    assert sent == left_to_send({name: Trial() for name in healthy}, healthy)


@pytest.mark.parametrize(
    ("habit", "about", "kinds_left"),
    [
        ("endless thoughts in the conversation", "wish number 1", 5),
        ("endless thoughts of a rater", "factor: Novelty", 2),
        ("endless thoughts of a rater", "You are the Linguist", 0),
        ("endless thoughts of a rater", "You are the ", 1),
    ],
)
def test_the_next_run_sends_exactly_what_one_habit_left(
    habit: str, about: str, kinds_left: int, healthy: Trials, tmp_path: Path
) -> None:
    with HabitCampaign(tmp_path / "spoiled", **SETTINGS) as campaign:
        script = Alone(HABITS[habit], about)
        campaign.run(script)
        assert script.spoiled
        left, asked = left_to_send(campaign.trials, healthy), len(campaign.asked)
        campaign.run()
        assert kinds(campaign.asked[asked:]) == left
        assert len(left) == kinds_left


def test_turns_that_were_said_are_not_allowed_again(healthy: Trials) -> None:
    name, whole = next(iter(healthy.items()))
    assert whole.log is not None
    said: tuple[Turn, ...] = whole.log.interaction[:-1]
    left = left_to_send({name: Trial(said=said)}, healthy)
    assert left["judge"] == 12
    assert left[str(whole.log.interaction[-1].speaker)] == 1
    assert sum(left.get(kind, 0) for kind in ("user", "system")) == 1


def test_a_debate_is_asked_for_again_only_where_its_prompts_change(healthy: Trials) -> None:
    name, whole = next(iter(healthy.items()))
    ratings = {key: given for key, given in whole.ratings.items() if key != f"core {OVERALL}"}
    for number, again in ((1, 5), (2, 1)):
        missing = f"{Role.LINGUIST}, round {number}"
        said = {key: given for key, given in whole.statements.items() if key != missing}
        trial = Trial(log=whole.log, ratings=ratings, statements=said)
        assert left_to_send({name: trial}, healthy) == {"debate": again}
    assert left_to_send({name: whole}, healthy) == {}
