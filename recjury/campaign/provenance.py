"""What a run was made with besides its campaign file: code, packages, the working folder, data."""

import hashlib
import os
import subprocess
from collections.abc import Iterable
from functools import cache
from importlib import metadata
from pathlib import Path

import recjury
from recjury.corpora import Corpus
from recjury.input_files import sha256_of

_SECONDS = 5.0  # for git; a working folder on a slow disk has no commit then


def package_versions() -> dict[str, str]:
    """The version of each installed package, by its name."""
    return {each.name: each.version for each in metadata.distributions()}


@cache
def code_digest(package: Path = Path(recjury.__file__).parent) -> str:
    """SHA-256, as hex digits, of the names and contents of a package's Python files.

    It is the same for an installed package and a checkout, whatever else the checkout has.
    """
    found = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        found.update(f"{path.relative_to(package).as_posix()} {sha256_of(path)}\n".encode())
    return found.hexdigest()


def data_checksums(corpora: Iterable[Corpus | None]) -> dict[str, str]:
    """SHA-256, as hex digits, of the files of corpora, by the names of corpus and file.

    A corpus that does not name its `paths` has none. Raises DataError if a file cannot be read.
    """
    return {
        f"{corpus.name}/{path.name}": sha256_of(path)
        for corpus in corpora
        if corpus is not None
        for path in getattr(corpus, "paths", ())
    }


def working_commit(folder: Path | None = None) -> str:
    """The commit of a folder (default: the current one); empty if it is not in a git checkout.

    A "+" follows it if files that git knows differ from it. No hook and no program that the
    checkout names is run, and no lock is taken.
    """
    commit = _git(folder, "rev-parse", "HEAD")
    changes = _git(folder, "status", "--porcelain", "--untracked-files=no") if commit else None
    if not commit or changes is None:
        return ""
    return f"{commit}+" if changes else commit


def _git(folder: Path | None, *arguments: str) -> str | None:
    safe = ("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null")
    try:
        done = subprocess.run(  # noqa: S603 (its arguments are ours)
            ["git", *safe, *arguments],  # noqa: S607 (found as the user's shell finds it)
            cwd=folder,
            env={**os.environ, "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.decode(errors="replace").strip()
