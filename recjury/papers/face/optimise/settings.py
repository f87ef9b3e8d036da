"""The settings of an optimisation; the defaults are the paper's if it gives a value."""

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from recjury.papers.face.optimise.bandit import Averaging
from recjury.papers.face.optimise.examples import Correlate
from recjury.records import Record
from recjury.stats.correlation import pearson, spearman

CALLS_AT_ONCE = 256
"""The number of calls of a step that are open at the same time; a step may have tens of
thousands."""

CorrelationName = Literal["spearman", "pearson"]

_CORRELATIONS: Mapping[CorrelationName, Correlate] = {"spearman": spearman, "pearson": pearson}


class OptimiserSettings(Record):
    """Everything that can change the result besides the models, the prompts and the data.

    The paper's: `iterations` K, `beam` b, `candidates` b', `gradients` alpha, `exploration` c,
    `batches` (T = 5B, one batch of B = half the rewrites at a time), `temperature`, `final` (the
    size of the set it reports).

    Ours, if the paper gives no value: `gradient_particles` is the number of particles for which an
    iteration writes gradients, distributed over the beam; None takes every particle for each
    instruction, as in Algorithm 1 (thousands of calls in an iteration). `sampled_particles` is the
    size of the samples of Algorithm 2. `correlation` is C. With `merged`, one call criticises and
    rewrites (C.2). `averaging`: see `bandit.Averaging`. `tolerated_failures` is the share of a
    step's calls that may fail (0 to 1); if more fail, the step counts as not done.
    """

    iterations: int = Field(default=6, ge=1, description="K")
    beam: int = Field(default=4, ge=1, description="b, instructions that an iteration begins with")
    candidates: int = Field(default=16, ge=1, description="b', rewrites that are kept")
    gradients: int = Field(default=2, ge=1, description="alpha, critiques of a particle")
    exploration: float = Field(default=1.0, ge=0, description="c of UCB")
    batches: int = Field(default=5, ge=1, description="T = 5B, with half the rewrites B at a time")
    final: int = Field(default=16, ge=1, description="the size of the set that is chosen")
    temperature: float = Field(default=0.6, ge=0, le=2, description="of rewriting")
    gradient_particles: int | None = Field(
        default=32, ge=1, description="particles that are criticised"
    )
    sampled_particles: int = Field(
        default=64, ge=2, description="the size of Algorithm 2's samples"
    )
    correlation: CorrelationName = Field(default="spearman", description="C, with the labels")
    merged: bool = Field(default=True, description="criticise and rewrite in one call")
    averaging: Averaging = Field(default="mean", description="of the bandit's rewards")
    tolerated_failures: float = Field(
        default=0.02, ge=0, lt=1, description="the share of a step's calls that may fail"
    )
    seed: int = Field(default=0, description="of the split and of all random draws")

    @property
    def correlate(self) -> Correlate:
        """The function that `correlation` names."""
        return _CORRELATIONS[self.correlation]
