"""Every analysis and every training that can be named, and how it is made and run."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from recjury.errors import ConfigError
from recjury.plugins import Registry, with_settings
from recjury.tables import Analysis, AnalysisInput, Findings, Trainer

AnalysisT = TypeVar("AnalysisT", bound=Analysis)

_JUDGE = "recjury.agreement"
_CORE = "recjury.papers.core"
_FACE = "recjury.papers.face"
_PAIREVAL = "recjury.papers.paireval"
_QUALITY = "recjury.papers.quality"

ANALYSES: Registry[type[Analysis]] = Registry(
    "analysis",
    "recjury.analyses",
    {
        "judge.samples": f"{_JUDGE}.samples:SampleSizes",
        "judge.radar": f"{_JUDGE}.profiles:Radar",
        "judge.turns": f"{_JUDGE}.profiles:Turns",
        "judge.length": f"{_JUDGE}.length:Length",
        "judge.self_preference": f"{_JUDGE}.self_preference:SelfPreferences",
        "replies.correlations": f"{_JUDGE}.replies.scorer_analyses:Correlations",
        "replies.robustness": f"{_JUDGE}.replies.scorer_analyses:Robustness",
        "replies.worse_texts": f"{_JUDGE}.replies.worse_texts_analysis:WorseTexts",
        "offline.table": "recjury.results.offline_table:OfflineTable",
        "core.rq1": f"{_CORE}.coupling:Rq1",
        "core.rq2": f"{_CORE}.factor_agreement:Rq2",
        "core.rq3": f"{_CORE}.overall:Rq3",
        "core.rq4": f"{_CORE}.system_factors:Rq4",
        "core.routing": f"{_CORE}.factor_agreement:Routing",
        "face.table1": f"{_FACE}.table1:FaceTable1",
        "face.table2": f"{_FACE}.table2:FaceTable2",
        "face.figure2": f"{_FACE}.figure2:FaceFigure2",
        "face.table4": f"{_FACE}.table4:FaceTable4",
        "face.table5": f"{_FACE}.table5:FaceTable5",
        "face.length": f"{_FACE}.length_bias:FaceLength",
        "face.explain": f"{_FACE}.explain:Explain",
        **{
            f"paireval.table{number}": f"{_PAIREVAL}.correlation_tables:PairTable{number}"
            for number in range(1, 7)
        },
        "paireval.table7": f"{_PAIREVAL}.robustness:PairTable7",
        "paireval.figure3": f"{_PAIREVAL}.figure3:PairFigure3",
        "quality.table1": f"{_QUALITY}.table1:QualityTable1",
        "quality.table3": f"{_QUALITY}.table3:QualityTable3",
        "quality.reasons": f"{_QUALITY}.reasons:QualityReasons",
        "paireval.tournament": f"{_PAIREVAL}.tournament_analysis:Tournament",
        "paireval.adversaries": f"{_PAIREVAL}.written_adversaries:WrittenAdversaries",
    },
    plural="analyses",
)
"""The analyses by name: of the papers, of judges, and of scorers of replies."""

TRAINERS: Registry[type[Trainer]] = Registry(
    "trainer",
    "recjury.trainers",
    {
        "kbrd": "recjury.agents.training.trainers:KbrdTrainer",
        "barcor": "recjury.agents.training.trainers:BarcorTrainer",
        "unicrs": "recjury.agents.training.trainers:UnicrsTrainer",
        "dialogue-quality": "recjury.judges.learned.trainers:SatisfactionTrainer",
        "dialogue-quality-lora": "recjury.papers.quality.quality_trainer:QualityTrainer",
        "paireval": "recjury.judges.learned.trainers:ReplyTrainer",
        "paireval-lora": f"{_PAIREVAL}.pair_trainer:PairTrainer",
        "face": f"{_FACE}.instruction_trainer:InstructionTrainer",
    },
)
"""The trainings by name."""


def registries() -> dict[str, Registry[Any]]:
    """What can be listed, by the plural of its kind."""
    from recjury.agents import SYSTEMS
    from recjury.agreement.label_forms import LABEL_FORMS
    from recjury.corpora.log_readers import LOG_FORMS
    from recjury.corpora.opening import CORPORA
    from recjury.judges.registry import EVALUATORS
    from recjury.llm import MODEL_KINDS
    from recjury.simulator.users import USERS

    return {
        "corpora": CORPORA,
        "systems": SYSTEMS,
        "users": USERS,
        "models": MODEL_KINDS,
        "evaluators": EVALUATORS,
        "logs": LOG_FORMS,
        "labels": LABEL_FORMS,
        "analyses": ANALYSES,
        "trainers": TRAINERS,
    }


def configured(
    registry: Registry[type[AnalysisT]], name: str, settings: Mapping[str, object]
) -> AnalysisT:
    """The analysis of this name with these settings.

    Raises ConfigError, with the most similar name, for an unknown analysis or setting.
    """
    kind: object = registry.load(name)
    if not (isinstance(kind, type) and issubclass(kind, Analysis)):
        raise ConfigError(f"{name} is not a class that extends recjury.tables.Analysis")
    return with_settings(kind, name, settings)  # type: ignore[return-value]


def data_folder(given: str | Path | None) -> Path | None:
    """The folder of public data that was given, or that RECJURY_DATA names."""
    named = given or os.environ.get("RECJURY_DATA")
    return Path(named) if named else None


async def run_analysis(name: str, analysis: Analysis, given: AnalysisInput) -> Findings:
    """What it finds, after a check of what it needs. Raises UserError."""
    given.require(name, *analysis.needs)
    return await analysis.run(given)
