"""The report's section about agreement with people."""

from pathlib import Path

import pytest

import recjury as package
from tests.agreement.annotation.tasks import key_of, saved, store_with
from tests.cli.front_door import Command
from tests.report.markup import Page


@pytest.fixture
def labelled(command: Command, tmp_path: Path) -> str:
    """A store of two systems, and labels.json by two raters who see the records' numbers."""
    url = store_with(tmp_path, records=6)
    ended = command("annotate", "export", "task", "--store", url, "--raters", "2",
                    "--question", "naturalness", "--question", "overall")  # fmt: skip
    assert ended.code == 0, ended.err
    key = key_of(Path("task"))
    files = []
    for place, rater in enumerate(key.task.raters):
        given = []
        for name, question in key.task.asked(rater):
            record = int(key.logs[name].scenario.record)
            score = 10 * record + place if question == "overall" else min(4, record % 4 + place)
            given.append((name, question, score))
        files.append(saved(key, rater, given, Path(f"{rater}.json")))
    ended = command("annotate", "import", "task/key.json", *files)
    assert ended.code == 0, ended.err
    return url


def test_labels_add_a_section(command: Command, labelled: str) -> None:
    ended = command("report", "--store", labelled, "--labels", "annotations:labels.json")
    assert ended.code == 0, ended.err
    source = Path("report.html").read_text("utf-8")
    page = Page(source)
    assert page.wrong == []
    text = "".join(page.text)
    assert "Agreement with people" in text
    assert "labels.json" in text
    for part in ("core.overall", "core.naturalness", "length", "system mean"):
        assert part in text
    assert "Krippendorff’s alpha" in text
    assert source.count("Scores against labels") == 2
    assert source.count('aria-label="sample/test, ') == 2, "a figure for each metric"


def test_the_plots_are_those_of_align(command: Command, labelled: str) -> None:
    given = ("--store", labelled, "--labels", "annotations:labels.json")
    assert command("align", *given, "--plot", "plots").code == 0
    assert command("report", *given).code == 0
    source = Path("report.html").read_text("utf-8")
    plots = list(Path("plots").iterdir())
    assert len(plots) == 2
    for plot in plots:
        _, marks = plot.read_text("utf-8").split("<rect", 1)  # the page has no white ground
        assert marks.split("\n", 1)[1].strip() in source


def test_without_labels_there_is_no_section(command: Command, labelled: str) -> None:
    assert command("report", "--store", labelled).code == 0
    assert "Agreement with people" not in Path("report.html").read_text("utf-8")


def test_what_labels_name_is_text(command: Command, tmp_path: Path) -> None:
    url = store_with(tmp_path, records=5, systems=["one"])
    rows = [f"{n},<script>x</script>,{n},<b>all</b>" for n in range(4)]
    Path("<i>.csv").write_text("\n".join(["conversation,aspect,label,subset", *rows]), "utf-8")
    ended = command("report", "--store", url, "--labels", "csv:<i>.csv", "--pair",
                    "core.overall=<script>x</script>")  # fmt: skip
    assert ended.code == 0, ended.err
    source = Path("report.html").read_text("utf-8")
    assert Page(source).wrong == []
    for part in ("<script", "<b>", "<i>"):
        assert part not in source
    assert "1 scored conversations have no label" in source


def test_labels_that_cannot_be_used_write_no_page(command: Command, labelled: str) -> None:
    for given, said in (
        (("--labels", "annotations:task/key.json"), "is not a file of `recjury annotate import`"),
        (("--labels", "csv:none.csv"), "none.csv"),
        (("--pair", "core.overall=overall"), "--pair is for --labels"),
    ):
        ended = command("report", "--store", labelled, *given)
        assert ended.code == 2
        assert said in ended.err
    assert not Path("report.html").exists()


def test_from_python_it_is_the_same_page(command: Command, labelled: str) -> None:
    given = ("--store", labelled, "--labels", "annotations:labels.json")
    assert command("report", *given).code == 0
    path = package.open(labelled).report("again.html", labels="annotations:labels.json")
    assert path.read_bytes() == Path("report.html").read_bytes()
