"""A file becomes a plan becomes a run; dry run, verification and what-if are runs, too."""

from recjury.campaign.cluster import Cluster
from recjury.campaign.config import Config, Scenarios, Spending, read_config
from recjury.campaign.dry_run import Estimate, dry_run
from recjury.campaign.judging import (
    Recorded,
    catalogues_of,
    judge,
    recorded,
    to_judge,
    to_judge_again,
)
from recjury.campaign.run import Choose, Finished, Progress, Shard, run
from recjury.campaign.verify import Verified, verify
from recjury.campaign.what_if import Change, WhatIf, what_if

__all__ = [
    "Change",
    "Choose",
    "Cluster",
    "Config",
    "Estimate",
    "Finished",
    "Progress",
    "Recorded",
    "Scenarios",
    "Shard",
    "Spending",
    "Verified",
    "WhatIf",
    "catalogues_of",
    "dry_run",
    "judge",
    "read_config",
    "recorded",
    "run",
    "to_judge",
    "to_judge_again",
    "verify",
    "what_if",
]
