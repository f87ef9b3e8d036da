"""The line that says what the noise floor of a table is."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from recjury.results.noise import NoiseFloor


def noise_line(noise: "Mapping[str, NoiseFloor]") -> str:
    """What the noise floors mean, and what they are from."""
    from recjury.results.noise import noise_source

    return (
        "noise floor: how far two runs of one system differ (95 %), from "
        f"{noise_source(noise.values())}; a difference below it is noise"
    )
