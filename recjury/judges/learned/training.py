"""The two trainings of the small judge: data in, a folder and test figures out.

Torch is imported only when it trains.
"""

import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from recjury.corpora.leakage import rated_histories
from recjury.corpora.response_sets import RESPONSE_SETS, read_response_set
from recjury.errors import DataError
from recjury.judges.learned.checkpoint import (
    REPLIES,
    SATISFACTION,
    VERSION,
    JudgeDescription,
    save_judge,
)
from recjury.records import JSON
from recjury.stats.correlation import correlate
from recjury.stats.satisfaction import satisfaction_figures

if TYPE_CHECKING:
    from recjury.judges.learned.optimising import Watch
    from recjury.judges.learned.replies import ReplyReader
    from recjury.judges.learned.reply_training import ReplyPlan
    from recjury.judges.learned.satisfaction_training import SatisfactionPlan

_DIALOGUES = "dialogue-eval"
_NO_TERMS = "USS states no licence: for research"
_MIT = "MIT"
_SOURCES = "ReDial, MultiWOZ and recjury's samples"
_OPEN_TERMS = (
    "ReDial is CC BY 4.0 (Li et al. 2018), MultiWOZ is Apache-2.0 (Budzianowski et al. 2018), "
    "the samples and replies of recjury's systems are MIT"
)
_FEWEST = 2  # of a kind: some learn, others are compared with them


class TrainedJudge(NamedTuple):
    """A judge that was trained: its folder, its figures on data it never saw, and how long."""

    folder: Path
    trained_on: str
    test: Mapping[str, JSON]
    left_out: int
    seconds: float
    cpu_seconds: float

    def as_json(self) -> dict[str, JSON]:
        """What a command prints."""
        return {
            "test": dict(self.test),
            "trained_on": self.trained_on,
            "left_out": self.left_out,
            "folder": str(self.folder),
            "seconds": round(self.seconds, 1),
            "cpu_seconds": round(self.cpu_seconds, 1),
        }


def train_comparison(
    data: Path,
    out: Path,
    plan: "ReplyPlan",
    *,
    systems: Path | None = None,
    test: bool = True,
    watch: "Watch | None" = None,
) -> TrainedJudge:
    """Train on replies of ReDial, MultiWOZ and the samples, and test on rated replies of `data`.

    `systems` is a file of systems' replies, broken and whole. No reply to a rated history is
    trained on; `left_out` counts them. Raises DataError for data that is missing or malformed, and
    ConfigError if `out` cannot be written to.
    """
    from recjury.judges.learned.replies import ReplyReader
    from recjury.judges.learned.reply_training import SystemText, train_replies
    from recjury.judges.learned.sequences import SequenceMaker
    from recjury.judges.learned.training_data import (
        location_of,
        read_system_replies,
        reply_examples,
    )

    clock = _Clock()
    replies = () if systems is None else read_system_replies(systems)
    folder = location_of(data, _DIALOGUES)
    rated = rated_histories(folder)
    examples, left_out = reply_examples(data, rated, plan.seed)
    if len(examples) < _FEWEST:
        raise DataError(f"a judge needs {_FEWEST} replies or more to learn, got {len(examples)}")
    maker = SequenceMaker()
    texts = [SystemText(each.text, each.broken) for each in replies]
    net = train_replies(examples, plan, maker, systems=texts, watch=watch)
    figures = reply_figures(folder, ReplyReader(net, maker)) if test else {}
    count = min(len(examples), plan.examples)
    names = ", ".join(sorted({each.system for each in replies}))
    also = f"; {len(replies)} replies of {names}" if replies else ""
    trained_on = f"{count} of {len(examples)} replies of {_SOURCES}{also}"
    described = _described(REPLIES, plan, trained_on, _OPEN_TERMS, figures)
    save_judge(out, net, described)
    return TrainedJudge(out, trained_on, figures, left_out, *clock.times())


def train_satisfaction(
    data: Path,
    subset: str,
    out: Path,
    plan: "SatisfactionPlan",
    *,
    watch: "Watch | None" = None,
) -> TrainedJudge:
    """Train on all subsets of USS and on AB-ReDial, and test on a tenth of `subset`.

    `data` holds uss/ and perhaps ab-redial/; or it is the folder of USS. The subset "ab-redial"
    trains on AB-ReDial alone. Dialogues that share utterances with a test dialogue are on its side.
    `left_out` counts test dialogues that were cut from the left. Raises DataError for data that is
    missing or malformed, and ConfigError if `out` cannot be written to.
    """
    from recjury.judges.learned.satisfaction_training import rate_dialogues, train_satisfaction_net
    from recjury.judges.learned.sequences import SequenceMaker
    from recjury.judges.learned.training_data import satisfaction_examples, split_by_family

    clock = _Clock()
    examples = satisfaction_examples(data, subset)
    train, tested = split_by_family(examples, subset, plan.seed)
    if len(train) < _FEWEST or not tested:
        raise DataError(
            f"too few dialogues: {len(train)} to train on, and {len(tested)} of {subset} to test "
            "with; dialogues that share utterances are on one side"
        )
    maker = SequenceMaker()
    net = train_satisfaction_net(train, subset, plan, maker, watch=watch)
    found = rate_dialogues(net, [each.turns for each in tested], maker, longest=plan.longest)
    labels = [float(np.mean(each.overall)) for each in tested]
    test: dict[str, JSON] = {**satisfaction_figures(found.overall, labels).as_json()}
    corpora = sorted({each.corpus for each in train})
    trained_on = f"{len(train)} dialogues of {', '.join(corpora)}"
    terms = _MIT if subset == "ab-redial" else _NO_TERMS
    save_judge(out, net, _described(SATISFACTION, plan, trained_on, terms, test))
    return TrainedJudge(out, trained_on, test, found.cut, *clock.times())


class _Clock:
    """The time since it was made."""

    def __init__(self) -> None:
        self._began = time.perf_counter(), time.process_time()

    def times(self) -> tuple[float, float]:
        """Seconds, and of these on processors."""
        wall, cpu = self._began
        return time.perf_counter() - wall, time.process_time() - cpu


def _described(
    kind: Literal["satisfaction", "replies"],
    plan: "ReplyPlan | SatisfactionPlan",
    trained_on: str,
    licence: str,
    test: Mapping[str, JSON],
) -> JudgeDescription:
    from recjury.judges.learned.encoder import encoder_digest

    return JudgeDescription(
        recjury_judge=VERSION,
        kind=kind,
        rank=plan.rank,
        encoder=encoder_digest(),
        trained_on=trained_on,
        licence=licence,
        settings=plan.model_dump(mode="json"),
        test=test,
    )


def reply_figures(folder: Path, reader: "ReplyReader") -> dict[str, JSON]:
    """n, Pearson's r and Spearman's rho with people's ratings, for each rated set."""
    figures: dict[str, JSON] = {}
    for name in RESPONSE_SETS:
        rows = read_response_set(folder, name)
        reader.maker.learn([row.response.text for row in rows])
        read = reader.read([(row.response.history, row.response.text) for row in rows])
        found = correlate(np.array([each.score for each in read]), [row.target for row in rows])
        figures[name] = {"n": found.n, "pearson": found.pearson, "spearman": found.spearman}
    return figures
