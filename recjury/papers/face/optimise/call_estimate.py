"""Estimate the calls of an optimisation before it runs."""

from collections.abc import Sequence
from typing import NamedTuple

from recjury.judges.face.rule_decomposer import RuleDecomposer
from recjury.papers.face.optimise.bandit import batch_size
from recjury.papers.face.optimise.examples import LabelledExample
from recjury.papers.face.optimise.settings import OptimiserSettings
from recjury.papers.face.optimise.training_data import TrainingData, with_particles
from recjury.records import ExpectedCalls

_SCORING = (900, 300)  # tokens of a prompt, and of five replies to it, on average
_REWRITING = (1_200, 700)


class CallEstimate(NamedTuple):
    """The most that is asked: scored particles (n samples each), and calls that rewrite.

    The actual number is smaller if replies cannot be parsed, if rewrites repeat, or if scores exist
    already. Repairs of replies that cannot be parsed are not counted.
    """

    bandit_pulls: int
    scored_by_bandit: int
    scored_in_training: int
    scored_in_validation: int
    scored_for_gradients: int
    rewriting_calls: int

    @property
    def scored(self) -> int:
        """The number of scored particles in total."""
        return (
            self.scored_by_bandit
            + self.scored_in_training
            + self.scored_in_validation
            + self.scored_for_gradients
        )


def expected_calls(
    found: CallEstimate, *, model: str, rewriter: str, attempts: int
) -> list[ExpectedCalls]:
    """The calls of `model`, which scores with five samples in a request, and of `rewriter`."""
    scored, rewritten = found.scored, found.rewriting_calls
    return [
        ExpectedCalls(model, "face/score", scored, attempts * scored, *_SCORING),
        ExpectedCalls(rewriter, "face/rewrite", rewritten, attempts * rewritten, *_REWRITING),
    ]


def pulls_of(rewrites: int, settings: OptimiserSettings) -> int:
    """T for this number of rewrites; 0 if all of them are kept anyway."""
    if rewrites <= settings.candidates:
        return 0
    return settings.batches * batch_size(rewrites)


def estimate_calls(
    settings: OptimiserSettings,
    train: Sequence[LabelledExample],
    validation: Sequence[LabelledExample],
) -> CallEstimate:
    """The calls of a whole run if every rewrite can be parsed and is new."""
    trained, validated = (sum(len(one.particles) for one in some) for some in (train, validation))
    pulls = sampled = cases = pooled = 0
    beam = 1
    for _ in range(settings.iterations):
        wanted = settings.gradient_particles
        shown = trained * beam if wanted is None else min(wanted, trained)
        rewritten = shown * settings.gradients
        pulls += pulls_of(rewritten, settings)
        pooled += min(rewritten, settings.candidates)
        cases += shown
        beam = min(settings.beam, pooled)
    sampled = pulls * min(settings.sampled_particles, trained)
    calls = cases * settings.gradients * (1 if settings.merged else 2)
    # The initial instruction is scored on both sides, for comparison.
    return CallEstimate(
        pulls, sampled, (pooled + 1) * trained, (pooled + 1) * validated, cases, calls
    )


async def estimate_optimisation(
    training: TrainingData, settings: OptimiserSettings, *, pool: int | None = None
) -> CallEstimate:
    """The largest number of calls, with as many particles as the rule decomposer finds.

    FACE* only scores the validation side under each of the instructions of a `pool`.
    """
    train, validation = [
        await with_particles(side, RuleDecomposer())
        for side in (training.train, training.validation)
    ]
    if pool is not None:
        scored = pool * sum(len(one.particles) for one in validation)
        return CallEstimate(0, 0, 0, scored, 0, 0)
    return estimate_calls(settings, train, validation)
