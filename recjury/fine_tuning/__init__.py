"""Fine-tuning of local causal language models with LoRA (Hu et al. 2021), for judges."""

from recjury.fine_tuning.plan import LoraPlan, TuningExample, TuningReport, TuningStep
from recjury.fine_tuning.tuning import fine_tune

__all__ = ["LoraPlan", "TuningExample", "TuningReport", "TuningStep", "fine_tune"]
