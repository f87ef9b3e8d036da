"""An own rubric: criteria in a YAML file, judged like the twelve factors."""
