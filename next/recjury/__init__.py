"""recjury evaluates conversational recommender systems."""

__version__ = "0.3.0.dev0"
