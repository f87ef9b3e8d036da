"""PairEval and DirectEval: turns and dialogues compared, or judged alone (Park et al., 2024)."""
