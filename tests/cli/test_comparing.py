"""compare, export and explain, over a campaign that an endpoint has judged."""

from pathlib import Path

import pandas as pd
import pytest

from recjury.store import Store
from tests.cli.conftest import Recjury, campaign
from tests.results.filled import evaluator, fill
from tests.scripted_endpoint import ScriptedEndpoint

LOW, HIGH = ([float(number) + more for number in range(40, 52)] for more in (0, 10))


@pytest.fixture
def ran(tmp_path: Path, recjury: Recjury, endpoint: ScriptedEndpoint) -> Recjury:
    """The program after a finished campaign `c`."""
    campaign(tmp_path / "c.yaml", endpoint.url)
    assert recjury("run", "c.yaml").code == 0
    return recjury


@pytest.fixture
def films(tmp_path: Path, recjury: Recjury) -> Recjury:
    """The program beside a store with two systems, of which `high` is better."""
    with Store(tmp_path / "recjury.db") as store:
        fill(store, {"low": {"overall": LOW}, "high": {"overall": HIGH}})
    return recjury


def test_compare(ran: Recjury) -> None:
    done = ran("compare")
    assert done.code == 0
    assert "2 scenarios are too few" in " ".join(done.out.split())
    assert max(map(len, done.out.splitlines())) <= 120
    found = ran("compare", "chatcrs", "popular", "--json").json
    assert set(found) >= {"campaign", "comparisons", "caveats"}
    assert [row["metric"] for row in found["comparisons"][:3]] == [
        "core.overall",
        "core.mean",
        "outcome.success",
    ]
    assert set(found["comparisons"][0]) >= {"a", "b", "difference", "low", "high", "p", "decided"}
    assert ran("run", "c.yaml", "--json").json["comparisons"][0]["metric"] == "core.overall"


@pytest.mark.parametrize(
    ("names", "margin", "code"),
    [("low high", "5", 4), ("low high", "10.5", 0), ("low high", "10", 5), ("high low", "0", 0)],
)
def test_worse_fails(films: Recjury, names: str, margin: str, code: int) -> None:
    """Newcomers' item 18, for CI: `high` is better by exactly 10."""
    option = ("--fail-if-worse", f"core.overall={margin}")
    assert films("compare", *names.split(), *option).code == code


def test_the_newest_campaign_is_said_where_there_are_others(tmp_path: Path, films: Recjury) -> None:
    assert films("compare").err == ""
    with Store(tmp_path / "recjury.db") as store:
        fill(store, {"low": {"overall": LOW}, "high": {"overall": HIGH}}, campaign="more")
    assert films("compare").err.startswith("more is the newest of 2 campaigns")
    assert films("export", "out").err.startswith("more is the newest of 2 campaigns")
    assert films("compare", "--campaign", "films").err == ""


def test_options_of_statistics_and_selection(films: Recjury) -> None:
    found = films("compare", "--where", "core.overall<55", "--seed", "3", "--json").json
    assert found["comparisons"][0]["n"] == 5
    assert films("compare", "--missing", "worst", "--resamples", "200").code == 0


def test_forms(films: Recjury) -> None:
    assert films("compare", "--format", "markdown").out.count("| core.overall |") == 1
    assert films("compare", "--format", "csv").out.startswith("a,b,metric,difference")
    assert "high with 55.5" in films("summary").out
    assert "core.overall" in films("summary", "--format", "latex").out


def test_plots(tmp_path: Path, films: Recjury) -> None:
    for command in ("compare", "summary"):
        assert films(command, "--plot", f"{command}.png").code == 0
        assert (tmp_path / f"{command}.png").stat().st_size > 5_000


@pytest.mark.parametrize("width", [40, 60, 90])
def test_tables_are_as_wide_as_the_terminal(
    films: Recjury, monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    for command in ("compare", "summary", "replay", "status"):
        assert max(map(len, films(command).out.splitlines())) <= width


@pytest.mark.parametrize("width", [80, 100, 110, 120, 130])
def test_no_interval_is_cut_off(
    tmp_path: Path, recjury: Recjury, monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    with Store(tmp_path / "recjury.db") as store:
        fill(store, {f"system-{number}": {"overall": LOW, "novelty": HIGH} for number in range(4)})
    lines = recjury("summary").out.splitlines()
    assert max(map(len, lines)) <= width
    assert all(line.count("[") == line.count("]") for line in lines if "core." in line)


def test_tables_of_many_systems_are_parted(tmp_path: Path, recjury: Recjury) -> None:
    with Store(tmp_path / "recjury.db") as store:
        fill(
            store,
            {
                f"system-{number}": {"overall": LOW, "novelty": LOW if number else HIGH}
                for number in range(9)
            },
        )
    lines = recjury("compare").out.splitlines()
    assert max(map(len, lines)) <= 120
    assert sum(line.strip().startswith("core.novelty") for line in lines) > 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("compare", "hihg"), "did you mean high?"),
        (("compare", "high", "high"), "name each system once"),
        (("compare", "--metric", "overal"), "did you mean core.overall?"),
        (("compare", "--fail-if-worse", "5"), "expected METRIC=MARGIN"),
        (("compare", "--system", "hihg"), "did you mean high?"),
        (("explain", "nothing"), "begins with 'nothing'"),
        (("export", "a/b"), "cannot write to a/b"),
    ],
)
def test_mistakes_are_one_line(films: Recjury, arguments: tuple[str, ...], said: str) -> None:
    assert films(*arguments).is_mistake(said)


def test_an_export_is_judged_again(tmp_path: Path, ran: Recjury) -> None:
    assert ran("export", "out").code == 0
    assert len(pd.read_csv(tmp_path / "out" / "calls.csv")) > 20
    done = ran("judge", "out/conversations.jsonl", "--store", "again.db", "--json")
    assert done.json["systems"]["popular"]["outcome.rounds"]["n"] == 2


def test_explain_leads_from_a_score_to_prompt_and_reply(ran: Recjury) -> None:
    """Newcomers' item 15."""
    id_ = ran("replay", "--json").json["conversations"][0]["id"]
    assert "core.novelty" in ran("explain", id_[:8]).out
    told = ran("explain", id_, "--metric", "core.novelty").out
    assert "[user]" in told
    assert "Reply of main" in told
    assert len(told.splitlines()) < 300
    (part,) = ran("explain", id_, "--metric", "novelty", "--json").json["parts"]
    assert part["name"] == "core.novelty"
    assert part["calls"][0]["reply"] in told
    spoken = ran("explain", id_, "--role", "linguist", "--round", "1").out
    assert spoken.count("Reply of main") == 1
    assert "Round 2" in ran("explain", id_, "--metric", "core.overall").out
    assert ran("explain", id_, "--role", "poet").code == 2


def test_a_conversation_is_explained_as_the_campaign_rates_it(
    tmp_path: Path, films: Recjury
) -> None:
    with Store(tmp_path / "recjury.db") as store:
        fill(store, {"low": {"overall": LOW}}, campaign="later", evaluators=[evaluator("strict")])
    id_ = "1111aaaa-low-llm-s0-0"
    for more, name in ((), "strict.overall"), (("--campaign", "films"), "core.overall"):
        parts = films("explain", id_, *more, "--json").json["parts"]
        assert [part["name"] for part in parts] == [name]


def test_replay_shows_the_mean_of_the_factors(ran: Recjury) -> None:
    id_ = ran("replay", "--json").json["conversations"][0]["id"]
    found = ran("replay", id_, "--json").json
    assert f"core.mean {found['avg_org_score']:.2f} (" in ran("replay", id_).out
