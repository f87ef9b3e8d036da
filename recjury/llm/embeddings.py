"""Vectors of texts from an endpoint: each is a call, kept as the base64 of its 32-bit floats."""

import base64
from collections.abc import Mapping
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


def vector_in(answer: Any) -> str | None:
    """The vector in an endpoint's answer as it is kept; None if there is none."""
    rows = answer.get("data") if isinstance(answer, Mapping) else None
    if not isinstance(rows, list) or not rows or not isinstance(rows[0], Mapping):
        return None
    try:
        vector = np.asarray(rows[0]["embedding"], dtype=np.float32)
    except (KeyError, TypeError, ValueError):
        return None
    is_one = vector.ndim == 1 and vector.size and np.isfinite(vector).all()
    return to_text(vector) if is_one else None


def to_text(vector: Vectors) -> str:
    """A vector as it is kept."""
    return base64.b64encode(vector.astype("<f4").tobytes()).decode()


def to_vector(text: str) -> Vectors:
    """A vector that was kept."""
    return np.frombuffer(base64.b64decode(text), dtype="<f4")
