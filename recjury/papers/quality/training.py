"""A local model that is fine-tuned on the labels of USS, and tested on a tenth of it (5.4)."""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal

from recjury.corpora.splitting import plain_utterance
from recjury.corpora.uss import UssSession, read_uss
from recjury.errors import DataError
from recjury.fine_tuning import LoraPlan, TuningExample, TuningReport, TuningStep, fine_tune
from recjury.fine_tuning.tuning import check_out, read_report
from recjury.judges.dialogue_quality.evaluator import QualityEvaluator
from recjury.judges.dialogue_quality.prompts import Labels, QualityPrompts
from recjury.judges.dialogue_quality.subjects import (
    LabelledSubject,
    labelled_subjects,
    split_uss,
    uss_folder,
)
from recjury.judges.evaluator import EvaluatorContext
from recjury.llm import MAIN_MODEL, Gateway, NullRecorder, read_model
from recjury.papers.quality.uss_figures import QualityFigures, figures_of, rate_all
from recjury.records import JSON, Level, Message, Record, digest

DIALOGUES = "dialogues"
"""The note of an adapter's report with the digests of the dialogues that it has learned."""


class QualityTraining(Record):
    """What is learned: the `labels` (ratings from 1 to 5, or whether the user is satisfied) of
    dialogues, turns or both, as `lora` says.

    With `compare`, the model is tested without the adapter, too.
    """

    labels: Labels = "likert"
    level: Literal["turn", "dialogue", "both"] = "dialogue"
    lora: LoraPlan = LoraPlan()
    compare: bool = True

    @property
    def levels(self) -> tuple[Level, ...]:
        """What is learned and tested."""
        return tuple(Level) if self.level == "both" else (Level(self.level),)


def train_dialogue_quality(
    model: Path,
    data: Path,
    subset: str,
    out: Path,
    *,
    seed: int = 0,
    options: QualityTraining | None = None,
    progress: Callable[[TuningStep], None] | None = None,
) -> dict[str, JSON]:
    """Fine-tune the model in the folder `model` on nine tenths of `subset`, and write the adapter
    into `out`.

    `data` is the folder of USS, or one that holds it as uss/. The result has the report of the
    training (`training`), and the figures on the other tenth with the adapter (`test`) and without
    it (`untuned`): those of dialogues; if turns are learned, those of turns as `test_turns` and
    `untuned_turns`, or in their place if turns alone are. Raises UserError for what cannot be used.
    """
    chosen = options or QualityTraining()
    check_out(out)
    split = split_uss(read_uss(uss_folder(data), subset), seed)
    prompts = QualityPrompts("logits", chosen.labels)
    plan = chosen.lora.model_copy(update={"seed": seed})
    learned = [each for level in chosen.levels for each in labelled_subjects(split.train, level)]
    notes: dict[str, JSON] = {
        "subset": subset,
        "seed": seed,
        "labels": chosen.labels,
        DIALOGUES: [dialogue_digest(each) for each in split.train],
    }
    examples = (tuning_example(prompts, each) for each in learned)
    report = fine_tune(model, examples, out, plan, notes=notes, progress=progress)
    tested = {level: labelled_subjects(split.test, level) for level in chosen.levels}
    adapters = {"test": str(out)} | ({"untuned": None} if chosen.compare else {})
    figures: dict[str, JSON] = {}
    for name, adapter in adapters.items():
        found = _tested(model, adapter, tested, chosen)
        for level, each in found.items():
            is_plain = level is Level.DIALOGUE or len(found) == 1
            figures[name if is_plain else f"{name}_turns"] = _as_json(each)
    return {"subset": subset, "seed": seed, "training": _summary(report), **figures}


def learned_dialogues(adapter: Path, sessions: Sequence[UssSession]) -> int:
    """How many of `sessions` the adapter in this folder has learned, as far as its report says."""
    try:
        learned = read_report(adapter).notes.get(DIALOGUES)
    except DataError:
        return 0  # made elsewhere: nothing is known
    known = set(learned) if isinstance(learned, list) else set()
    return sum(dialogue_digest(each) in known for each in sessions)


def dialogue_digest(session: UssSession) -> str:
    """What identifies the text of a dialogue, whatever its name is."""
    return digest([plain_utterance(turn.text) for turn in session.turns])[:16]


def tuning_example(prompts: QualityPrompts, labelled: LabelledSubject) -> TuningExample:
    """The prompt and the word to learn; shorter prompts leave out the oldest turns."""
    asked: Iterator[tuple[Message, ...]] = (
        prompt.messages for prompt in prompts.shorter(labelled.subject)
    )
    return TuningExample(next(asked), prompts.label(labelled.label), asked)


def _tested(
    model: Path,
    adapter: str | None,
    tested: Mapping[Level, Sequence[LabelledSubject]],
    options: QualityTraining,
) -> dict[Level, QualityFigures]:
    spec = read_model(
        {
            "provider": "transformers",
            "model": str(model),
            "adapter": adapter,
            "device": options.lora.device,
            "dtype": options.lora.dtype,
        }
    )

    async def ask() -> dict[Level, QualityFigures]:
        async with Gateway({MAIN_MODEL: spec}, NullRecorder()) as gateway:
            context = EvaluatorContext(gateway=gateway, models=gateway.models)
            evaluator = QualityEvaluator(labels=options.labels).prepared(context)
            return {
                level: figures_of(await rate_all(evaluator, labelled))
                for level, labelled in tested.items()
            }

    return asyncio.run(ask())


def _as_json(found: QualityFigures) -> JSON:
    return {**found.as_json(), "unscored": sum(found.unscored.values()), "cut": found.cut}


def _summary(report: TuningReport) -> JSON:
    dumped: dict[str, JSON] = report.model_dump(mode="json", exclude={"losses", "notes"})
    return {
        **dumped,
        "steps": len(report.losses),
        "first_loss": report.first_loss,
        "last_loss": report.last_loss,
    }
