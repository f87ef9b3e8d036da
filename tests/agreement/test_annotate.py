"""People rate a campaign: pages drawn, rated by keyboard in a browser, joined, held against."""

import json
import shutil
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from recjury.agreement import (
    ANALYSES,
    Drawing,
    Study,
    align,
    export_pages,
    import_answers,
    open_labels,
    read_scores,
)
from recjury.errors import UserError
from recjury.results import Findings, Resampling, Selection, StoredCampaign
from recjury.store import Store
from tests.campaign.campaigns import config, play
from tests.cli.conftest import Recjury, recjury
from tests.view.browser import browsing
from tests.view.stores import put, said

if TYPE_CHECKING:
    from playwright.sync_api import Page

__all__ = ["recjury"]

FACTORS = 12


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with six records, each played by two systems and rated by `core`."""
    found = tmp_path_factory.mktemp("annotate") / "s.db"
    play(found, config(scenarios=[{"corpus": "sample", "limit": 6}]))
    return found


def exported(path: Path, folder: Path, *raters: str, **drawing: Any) -> Findings:
    values = {"number": 3, **drawing}
    with Store(path, readonly=True) as store:
        return export_pages(store, folder, Drawing(raters or ("anna", "ben"), **values))


def key_of(folder: Path) -> Any:
    return json.loads((folder / "key.json").read_text())


def records_of(folder: Path) -> dict[str, list[tuple[str, str]]]:
    """The record and the system of each conversation of a rater."""
    key = key_of(folder)
    drawn = {
        name: (d["log"]["scenario"]["id"], d["system"]) for name, d in key["conversations"].items()
    }
    return {rater: [drawn[name] for name in names] for rater, names in key["raters"].items()}


def rate(page: "Page", digit: str) -> None:
    """Give all missing scores by keyboard: the digit, and ten times as much overall."""
    title = "document.querySelector('.field.at > button')?.innerText ?? ''"
    while field := page.evaluate(title):
        page.keyboard.type(f"{digit}0" if field.startswith("Overall") else digit)
        page.keyboard.press("Enter")


def open_again(page: "Page", address: str, progress: str) -> None:
    """Open the page until it has what is kept: the browser writes it a moment later."""
    for _ in range(50):
        page.goto(address)
        if page.locator(".progress").inner_text().startswith(progress):
            return
        page.wait_for_timeout(100)
    raise AssertionError(page.locator(".progress").inner_text())


def test_two_raters_by_keyboard_then_align(path: Path, tmp_path: Path) -> None:
    folder = tmp_path / "study"
    exported(path, folder, number=2)
    files = []
    for rater in ("anna", "ben"):
        address = (folder / f"{rater}.html").as_uri()
        with browsing("file://", accept_downloads=True) as page:
            page.goto(address)
            for key in ("4", "ArrowRight", "1", "ArrowDown", "2"):
                page.keyboard.press(key)
            open_again(page, address, "3 of ")  # the first conversation is the open one
            assert page.locator("h1").inner_text() == "Conversation 1 of 4"
            rate(page, "3")
            with page.expect_download() as download:
                page.keyboard.press("Enter")
            files.append(tmp_path / download.value.suggested_filename)
            download.value.save_as(files[-1])
    found = import_answers(folder, files)
    assert not found.problems
    labels = open_labels(f"annotations:{folder / 'labels.json'}")
    for _, own in labels.frame.groupby("rater"):
        assert Counter(own["score"]) == {30: 4, 3: len(own) - 7, 4: 1, 1: 1, 2: 1}
    aligned = align(read_scores(str(path), labels=labels), labels, resampling=Resampling(100))
    assert {row["n"] for row in aligned.data["rows"] if row["aspect"] == "coherence"} == {4}


def test_two_tabs_of_one_rater_keep_the_scores_of_both(path: Path, tmp_path: Path) -> None:
    exported(path, tmp_path / "study", number=2)
    address = (tmp_path / "study" / "anna.html").as_uri()
    with browsing("file://") as page:
        page.goto(address)
        other = page.context.new_page()
        other.goto(address)
        page.keyboard.press("4")
        page.wait_for_timeout(200)
        for key in ("ArrowDown", "3", "Backspace", "ArrowRight", "2"):  # a score is withdrawn
            other.keyboard.press(key)
        open_again(page, address, "2 of ")


def test_the_page_shows_texts_as_texts_and_asks_for_the_overall_last(tmp_path: Path) -> None:
    hostile = "</script><img src=x onerror=alert(1)><b>bold</b>"
    with Store(tmp_path / "s.db") as store:
        put(store, said("Hello?", hostile), system="secret")
        export_pages(store, tmp_path / "study", Drawing(("anna",), "random", 1, 1))
    page_file = tmp_path / "study" / "anna.html"
    assert "secret" not in page_file.read_text()
    with browsing("file://", viewport={"width": 400, "height": 800}) as page:
        page.goto(page_file.as_uri())
        assert page.locator(".system .text").inner_text() == hostile
        assert page.evaluate("document.documentElement.scrollWidth") == 400
        for key in ("9", "2", "End"):  # off the scale, and on it
            page.keyboard.press(key)
        assert page.locator(".progress").inner_text().startswith("1 of ")
        for _ in range(FACTORS):
            page.keyboard.press("ArrowDown")
        page.keyboard.type("75")
        page.keyboard.press("Enter")
        assert page.locator(".progress").inner_text().startswith("1 of ")
        rate(page, "2")
        page.keyboard.press("ArrowLeft")
        for _ in range(FACTORS):
            page.keyboard.press("ArrowDown")
        page.keyboard.press("End")
        page.keyboard.press("Backspace")
        assert page.locator(".field.at input").input_value() == "2"
        page.keyboard.type("00")  # 200 is no score, and 20 is none that was meant
        page.keyboard.press("Enter")
        page.reload()
        assert page.locator(".field.at .score").inner_text() == ""


def test_a_conversation_of_any_length_comes_back(tmp_path: Path) -> None:
    """Readers of CSV refuse cells of more than 131,072 characters."""
    text = "I liked the scene and the hero a lot. " * 4_000
    with Store(tmp_path / "s.db") as store:
        put(store, said("Hello?", text))
        export_pages(store, tmp_path / "study", Drawing(("anna",), "random", 1, 1))
    key = key_of(tmp_path / "study")
    with browsing("file://", accept_downloads=True) as page:
        page.goto((tmp_path / "study" / "anna.html").as_uri())
        rate(page, "2")
        with page.expect_download() as download:
            page.keyboard.press("Enter")
        download.value.save_as(tmp_path / "anna.json")
    import_answers(tmp_path / "study", [tmp_path / "anna.json"])
    labels = open_labels(f"annotations:{tmp_path / 'study'}")
    (drawn,) = key["conversations"].values()
    assert len(labels.frame) == len(drawn["fields"])
    assert labels.recordings[0].interaction[-1].text == text


def test_core_gives_whole_records_to_two_raters(path: Path, tmp_path: Path) -> None:
    raters = ("anna", "ben", "carla")
    exported(path, tmp_path / "a", *raters)
    exported(path, tmp_path / "b", *raters)
    exported(path, tmp_path / "c", *raters, seed=1)
    first, again, other = (records_of(tmp_path / name) for name in "abc")
    assert first == again != other
    assert {len(rated) for rated in first.values()} == {4}
    for rated in first.values():
        assert set(Counter(record for record, _ in rated).values()) == {2}
    assert set(Counter(each for rated in first.values() for each in rated).values()) == {2}


def test_conversations_are_drawn_at_random(path: Path, tmp_path: Path) -> None:
    exported(path, tmp_path / "a", "anna", "ben", design="random", number=5, each=1)
    rated = records_of(tmp_path / "a")
    assert sorted(map(len, rated.values())) == [2, 3]
    with Store(path, readonly=True) as store:
        drawing = Drawing(("anna",), "random", 6, 1)
        export_pages(store, tmp_path / "b", drawing, selection=Selection(systems=("popular",)))
    assert {system for _, system in records_of(tmp_path / "b")["anna"]} == {"popular"}


@pytest.mark.parametrize(
    ("raters", "drawing", "message"),
    [
        (("anna", "ben"), {"number": 7}, "6 records"),
        (("anna", "ben"), {"number": 13, "design": "random"}, "12 finished"),
        (("anna",), {}, "--each 1"),
        (("anna", "Anna"), {}, "named once"),
        (("anna", "../ben"), {}, "letters, digits"),
        (("a", "b", "c", "d", "e"), {"number": 1}, "fewer raters"),
    ],
)
def test_what_cannot_be_drawn(
    path: Path, tmp_path: Path, raters: tuple[str, ...], drawing: dict[str, Any], message: str
) -> None:
    with pytest.raises(UserError, match=message):
        exported(path, tmp_path / "study", *raters, **drawing)
    assert not (tmp_path / "study").exists()


def test_systems_without_a_common_record_are_drawn_at_random(tmp_path: Path) -> None:
    with Store(tmp_path / "s.db") as store:
        for number, system in enumerate(("one", "other")):
            put(store, said("Hello?", "Heat.", id=system), system=system, number=number)
        with pytest.raises(UserError, match="--design random"):
            export_pages(store, tmp_path / "study", Drawing(("anna", "ben"), number=1))


@pytest.fixture
def study(path: Path, tmp_path: Path) -> Path:
    """An export, and answer files in which everything has the lowest score."""
    export = exported(path, tmp_path / "study").data["export"]
    key = key_of(tmp_path / "study")
    for rater, names in key["raters"].items():
        answers = {name: dict.fromkeys(key["conversations"][name]["fields"], 0) for name in names}
        body = {"form": "recjury answers 1", "export": export, "rater": rater, "answers": answers}
        (tmp_path / f"{rater}.json").write_text(json.dumps(body))
    return tmp_path / "study"


def changed(file: Path, *keys: str, value: Any) -> None:
    body = json.loads(file.read_text())
    inner = body
    for key in keys[:-1]:
        inner = inner[key]
    inner[keys[-1]] = value
    file.write_text(json.dumps(body))


@pytest.mark.parametrize(
    ("keys", "value", "message"),
    [
        (("export",), "0" * 32, "another export"),
        (("rater",), "bem", "did you mean ben"),
        (("form",), "something", "recjury answers 1"),
        (("answers",), [], "answers: expected keys"),
        (("answers", "c001", "coherence"), 5, "from 0 to 4, got 5"),
        (("answers", "c001", "overall"), 101, "from 0 to 100, got 101"),
        (("answers", "c001", "coherence"), "3", "got '3'"),
        (("answers", "c001", "coherence"), 2.5, "got 2.5"),
        (("answers", "c001", "coherence"), True, "got True"),
        (("answers", "c001", "charm"), 3, "not asked"),
        (("answers", "c999"), {"coherence": 3}, "not asked"),
    ],
)
def test_what_is_no_answer(study: Path, keys: tuple[str, ...], value: Any, message: str) -> None:
    file = study.parent / "ben.json"
    changed(file, *keys, value=value)
    with pytest.raises(UserError, match=message):
        import_answers(study, [study.parent / "anna.json", file])
    assert not (study / "labels.json").exists()


def test_what_is_no_answer_file(study: Path) -> None:
    anna, copy, table = (study.parent / name for name in ("anna.json", "copy.json", "anna.csv"))
    shutil.copy(anna, copy)
    with pytest.raises(UserError, match=r"anna\.json has the answers of anna, too"):
        import_answers(study, [anna, copy])
    table.write_text("conversation;coherence\nc001;3\n")
    with pytest.raises(UserError, match="no JSON, such as a spreadsheet"):
        import_answers(study, [table])
    with pytest.raises(UserError, match="recjury annotate export"):
        import_answers(study.parent, [anna])
    changed(anna, "answers", value={})
    with pytest.raises(UserError, match="no score is given"):
        import_answers(study, [anna])


def test_half_of_the_answers_count(study: Path) -> None:
    ben = study.parent / "ben.json"
    changed(ben, "answers", value={"c001": {"coherence": 4}})
    found = import_answers(study, [ben])
    assert (found.data["scores"], len(found.problems)) == (1, 2)
    assert list(open_labels(f"annotations:{study}").frame["score"]) == [4.0]
    assert import_answers(study, [study.parent / "anna.json", ben]).data["scores"] > 60


def test_labels_are_held_against_the_conversation_of_their_system(path: Path, study: Path) -> None:
    for rater in ("anna", "ben"):
        for name, drawn in key_of(study)["conversations"].items():
            score = 4 if drawn["system"] == "popular" else 1
            changed(study.parent / f"{rater}.json", "answers", name, "coherence", value=score)
    import_answers(study, [study.parent / "anna.json", study.parent / "ben.json"])
    labels = open_labels(f"annotations:{study}")
    with Store(path, readonly=True) as store:
        asked = Study(StoredCampaign(store, "small"), labels, Resampling(100))
        both = asked.with_labels(asked.factors())
        both = both[(both["aspect"] == "coherence") & (both["metric"] == "coherence")]
        assert set(zip(both["system"], both["label"], strict=True)) == {
            ("popular", 4.0),
            ("chatcrs", 1.0),
        }
        with pytest.raises(UserError, match="too few"):
            ANALYSES["core.rq3"].run(asked)
    scores = read_scores(str(path), labels=labels)
    assert set(scores["conversation"]) == set(labels.frame["conversation"])


def test_the_commands(recjury: Recjury, path: Path, study: Path) -> None:
    store = str(path)
    options = ("--raters", "anna, ben", "--number", "2", "--store", store)
    assert recjury("annotate", "export", "new", *options, "--json").json["raters"].keys() == {
        "anna",
        "ben",
    }
    assert "has an export already" in recjury("annotate", "export", "new", *options).err
    done = recjury("annotate", "import", str(study), str(study.parent / "anna.json"))
    assert done.code == 3
    found = recjury("align", store, "--labels", f"annotations:{study}", "--json")
    rows = found.json["rows"]
    assert {row["n"] for row in rows if row["aspect"] == "overall"} == {6}
