"""An own evaluator: a Python class, found by import path or entry point; its errors are caught."""
