"""Models that vLLM serves on this machine, by a server that recjury starts, watches and ends."""
