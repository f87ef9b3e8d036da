"""Instruction optimisation: textual gradients, UCB selection, beam search (FACE, section 2.3)."""

from recjury.papers.face.optimise.allowance import Allowance, StepFailed
from recjury.papers.face.optimise.bandit import BestArms, Ucb, play
from recjury.papers.face.optimise.beam import Search, Step
from recjury.papers.face.optimise.call_estimate import CallEstimate, estimate_calls
from recjury.papers.face.optimise.gradient import Task
from recjury.papers.face.optimise.labelled_particles import Examples, LabelledExample, SupportsScore
from recjury.papers.face.optimise.optimisation_report import OptimisationReport, build_report
from recjury.papers.face.optimise.rewrite import Rewriter
from recjury.papers.face.optimise.select import Chosen, choose
from recjury.papers.face.optimise.settings import OptimiserSettings
from recjury.papers.face.optimise.state import Journal

__all__ = [
    "Allowance",
    "BestArms",
    "CallEstimate",
    "Chosen",
    "Examples",
    "Journal",
    "LabelledExample",
    "OptimisationReport",
    "OptimiserSettings",
    "Rewriter",
    "Search",
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
