"""Who scores a conversation log: a judge per factor, and the panel that gathers them."""

from recjury.judges.factor_judge import FactorJudge
from recjury.judges.panel import MEAN, Panel, one_per_factor
from recjury.judges.rubric import Guide, Rubric

__all__ = ["MEAN", "FactorJudge", "Guide", "Panel", "Rubric", "one_per_factor"]
