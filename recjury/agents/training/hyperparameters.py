"""How to train one part of a system."""

from dataclasses import dataclass, fields, replace

from recjury.errors import ConfigError

_MAY_BE_ZERO = ("weight_decay", "warm_up")


@dataclass(frozen=True, kw_only=True)
class TrainingPlan:
    """How to train one part of a system.

    `patience` is the number of epochs without a better validation result after which training ends.
    `warm_up` is the share of all steps (0 to 1) over which the learning rate rises; with `decay` it
    then falls linearly to a tenth. `clip` is the largest norm of the gradient. `last` keeps the
    last epoch's weights, whatever validation says: with so few replies, the weights with the best
    perplexity do not write whole sentences yet.
    """

    epochs: int
    patience: int = 4
    batch: int = 64
    learning_rate: float = 1e-3
    weight_decay: float = 0.01
    warm_up: float = 0.05
    decay: bool = True
    clip: float | None = 1.0
    last: bool = False

    def __post_init__(self) -> None:
        """Refuse values that cannot be trained with."""
        for field in fields(self):
            value = getattr(self, field.name)
            least = 0.0 if field.name in _MAY_BE_ZERO else 1e-12
            if field.type is int:
                least = 1.0
            if value is not None and field.type is not bool and not value >= least:
                raise ConfigError(f"{field.name} must be at least {least:g}, got {value:g}")

    def at_most(self, epochs: int | None) -> "TrainingPlan":
        """This plan with another limit of epochs, if one is given."""
        return self if epochs is None else replace(self, epochs=epochs)
