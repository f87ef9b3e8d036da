"""CoRE's twelve judges (models, or measured without a model) and the debate over their ratings."""
