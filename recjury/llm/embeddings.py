"""Vectors of texts from an endpoint: each is a call, kept as the base64 of its 32-bit floats."""

import base64
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recjury.llm.models import Model
from recjury.records import Request

Vectors = NDArray[np.float32]


def embedding_body(request: Request, model: Model) -> dict[str, Any]:
    """The JSON of a request for the vector of its one message."""
    text = request.messages[-1].text
    return {"model": model.name, "input": text, "encoding_format": "float"} | model.extra


def vector_in(answer: Any) -> str:
    """The vector in an endpoint's answer as it is kept.

    Raises LookupError, TypeError or ValueError if there is none.
    """
    vector = np.asarray(answer["data"][0]["embedding"], dtype=np.float32)
    if vector.ndim != 1 or not vector.size or not np.isfinite(vector).all():
        raise ValueError("a list of numbers is wanted")
    return to_text(vector)


def to_text(vector: Vectors) -> str:
    """A vector as it is kept."""
    return base64.b64encode(vector.astype("<f4").tobytes()).decode()


def to_vector(text: str) -> Vectors:
    """A vector that was kept."""
    return np.frombuffer(base64.b64decode(text), dtype="<f4")
