"""The debate of CoRE (section 4.2): four roles, rounds, a verdict."""

from recjury.debate.debate import DebateSettings, edited, run_debate
from recjury.debate.roles import Role, RolePrompts, roles_of

__all__ = ["DebateSettings", "Role", "RolePrompts", "edited", "roles_of", "run_debate"]
