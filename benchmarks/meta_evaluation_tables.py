"""The tables behind docs/meta-evaluation.md, from the JSON of `benchmarks.meta_evaluation`."""

from collections.abc import Iterable, Sequence
from typing import Any

_SETS = {
    "dailydialog-grade": "DailyDialog-GRADE",
    "dailydialog-zhao": "DailyDialog-Zhao",
    "convai2-grade": "ConvAI2-GRADE",
    "convai2-usr": "ConvAI2-USR",
    "topicalchat-usr": "TopicalChat-USR",
    "fed-turn": "FED",
    "empathetic-grade": "Empathetic-GRADE",
}
_ALL, _OUTPUTS = "all rows", "model outputs"
_SYSTEM = "system-mean-of-others"  # told in words


def markdown(runs: Sequence[dict[str, Any]]) -> str:
    """All tables, each under its heading, with the scorers of all runs."""
    found: dict[str, Any] = {}
    for run in runs:
        _merge(found, run)
    sets = found["sets"]
    parts = {
        "All rows": _sets(sets, _ALL, _both),
        "Model outputs": _sets(sets, _OUTPUTS, _both),
        "Means": _averages(found["averages"]),
        "Intervals of rho, all rows": _sets(sets, _ALL, _interval),
        "Intervals of rho, model outputs": _sets(sets, _OUTPUTS, _interval),
        "Within systems": _sets(sets, _ALL, _within),
        "Further subsets": _subsets(sets),
        "FED's dialogues": _dialogues(sets["fed-dialogue"]),
        "Maintains Context": _context(found["maintains_context"]),
        "Robustness": _robustness(found["robustness"]),
    }
    if "own_pairs" in found:
        parts["Own pairs"] = _robustness(found["own_pairs"])
    parts["Durations"] = _durations(found)
    return "\n\n".join(f"### {name}\n\n{table}" for name, table in parts.items())


def _merge(into: dict[str, Any], given: dict[str, Any]) -> None:
    for key, value in given.items():
        if isinstance(value, dict) and isinstance(into.get(key), dict):
            _merge(into[key], value)
        elif value is not None:
            into[key] = value


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _hundredths(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.1f}"


def _both(cell: dict[str, Any]) -> str:
    if cell["r"] is None:
        return "-"
    return f"{_hundredths(cell['r'])}/{_hundredths(cell['rho'])}"


def _interval(cell: dict[str, Any]) -> str:
    if cell["rho"] is None:
        return "-"
    low, high = (f"{100 * end:.0f}" for end in cell["rho_interval"])
    return f"{100 * cell['rho']:.0f} ({low} to {high})"


def _within(cell: dict[str, Any]) -> str:
    return _both(cell["within_systems"])


def _subset(sets: dict[str, Any], name: str, subset: str) -> dict[str, Any]:
    own: dict[str, Any] = sets[name]
    found: dict[str, Any] = own.get(subset, own[_ALL])
    return found


def _sets(sets: dict[str, Any], subset: str, cell: Any) -> str:
    names = [name for name in _SETS if name in sets]
    chosen = [_subset(sets, name, subset) for name in names]
    heads = [f"{_SETS[name]}, {own['n']}" for name, own in zip(names, chosen, strict=True)]
    rows = (
        [scorer, *(cell(own["scorers"][scorer]) for own in chosen)]
        for scorer in chosen[0]["scorers"]
        if scorer != _SYSTEM
    )
    return _table(["", *heads], (row for row in rows if set(row[1:]) != {"-"}))


def _averages(averages: dict[str, Any]) -> str:
    names = list(averages)
    return _table(
        ["", *(f"{name}: {each}" for name in names for each in ("r", "rho"))],
        (
            [
                scorer,
                *(
                    _with_interval(averages[name][scorer], each)
                    for name in names
                    for each in ("r", "rho")
                ),
            ]
            for scorer in averages[names[0]]
            if any(averages[name][scorer]["r"] is not None for name in names)
        ),
    )


def _with_interval(cell: dict[str, Any], which: str) -> str:
    value, ends = cell[which], cell[f"{which}_interval"]
    if value is None:
        return "-"
    return f"{value:.3f} ({ends[0]:.2f} to {ends[1]:.2f})"


def _subsets(sets: dict[str, Any]) -> str:
    chosen = {
        f"{_SETS[name]}, {subset}, {own['n']}": own["scorers"]
        for name in ("convai2-grade", "convai2-usr", "topicalchat-usr")
        for subset, own in sets[name].items()
        if subset not in (_ALL, _OUTPUTS)
    }
    scorers = next(iter(chosen.values()))
    return _table(
        ["", *chosen],
        (
            [scorer, *(f"{_both(own[scorer])}" for own in chosen.values())]
            for scorer in scorers
            if scorer not in (_SYSTEM, "constant")
        ),
    )


def _dialogues(own: dict[str, Any]) -> str:
    return _table(
        ["", *(f"{name}, {cell['n']}: {each}" for name, cell in own.items()
               for each in ("r", "rho"))],
        (
            [
                scorer,
                *(
                    _with_interval(cell["scorers"][scorer], each)
                    for cell in own.values()
                    for each in ("r", "rho")
                ),
            ]
            for scorer, first in own[_ALL]["scorers"].items()
            if first["r"] is not None and scorer != _SYSTEM
        ),
    )  # fmt: skip


def _context(sets: dict[str, Any]) -> str:
    chosen = {
        f"{_SETS[name]}, {subset}, {own[subset]['n']}": own[subset]["scorers"]
        for name, own in sets.items()
        for subset in (_ALL, _OUTPUTS)
    }
    return _table(
        ["", *chosen],
        (
            [scorer, *(_both(own[scorer]) for own in chosen.values())]
            for scorer, cell in next(iter(chosen.values())).items()
            if cell["r"] is not None
        ),
    )


def _robustness(found: dict[str, Any]) -> str:
    scorers = found["scorers"]
    attacks = next(iter(scorers.values()))["attacks"]
    return _table(
        ["", *(f"{name}, {own['n']}" for name, own in attacks.items()), "mean"],
        (
            [
                scorer,
                *(f"{own['attacks'][name]['accuracy']:.3f}" for name in attacks),
                f"{own['mean']:.3f}",
            ]
            for scorer, own in scorers.items()
            if scorer != "constant"
        ),
    )


def _durations(found: dict[str, Any]) -> str:
    return _table(
        ["", "seconds", "of processor time"],
        (
            [scorer, f"{took['wall']:.0f}", f"{took['cpu']:.0f}"]
            for scorer, took in found["seconds"].items()
        ),
    )
