"""Commands that compute no correlation never import `scipy.stats`, which takes a second."""

import subprocess
import sys
from pathlib import Path

import pytest

from recjury.store import Store
from tests.report.filling import Played, fill

_PROBE = """
import sys
from recjury.cli import main
try:
    main()
finally:
    print("scipy.stats" in sys.modules, file=sys.stderr)
"""


@pytest.mark.parametrize("command", ["compare kbrd whole", "report --out page.html", "status"])
def test_a_command_without_correlations_leaves_scipy_stats_alone(
    tmp_path: Path, command: str
) -> None:
    with Store.open(f"sqlite:///{tmp_path}/runs.db") as store:
        fill(store, [Played(name, str(n), hit_at=1) for name in ("kbrd", "whole") for n in (0, 1)])
    arguments = [*command.split(), "--store", "sqlite:///runs.db"]
    probe = [sys.executable, "-c", _PROBE, *arguments]
    ended = subprocess.run(probe, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    assert ended.stderr.splitlines()[-1] == "False"
