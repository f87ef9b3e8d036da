"""The neural systems as a campaign file names them. Their models are loaded when prepared."""

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field, PrivateAttr

from recjury.agents.batching import Batcher
from recjury.agents.neural.description import Fidelity
from recjury.agents.shipped import shipped_checkpoint
from recjury.agents.system import System
from recjury.errors import ConfigError
from recjury.plugins import NonEmpty
from recjury.plugins.extras import require_neural
from recjury.records import JSON, Conversation, SystemReply

if TYPE_CHECKING:
    from recjury.agents.neural.model import ModelSetup, NeuralModel


class NeuralSystem(System):
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

    _model: "NeuralModel" = PrivateAttr()
    _batcher: Batcher[Conversation, SystemReply] = PrivateAttr()

    @property
    def settings(self) -> Mapping[str, JSON]:
        """The weights, and how they are used."""
        return {**self._common_settings, **self._model.settings}

    async def respond(self, conversation: Conversation) -> SystemReply:
        """Answer one conversation. Raises SystemFailed if the model cannot."""
        return await self._batcher.ask(conversation)

    async def aclose(self) -> None:
        """Answer the waiting requests and end the thread."""
        await self._batcher.aclose()

    def _prepare(self) -> None:
        require_neural(f"system {self.name}: kind {self.kind}")
        from recjury.agents.neural.model import ModelSetup

        self._check_device()
        corpus = self._context.corpus
        setup = ModelSetup(
            corpus, self._context.list_length, self.fidelity, self.backbones, self.device
        )
        if self.checkpoint is None:
            folder = shipped_checkpoint(self.kind, corpus, name=self.name)
        else:
            folder = Path(self.checkpoint).expanduser()
        self._model = self._load(folder, setup)
        self._batcher = Batcher(self._model.answer, name=self.name)

    def _load(self, folder: Path, setup: "ModelSetup") -> "NeuralModel":
        """The model in a checkpoint folder.

        Raises ConfigError for a missing file, and DataError for a file that does not fit.
        """
        recommender = import_module(f"recjury.agents.{self.kind}.recommender")
        model: NeuralModel = getattr(recommender, f"load_{self.kind}")(folder, setup)
        return model

    def _check_device(self) -> None:
        """Try the device with one number. Raises ConfigError if torch cannot use it."""
        import torch

        try:
            # Some torch devices (such as "meta") store no values.
            torch.zeros(1, device=self.device).tolist()
        except (RuntimeError, AssertionError) as error:
            reason = str(error).splitlines()[0]
            raise ConfigError(
                f"system {self.name}: device {self.device!r} cannot be used: {reason}"
            ) from error


class KBRD(NeuralSystem):
    """KBRD. `backbones` may name the tokenizer of its generator (`bart`)."""

    kind: Literal["kbrd"] = "kbrd"
    name: str = "kbrd"
    backbones: dict[Literal["bart"], NonEmpty] = Field(default_factory=dict)


class BARCOR(NeuralSystem):
    """BARCOR. `backbones` may name its tokenizer (`bart`)."""

    kind: Literal["barcor"] = "barcor"
    name: str = "barcor"
    backbones: dict[Literal["bart"], NonEmpty] = Field(default_factory=dict)


class UniCRS(NeuralSystem):
    """UniCRS. `backbones` may name the models it builds on (`gpt2`, `roberta`)."""

    kind: Literal["unicrs"] = "unicrs"
    name: str = "unicrs"
    backbones: dict[Literal["gpt2", "roberta"], NonEmpty] = Field(default_factory=dict)
