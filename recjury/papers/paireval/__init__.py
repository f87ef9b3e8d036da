"""PairEval (Park et al., 2024): replies compared in pairs."""
