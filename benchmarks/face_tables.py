"""The tables behind docs/face-results.md, from what `face_analyses` found."""

from collections.abc import Iterable, Sequence
from typing import Any

_SUBSETS = {"redial": "ReDial", "opendialkg": "OpenDialKG"}
_BASELINES = ("LLM-Direct", "LLM-CoT+ICL", "UniEval", "G-Eval", "FACE w/o train")


def markdown(found: dict[str, Any]) -> str:
    """All tables, each under its heading."""
    parts = {
        "Table 1": _annotation(found["annotation"]),
        "Within systems": _within(found["within_systems"]),
        "Noise": _noise(found["sampling_noise"]),
        "Table 2": _ranking(found["ranking"]),
        "Sample efficiency": _efficiency(found["sample_efficiency"]),
        "Effort": _effort(found["effort"]),
        "Length": _length(found["length_bias"]),
        "Contrast": _contrast(found["contrast"]),
        "By turn": _turns(found["contrast"]),
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


def _pair(values: Sequence[float | None], digits: int = 3) -> str:
    return "/".join(_number(value, digits) for value in values)


def _annotation(found: dict[str, Any]) -> str:
    return _table(
        ["subset", "aspect", "n", *_BASELINES, "FACE, published", "FACE, recomputed"],
        (
            [
                _SUBSETS[subset],
                aspect,
                str(cell["n"]),
                *(_pair(cell["published"][name]) for name in (*_BASELINES, "FACE")),
                _pair(cell["FACE"]),
            ]
            for subset, row in found.items()
            for aspect, cell in row.items()
        ),
    )


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


def _ranking(found: dict[str, Any]) -> str:
    overall = "dialogue_overall"
    names = {"all": "all nine", "redial": "five on ReDial", "opendialkg": "four on OpenDialKG"}
    return _table(
        ["systems", "turn aspects", "dialogue aspects", "all aspects", "overall, Pearson",
         "overall, Spearman"],
        (
            [
                names[group],
                *(_pair(row["means"][level]) for level in ("turn", "dialogue", "all")),
                *(_interval(row["aspects"][overall][kind]) for kind in ("pearson", "spearman")),
            ]
            for group, row in found.items()
        ),
    )  # fmt: skip


def _spread(values: Sequence[float]) -> str:
    return f"{_number(values[0])} ({_number(values[1])} to {_number(values[2])})"


def _efficiency(found: list[dict[str, Any]]) -> str:
    return _table(
        ["dialogues a system", "FACE", "people's own labels of the same dialogues"],
        ([str(row["size"]), _spread(row["evaluator"]), _spread(row["people"])] for row in found),
    )


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


def _length(found: dict[str, Any]) -> str:
    return _table(
        ["", "Pearson", "Spearman"],
        (
            [name, _number(found[key]["pearson"], 3), _number(found[key]["spearman"], 3)]
            for name, key in (("FACE", "evaluator"), ("people", "people"))
        ),
    )


def _contrast(found: dict[str, Any]) -> str:
    systems = {"barcor": "BARCOR", "unicrs": "UniCRS"}
    return _table(
        ["aspect", *(f"{name}, {who}" for who in ("FACE", "people") for name in systems.values())],
        (
            [
                aspect,
                *(
                    _interval(found[system]["aspects"][aspect][who])
                    for who in ("scores", "labels")
                    for system in systems
                ),
            ]
            for aspect in found["barcor"]["aspects"]
        ),
    )


def _turns(found: dict[str, Any]) -> str:
    curves = [found[system]["understanding_by_turn"] for system in ("barcor", "unicrs")]
    return _table(
        ["system turn", "BARCOR", "UniCRS"],
        (
            [str(place + 1), *(_turn(curve, place) for curve in curves)]
            for place in range(max(map(len, curves)))
        ),
    )


def _turn(curve: Sequence[dict[str, Any]], place: int) -> str:
    return f"{_interval(curve[place])}, n {curve[place]['n']}" if place < len(curve) else "-"
