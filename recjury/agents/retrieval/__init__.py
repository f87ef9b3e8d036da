"""A conversational recommender without a model: search, shared attributes, set phrases."""

from recjury.agents.retrieval.recommender import Retrieval

__all__ = ["Retrieval"]
