"""The checkpoints that a benchmark is given: folders named after the systems."""

from collections.abc import Sequence
from pathlib import Path

from recjury.agents.training.systems import SYSTEMS
from recjury.errors import ConfigError


def checkpoints_in(place: Path, wanted: Sequence[str] = ()) -> dict[str, Path]:
    """System to folder; without `wanted`, of those that are there.

    Raises ConfigError when one that is wanted is missing, or all are.
    """
    found = {each: place / each for each in wanted or SYSTEMS if (place / each).is_dir()}
    missing = [each for each in wanted if each not in found]
    if missing or not found:
        named = ", ".join(missing or SYSTEMS)
        raise ConfigError(f"no checkpoint folder named {named} in {place}")
    return found
