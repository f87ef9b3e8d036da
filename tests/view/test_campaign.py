"""The pages of a campaign: each number on them is that of the trials behind it."""

import re
from collections.abc import Iterator, Sequence
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from recjury.errors import UserError
from recjury.records import Finding, Turn
from recjury.store import PlannedConversation, Store
from recjury.view.campaign import campaign_page
from recjury.view.campaigns import campaigns_page
from recjury.view.rendering import render
from recjury.view.trials import PART, trial_ids, trials_page
from tests.results import filled
from tests.view.stores import debated, log_of, put, rated, said


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "s.db") as opened:
        yield opened


def fill(store: Store, scores: dict[str, Sequence[float | None]], **more: Any) -> list[str]:
    """Conversations of some systems, one in each scenario, with a verdict and a novelty."""
    ids = []
    for place, (system, own) in enumerate(scores.items()):
        for number, score in enumerate(own):
            found: list[Finding] = [rated("novelty", None if score is None else score / 25)]
            if score is not None:
                found.append(debated([score - 5, score + 5], [score, score + number % 2]))
            log = said("Hi", f"Take film {number}.", id=f"s{number:02}", **more)
            ids.append(put(store, log, found, system=system, number=100 * place + number))
    return ids


def page_of(store: Store, **query: str) -> dict[str, Any]:
    return campaign_page(store, query, "films").values


def listed(store: Store, address: str) -> list[str]:
    """The trials to which an address leads."""
    query = dict(parse_qsl(urlsplit(address).query))
    return trial_ids(store, query, "films")


def test_each_list_to_look_at_has_as_many_trials_as_it_says(store: Store) -> None:
    fill(store, {"good": [80, 90, 40, 85], "bad": [20, 30, 60, None]})
    failed = log_of([Turn(speaker="system", failure="HTTP 502")], id="s09", ending="system failed")
    put(store, failed, system="bad", number=300)
    looks = {look.text: look for look in page_of(store)["looks"]}
    turned = looks.pop("scenarios in which bad is ahead of good")
    assert turned.number == 1
    assert turned.address.endswith("/compare?a=good&b=bad#gaps")
    numbers = {text: look.number for text, look in looks.items()}
    assert numbers == {
        "debates without agreement": 3,
        "trials with the lowest overall": 7,
        "trials with overall over 75 and no hit": 3,
        "failed trials": 1,
        "trials that lack a score": 1,
    }
    for look in looks.values():
        ids = listed(store, look.address)
        assert len(ids) == look.number or "lowest" in look.text, look
        assert look.trial == f"/t/{ids[0]}"


def test_numbers_of_a_page_lead_to_their_trials(store: Store) -> None:
    fill(store, {"good": [80, 90, 40], "bad": [20, 30, 60]})
    values = page_of(store)
    assert values["view"].names == ["good", "bad"]
    html = render(campaign_page(store, {}, "films"))
    links = {unescape(each) for each in re.findall(r'href="(/c/films/trials[^"]*)"', html)}
    assert len(links) > 10
    for link in links:
        listed(store, link)


def test_the_answer_and_its_verdict_name_the_better_system(store: Store) -> None:
    fill(store, {"bad": [20, 30, 25, 35, 30, 20, 30, 25], "good": [80, 90, 85, 80, 90, 80, 70, 90]})
    pair = page_of(store)["pairs"][0]
    assert (pair["a"], pair["b"], pair["decided"]) == ("good", "bad", True)
    assert pair["difference"] > 0
    text = " ".join(re.sub("<[^>]*>", "", render(campaign_page(store, {}, "films"))).split())
    assert "good is ahead: overall 83" in text
    assert "over bad" in text
    row = campaigns_page(store, {}).values["campaigns"][0]
    assert (row["highest"][0], row["done"], row["failed"]) == ("good", 16, 0)


def test_filters_narrow_all_of_the_page(store: Store) -> None:
    fill(store, {"a": [80], "b": [20]})
    fill(store, {"c": [50]}, corpus="redial")
    assert page_of(store)["options"]["corpus"] == ["redial", "sample"]
    values = page_of(store, corpus="redial")
    assert values["view"].names == ["c"]
    assert [panel.system for panel in values["panels"]] == ["c"]
    assert values["trials"] == 1
    html = render(campaign_page(store, {"corpus": "redial"}, "films"))
    assert "trials?corpus=redial&amp;system=c&amp;sort=core.overall" in html
    with pytest.raises(UserError, match="corpus 'opendialkg'"):
        page_of(store, corpus="opendialkg")


def test_what_an_older_version_did_not_play_is_no_trial(store: Store) -> None:
    run = store.start("films", {"name": "films"}, {})
    about = ("mine", "v0", "llm", "1", "sample", "s1", 0)
    store.plan(run, [PlannedConversation("old".ljust(32, "0"), 0, *about)], [])
    store.end(run, "stopped")
    put(store, said("Hi", "A", id="s1"), [rated("novelty", 1)])
    assert page_of(store)["trials"] == 1


def test_trials_are_filtered_by_what_came_of_them(store: Store) -> None:
    fill(store, {"a": [80, None, 60]})
    failed = log_of([Turn(speaker="system", failure="HTTP 502")], id="s09", ending="system failed")
    put(store, failed, system="a", number=300)
    assert page_of(store)["options"]["status"] == ["done", "failed", "unscored"]
    for status, number, debates in (("done", 2, 2), ("unscored", 1, 0), ("failed", 1, 0)):
        values = page_of(store, status=status)
        assert values["trials"] == number
        assert sum(panel.number for panel in values["panels"]) == debates
        assert [panel.mean for panel in values["panels"]] == [70.0] * (debates > 0)
        assert values["caveats"][0].claim == f"Only {status} trials are here."


def test_who_is_ahead_is_so_over_common_scenarios(store: Store) -> None:
    """A system with one easy trial has the higher mean, and is behind where both were tried."""
    fill(store, {"lucky": [None, None, 90], "steady": [40, 30, 95]})
    (pair,) = page_of(store)["pairs"]
    assert (pair["a"], pair["b"]) == ("steady", "lucky")
    assert page_of(store)["view"].names == ["steady", "lucky"]
    assert "steady is ahead: overall 55.2, 5.0 over lucky" in re.sub(
        "<[^>]*>", "", render(campaign_page(store, {}, "films"))
    )


def test_of_many_systems_the_pairs_of_the_first_are_listed(store: Store) -> None:
    fill(store, {f"s{place}": [50 + place, 40 + place] for place in range(9)})
    pairs = page_of(store)["pairs"]
    assert {pair["a"] for pair in pairs} == {"s8"}
    assert len(pairs) == 8


def test_two_judges_are_held_against_each_other(store: Store) -> None:
    for number in range(8):
        score = number % 5
        found: list[Finding] = [
            rated("novelty", score),
            rated("novelty", 4 - score, rater="other"),
            rated("rounds", score),
        ]
        put(store, said("Hi", "Heat.", id=f"s{number}"), found, number=number)
    assert page_of(store)["agreement"] == {"core.novelty": pytest.approx(-1)}


def test_debates_end_by_round_and_role(store: Store) -> None:
    put(store, said("Hi", "A", id="s1"), [debated([0, 100, 40, 60], [50] * 4)], number=1)
    put(store, said("Hi", "B", id="s2"), [debated([50, 50, 50, None])], number=2)
    panel = page_of(store)["panels"][0]
    assert (panel.agreed, panel.number, panel.rounds, panel.mean) == (2, 2, 2, 50.0)
    assert [line.letter for line in panel.lines] == ["C", "D", "L", "H"]
    at = [line.at for line in panel.lines]
    assert min(abs(a - b) for a in at for b in at if a != b) >= 9 - 0.01


def test_trials_load_in_parts(store: Store) -> None:
    ids = fill(store, {"a": [float(number % 50) for number in range(PART + 20)]})
    query = {"sort": "-core.overall", "system": "a"}
    first = trials_page(store, query, "films").values
    assert (len(first["trials"]), first["number"]) == (PART, PART + 20)
    rest = trials_page(store, dict(parse_qsl(urlsplit(first["more"]).query)), "films").values
    assert (len(rest["trials"]), rest["more"]) == (20, "")
    both = [trial["id"] for trial in (*first["trials"], *rest["trials"])]
    assert both == trial_ids(store, query, "films")
    assert sorted(both) == sorted(ids)


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("100%", ["s1"]),
        ("under_score", ["s2"]),
        ("AMÉLIE", ["s3"]),
        ("émile Heat", ["s4"]),
        ('say "Ran"', ["s5"]),
        ("back\\slash", ["s6"]),
        ("!bang", ["s7"]),
        ("take", ["s1", "s2"]),
        ("nowhere", []),
    ],
)
def test_words_are_found_as_they_were_said(store: Store, words: str, found: list[str]) -> None:
    texts = ["Take 100%", "take under_score", "AMÉLIE", "heat by émile", 'I say "Ran"']
    texts += ["back\\slash", "a !bang", "100 times, underXscore"]
    for number, text in enumerate(texts, 1):
        put(store, said("Hi", text, id=f"s{number}"), [rated("novelty", 1)], number=number)
    rows = trials_page(store, {"q": words}, "films").values["trials"]
    assert [trial["scenario"] for trial in rows] == found


def test_why_there_is_no_score_is_shown(store: Store) -> None:
    put(store, said("Hi", "A", id="s1"), [rated("novelty", None), debated([50])])
    (trial,) = trials_page(store, {}, "films").values["trials"]
    assert trial["scores"]["core.novelty"] == (None, "unreadable")
    assert trial["status"] == "unscored"


def test_campaigns_without_scores_with_one_system_or_a_thousand_factors(store: Store) -> None:
    put(store, said("Hi", "A", id="s1"))
    assert "no scores" in render(campaign_page(store, {}, "films"))
    assert campaigns_page(store, {}).values["campaigns"][0]["highest"] is None
    many: list[Finding] = [rated(f"factor_{number}", 2) for number in range(1000)]
    metrics = [{"name": f"factor_{number}", "high": 4} for number in range(1000)]
    put(store, said("Hi", "A", id="s2"), many, number=1, metrics=metrics)
    html = render(campaign_page(store, {}, "films"))
    assert len(html) > 10_000
    assert "compare two systems" not in html
    assert len(render(trials_page(store, {}, "films"))) > 1_000


@pytest.mark.parametrize(
    "query", [{"q": "film"}, {"q": "spring"}, {"state": "running"}, {"state": "finished"}]
)
def test_campaigns_are_searched(store: Store, query: dict[str, str]) -> None:
    put(store, said("Hi", "A"))
    values = campaigns_page(store, query).values
    fits = query in ({"q": "film"}, {"state": "finished"})
    assert ([row["name"] for row in values["campaigns"]], values["all"]) == (["films"] * fits, 1)


def test_a_verdict_on_other_factors_is_not_said_to_be_ahead(store: Store) -> None:
    core = [filled.evaluator(kind="core")]
    filled.fill(store, {"some": {"overall": [80.0] * 8, "novelty": [3.0] * 8}}, evaluators=core)
    whole = {"overall": [50.0] * 8, "novelty": [3.0] * 8, "rounds": [2.0] * 8}
    filled.fill(store, {"all": whole}, evaluators=core)
    text = render(campaign_page(store, {}, "films"))
    assert "core.overall does not compare some with all" in text
    assert "</b> is ahead" not in text


def test_scenarios_in_which_the_loser_is_ahead_rest_on_the_same_factors(store: Store) -> None:
    core, factors = [filled.evaluator(kind="core")], {"novelty": [3.0] * 8, "rounds": [2.0] * 8}
    filled.fill(store, {"good": {"overall": [80.0] * 8, **factors}}, evaluators=core)
    filled.fill(store, {"bad": {"overall": [90.0] * 2, "novelty": [3.0] * 2}}, evaluators=core)
    rest = {"overall": [90.0] + [10.0] * 5, "novelty": [3.0] * 6, "rounds": [2.0] * 6}
    filled.fill(store, {"bad": rest}, evaluators=core, first=2)
    look = page_of(store)["looks"][0]
    assert (look.number, look.text) == (1, "scenarios in which bad is ahead of good")
