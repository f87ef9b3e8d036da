"""The data for optimisation: AB-ReDial's labels, converted to the aspect's scale."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from recjury.corpora.ab_redial import SCALES, AbRedial, dialogue_log, read_ab_redial, turn_log
from recjury.corpora.splitting import families, split
from recjury.errors import DataError
from recjury.judges.face.decomposer import Decomposer
from recjury.judges.face.evaluator import targets
from recjury.llm import gather
from recjury.papers.face.optimise.examples import LabelledExample
from recjury.papers.face.optimise.settings import CALLS_AT_ONCE
from recjury.records import Aspect, ConversationLog, Level


class LabelledLog(NamedTuple):
    """A turn or dialogue with its label: the mean of its ratings, on the aspect's scale."""

    name: str
    dialogue: str
    label: float
    log: ConversationLog


class TrainingData(NamedTuple):
    """Both parts of the split, by dialogue; `left_out` are the records that could not be used.

    These are records without a rating on the aspect, and turns that may not be the rated ones.
    """

    train: tuple[LabelledLog, ...]
    validation: tuple[LabelledLog, ...]
    left_out: tuple[str, ...]


def read_training(
    folder: Path, aspect: Aspect, *, share: float = 0.6, seed: int = 0
) -> TrainingData:
    """AB-ReDial's labels on `aspect`; `share` (0 to 1) of its dialogues is for training (paper:
    0.6).

    If AB-ReDial has a conversation under two names, both are in the same part. Raises DataError.
    """
    data = read_ab_redial(folder)
    kin = families({one.id: [turn.text for turn in one.turns] for one in data.dialogues})
    sides = split(kin, share=share, seed=seed)
    found = list(_samples(data, aspect))
    train = tuple(one for one in found if one.dialogue in set(sides.train))
    validation = tuple(one for one in found if one.dialogue in set(sides.validation))
    for name, side in (("train on", train), ("validate with", validation)):
        if len({one.label for one in side}) < 2:
            raise DataError(f"too few labels of {aspect} to {name}", path=folder)
    used = {one.name for one in found}
    all_names = [one.id for one in (data.turns if aspect.level is Level.TURN else data.dialogues)]
    return TrainingData(train, validation, tuple(name for name in all_names if name not in used))


async def with_particles(
    samples: Sequence[LabelledLog], decomposer: Decomposer
) -> list[LabelledExample]:
    """The samples with their particles; one without particles is kept, and counts as unscored."""

    async def example(one: LabelledLog) -> LabelledExample:
        decomposition = await decomposer.decompose(one.log)
        return LabelledExample(one.name, one.label, targets(one.log, decomposition))

    return await gather((example(one) for one in samples), at_once=CALLS_AT_ONCE)


def _samples(data: AbRedial, aspect: Aspect) -> Iterator[LabelledLog]:
    if aspect.level is Level.TURN:
        for turn in data.turns:
            if turn.certain and (given := turn.ratings[aspect]):
                yield LabelledLog(turn.id, turn.dialogue, _label(given, aspect), turn_log(turn))
        return
    for dialogue in data.dialogues:
        if given := dialogue.ratings[aspect]:
            label = _label(given, aspect)
            yield LabelledLog(dialogue.id, dialogue.id, label, dialogue_log(dialogue))


def _label(ratings: Sequence[int], aspect: Aspect) -> float:
    """The mean rating, converted to the aspect's scale; correlations do not change."""
    low, high = SCALES[aspect]
    share = (sum(ratings) / len(ratings) - low) / (high - low)
    return round(aspect.low + share * (aspect.high - aspect.low), 9)
