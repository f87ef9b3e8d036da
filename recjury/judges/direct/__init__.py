"""LLM-Direct and LLM-CoT+ICL: a turn or dialogue rated at once (FACE, section 4)."""
