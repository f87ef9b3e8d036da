"""The finished campaigns of examples/ are planned from any folder."""

from pathlib import Path

import pytest

from tests.cli.conftest import Recjury

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize("name", ["annotation", "offline", "own_rubric", "product"])
def test_a_dry_run(name: str, recjury: Recjury, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    monkeypatch.setenv("SHOP_TOKEN", "t")
    done = recjury("run", str(EXAMPLES / f"{name}.yaml"), "--dry-run", "--limit", "1")
    assert done.code == 0, done.err
    assert "conversations are left" in done.out
