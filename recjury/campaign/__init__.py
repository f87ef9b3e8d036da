"""One evaluation run: its configuration, plan, cast, pipeline and progress.

Import the submodules: some bring the rooms of a whole campaign along.
"""

from recjury.campaign.config import CampaignConfig, RatingConfig
from recjury.campaign.progress import Progress
from recjury.campaign.reading import read_config

__all__ = ["CampaignConfig", "Progress", "RatingConfig", "read_config"]
