"""Satisfaction with turns and dialogues, rated by a language model (Jia et al. 2024)."""
