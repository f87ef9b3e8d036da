"""Four roles debate one overall score; stored debates are replayed, verified and forked.

The debaters played by models are in `recjury.debate.llm_debaters`, which is imported late because
it imports AutoGen.
"""

from recjury.debate.forking import Edit, Fork, fork_id, run_fork
from recjury.debate.roles import DebatePrompts, RoleGuide, own_ratings
from recjury.debate.rounds import (
    DEBATE,
    EDITED,
    MAX_ROUNDS,
    OVERALL,
    Debater,
    overall,
    run_debate,
)
from recjury.debate.rule_debaters import RULE, RuleDebaters
from recjury.debate.rules import is_over, verdict

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
    "is_over",
    "overall",
    "own_ratings",
    "run_debate",
    "run_fork",
    "verdict",
]
