"""Four roles debate one overall score; stored debates are replayed, verified and forked.

The debaters that are played by models are in `recjury.debate.llm_debaters`, which is imported
late because it brings AutoGen along.
"""

from recjury.debate.debate import (
    DEBATE,
    EDITED,
    MAX_ROUNDS,
    OVERALL,
    Debater,
    hold,
    is_over,
    overall,
    verdict,
)
from recjury.debate.fork import Edit, Fork, fork_id, hold_fork
from recjury.debate.roles import DebatePrompts, RoleGuide, own_ratings
from recjury.debate.rule_debaters import RULE, RuleDebaters

__all__ = [
    "DEBATE",
    "EDITED",
    "MAX_ROUNDS",
    "OVERALL",
    "RULE",
    "DebatePrompts",
    "Debater",
    "Edit",
    "Fork",
    "RoleGuide",
    "RuleDebaters",
    "fork_id",
    "hold",
    "hold_fork",
    "is_over",
    "overall",
    "own_ratings",
    "verdict",
]
