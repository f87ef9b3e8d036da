"""Servers that recjury starts, with a fake server process: no vLLM is needed."""
