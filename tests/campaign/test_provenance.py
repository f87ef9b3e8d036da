"""What a run was made with: packages, data files, and the commit of the working folder."""

import hashlib
import shutil
import subprocess
from pathlib import Path

import pytest

import recjury
from recjury.campaign.provenance import (
    code_digest,
    data_checksums,
    package_versions,
    working_commit,
)
from recjury.corpora import open_corpus
from recjury.errors import DataError


def test_all_packages_are_listed_with_their_versions() -> None:
    versions = package_versions()
    assert versions["recjury"] == recjury.__version__
    assert {"numpy", "pydantic", "aiohttp"} <= versions.keys()


def test_files_of_corpora_have_checksums(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    shutil.copytree(Path(recjury.__file__).parent / "corpora" / "sample", folder)
    corpus = open_corpus(folder)
    found = data_checksums([corpus, None])
    assert found.keys() == {"mine/films.jsonl", "mine/dialogues.jsonl"}
    films = (folder / "films.jsonl").read_bytes()
    assert found["mine/films.jsonl"] == hashlib.sha256(films).hexdigest()
    (folder / "films.jsonl").unlink()
    with pytest.raises(DataError, match=r"films\.jsonl"):
        data_checksums([corpus])


def test_code_is_what_python_files_say(tmp_path: Path) -> None:
    (tmp_path / "room").mkdir()
    (tmp_path / "room" / "one.py").write_text("1")
    found = [code_digest.__wrapped__(tmp_path)]
    (tmp_path / "notes.md").write_text("2")
    assert code_digest.__wrapped__(tmp_path) == found[0]
    (tmp_path / "room" / "one.py").write_text("2")
    found.append(code_digest.__wrapped__(tmp_path))
    (tmp_path / "room" / "one.py").rename(tmp_path / "room" / "two.py")
    found.append(code_digest.__wrapped__(tmp_path))
    assert len({*found, code_digest()}) == 4


@pytest.mark.skipif(shutil.which("git") is None, reason="there is no git")
def test_a_checkout_has_a_commit_and_runs_nothing_of_its_own(tmp_path: Path) -> None:
    assert working_commit(tmp_path) == ""

    def git(*arguments: str) -> str:
        name = ("-c", "user.name=n", "-c", "user.email=n@example.org")
        command = ["git", *name, *arguments]
        return subprocess.run(
            command, cwd=tmp_path, check=True, capture_output=True
        ).stdout.decode()

    git("init", "--quiet")
    (tmp_path / "file").write_text("one")
    git("add", "file")
    git("commit", "--quiet", "--message", "first")
    commit = git("rev-parse", "HEAD").strip()
    assert working_commit(tmp_path) == commit
    hostile = tmp_path / "monitor"
    hostile.write_text(f"#!/bin/sh\ntouch {tmp_path}/owned\n")
    hostile.chmod(0o755)
    git("config", "core.fsmonitor", str(hostile))
    (tmp_path / "file").write_text("two")
    assert working_commit(tmp_path) == f"{commit}+"
    assert not (tmp_path / "owned").exists()
