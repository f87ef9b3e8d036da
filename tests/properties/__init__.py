"""What must hold for every input: found by hypothesis, for a fixed time in `make test-ci`."""
