"""The stages of FACE, beside those that every trial walks through."""

from recjury.records import Aspect

PARTICLES = "face/particles"


def rating_stage(aspect: Aspect) -> str:
    """The stage whose ratings are FACE's of one aspect."""
    return f"face/{aspect}"


def score_stage(aspect: Aspect) -> str:
    """The stage that holds the scores of particles behind them; finished together."""
    return f"face/{aspect}/scores"


def holds_particles(stage: str) -> bool:
    """Whether a stage holds particles or their scores, and nothing else."""
    return stage == PARTICLES or (stage.startswith("face/") and stage.endswith("/scores"))
