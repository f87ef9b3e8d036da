"""An optimisation from its settings to files that `face` reads; its calls are kept in a store."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from recjury.agreement import open_labels
from recjury.campaign import Config, read_config
from recjury.campaign.run import budget_of
from recjury.errors import UnitFailed, UserError
from recjury.judges import Face
from recjury.judges.face import read_instructions
from recjury.llm import Ask, Gateway, Model, Provider, open_model
from recjury.mistakes import made
from recjury.papers.optimise.scoring import (
    Measurement,
    Scorer,
    Sides,
    divided,
    labelled,
    with_pieces,
)
from recjury.papers.optimise.search import (
    Candidate,
    Choice,
    FaceTraining,
    Say,
    Search,
    chosen,
)
from recjury.records import Unit
from recjury.store import Store


class Optimisation(NamedTuple):
    """What came of it: all instructions by name, what they measured, and the file of the chosen.

    `initial` is what the instruction measures from which the search began.
    """

    file: Path
    pool: Mapping[str, Candidate]
    trained: Mapping[str, Measurement]
    initial: Measurement
    chosen: Choice
    sent: int
    reused: int

    @property
    def rows(self) -> dict[str, dict[str, Any]]:
        """The instructions by name, in the form of the released ones, and what they measured."""
        names = {each.text: name for name, each in self.pool.items()}
        return {
            name: {
                "text": each.text,
                "iteration": int(name[3:]) if name[3:].isdigit() else name[3:],
                "written_in": each.iteration,
                "parent": names.get(each.parent, "initial"),
                "critique": each.critique,
                "training": self.trained[name].correlation if name in self.trained else None,
                "validation": self.chosen.measured[name].correlation,
            }
            for name, each in self.pool.items()
        }


async def optimise(
    asked: FaceTraining,
    *,
    say: Say = lambda _: None,
    open_provider: Callable[[Model], Provider] = open_model,
) -> Optimisation:
    """Optimise, or go on: what was answered is in the store, and every draw comes out again.

    Writes `{aspect}.json`, which `instructions` of `face` reads, and `pool/{aspect}.json` with all
    selected instructions. Raises UserError, and Stop if the budget or an endpoint ends it.
    """
    face = _face(asked)
    config = _config(asked)
    labels = open_labels(asked.labels)
    sides = divided(labelled(labels, face.criteria[0]), asked.share, asked.seed)
    pool = _given(asked)
    with Store(asked.store) as store:
        budget = budget_of(config, store)
        gateway = Gateway(
            config.models, store, open_provider, budget=budget, attempts=config.attempts
        )
        try:
            for alias in {asked.model, asked.writer}:
                if gateway.line(alias).model.in_batches:  # a missing key is said here, too
                    raise config.error(
                        ("models", alias, "provider"),
                        "openai-batch is for judging: each step here waits for the one before",
                    )
            found = await _optimised(asked, face, gateway, Unit(config.name), sides, pool, say)
        except UnitFailed as failure:
            raise UserError(
                f"a call failed: {failure}: what was answered is kept, and the same command goes on"
            ) from None
        finally:
            await gateway.aclose()
    _write(asked, found)
    return found


async def _optimised(
    asked: FaceTraining,
    face: Face,
    gateway: Gateway,
    unit: Unit,
    sides: Sides,
    pool: Mapping[str, Candidate],
    say: Say,
) -> Optimisation:
    """The search, or of a pool the choice alone. Raises UnitFailed and Stop."""
    ask, (criterion,) = Ask(gateway, unit), face.criteria
    say(f"taking apart {sum(map(len, sides))} labelled {criterion.level}s")
    sides = Sides(*[await with_pieces(side, face, ask) for side in sides])
    if not any(example.pieces for side in sides for example in side):
        raise UserError(f"{asked.labels}: no particle was found in what systems say")
    scorer = Scorer(face, criterion, ask, asked.correlation)
    initial = "".join(face.pack.render("initial", aspect=asked.aspect.replace("_", " ")))
    trained: Mapping[str, Measurement] = {}
    if not pool:
        asks = [Ask(gateway, unit, sample=number) for number in range(asked.gradients)]
        search = Search(asked, scorer, asks, sides, initial, say)
        await search.run()
        pool, trained = search.pool, search.trained
    texts = {name: each.text for name, each in pool.items()}
    found = await chosen(texts, scorer, sides, asked.final, say)
    before = await scorer.measured(initial, sides.validation)
    file = Path(asked.out) / f"{asked.aspect}.json"
    return Optimisation(file, pool, trained, before, found, gateway.sent, gateway.reused)


def _face(asked: FaceTraining) -> Face:
    """FACE for the aspect. Raises UserError if there is no such aspect."""
    settings = asked.model_dump(include={"model", "samples", "temperature"})
    return made(Face, {**settings, "aspects": [asked.aspect]})


def _config(asked: FaceTraining) -> Config:
    """The models and the budget of the campaign file, under a name of its own."""
    name = f"train face {asked.aspect}"
    given = {"name": name, "scenarios": [], "systems": [], "recordings": {name: ""}}
    return read_config(Path(asked.config), given)


def _given(asked: FaceTraining) -> dict[str, Candidate]:
    """The instructions of `pool`, if it is named. Raises UserError."""
    if not asked.pool:
        return {}
    found = read_instructions(Path(asked.pool), [asked.aspect])[asked.aspect]
    return {each.name: Candidate(each.text) for each in found}


def _write(asked: FaceTraining, found: Optimisation) -> None:
    """The files, in the form of the released ones: `iteration` numbers the instructions."""
    rows = found.rows
    best = [rows[name] for name in found.chosen.names]
    files = {found.file: best}
    if not asked.pool:
        files[found.file.parent / "pool" / found.file.name] = list(rows.values())
    for file, content in files.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        new = file.with_suffix(".new")
        new.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", "utf-8")
        new.replace(file)
