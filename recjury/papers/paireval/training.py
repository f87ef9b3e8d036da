"""Train a local model for PairEval or DirectEval with LoRA, and test it on the rated sets."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from pydantic import Field

from recjury.corpora.leakage import rated_histories
from recjury.corpora.response_sets import PAIREVAL_SETS, read_response_set, sets_folder
from recjury.errors import ConfigError
from recjury.fine_tuning import LoraPlan, TuningExample, TuningReport, TuningStep, fine_tune
from recjury.judges.paireval.comparison import Comparer, LlmPairJudge
from recjury.judges.paireval.prompts import PairPrompts, shortened
from recjury.judges.paireval.scorer import DirectEvalScorer
from recjury.judges.paireval.training_pairs import (
    PairPlan,
    TrainingPair,
    read_training_dialogues,
    training_pairs,
)
from recjury.llm import Gateway, NullRecorder, read_model
from recjury.papers.paireval.correlations import RatedSet, correlations_of_draws, example_pool
from recjury.records import JSON, Record, Response
from recjury.stats.correlation import correlate

_ALIAS = "tuned"


class PairTraining(Record):
    """What is learned, and what it is tested on; the defaults are the paper's (section 4.1).

    `adversarial` is a file in the form of DailyDialog++ (default: its dev and test splits in the
    folder of the sets). Dialogues with a history of a rated set are left out. `test_rows` limits
    the rows of each set (0: no test), `examples` is the number of comparison examples and `draws`
    how often they are drawn: once by default, because a model in this process is asked six times
    for each row and draw. `paireval.table3` draws more often, and keeps its calls.
    """

    plan: PairPlan = PairPlan()
    lora: LoraPlan = LoraPlan()
    adversarial: str | None = None
    sets: tuple[str, ...] = PAIREVAL_SETS
    test_rows: int | None = Field(default=None, ge=0)
    examples: int = Field(default=3, ge=1)
    draws: int = Field(default=1, ge=1)


def tuning_examples(
    pairs: Iterator[TrainingPair] | list[TrainingPair], plan: PairPlan, prompts: PairPrompts
) -> Iterator[TuningExample]:
    """Prompts and the words to reply with: one for each pair, or two for DirectEval."""
    for pair in pairs:
        if plan.method == "direct":
            labelled = zip((pair.better, pair.worse), prompts.direct_labels, strict=True)
            for contender, label in labelled:
                every = (prompts.direct(*each.contenders) for each in shortened((contender,)))
                yield TuningExample(next(every), label, every)
        else:
            contenders = (pair.better, pair.worse) if pair.is_first else (pair.worse, pair.better)
            every = (prompts.pair(*each.contenders) for each in shortened(contenders))
            label = prompts.pair_labels[0 if pair.is_first else 1]
            yield TuningExample(next(every), label, every)


def train_paireval(
    model: Path,
    data: Path,
    out: Path,
    *,
    seed: int = 0,
    options: PairTraining | None = None,
    progress: Callable[[TuningStep], None] | None = None,
) -> dict[str, JSON]:
    """Train an adapter of the model in the folder `model`, write it into `out`, and test it.

    `data` is the folder that holds dialogue-eval/, or that folder itself. The result has `test`:
    {set: {n, pearson, spearman}}, and what was learned from. Raises as `fine_tune`, and DataError
    for a corpus without negatives. `seed` replaces the seeds in `options`.
    """
    chosen = options or PairTraining()
    folder = sets_folder(data)
    own = None if chosen.adversarial is None else Path(chosen.adversarial)
    sets = _rated_sets(folder, chosen)
    pool = example_pool(folder) if sets else ()
    if sets and len(pool) < chosen.examples:
        raise ConfigError(f"{chosen.examples} examples are wanted, and there are {len(pool)}")
    dialogues = read_training_dialogues(folder, rated_histories(folder), adversarial=own)
    prompts, plan = PairPrompts(), chosen.plan.model_copy(update={"seed": seed})
    pairs = list(training_pairs(dialogues, plan))
    lora = chosen.lora.model_copy(update={"seed": seed})
    report = fine_tune(model, tuning_examples(pairs, plan, prompts), out, lora, progress=progress)
    test = asyncio.run(_test(model, out, pool, chosen, sets, seed)) if sets else {}
    return {
        "test": test,
        "training": {
            "dialogues": len(dialogues.dialogues),
            "adversarial_contexts": len(dialogues.adversarial),
            "left_out_as_tested": dialogues.leaking,
            "pairs": len(pairs),
            "hard": sum(pair.is_hard for pair in pairs),
            "better_is_first": sum(pair.is_first for pair in pairs),
            **_learned(report),
        },
        "prompts": prompts.identity,
        "options": chosen.model_dump(mode="json"),
        "seed": seed,
    }


def _learned(report: TuningReport) -> dict[str, JSON]:
    return {
        "examples": report.examples,
        "shortened": report.shortened,
        "left_out": report.left_out,
        "steps": len(report.losses),
        "first_loss": report.first_loss,
        "last_loss": report.last_loss,
        "seconds": report.seconds,
    }


def _rated_sets(folder: Path, chosen: PairTraining) -> list[RatedSet]:
    if chosen.test_rows == 0:
        return []
    return [
        RatedSet(name, read_response_set(folder, name)[: chosen.test_rows]) for name in chosen.sets
    ]


async def _test(
    model: Path,
    out: Path,
    pool: Sequence[Response],
    chosen: PairTraining,
    sets: list[RatedSet],
    seed: int,
) -> dict[str, JSON]:
    spec = read_model(
        {
            "provider": "transformers",
            "model": str(model),
            "adapter": str(out),
            "device": chosen.lora.device,
            "dtype": chosen.lora.dtype,
        }
    )
    async with Gateway({_ALIAS: spec}, NullRecorder()) as gateway:
        judge = LlmPairJudge(Comparer(gateway, _ALIAS))
        if chosen.plan.method == "direct":
            return {each.name: await _direct(judge, each) for each in sets}
        rows = await correlations_of_draws(
            judge, sets, pool, numbers=(chosen.examples,), draws=chosen.draws, seed=seed
        )
        return {
            row.set: {"n": row.n, "pearson": row.pearson, "spearman": row.spearman} for row in rows
        }


async def _direct(judge: LlmPairJudge, rated: RatedSet) -> dict[str, JSON]:
    scores = await DirectEvalScorer(judge).scores(rated.responses)
    known = [
        (score, row.target)
        for score, row in zip(scores, rated.rows, strict=True)
        if score is not None
    ]
    found = correlate([score for score, _ in known], [target for _, target in known])
    return {"n": found.n, "pearson": found.pearson, "spearman": found.spearman}
