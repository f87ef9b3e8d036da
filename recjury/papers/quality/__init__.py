"""Dialogue quality by language models (Jia et al., 2024)."""
