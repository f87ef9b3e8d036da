"""The demo's campaign file, `demo.yaml`, cut down to the systems that are installed."""

from pathlib import Path
from typing import NamedTuple

from recjury.agents.extras import require_neural
from recjury.campaign import CampaignConfig, read_config
from recjury.errors import ConfigError

CAMPAIGN_FILE = Path(__file__).parent / "demo.yaml"
NEURAL = ("kbrd", "barcor", "unicrs")


class Demo(NamedTuple):
    """A campaign, and one line on what is left out of it and how to get it (None: nothing)."""

    config: CampaignConfig
    left_out: str | None


def demo_campaign() -> Demo:
    """The demo with all five systems, or without the neural ones if the extra is missing."""
    config = read_config(CAMPAIGN_FILE)
    try:
        require_neural(f"each of {', '.join(NEURAL)}")
    except ConfigError as error:
        systems = tuple(system for system in config.systems if system.kind not in NEURAL)
        return Demo(config.model_copy(update={"systems": systems}), str(error))
    return Demo(config, None)
