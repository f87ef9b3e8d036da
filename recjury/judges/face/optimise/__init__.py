"""Instruction optimisation: textual gradients, UCB selection, beam search (FACE, section 2.3)."""

from recjury.judges.face.optimise.bandit import Selection, Ucb, play
from recjury.judges.face.optimise.beam import Search, Step
from recjury.judges.face.optimise.budget import Allowance, StepFailed
from recjury.judges.face.optimise.examples import Example, ParticleScorer
from recjury.judges.face.optimise.gradient import Task
from recjury.judges.face.optimise.report import Report, report
from recjury.judges.face.optimise.rewrite import Rewriter
from recjury.judges.face.optimise.select import Chosen, choose
from recjury.judges.face.optimise.settings import OptimiserSettings
from recjury.judges.face.optimise.spending import Spending, spending
from recjury.judges.face.optimise.state import Journal

__all__ = [
    "Allowance",
    "Chosen",
    "Example",
    "Journal",
    "OptimiserSettings",
    "ParticleScorer",
    "Report",
    "Rewriter",
    "Search",
    "Selection",
    "Spending",
    "Step",
    "StepFailed",
    "Task",
    "Ucb",
    "choose",
    "play",
    "report",
    "spending",
]
