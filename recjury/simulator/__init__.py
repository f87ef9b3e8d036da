"""The simulated user, the leak guard that checks what it says, and the conversation."""

from recjury.simulator.leak_guard import LeakGuard, Watch
from recjury.simulator.llm_user import LlmUser
from recjury.simulator.rule_user import RuleUser
from recjury.simulator.session import ConversationFailed, SessionSettings, converse

__all__ = [
    "ConversationFailed",
    "LeakGuard",
    "LlmUser",
    "RuleUser",
    "SessionSettings",
    "Watch",
    "converse",
]
