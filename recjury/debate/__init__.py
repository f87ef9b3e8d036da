"""Four roles debate one overall score; stored debates are replayed, verified and forked.

The debaters played by models are in `recjury.debate.llm_debaters`, which is imported late because
it imports AutoGen.
"""

from recjury.debate.forking import Edit, Fork, fork_id, run_fork
from recjury.debate.rated_log import RatedLog, own_ratings
from recjury.debate.roles import DebatePrompts, RoleGuide
from recjury.debate.rounds import (
    DEBATE,
    EDITED,
    MAX_ROUNDS,
    Debater,
    before_and_after,
    overall,
    run_debate,
)
from recjury.debate.rule_debaters import RULE, RuleDebaters
from recjury.debate.rules import (
    OVERALL,
    RULE_VERDICT,
    is_over,
    mean_of_round,
    verdict,
    verdict_name,
)

__all__ = [
    "DEBATE",
    "EDITED",
    "MAX_ROUNDS",
    "OVERALL",
    "RULE",
    "RULE_VERDICT",
    "DebatePrompts",
    "Debater",
    "Edit",
    "Fork",
    "RatedLog",
    "RoleGuide",
    "RuleDebaters",
    "before_and_after",
    "fork_id",
    "is_over",
    "mean_of_round",
    "overall",
    "own_ratings",
    "run_debate",
    "run_fork",
    "verdict",
    "verdict_name",
]
