"""The trainings of judges by name, and what came of one."""

from collections.abc import Mapping

import pandas as pd

from recjury.agents.neural.training import Step
from recjury.llm import in_thread
from recjury.papers.lora import LoraTraining, train
from recjury.papers.optimise import FaceTraining, Optimisation, optimise
from recjury.papers.optimise.search import Say
from recjury.papers.training import (
    PairTraining,
    QualityTraining,
    held_out,
    pair_lessons,
    quality_lessons,
)
from recjury.results import Findings

TRAINERS: Mapping[str, type[FaceTraining | PairTraining | QualityTraining]] = {
    "face": FaceTraining,
    "paireval": PairTraining,
    "dialogue-quality": QualityTraining,
}


async def trained(asked: FaceTraining | PairTraining | QualityTraining, say: Say) -> Findings:
    """Train, and say what was made. Raises UserError."""
    if isinstance(asked, FaceTraining):
        return _optimised(await optimise(asked, say=say))
    lessons = pair_lessons(asked) if isinstance(asked, PairTraining) else quality_lessons(asked)

    def report(step: Step) -> None:
        if step.epoch in (1, step.epochs) or step.epoch % 10 == 0:
            say(f"batch {step.epoch} of {step.epochs}, loss {step.loss:.3f}")

    return await in_thread(_adapted, asked, lessons, report)


def _adapted(asked: LoraTraining, lessons: object, report: object) -> Findings:
    found = train(asked, lessons, report)  # type: ignore[arg-type]
    tested = held_out(asked) if isinstance(asked, QualityTraining) else []
    left_out = f"; {found.too_long:,} were too long" if found.too_long else ""
    return Findings(
        title=found.folder.name,
        answer=f"Learned {found.learned:,} examples{left_out}; the loss went from "
        f"{found.first_loss:.3f} to {found.last_loss:.3f}. In a campaign file: "
        f"{{provider: transformers, name: {asked.model}, adapter: {found.folder}}}",
        data=found._asdict() | {"folder": str(found.folder), "held_out": tested},
    )


def _optimised(found: Optimisation) -> Findings:
    best, together = found.chosen.names, found.chosen.together.correlation
    return Findings(
        title=found.file.stem,
        answer=f"The {len(best)} best of {len(found.pool)} instructions together: "
        f"{_shown(together)} with people on the dialogues for validation; the initial one: "
        f"{_shown(found.initial.correlation)}. For `instructions` of face: {found.file.parent}",
        tables={"Instructions": _table(found)},
        notes=(f"{found.sent:,} calls sent, {found.reused:,} found in the store",),
        data={
            "file": str(found.file),
            "chosen": list(best),
            "together": together,
            "initial": found.initial.correlation,
            "validation": {n: each.correlation for n, each in found.chosen.measured.items()},
            "sent": found.sent,
            "reused": found.reused,
        },
    )


def _table(found: Optimisation) -> pd.DataFrame:
    ranks = {name: rank for rank, name in enumerate(found.chosen.names, 1)}
    table = pd.DataFrame.from_dict(found.rows, orient="index")
    table = table[["written_in", "training", "validation"]].rename_axis("instruction").reset_index()
    return table.assign(rank=[ranks.get(name, "") for name in table["instruction"]])


def _shown(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.3f}"
