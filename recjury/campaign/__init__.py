"""One run: its configuration, plan, components, pipeline and progress."""

from recjury.campaign.config import CampaignConfig, EvaluationConfig
from recjury.campaign.judge import judge_campaign, judge_files, judge_logs
from recjury.campaign.progress import Progress
from recjury.campaign.reading import read_config, read_evaluators
from recjury.campaign.running import RunResult, run_campaign

__all__ = [
    "CampaignConfig",
    "EvaluationConfig",
    "Progress",
    "RunResult",
    "judge_campaign",
    "judge_files",
    "judge_logs",
    "read_config",
    "read_evaluators",
    "run_campaign",
]
