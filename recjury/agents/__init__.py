"""Systems under test: one callable over a conversation."""

from recjury.agents.loading import (
    OUTSIDE,
    SYSTEMS,
    WITH_WEIGHTS,
    Elsewhere,
    is_neural,
    load_system,
)
from recjury.agents.settings import SystemSettings
from recjury.agents.system import LoadedSystem, System

__all__ = [
    "OUTSIDE",
    "SYSTEMS",
    "WITH_WEIGHTS",
    "Elsewhere",
    "LoadedSystem",
    "System",
    "SystemSettings",
    "is_neural",
    "load_system",
]
