"""Without the extra `neural`: what needs it says so in one line, everything else works."""

import subprocess
import sys
from pathlib import Path

import pytest

INSTALL = "pip install 'recjury[neural]'"
# A module that is None in `sys.modules` cannot be imported.
BLOCKED = """
import sys
for name in ("torch", "transformers", "tokenizers", "safetensors", "huggingface_hub"):
    sys.modules[name] = None
"""
CAMPAIGN = """
scenarios: [{corpus: sample, limit: 1}]
systems: [%s]
simulator: {kind: rule}
evaluators: [outcome]
"""


def _python(code: str, *args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", BLOCKED + code, *args], capture_output=True, text=True, check=False
    )


def _recjury(*args: str) -> subprocess.CompletedProcess[str]:
    return _python("from recjury.cli import main\nmain()", *args)


def _refused(done: subprocess.CompletedProcess[str], subject: str) -> None:
    assert done.returncode == 2, done.stderr
    assert INSTALL in done.stderr
    assert subject in done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize("system", ["kbrd", "barcor", "unicrs"])
def test_training_names_the_command_that_installs_what_is_missing(
    system: str, tmp_path: Path
) -> None:
    done = _recjury("train", system, "--set", "dataset=sample", "--out", str(tmp_path / "out"))
    _refused(done, f"training {system}")


@pytest.mark.parametrize("system", ["kbrd", "barcor", "unicrs"])
def test_a_neural_system_names_it_too(system: str, tmp_path: Path) -> None:
    file = tmp_path / "campaign.yaml"
    file.write_text(CAMPAIGN % system)
    _refused(_recjury("run", str(file), "--store", str(tmp_path / "store.db")), f"system {system}")


def test_so_do_local_embeddings() -> None:
    done = _python(
        "from recjury.agents.embedding import MiniLmEmbedder\n"
        "from recjury.errors import ConfigError\n"
        "try:\n    MiniLmEmbedder()\n"
        "except ConfigError as error:\n    print(error)\n"
    )
    assert done.stdout.startswith("embeddings: minilm needs torch")
    assert INSTALL in done.stdout


def test_a_campaign_without_neural_systems_runs(tmp_path: Path) -> None:
    file = tmp_path / "campaign.yaml"
    file.write_text(CAMPAIGN % "retrieval")
    done = _recjury("run", str(file), "--store", str(tmp_path / "store.db"))
    assert done.returncode == 0, done.stderr
    assert "Recall@" in done.stdout


def test_the_tfidf_embedder_works() -> None:
    done = _python(
        "import asyncio\nfrom recjury.agents.embedding import TfidfEmbedder\n"
        "from recjury.corpora import open_corpus\n"
        "embedder = TfidfEmbedder(open_corpus('sample').catalogue)\n"
        "print(asyncio.run(embedder.embed(['a film about space'])).shape)\n"
    )
    assert done.stdout.startswith("(1, "), done.stderr
