"""An evaluator of one's own: in a campaign, and with its source as its identity."""

from pathlib import Path

import pytest

from recjury.campaign import read_config
from recjury.errors import UserError
from recjury.results import means, ratings
from recjury.store import Store
from tests.campaign.campaigns import config, play

EXAMPLES = Path(__file__).parent.parent.parent / "examples"


def test_the_example_rates(tmp_path: Path) -> None:
    campaign = read_config(EXAMPLES / "own_evaluator.yaml")
    assert play(tmp_path / "s.db", campaign, limit=2).left == 0
    with Store(tmp_path / "s.db", readonly=True) as store:
        table = means(ratings(store, "own_evaluator"))
    assert set(table["metric"]) >= {"outcome.success", "questions.questions"}


def test_an_edited_helper_is_another_evaluator(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Case 06: what is beside the class counts; each run is a process of its own."""
    (tmp_path / "weight.py").write_text("W = 1.0\n")
    (tmp_path / "own06.py").write_text(
        "import weight\n"
        "from typing import ClassVar\n"
        "from recjury.judges import Evaluator\n"
        "from recjury.records import Metric, Rating\n"
        "class Own(Evaluator):\n"
        "    kind: str = 'own'\n"
        "    metrics: ClassVar = (Metric(name='q', high=1),)\n"
        "    async def rate(self, log, ask):\n"
        "        return [Rating(metric='q', rater='own', score=weight.W)]\n"
    )
    campaign = config(evaluators=["own06:Own"], folder=str(tmp_path))

    def rated() -> list[float]:
        import sys

        for name in ("own06", "weight"):
            sys.modules.pop(name, None)
        play(tmp_path / "s.db", campaign)
        with Store(tmp_path / "s.db", readonly=True) as store:
            return sorted(set(means(ratings(store, "small"))["mean"]))

    assert rated() == [1.0]
    (tmp_path / "weight.py").write_text("W = 0.25\n")
    assert rated() == [0.25]


def test_two_levels_of_one_metric_are_refused(tmp_path: Path) -> None:
    (tmp_path / "levels.py").write_text(
        "from typing import ClassVar\n"
        "from recjury.judges import Evaluator\n"
        "from recjury.records import Metric, Rating\n"
        "class Both(Evaluator):\n"
        "    kind: str = 'both'\n"
        "    metrics: ClassVar = (Metric(name='q', high=1),)\n"
        "    async def rate(self, log, ask):\n"
        "        about = {'metric': 'q', 'rater': 'own', 'score': 1.0}\n"
        "        return [Rating(**about), Rating(**about, turn=0)]\n"
    )
    with pytest.raises(UserError, match="q"):
        play(tmp_path / "s.db", config(evaluators=["levels:Both"], folder=str(tmp_path)))
