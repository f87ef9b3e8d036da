"""The entries of the neural systems in a campaign file, and how they are loaded."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from pydantic import Field

from recjury.agents.neural.description import Fidelity
from recjury.agents.system_config import NonEmpty, SystemConfig, SystemContext
from recjury.errors import ConfigError
from recjury.plugins.extras import require_neural
from recjury.records import Recommender

if TYPE_CHECKING:
    from recjury.corpora import Corpus


class LoadsCheckpoint(Protocol):
    """The class of a neural system."""

    def load(
        self,
        folder: Path,
        corpus: "Corpus",
        *,
        name: str,
        list_length: int,
        fidelity: Fidelity | None,
        backbones: Mapping[str, str],
        device: str,
    ) -> Recommender:
        """Load the system from its checkpoint folder.

        Raises ConfigError for a missing file, and DataError for a file that does not fit.
        """


class NeuralConfig(SystemConfig):
    """A neural system from a checkpoint folder; `{corpus}` in it stands for the corpus.

    Without a `checkpoint` it has the weights of the package for the sample corpus. `backbones`
    names published models that it builds on, by kind: folders or hub names. The default of
    `fidelity` is the checkpoint's own value, and "ievalm" for published ones. `device` is the torch
    device.
    """

    checkpoint: NonEmpty | None = None
    fidelity: Fidelity | None = None
    device: str = "cpu"
    backbones: dict[Any, NonEmpty] = Field(default_factory=dict)

    def build(self, context: SystemContext) -> Recommender:
        """Build the system from its checkpoint."""
        require_neural(f"system {self.name}: kind {self.kind}")
        return self._system().load(
            self._folder(context),
            context.corpus,
            name=self.name,
            list_length=context.list_length,
            fidelity=self.fidelity,
            backbones=self.backbones,
            device=self._usable_device(),
        )

    def _system(self) -> LoadsCheckpoint:
        """The class of the system."""
        raise NotImplementedError

    def _folder(self, context: SystemContext) -> Path:
        """The checkpoint's folder, or that of the weights in the package. Raises ConfigError."""
        from recjury.agents.shipped import shipped_checkpoint

        if self.checkpoint is not None:
            return Path(self.checkpoint).expanduser()
        return shipped_checkpoint(self.kind, context.corpus, name=self.name)

    def _usable_device(self) -> str:
        """The device, tried with one number. Raises ConfigError if torch cannot use it."""
        import torch

        try:
            # Some torch devices (such as "meta") store no values.
            torch.zeros(1, device=self.device).tolist()
        except (RuntimeError, AssertionError) as error:
            reason = str(error).splitlines()[0]
            raise ConfigError(
                f"system {self.name}: device {self.device!r} cannot be used: {reason}"
            ) from error
        return self.device


class KbrdConfig(NeuralConfig):
    """KBRD. `backbones` may name the tokenizer of its generator (`bart`)."""

    kind: Literal["kbrd"]
    name: str = "kbrd"
    backbones: dict[Literal["bart"], NonEmpty] = Field(default_factory=dict)

    def _system(self) -> LoadsCheckpoint:
        from recjury.agents.kbrd.recommender import KBRD

        return KBRD


class BarcorConfig(NeuralConfig):
    """BARCOR. `backbones` may name its tokenizer (`bart`)."""

    kind: Literal["barcor"]
    name: str = "barcor"
    backbones: dict[Literal["bart"], NonEmpty] = Field(default_factory=dict)

    def _system(self) -> LoadsCheckpoint:
        from recjury.agents.barcor.recommender import BARCOR

        return BARCOR


class UnicrsConfig(NeuralConfig):
    """UniCRS. `backbones` may name the models it builds on (`gpt2`, `roberta`)."""

    kind: Literal["unicrs"]
    name: str = "unicrs"
    backbones: dict[Literal["gpt2", "roberta"], NonEmpty] = Field(default_factory=dict)

    def _system(self) -> LoadsCheckpoint:
        from recjury.agents.unicrs.recommender import UniCRS

        return UniCRS
