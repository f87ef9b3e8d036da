"""Four roles debate one overall score; stored debates are replayed and verified.

The debaters that are played by models are in `recjury.debate.llm_debaters`, which is imported
late because it brings AutoGen along.
"""

from recjury.debate.debate import MAX_ROUNDS, Debater, hold, is_over, verdict
from recjury.debate.roles import DebatePrompts, RoleGuide, own_ratings
from recjury.debate.rule_debaters import RULE, RuleDebaters

__all__ = [
    "MAX_ROUNDS",
    "RULE",
    "DebatePrompts",
    "Debater",
    "RoleGuide",
    "RuleDebaters",
    "hold",
    "is_over",
    "own_ratings",
    "verdict",
]
