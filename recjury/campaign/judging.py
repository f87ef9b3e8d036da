"""A campaign file as `judge` reads it: what plays a campaign may be there, and need not be."""

from recjury.campaign.config import (
    MAIN_MODEL,
    CampaignConfig,
    RatingConfig,
    ScenarioSource,
    SystemConfig,
)


class JudgingFile(CampaignConfig):
    """What is written is checked as in any campaign file; only who rates and debates counts."""

    scenarios: tuple[ScenarioSource, ...] = ()
    systems: tuple[SystemConfig, ...] = ()

    def _aliases_in_use(self) -> list[tuple[str, str]]:
        """Nobody plays: the models of simulator and systems are not asked for."""
        return RatingConfig._aliases_in_use(self)

    @property
    def raters(self) -> RatingConfig:
        """Who rates and debates, with the models that takes, and no others.

        So the same judges give the same trials, whoever plays in the rest of the file, and no
        endpoint needs to be there that nobody is going to ask.
        """
        used = {alias: self.all_models[alias] for alias in self.aliases_in_use}
        fields = {name: getattr(self, name) for name in RatingConfig.model_fields}
        return RatingConfig.model_validate(
            {**fields, "model": used.pop(MAIN_MODEL, None), "models": used}
        )
