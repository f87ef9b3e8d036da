"""The tables behind docs/face-results.md, from what `face_analyses` found."""

from collections.abc import Iterable, Sequence
from typing import Any

_SUBSETS = {"redial": "ReDial", "opendialkg": "OpenDialKG"}


def markdown(found: dict[str, Any]) -> str:
    """All tables, each under its heading."""
    parts = {
        "Within systems": _within(found["within_systems"]),
        "Noise": _noise(found["sampling_noise"]),
        "Effort": _effort(found["effort"]),
    }
    return "\n\n".join(f"### {name}\n\n{table}" for name, table in parts.items())


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _number(value: float | None, digits: int = 2) -> str:
    if value is None:
        return "-"
    text = f"{value:.{digits}f}".replace("-0.", "-.")
    return text.removeprefix("0") if text.startswith("0.") else text


def _interval(estimate: dict[str, Any], digits: int = 2) -> str:
    value, low, high = (_number(estimate[key], digits) for key in ("value", "low", "high"))
    return f"{value} ({low} to {high})"


def _within(found: dict[str, Any]) -> str:
    return _table(
        [
            "subset",
            "aspect",
            "FACE",
            "within systems",
            "system's mean FACE",
            "gain",
            "system's mean label",
        ],
        (
            [
                _SUBSETS[subset],
                aspect,
                *(
                    _interval(cell[kind]["pearson"])
                    for kind in ("overall", "within", "own_mean", "gain", "system_mean")
                ),
            ]
            for subset, row in found.items()
            for aspect, cell in row.items()
        ),
    )


def _noise(found: dict[str, Any]) -> str:
    def shares(single: dict[str, Any]) -> str:
        of = [single[kind] / single["variance"] for kind in ("modelled", "least", "most")]
        return f"{_number(of[0])} ({_number(of[1])} to {_number(of[2])})"

    return _table(
        ["subset", "aspect", "share of one score", "misfit", "scores a place",
         "share of the pooled score", "r, n = 5", "r, no noise", "r, n = 1"],
        (
            [
                _SUBSETS[subset],
                aspect,
                shares(cell["single"]),
                _number(cell["single"]["misfit"]),
                f"{cell['scores_per_place']:.0f}",
                f"{_number(cell['pooled_share'], 3)} ({_number(cell['pooled_least'], 3)} to "
                f"{_number(cell['pooled_most'], 3)})",
                *(_number(cell[k], 3) for k in ("pearson", "without_noise", "one_sample")),
            ]
            for subset, row in found.items()
            for aspect, cell in row.items()
        ),
    )  # fmt: skip


def _spread(values: Sequence[float]) -> str:
    return f"{_number(values[0])} ({_number(values[1])} to {_number(values[2])})"


def _effort(found: dict[str, Any]) -> str:
    return _table(
        ["", "ReDial, Pearson", "ReDial, Spearman", "OpenDialKG, Pearson", "OpenDialKG, Spearman"],
        (
            [
                f"{one['used']} {kind}",
                *(_spread(row[key]) for row in (one, two) for key in ("pearson", "spearman")),
            ]
            for kind in ("instructions", "particles")
            for one, two in zip(found["redial"][kind], found["opendialkg"][kind], strict=True)
        ),
    )
