"""What answers for a model, by its `provider`."""

from recjury.llm.batch import Batch
from recjury.llm.endpoint import Endpoint
from recjury.llm.models import Model, Provider
from recjury.llm.vllm import Vllm


def open_model(model: Model) -> Provider:
    """The provider of a model; nothing is sent, started or loaded yet.

    Raises UserError if its key, its package or its folder is missing.
    """
    match model.provider:
        case "transformers":
            from recjury.llm.transformers_model import TransformersModel

            return TransformersModel(model)
        case "openai-batch":
            return Batch(model)
        case "vllm":
            return Vllm(model)
        case "endpoint" | "azure":
            return Endpoint(model)
