"""The site is built, and a link that leads nowhere would stop it."""

import subprocess
import sys
from pathlib import Path

from tests.docs.pages import DOCS, ROOT


def test_the_site_is_built(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)]
    done = subprocess.run(build, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    pages = {each.relative_to(DOCS).with_suffix("") for each in DOCS.rglob("*.md")}
    for page in pages - {Path("index")}:
        assert (tmp_path / page / "index.html").exists(), page
