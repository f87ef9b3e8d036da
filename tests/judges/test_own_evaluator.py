"""An evaluator of one's own: in a campaign, and with its source as its identity."""

from pathlib import Path

import pytest

from recjury.campaign import read_config
from recjury.errors import UserError
from recjury.results import means, ratings, scores
from recjury.store import Store
from tests.campaign.campaigns import config, play

EXAMPLES = Path(__file__).parent.parent.parent / "examples"


def test_the_example_rates(tmp_path: Path) -> None:
    campaign = read_config(EXAMPLES / "own_evaluator.yaml")
    assert play(tmp_path / "s.db", campaign, limit=2).left == 0
    with Store(tmp_path / "s.db", readonly=True) as store:
        table = means(scores(ratings(store, "own_evaluator")))
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
            return sorted(set(means(scores(ratings(store, "small")))["mean"]))

    assert rated() == [1.0]
    (tmp_path / "weight.py").write_text("W = 0.25\n")
    assert rated() == [0.25]


MISTAKEN = """
from typing import ClassVar
from recjury.judges import Evaluator
from recjury.records import Debate, Evidence, Metric, Rating, Statement

class Own(Evaluator):
    kind: str = "own"
    METRICS
    async def rate(self, log, ask):
        q = dict(metric="q", rater="own", score=1.0)
        verdict = Rating(metric="q", rater="debate", score=1)
        said = Statement(role="Linguist", round=1, speaker="m", score=50)
        RATE
"""


@pytest.mark.parametrize(
    ("rate", "words"),
    [
        ("return [Rating(**q), Rating(**q, turn=0)]", "'q' rates turns and the dialogue"),
        ("return [Rating(**q), Rating(**q)]", "'q' has two ratings by 'own'"),
        ("return [Debate(statements=(said, said), verdict=verdict)]", "two statements in round 1"),
        ("return [Rating(**{**q, 'metric': 'b'})]", "'b', which `metrics` does not list"),
        ("return [Rating(**{**q, 'score': 7})]", "'q' is 7, and its scale goes from 0 to 1"),
        ("return [Rating(**q, turn=99)]", "is of turn 99: there are 0 to"),
        ("return Rating(**q)", "must return a list"),
        ("pass", "must return a list"),
        ("return [Evidence(name='e', value={1, 2})]", "'e' is no JSON"),
    ],
)
def test_what_no_table_could_show_is_refused(tmp_path: Path, rate: str, words: str) -> None:
    metrics = "metrics: ClassVar = (Metric(name='q', high=1),)"
    (tmp_path / "mistaken.py").write_text(
        MISTAKEN.replace("METRICS", metrics).replace("RATE", rate)
    )
    with pytest.raises(UserError, match=f"evaluator own: .*{words}"):
        play(tmp_path / "s.db", config(evaluators=["mistaken:Own"], folder=str(tmp_path)))
    with Store(tmp_path / "s.db", readonly=True) as store:
        assert not ratings(store, "small")["metric"].notna().any()


@pytest.mark.parametrize(
    ("metrics", "words"),
    [
        ("def metrics(self): return []", "write @property above it"),
        ("metrics: ClassVar = ('q',)", "a list of Metric"),
        ("metrics: ClassVar = (Metric(name='q'), Metric(name='q'))", "two metrics"),
        ("metrics: ClassVar = (Metric(name='q', low=5, high=1),)", "from 5 to 1"),
    ],
)
def test_metrics_are_checked_before_the_run(tmp_path: Path, metrics: str, words: str) -> None:
    (tmp_path / "mistaken.py").write_text(
        MISTAKEN.replace("METRICS", metrics).replace("RATE", "return []")
    )
    with pytest.raises(UserError, match=words):
        play(tmp_path / "s.db", config(evaluators=["mistaken:Own"], folder=str(tmp_path)))


def test_an_evaluator_that_exits_is_a_reason_without_a_score(tmp_path: Path) -> None:
    metrics = "metrics: ClassVar = (Metric(name='q', high=1),)"
    text = MISTAKEN.replace("METRICS", metrics).replace("RATE", "raise SystemExit('enough')")
    (tmp_path / "mistaken.py").write_text(text)
    play(tmp_path / "s.db", config(evaluators=["mistaken:Own"], folder=str(tmp_path)))
    with Store(tmp_path / "s.db", readonly=True) as store:
        assert set(ratings(store, "small")["status"]) == {"call failed"}
