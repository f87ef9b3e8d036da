"""The campaign of the README, without a key, a GPU or a network: `recjury demo`."""

from recjury.demo.campaign import Demo, demo_campaign
from recjury.demo.popular import Popular

__all__ = ["Demo", "Popular", "demo_campaign"]
