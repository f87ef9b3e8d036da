"""The numbers of the papers' tables and of the other analyses; with scripted models, and published.

`json/analysis_NAME.json` has the numbers of an analysis, by the words of their rows and columns.
`adapter.figures` knows by which command an analysis is called.

Elsewhere are the golden vectors of the neural systems (`tests/agents/test_golden.py`), which no
command prints, and the truths that analyses have to find (`tests/alignment`, `tests/judges`).
"""

import contextlib
import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.front_door import Ended
from tests.endpoint import ScriptedEndpoint
from tests.frozen import adapter, player
from tests.frozen.golden import assert_frozen
from tests.frozen.normal import pretty, rounded
from tests.frozen.played import Player, command
from tests.frozen.sent import by_purpose, digests, shown
from tests.judges.face.optimise import player as optimiser
from tests.judges.paireval import player as paireval_player
from tests.judges.paireval.sets import write_folder
from tests.scripted_server import Script

STORE = "--store=sqlite:///store.db"
MODELS = """
model: {{base_url: "{url}", name: scripted}}
models: {{second: {{base_url: "{url}", name: second}}}}
evaluators:
  - {{kind: dialogue-quality, name: zero}}
  - {{kind: dialogue-quality, name: two, level: turn, method: generation, examples: {{k: 2}}}}
"""
PUBLISHED = {"redial": "CRSArena-Eval_RD", "opendialkg": "CRSArena-Eval_KG"}


def _set(settings: str) -> list[str]:
    return [part for each in settings.split() for part in ("--set", each)]


def _assert_figures(analysis: str, folder: Path, *arguments: object, name: str = "") -> None:
    found = adapter.figures(analysis, folder, *arguments)
    assert found
    plain = {words: value if value is None else rounded(value) for words, value in found.items()}
    assert_frozen(pretty(plain), f"json/analysis_{name or analysis}.json")


@pytest.mark.parametrize(
    ("analysis", "campaign", "settings"),
    [
        ("judge.samples", "plain", "metrics=core.overall sizes=[1,2,5] draws=50"),
        ("judge.radar", "plain", "metrics=core"),
        ("judge.turns", "scripted", "metrics=face.relevance fewest=1"),
        ("judge.length", "judges", "metrics=core.novelty resamples=100"),
        ("judge.self_preference", "judges", "metrics=core.novelty resamples=100"),
        ("core.rq1", "judges", "resamples=100"),
        ("core.rq4", "judges", ""),
    ],
)
def test_of_a_campaign(analysis: str, campaign: str, settings: str, played: Player) -> None:
    folder = played.play(campaign).folder
    _assert_figures(analysis, folder, *_set(settings), STORE)


@contextlib.contextmanager
def _served(folder: Path, script: Script) -> Iterator[ScriptedEndpoint]:
    """Two scripted models, and a file that names them."""
    with ScriptedEndpoint(script, models=("scripted", "second")) as endpoint:
        (folder / "models.yaml").write_text(MODELS.format(url=endpoint.url), "utf-8")
        yield endpoint


@pytest.fixture
def sets(tmp_path: Path) -> Iterator[Path]:
    """A folder with rated replies, and models that compare the numbers in them."""
    write_folder(tmp_path / "data" / "dialogue-eval")
    with _served(tmp_path, paireval_player.play):
        yield tmp_path


@pytest.mark.parametrize(
    ("analysis", "settings"),
    [
        ("paireval.table1", "draws=2 sets=[dailydialog-grade,fed-turn]"),
        ("paireval.table2", "sets=dailydialog-grade models=[main,second]"),
        ("paireval.table3", "draws=2 sets=[dailydialog-grade,fed-turn]"),
        ("paireval.table4", "sets=dailydialog-grade"),
        ("paireval.table5", "draws=2 sets=dailydialog-grade"),
        ("paireval.table6", "sets=fed-turn models=[main,second]"),
        ("paireval.table7", ""),
        ("paireval.table7", "direct=true"),
    ],
)
def test_of_paireval(analysis: str, settings: str, sets: Path) -> None:
    given = ("--config", "models.yaml", "--data", "data", STORE, *_set(settings))
    name = f"{analysis}_direct" if settings == "direct=true" else analysis
    _assert_figures(analysis, sets, *given, name=name)


def test_tournament(played: Player, tmp_path: Path) -> None:
    pytest.importorskip("evalica")
    shutil.copy(played.play("judges").folder / "store.db", tmp_path)
    with _served(tmp_path, player.play):
        given = ("--config", "models.yaml", *_set("comparisons=10 at_once=1"), STORE)
        _assert_figures("paireval.tournament", tmp_path, *given)


def test_adversarial_replies(tmp_path: Path) -> None:
    """How many there are, and the prompts that ask for them."""
    write_folder(tmp_path / "data" / "dialogue-eval")
    with _served(tmp_path, paireval_player.play) as endpoint:
        given = ("--config", "models.yaml", "--data", "data", STORE, *_set("number=3 replies=2"))
        _assert_figures("paireval.adversaries", tmp_path, *given)
        requests = by_purpose(f"sqlite:///{tmp_path}/store.db", endpoint.bodies)
    assert_frozen(shown(requests, set()), "prompts/adversaries.txt")
    assert_frozen(json.dumps(digests(requests), indent=1) + "\n", "prompts/adversaries.json")


@pytest.mark.parametrize("merged", ["true", "false"])
def test_optimised_instructions(merged: str, tmp_path: Path) -> None:
    """What FACE's optimiser finds, and its prompts: criticising and rewriting at once, or not."""
    optimiser.write_ab_redial(tmp_path / "data")
    settings = "iterations=1 beam=2 candidates=2 gradients=1 gradient_particles=4"
    settings += f" sampled_particles=4 final=2 merged={merged}"
    name = "optimiser" if merged == "true" else "optimiser_in_turn"
    given = _set(settings)
    files = ("--config", "models.yaml", "--data", "data", "--out", "out", STORE)
    with _served(tmp_path, optimiser.play) as endpoint:
        given = ["relevance", "--rules", *files, *given]
        _assert_figures("face.optimise", tmp_path, *given, name=f"face.{name}")
        requests = by_purpose(f"sqlite:///{tmp_path}/store.db", endpoint.bodies)
    written = {
        name: some for name, some in requests.items() if not name.startswith("face/relevance")
    }
    assert_frozen(shown(written, set()), f"prompts/{name}.txt")
    assert_frozen(json.dumps(digests(requests), indent=1) + "\n", f"prompts/{name}.json")


def test_of_dialogue_quality(played: Player, tmp_path: Path) -> None:
    with _served(tmp_path, player.play):
        given = ("--config", "models.yaml", "--data", played.files / "uss", STORE)
        _assert_figures("quality.table3", tmp_path, *given)


def test_of_scorers(data_folder: Path, tmp_path: Path) -> None:
    scorers = "scorers=[length,distinct-1]"
    given = ("--data", data_folder, *_set(f"{scorers} sets=fed-turn resamples=20"))
    _assert_figures("replies.correlations", tmp_path, *given)
    given = ("--data", data_folder, *_set(f"{scorers} pairs_each=20"))
    _assert_figures("replies.robustness", tmp_path, *given)


def test_of_worse_replies(played: Player, tmp_path: Path) -> None:
    folder = played.play("plain").folder
    out = tmp_path / "logs"
    ended: Ended = command(folder, "export", out, "--format", "jsonl", STORE)
    assert ended.code == 0, ended.err
    given = _set(f"files=[{out / 'conversations.jsonl'}] limit=6")
    _assert_figures("replies.worse_texts", tmp_path, *given)


def test_all_published_correlations_of_face(data_folder: Path, tmp_path: Path) -> None:
    """28 of 28, from the released scores."""
    folder = data_folder / "crsarena-eval"
    labels = folder / "crs_arena_eval.json"
    found = adapter.figures(
        "face.table1",
        tmp_path,
        *("--set", f"runs={folder / 'face-runs'}", "--labels", f"crsarena-eval:{labels}"),
    )
    published = json.loads((folder / "baselines.json").read_text("utf-8"))
    compared = 0
    for subset, name in PUBLISHED.items():
        for aspect, figures in published[name]["FACE"].items():
            words = f"table1/{subset}/{aspect.replace('dialog_', 'dialogue_')}"
            for ours, theirs in (("pearson", "pearson_r"), ("spearman", "spearman_rho")):
                value = found[f"{words}/{ours}"]
                assert value is not None
                assert round(value, 3) == figures[theirs], words
                compared += 1
    assert compared == 28
