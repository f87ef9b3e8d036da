"""Systems under test: one callable over a conversation."""

from recjury.agents.loading import SYSTEMS, load_system
from recjury.agents.settings import SystemSettings
from recjury.agents.system import LoadedSystem, System

__all__ = ["SYSTEMS", "LoadedSystem", "System", "SystemSettings", "load_system"]
