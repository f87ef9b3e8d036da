"""`recjury report` and `run --report`."""

from pathlib import Path

import pytest

from tests.cli.conftest import Recjury, campaign
from tests.scripted_endpoint import ScriptedEndpoint


def test_a_run_writes_its_report(
    recjury: Recjury, tmp_path: Path, endpoint: ScriptedEndpoint
) -> None:
    campaign(tmp_path / "c.yaml", endpoint.url)
    done = recjury("run", "c.yaml", "--report", "r.html")
    assert done.code == 0
    assert "c: r.html, 4 conversations" in done.err
    again = recjury("report", "--campaign", "c")
    assert (again.code, again.out[:15]) == (0, "c: report.html,")
    assert (tmp_path / "report.html").read_bytes() == (tmp_path / "r.html").read_bytes()
    assert recjury("report", "--bundle", "site").code == 0
    assert (tmp_path / "site" / "index.html").is_file()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("report", "--out", "no/r.html"), "no/r.html: there is no folder no: make it first"),
        (("run", "c.yaml", "--report", "no/r.html"), "there is no folder no: make it first"),
        (("report", "--bundle", "b", "--out", "r.html"), "--bundle has all conversations"),
        (("report", "--conversation", "zz"), "begins with 'zz'"),
    ],
)
def test_mistakes_are_one_line(
    recjury: Recjury,
    tmp_path: Path,
    endpoint: ScriptedEndpoint,
    arguments: tuple[str, ...],
    message: str,
) -> None:
    campaign(tmp_path / "c.yaml", endpoint.url, systems=["popular"], evaluators=["outcome"])
    if arguments[0] == "report":
        assert recjury("run", "c.yaml").code == 0
    assert recjury(*arguments).is_mistake(message)
    assert (tmp_path / "recjury.db").exists() == (arguments[0] == "report")
