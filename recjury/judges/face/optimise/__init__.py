"""Instruction optimisation: textual gradients, UCB selection, beam search (FACE, section 2.3)."""

from recjury.judges.face.optimise.allowance import Allowance, StepFailed
from recjury.judges.face.optimise.bandit import Selection, Ucb, play
from recjury.judges.face.optimise.beam import Search, Step
from recjury.judges.face.optimise.call_estimate import CallEstimate, estimate_calls
from recjury.judges.face.optimise.gradient import Task
from recjury.judges.face.optimise.labelled_particles import Examples, LabelledExample, SupportsScore
from recjury.judges.face.optimise.optimisation_report import OptimisationReport, build_report
from recjury.judges.face.optimise.rewrite import Rewriter
from recjury.judges.face.optimise.select import Chosen, choose
from recjury.judges.face.optimise.settings import OptimiserSettings
from recjury.judges.face.optimise.state import Journal

__all__ = [
    "Allowance",
    "CallEstimate",
    "Chosen",
    "Examples",
    "Journal",
    "LabelledExample",
    "OptimisationReport",
    "OptimiserSettings",
    "Rewriter",
    "Search",
    "Selection",
    "Step",
    "StepFailed",
    "SupportsScore",
    "Task",
    "Ucb",
    "build_report",
    "choose",
    "estimate_calls",
    "play",
]
