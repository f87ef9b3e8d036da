"""How to train: the plan of one part, and the plans and sizes of a whole system."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Self

from recjury.errors import ConfigError

if TYPE_CHECKING:
    from recjury.agents.neural.backbones import Origin
    from recjury.agents.training.run import Ranks, TrainingRun

_MAY_BE_ZERO = ("weight_decay", "warm_up")
_FEW = 4000  # instances: between ReDial's validation split (3,244) and OpenDialKG (5,893)


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


@dataclass(frozen=True, kw_only=True)
class SystemPlan(ABC):
    """How to train a system; its parts are the fields that are plans.

    The defaults suit corpora of 4,000 instances and more. `always` are the sizes that do not depend
    on a published backbone.
    """

    system: ClassVar[str]
    always: ClassVar[tuple[str, ...]] = ("facts",)

    @property
    @abstractmethod
    def generator(self) -> TrainingPlan | None:
        """The plan of the part that writes replies; None trains none."""

    @property
    def facts(self) -> int:
        """The number of instances made from the graph that are added; see `graph_instances`."""
        return 0

    @abstractmethod
    def carry_out(
        self, session: "TrainingRun", origins: "Mapping[str, Origin]", folder: Path
    ) -> "Ranks":
        """Train the parts, write them into `folder`, and return how the recommender ranks.

        `origins` are the published models to start from. Raises DataError if they do not fit.
        """

    @classmethod
    def suited_to(cls, instances: int) -> Self:
        """The hyperparameters for a corpus with that many training instances."""
        return cls.small() if instances < _FEW else cls()

    @classmethod
    @abstractmethod
    def small(cls) -> Self:
        """The hyperparameters for smaller corpora."""

    @abstractmethod
    def from_published(self) -> Self:
        """These hyperparameters with plans for published backbones, which have their own sizes."""

    def without_generator(self) -> Self:
        """These hyperparameters for a system that replies with fixed sentences.

        Raises ConfigError if the system needs a generator.
        """
        raise ConfigError("only kbrd can be trained without a generator")

    def at_most(self, epochs: int | None) -> Self:
        """These hyperparameters with another limit of epochs for every part, if one is given."""
        parts = ((field.name, getattr(self, field.name)) for field in fields(self))
        return replace(
            self,
            **{
                name: part.at_most(epochs) for name, part in parts if isinstance(part, TrainingPlan)
            },
        )

    def sizes(self, *, from_scratch: bool) -> dict[str, float]:
        """The fields that are no plans; those of the models only if they are from scratch."""
        found: dict[str, float] = {}
        for field in fields(self):
            value = getattr(self, field.name)
            if not from_scratch and field.name not in self.always:
                continue
            if isinstance(value, tuple):  # layers
                parts = zip(("encoder", "decoder"), value, strict=True)
                found |= {f"{field.name}.{part}": number for part, number in parts}
            elif isinstance(value, int | float):
                found[field.name] = value
        return found
