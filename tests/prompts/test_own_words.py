"""What a model or a reader is told is in our own words, not those of the CoRE paper.

`paper_runs.txt` holds the first 5 bytes of the SHA-256 of each run of eight words of the paper's
instructions (tables 2 to 6, appendices A and D), sorted, in base64: enough to recognise a run,
and nothing to read. A chance match among 100,000 runs of ours has a probability of 1 in 2,000.
"""

import base64
import hashlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RUN = 8
BYTES = 5
WRITTEN = {".html", ".j2", ".md", ".py", ".toml", ".txt", ".yaml"}


def known() -> frozenset[bytes]:
    """The marks of the runs of the paper."""
    packed = base64.b64decode(Path(__file__).with_name("paper_runs.txt").read_text("ascii"))
    return frozenset(packed[at : at + BYTES] for at in range(0, len(packed), BYTES))


def runs(text: str) -> dict[bytes, str]:
    """All runs of eight words of `text` by their mark; case and punctuation do not count."""
    plain = text.lower().replace("\u2019", "").replace("'", "")
    words = re.findall(r"[a-z0-9]+", plain)
    found = (" ".join(words[at : at + RUN]) for at in range(len(words) - RUN + 1))
    return {hashlib.sha256(run.encode()).digest()[:BYTES]: run for run in found}


def test_the_marks_are_all_there() -> None:
    """Without them the next test could not fail."""
    assert len(known()) > 5_000


@pytest.mark.parametrize("folder", ["recjury", "docs", "examples", "README.md"])
def test_nothing_is_copied_from_the_papers_instructions(folder: str) -> None:
    place, marks = ROOT / folder, known()
    files = [place] if place.is_file() else [f for f in place.rglob("*") if f.suffix in WRITTEN]
    assert files
    copied = {
        str(file.relative_to(ROOT)): shared
        for file in files
        if (shared := [run for mark, run in runs(file.read_text("utf-8")).items() if mark in marks])
    }
    assert copied == {}
