"""The simulated user, the leak guard before its mouth, and the conversation itself."""

from recjury.simulator.leak_guard import LeakGuard, Watch
from recjury.simulator.llm_user import LlmUser
from recjury.simulator.rule_user import RuleUser
from recjury.simulator.session import converse, session_settings

__all__ = ["LeakGuard", "LlmUser", "RuleUser", "Watch", "converse", "session_settings"]
