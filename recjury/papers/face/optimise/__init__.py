"""Instruction optimisation: textual gradients, UCB selection, beam search (FACE, section 2.3)."""
