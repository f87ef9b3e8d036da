"""Code of the user, such as a system under test or an evaluator, in processes of its own."""

from recjury.isolation.launch import ProcessSettings, ShownCorpus, in_thread
from recjury.isolation.pool import ProcessPool

__all__ = ["ProcessPool", "ProcessSettings", "ShownCorpus", "in_thread"]
