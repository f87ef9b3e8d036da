"""A system under test in Python, in processes of its own."""

from recjury.agents.isolation.launch import ProcessSettings
from recjury.agents.isolation.pool import ProcessPool

__all__ = ["ProcessPool", "ProcessSettings"]
