"""The systems under test. `recjury.agents.kbrd` is not imported here, because it imports torch."""

from recjury.agents.registry import SYSTEMS, SystemEntry, load_recommender, read_entry
from recjury.agents.system import System, SystemContext

__all__ = [
    "SYSTEMS",
    "System",
    "SystemContext",
    "SystemEntry",
    "load_recommender",
    "read_entry",
]
