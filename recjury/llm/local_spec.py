"""A model that runs in this process: its folder, the device, and what identifies its weights."""

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Literal

from pydantic import Field, model_validator

from recjury.errors import ConfigError
from recjury.llm.model_folder import folder_digest
from recjury.llm.spec import ModelSpec
from recjury.records import JSON


class LocalSpec(ModelSpec):
    """A causal language model that `transformers` runs in this process, one request at a time.

    It is for what needs no server: log-probabilities, small judges, trying things out. `name` (in a
    campaign file also `model`) is the folder of its weights, `adapter` that of a LoRA adapter for
    it. `device` is one of torch's, such as "cuda:0"; "auto" takes a GPU if there is one. `dtype`
    "nf4" loads the weights in 4 bits, and needs a GPU and the package bitsandbytes. It costs
    nothing unless prices are set.
    """

    provider: Literal["transformers"]
    device: str = "auto"
    dtype: Literal["auto", "float32", "bfloat16", "float16", "nf4"] = "auto"
    adapter: str | None = Field(default=None, min_length=1)
    concurrency: int | None = Field(default=1, ge=1)
    price_in: float | None = Field(default=0.0, ge=0, allow_inf_nan=False)
    price_out: float | None = Field(default=0.0, ge=0, allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _model_is_the_name(cls, given: object) -> object:
        if isinstance(given, Mapping) and "model" in given and "name" not in given:
            given = {**given, "name": given["model"]}
            del given["model"]
        return given

    @model_validator(mode="after")
    def _only_text(self) -> "LocalSpec":
        if self.embedding:
            raise ValueError("provider transformers has no embeddings")
        if self.json_mode != "off":
            raise ValueError("provider transformers cannot hold replies to a schema: json_mode off")
        return self

    @property
    def folder(self) -> Path:
        """The folder of the weights. Raises ConfigError if it has no config.json."""
        folder = Path(self.name).expanduser()
        if not (folder / "config.json").is_file():
            raise ConfigError(f"model {self.name}: there is no config.json in this folder")
        return folder

    @property
    def adapter_folder(self) -> Path | None:
        """The folder of the adapter. Raises ConfigError if it has no adapter_config.json."""
        if self.adapter is None:
            return None
        folder = Path(self.adapter).expanduser()
        if not (folder / "adapter_config.json").is_file():
            raise ConfigError(f"adapter {self.adapter}: there is no adapter_config.json in it")
        return folder

    @cached_property
    def weights(self) -> str:
        """A digest of the contents of the folder and of the adapter's. Raises ConfigError as
        `folder` and `adapter_folder`."""
        adapter = self.adapter_folder
        own = folder_digest(self.folder)
        return own if adapter is None else f"{own}+{folder_digest(adapter)}"

    @property
    def address(self) -> str:
        """The kind of provider and the digest of the weights."""
        return f"transformers:{self.weights}"

    def reply_settings(self) -> dict[str, JSON]:
        """The settings that can change a reply; the device and the folder's place are none."""
        settings = super().reply_settings()
        del settings["device"], settings["adapter"]  # `weights` has a digest of the adapter
        return {**settings, "name": Path(self.name).name, "weights": self.weights}
