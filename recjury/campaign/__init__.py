"""Campaigns: their configuration, plan, components, runner and progress."""

from recjury.campaign.config import CampaignConfig, EvaluationConfig
from recjury.campaign.config_file import read_config, read_evaluators
from recjury.campaign.judge_existing import judge_campaign, judge_files, judge_logs
from recjury.campaign.progress import Progress, RunResult
from recjury.campaign.retry import Retry
from recjury.campaign.run import run_campaign

__all__ = [
    "CampaignConfig",
    "EvaluationConfig",
    "Progress",
    "Retry",
    "RunResult",
    "judge_campaign",
    "judge_files",
    "judge_logs",
    "read_config",
    "read_evaluators",
    "run_campaign",
]
