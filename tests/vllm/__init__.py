"""Tests against a real vLLM server on a CPU: `make test-vllm`, not part of `make test`."""
