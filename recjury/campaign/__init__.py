"""One evaluation run: its configuration, plan, cast, pipeline and progress."""

from recjury.campaign.config import CampaignConfig, RatingConfig
from recjury.campaign.progress import Progress
from recjury.campaign.reading import read_config, read_raters
from recjury.campaign.recorded import judge_recorded
from recjury.campaign.running import RunResult, run_campaign

__all__ = [
    "CampaignConfig",
    "Progress",
    "RatingConfig",
    "RunResult",
    "judge_recorded",
    "read_config",
    "read_raters",
    "run_campaign",
]
