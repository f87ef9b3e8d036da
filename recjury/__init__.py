"""recjury: how good is a conversational recommender for the person talking to it."""

__version__ = "0.1.0"
