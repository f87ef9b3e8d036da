"""The papers' tables as recipes: labels, a judge file, what shows them, what is published."""

import functools
import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from recjury.agreement import ANALYSES, Labels, Study, read_scores
from recjury.errors import UserError
from recjury.files import YamlFile, nearest, read_text
from recjury.mistakes import made
from recjury.papers.shows import DRAW, OF_CAMPAIGN, OF_LABELS, OF_SCORES
from recjury.records import Record
from recjury.results import Findings, Resampling, StoredCampaign
from recjury.results.ratings import STANDARD
from recjury.store import Store

_FOLDER, _PUBLISHED = (Path(__file__).parent / name for name in ("tables", "published"))
_MODEL = 'model: {base_url: "http://127.0.0.1:8000/v1", name: YOUR-MODEL}\n'


class Recipe(Record):
    """A table or figure of a paper.

    `shows` is what makes it (of `papers.shows`, or an analysis), `labels` the form of the labels,
    `judge` the file of what rates, `published` the key of the paper's figures. `make` are commands
    that come before, `cost` US dollars at three prices.
    """

    title: str
    shows: str
    labels: str = ""
    judge: str = ""
    pair: tuple[str, ...] = ()
    published: str = ""
    cost: tuple[float, ...] = ()
    make: tuple[str, ...] = ()
    differs: tuple[str, ...] = ()
    contradicts: tuple[str, ...] = ()

    @property
    def about(self) -> str:
        """One line for lists."""
        needs = f"; needs labels: {self.labels}" if self.labels else ""
        return f"{self.title}{needs}" + (f"; {_cost(self)}" if self.cost else "")


@functools.cache
def recipes() -> Mapping[str, Recipe]:
    """The recipes by name."""
    values = YamlFile(_FOLDER / "index.yaml").values
    return {name: made(Recipe, each) for name, each in values.items()}


def recipe(name: str) -> Recipe:
    """The recipe of that name. Raises UserError."""
    known = recipes()
    if name not in known:
        raise UserError(f"there is no recipe {name!r}{nearest(name, known)}: {', '.join(known)}")
    return known[name]


def judge_file(name: str, draws: int = 1) -> str:
    """The campaign file of a recipe, to be filled in with a model. Raises UserError without one.

    With `draws`, evaluators with examples are there for each seed, as NAME#0, NAME#1 and so on: the
    calls of fewer draws are found again.
    """
    chosen = recipe(name)
    if not chosen.judge:
        raise UserError(f"{name} asks no model: `recjury analyse {name} --labels ...` shows it")
    values = YamlFile(_FOLDER / f"{chosen.judge}.yaml").values
    parts = [part for each in values["evaluators"] for part in _drawn(each, draws)]
    head = f"# {chosen.title}\n{_MODEL}"
    return head + yaml.safe_dump({**values, "evaluators": parts}, sort_keys=False, width=96)


def _drawn(part: Any, draws: int) -> Iterator[Any]:
    if draws == 1 or not isinstance(part, dict) or not isinstance(part.get("examples"), dict):
        yield part
        return
    name = part.get("name", part["kind"])
    for seed in range(draws):
        yield {**part, "name": f"{name}#{seed}", "examples": {**part["examples"], "seed": seed}}


def show(
    name: str,
    source: str = "",
    labels: Labels | None = None,
    *,
    campaign: str = "",
    resampling: Resampling = STANDARD,
) -> Findings:
    """The recipe's table, and below it the published one, differences and contradictions.

    `source` has the scores: a store, or what else `read_scores` takes. Raises UserError if
    something is missing, with the command that makes it.
    """
    chosen = recipe(name)
    own = _own(name, chosen, source, campaign, labels, resampling)
    tables = dict(own.tables)
    told: dict[str, Any] = {"recipe": name, **own.data}
    if chosen.published:
        figures = published(name.partition(".")[0], chosen.published)
        tables["As published"] = figures
        told["published"] = figures.to_dict("records")
    notes = [f"Differs from the paper: {each}" for each in chosen.differs]
    notes += [f"The paper contradicts itself: {each}" for each in chosen.contradicts]
    return replace(own, title=chosen.title, tables=tables, notes=(*own.notes, *notes), data=told)


def published(paper: str, key: str) -> pd.DataFrame:
    """A table of a paper ("core", "face", "paireval", "quality") as it is published."""
    found = json.loads(read_text(_PUBLISHED / f"{paper}.json"))[key]
    return pd.DataFrame(found["rows"], columns=found["columns"])


def _own(
    name: str,
    chosen: Recipe,
    source: str,
    campaign: str,
    labels: Labels | None,
    resampling: Resampling,
) -> Findings:
    if chosen.labels and labels is None:
        raise UserError(
            f"{name} needs labels: --labels {chosen.labels}:PATH"
            + (f" ({', then '.join(chosen.make)})" if chosen.make else "")
        )
    if labels is not None and chosen.shows in OF_LABELS:
        return OF_LABELS[chosen.shows](labels)
    if not source or ("://" not in source and not Path(source).exists()):
        raise UserError(f"{source or 'a store'} is missing: {_commands(name, chosen)}")
    if labels is not None and chosen.shows in OF_SCORES:
        scores = read_scores(source, campaign, labels)
        pairs = _pairs(chosen, scores)
        if chosen.pair and not pairs:
            wanted = ", ".join(pair.partition("=")[0] for pair in chosen.pair)
            raise UserError(f"no score of {wanted} is in {source}: {_commands(name, chosen)}")
        return OF_SCORES[chosen.shows](scores, pairs, labels, resampling)
    with Store(source, readonly=True) as store:
        study = Study(StoredCampaign(store, campaign), labels, resampling)
        return {**ANALYSES, **OF_CAMPAIGN}[chosen.shows].run(study)


def _pairs(chosen: Recipe, scores: pd.DataFrame) -> list[str]:
    """The metrics that are there, each with its label; draws of examples are metrics, too."""
    return [
        f"{metric}={label}"
        for metric in sorted(set(scores["metric"]))
        for wanted, _, label in (pair.partition("=") for pair in chosen.pair)
        if DRAW.sub("", metric) == wanted
    ]


def _commands(name: str, chosen: Recipe) -> str:
    steps = [*chosen.make]
    if chosen.judge:
        steps += [f"recjury analyse {name} --write judges.yaml", "put your model into it"]
        steps += [f"recjury judge --labels {chosen.labels}:PATH --config judges.yaml"]
    return ", then ".join(f"`{step}`" if step.startswith("recjury") else step for step in steps)


def _cost(chosen: Recipe) -> str:
    return ", ".join(f"${each:,.2f}" if each < 10 else f"${each:,.0f}" for each in chosen.cost)
