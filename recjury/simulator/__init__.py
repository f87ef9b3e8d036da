"""The simulated user, the leak guard before its mouth, and the conversation itself."""

from recjury.simulator.leak_guard import LeakGuard, Watch
from recjury.simulator.session import converse, session_settings

__all__ = ["LeakGuard", "Watch", "converse", "session_settings"]
