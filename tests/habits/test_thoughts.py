"""Systems that are models say, list and hit the same, whether and however they think."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from recjury.records import ConversationLog
from tests.habits import reasoning
from tests.habits.campaign import HabitCampaign, Trials
from tests.habits.habit import HABITS
from tests.habits.meaning import honest, meaning
from tests.scripted_server import Answer, Body

FORMS = (
    "think tags",
    "closing tag alone",
    "channels",
    "reasoning content",
    "typed parts",
    "bracket tokens",
    "closing tag within a line",
    "thoughts in two blocks of one line",
)
ONE_TARGET = "The Grand Budapest Hotel (2014)"
"""The target of one of the two scenarios; the systems name it at last."""


def _answers(form: str = "") -> Callable[[Body], Answer]:
    """Systems name the one target in their second turn; with a form, all speakers think."""

    def answer(body: Body) -> Answer:
        meant = meaning(body)
        if meant.kind == "system" and "advice number" in meant.asked:
            meant = replace(meant, words=f'{meant.words} Or is it "{ONE_TARGET}"?')
        if form and meant.kind != "check":
            found = HABITS[form].spoil(meant, body)
            assert found is not None
            return found
        return honest(meant, body)

    return answer


def _trials(folder: Path, answers: Callable[[Body], Answer]) -> Trials:
    with HabitCampaign(folder, systems=2, core=False) as campaign:
        ended = campaign.run(answers)
        assert ended.code == 0, ended.err
        return campaign.trials


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Trials:
    return _trials(tmp_path_factory.mktemp("plain"), _answers())


def _log(trials: Trials, name: str) -> ConversationLog:
    log = trials[name].log
    assert log is not None
    return log


def test_without_thoughts_half_of_the_trials_have_a_hit(plain: Trials) -> None:
    recall = [trial.ratings["outcome recall@10"].score for trial in plain.values()]
    assert sorted(score or 0 for score in recall) == [0, 0, 1, 1]


@pytest.mark.parametrize("form", FORMS)
def test_text_list_and_recall_are_those_of_the_run_without_thoughts(
    form: str, plain: Trials, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    logs = {name: _log(plain, name) for name in plain}
    targets = sorted({target.name for log in logs.values() for target in log.scenario.targets})
    dismissed = ", ".join(f'**{name}** or "{name}"' for name in (*targets, "Alien (1979)"))
    monkeypatch.setattr(reasoning, "THOUGHT", f"Is it {dismissed}? No, none of them.")
    found = _trials(tmp_path, _answers(form))
    for name, log in logs.items():
        thinking = _log(found, name)
        assert [turn.text for turn in thinking.interaction] == [t.text for t in log.interaction]
        assert [turn.items for turn in thinking.interaction] == [t.items for t in log.interaction]
        for metric, rating in plain[name].ratings.items():
            if "recall" in metric:
                assert found[name].ratings[metric].score == rating.score
