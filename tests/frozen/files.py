"""The files that the settings of `identities.yaml` name: a corpus, rubrics, weights, examples.

`NAME-copy` has the content of NAME at another place, `NAME-other` another content.
"""

import json
import shutil
from collections.abc import Iterable
from pathlib import Path

import yaml

import recjury

SAMPLE = Path(recjury.__file__).parent / "corpora" / "sample"
_DIALOGUES = {"valid": 6, "test": 8}
_OTHER_FILMS = 5

RUBRIC = {
    "name": "Honesty",
    "definition": "Does the system say so when it does not know?",
    "scale": [0, 2],
    "anchors": {2: "Always.", 1: "Sometimes.", 0: "Never."},
}
_PERSONAS = {
    "id": "own",
    "version": "1",
    "personas": {"terse": {"about": "You are in a hurry.", "traits": {"verbosity": "low"}}},
}
_RESTAURANTS: dict[str, list[object]] = {
    "items.jsonl": [
        {"id": "a", "title": "Sol", "cuisines": ["Thai"], "price": "cheap", "popularity": 80},
        {
            "id": "b",
            "title": "Mar",
            "cuisines": ["Greek"],
            "chefs": ["Ann Lee"],
            "plot": "By the sea.",
        },
        {"id": "c", "title": "Eck", "cuisines": ["Thai"], "price": "dear"},
    ],
    "dialogues.jsonl": [
        {
            "id": "d",
            "split": "test",
            "turns": [
                {"role": "user", "text": "I want Thai food."},
                {"role": "system", "text": "Try Sol.", "items": ["a"]},
            ],
        }
    ],
}
_RESTAURANT = {
    "item": "restaurant",
    "items": "restaurants",
    "verb": "try",
    "done": "tried",
    "attributes": {
        "cuisine": {"kind": "category"},
        "price": {"word": "price range", "field": "price", "kind": "category"},
        "chef": {"kind": "maker", "by": "run by", "did": "runs"},
    },
    "dimensions": ["cuisine", "price"],
    "expert": {"who": "You run a kitchen.", "expertise": ["Food: what tastes good.", "Prices."]},
}
_USS = (
    "USER\tHello, I want a film.\t\t3,4,3\nSYSTEM\tTry Heat.\t\t\n"
    "USER\tThank you{text}.\t\t{rating},{rating},4\nUSER\tOVERALL\t\t{rating},{rating},{rating}\n\n"
)
_SESSIONS = 40


def write_files(folder: Path) -> None:
    """Write all of them into an empty folder."""
    write_corpus(folder / "corpus")
    shutil.copytree(folder / "corpus", folder / "elsewhere" / "corpus")
    (folder / "restaurants").mkdir()
    for name, rows in _RESTAURANTS.items():
        _write_lines(folder / "restaurants" / name, rows)
    _write_yaml(folder / "restaurants" / "domain.yaml", _RESTAURANT)
    _write_weights(folder)
    for name, rubric in {
        "rubric": RUBRIC,
        "rubric-copy": RUBRIC,
        "rubric-other": {**RUBRIC, "definition": "Is it honest?"},
    }.items():
        (folder / f"{name}.yaml").write_text(yaml.safe_dump([rubric]), "utf-8")
    _write_yaml(folder / "personas.yaml", _PERSONAS)
    _write_yaml(folder / "personas-copy.yaml", _PERSONAS)
    _write_yaml(folder / "personas-other.yaml", {**_PERSONAS, "version": "2"})
    _write_yaml(folder / "routing.yaml", {"Novelty": "second"})
    _write_instructions(folder / "instructions", "Is it relevant?")
    _write_instructions(folder / "instructions-copy", "Is it relevant?")
    _write_instructions(folder / "instructions-other", "How relevant is it?")
    for name, film in {
        "particles": "Heat",
        "particles-copy": "Heat",
        "particles-other": "M",
    }.items():
        _write_particles(folder / f"{name}.json", film)
    for name, word in {"examples": "Heat", "examples-copy": "Heat", "examples-other": "M"}.items():
        rows = [{"turns": ["Hello", f"{word} {n}", "Why?", "It is good."]} for n in range(4)]
        _write_lines(folder / f"{name}.jsonl", rows)
    for name, end in {"uss": "", "uss-copy": "", "uss-other": " so much"}.items():
        (folder / name).mkdir()
        for subset in ("ReDial", "MWOZ"):
            sessions = (
                _USS.format(text=f", {n} of {subset}{end}", rating=2 + n * 7 % 11 % 4)
                for n in range(_SESSIONS)
            )
            (folder / name / f"{subset}.txt").write_text("".join(sessions), "utf-8")


def write_corpus(folder: Path) -> None:
    """A few dialogues of the sample, and some more films than they name."""
    folder.mkdir(parents=True)
    dialogues = []
    for split, number in _DIALOGUES.items():
        rows = (json.loads(line) for line in _lines("dialogues.jsonl"))
        dialogues += [row for row in rows if row["split"] == split][:number]
    turns = [turn for row in dialogues for turn in row["turns"]]
    named = {film for turn in turns for film in (*turn["films"], *turn.get("likes", []))}
    films = [json.loads(line) for line in _lines("films.jsonl")]
    others = [film["id"] for film in films if film["id"] not in named][:_OTHER_FILMS]
    _write_lines(folder / "films.jsonl", [f for f in films if f["id"] in {*named, *others}])
    _write_lines(folder / "dialogues.jsonl", dialogues)


def _lines(name: str) -> list[str]:
    return (SAMPLE / name).read_text("utf-8").splitlines()


def _write_lines(path: Path, rows: Iterable[object]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")


def _write_yaml(path: Path, content: object) -> None:
    path.write_text(yaml.safe_dump(content), "utf-8")


def _write_instructions(folder: Path, text: str) -> None:
    folder.mkdir()
    row = {"filename": "", "rank": 1, "iteration": 0, "index": 0, "text": text}
    (folder / "relevance.json").write_text(json.dumps([row]), "utf-8")


def _write_particles(path: Path, mention: str) -> None:
    particle = {
        "particle_ind": 0,
        "dialogue_act": "recommendation",
        "particle": mention,
        "user_feedback": "NO_FEEDBACK_PROVIDED",
    }
    row = {"conv_id": "a", "turn_ind": 1, "assistant_utterance": "Hm", "particles": [particle]}
    _write_lines(path, [row])


def _write_weights(folder: Path) -> None:
    """Weights that are identified and never loaded, and trained ones of the package."""
    contents = {"weights": b"1", "weights-copy": b"1", "weights-other": b"2"}
    for name, content in contents.items():
        for kind, file in (("model", "config.json"), ("adapter", "adapter_config.json")):
            place = folder / f"{kind}-{name}"
            place.mkdir()
            (place / file).write_text("{}", "utf-8")
            (place / "model.safetensors").write_bytes(content)
    shutil.copytree(folder / "model-weights", folder / "elsewhere" / "model-weights")
    package = Path(recjury.__file__).parent
    for kind in ("kbrd", "barcor", "unicrs"):
        shipped = package / "agents" / "sample_weights" / kind
        shutil.copytree(shipped, folder / f"{kind}-copy", copy_function=shutil.copyfile)
        changed = folder / f"{kind}-other"
        shutil.copytree(shipped, changed, copy_function=shutil.copyfile)
        for weights in changed.glob("rec_model/*.[bp][it]*"):
            _change_a_number(weights)
    for kind in ("satisfaction", "replies"):
        shipped = package / "judges" / "learned" / "weights" / kind
        shutil.copytree(shipped, folder / f"{kind}-copy", copy_function=shutil.copyfile)
        other = folder / f"{kind}-other"
        shutil.copytree(shipped, other, copy_function=shutil.copyfile)
        _change_last_byte(other / "judge.safetensors")


def _change_a_number(path: Path) -> None:
    import torch

    tensors = torch.load(path, weights_only=True)
    next(iter(tensors.values())).view(-1)[-1] += 1
    torch.save(tensors, path)


def _change_last_byte(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
