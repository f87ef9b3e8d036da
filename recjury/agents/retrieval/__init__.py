"""A conversational recommender without a model: search, shared attributes, fixed phrases."""

from recjury.agents.retrieval.recommender import Retrieval

__all__ = ["Retrieval"]
