"""CoRE (Chen et al., 2025): factors, judges and people."""
