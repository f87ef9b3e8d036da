"""What a run without a model has instead: a user of some forty sentences, counts, a debate."""

from collections.abc import Mapping

from recjury.demo.counted import Counted
from recjury.demo.user import DemoUser
from recjury.judges import Evaluator
from recjury.simulator import SimulatedUser

DEMO_USERS: Mapping[str, type[SimulatedUser]] = {"demo": DemoUser}
"""Users without a model, by kind."""

DEMO_EVALUATORS: Mapping[str, type[Evaluator]] = {"counted": Counted}
"""Evaluators without a model, by kind."""

__all__ = ["DEMO_EVALUATORS", "DEMO_USERS", "Counted", "DemoUser"]
