"""What the papers' main experiments ask and cost: the dry run of each recipe.

python -m benchmarks.recipes

`data` in the current folder is the data pack, or a link to it, as the recipes expect. Calls and
tokens are those of a run in which nothing is asked twice; a price is in US dollars for a million
tokens of prompts and for a million of replies, the same for all models.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parents[1] / "examples" / "recipes"
_PRICES = {"small": (0.05, 0.10), "middle": (0.15, 0.60), "large": (2.50, 10.00)}
_MILLION = 1_000_000
_QUALITY = ("analyse", "quality.table3", "--config", "quality.yaml", "--set")


class Recipe(NamedTuple):
    """A main experiment: what `recjury` is given; a file's name is one of examples/recipes."""

    name: str
    command: tuple[str, ...]

    @property
    def arguments(self) -> list[str]:
        """The arguments, with the path of its file."""
        return [str(FOLDER / one) if one.endswith(".yaml") else one for one in self.command]


_LABELS = ("--labels", "crsarena-eval:data/crsarena-eval/crs_arena_eval.json", "--config")
_ARENA = ("judge", "data/crsarena-eval/crs_arena_eval.json", "--config")
RECIPES = (
    Recipe("CoRE, both corpora", ("run", "core.yaml")),
    Recipe("FACE, Table 1", ("analyse", "face.table1", *_LABELS, "face-table1.yaml")),
    Recipe("FACE, Table 3", (*_ARENA, "face.yaml")),
    Recipe("FACE, Table 4", ("analyse", "face.table4", "--config", "face.yaml")),
    Recipe(
        "FACE, instructions for the model",
        (
            "train",
            "face",
            "--set",
            "aspect=dialogue_overall",
            "--config",
            "face.yaml",
            "--out",
            "star",
        ),
    ),
    Recipe(
        "PairEval, Table 1",
        ("analyse", "paireval.table1", "--config", "paireval.yaml", "--set", "models=tuned"),
    ),
    *(
        Recipe(f"dialogue quality, Tables 2 to 4, {subset}", (*_QUALITY, f"subset={subset}"))
        for subset in ("SGD", "MWOZ", "ReDial", "CCPE")
    ),
    Recipe("your judge against people", ("analyse", "face.table1", *_LABELS, "judge.yaml")),
)


def main() -> None:
    """Print what each recipe costs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.parse_args()
    print("| recipe | calls | prompt tokens | reply tokens |", end="")
    print("".join(f" at {low:g} and {high:g} |" for low, high in _PRICES.values()))
    print("|---|---|---|---|---|---|---|")
    for recipe in RECIPES:
        once = _dry_run(recipe)["once"]
        prompts, replies = once["prompt_tokens"], once["completion_tokens"]
        costs = ((prompts * low + replies * high) / _MILLION for low, high in _PRICES.values())
        cells = [
            f"{once['calls']:,}",
            *(f"{each / _MILLION:,.1f} m" for each in (prompts, replies)),
        ]
        cells += [f"${cost:,.2f}" if cost < 10 else f"${cost:,.0f}" for cost in costs]
        print(f"| {recipe.name} | {' | '.join(cells)} |")


def _dry_run(recipe: Recipe) -> dict[str, dict[str, int]]:
    command = [sys.executable, "-m", "recjury", *recipe.arguments, "--dry-run", "--json"]
    data = {"RECJURY_DATA": str(Path("data").resolve())}
    ended = subprocess.run(
        command, env={**os.environ, **data}, capture_output=True, text=True, check=False
    )
    if ended.returncode:
        raise SystemExit(f"{recipe.name}: {ended.stderr}")
    found: dict[str, dict[str, int]] = json.loads(ended.stdout)
    return found


if __name__ == "__main__":
    main()
