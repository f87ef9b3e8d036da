"""The simulated user, the leak guard that checks what it says, and the conversation."""

from recjury.simulator.leak_guard import LeakChecker, LeakGuard
from recjury.simulator.llm_user import LlmUser
from recjury.simulator.population import Population, check_users
from recjury.simulator.reply import ConversationFailed, reply_once
from recjury.simulator.rule_user import RuleUser
from recjury.simulator.session import SessionSettings, converse

__all__ = [
    "ConversationFailed",
    "LeakChecker",
    "LeakGuard",
    "LlmUser",
    "Population",
    "RuleUser",
    "SessionSettings",
    "check_users",
    "converse",
    "reply_once",
]
