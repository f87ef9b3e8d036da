"""Outcomes of a conversation: computed from its log, and asked of its simulated user."""
