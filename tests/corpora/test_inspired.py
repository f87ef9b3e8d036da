"""INSPIRED: turns of several lines, films that are annotated and not named, and faulty files."""

from pathlib import Path

import pytest

from recjury.corpora import open_corpus
from recjury.corpora.inspired import InspiredCorpus
from recjury.errors import DataError
from recjury.records import Speaker

HEAD = "dialog_id\tutt_id\tspeaker\ttext\tmovies\n"
LINES = (
    ("a.pkl", "RECOMMENDER", "Hello! Have you seen Joker?", "Joker (2019)"),
    ("a.pkl", "SEEKER", "Yes.", ""),
    ("a.pkl", "SEEKER", "I liked Heat.", "Heat (1995)"),
    (
        "a.pkl",
        "RECOMMENDER",
        "Mine too. Try QUOTATION_MARKParasiteQUOTATION_MARK",
        "Parasite (2019)",
    ),
    ("a.pkl", "RECOMMENDER", "or Heat again.", "Heat (1995); Mine (2016)"),
    ("a.pkl", "SEEKER", "No.", ""),
    ("a.pkl", "RECOMMENDER", "It is fine, really.", "It (1990)"),
)


def _folder(data: Path, file: str = "test.tsv", lines: object = LINES) -> Path:
    folder = data / "inspired"
    folder.mkdir(exist_ok=True)
    assert isinstance(lines, tuple)
    rows = (f"{one}\t0\t{who}\t{text}\t{films}\n" for one, who, text, films in lines)
    (folder / file).write_text(HEAD + "".join(rows), "utf-8")
    return data


def test_lines_of_a_speaker_are_one_turn(tmp_path: Path) -> None:
    (scenario,) = InspiredCorpus(_folder(tmp_path)).scenarios("test").scenarios
    assert scenario.record == "a_2"
    assert [turn.speaker for turn in scenario.history] == [Speaker.SYSTEM, Speaker.USER]
    assert scenario.history[1].text == "Yes. I liked Heat."
    (_, example) = InspiredCorpus(tmp_path).examples("test")
    assert example.response == 'Mine too. Try "Parasite" or Heat again.'


def test_films_count_if_the_text_names_them(tmp_path: Path) -> None:
    found = InspiredCorpus(_folder(tmp_path)).scenarios("test")
    (scenario,) = found.scenarios
    assert [target.name for target in scenario.targets] == ["Parasite (2019)", "Heat (1995)"]
    assert scenario.target_seen, "the seeker has named Heat"
    assert [(each.record, each.reason) for each in found.partial] == [
        ("a_2", "the text does not name Mine (2016)")
    ]
    assert {each.record: each.reason for each in found.unresolved} == {
        "a_0": "the system recommends before the user has spoken",
        "a_4": "the text does not name It (1990)",
    }


def test_popularity_counts_validation_dialogues_alone(tmp_path: Path) -> None:
    _folder(_folder(tmp_path), "dev.tsv", (LINES[0], LINES[0], ("b.pkl", *LINES[0][1:])))
    corpus = InspiredCorpus(tmp_path)
    assert corpus.splits == ("valid", "test")
    assert {item.name: item.popularity for item in corpus.catalogue if item.popularity} == {
        "Joker (2019)": 2
    }


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (HEAD.replace("movies", "films"), "has no column 'movies'"),
        (HEAD + "a\t0\tROBOT\tHi\t\n", "speaker: expected RECOMMENDER or SEEKER"),
    ],
)
def test_what_is_wrong_is_said_with_the_file(tmp_path: Path, content: str, message: str) -> None:
    (_folder(tmp_path) / "inspired" / "test.tsv").write_text(content, "utf-8")
    with pytest.raises(DataError, match=message) as caught:
        InspiredCorpus(tmp_path).scenarios("test")
    assert "test.tsv" in str(caught.value)


def test_a_folder_without_it_is_said(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"no dev\.tsv and no test\.tsv"):
        open_corpus("inspired", tmp_path)


def test_the_real_files_give_what_the_docs_count(data_folder: Path) -> None:
    corpus = open_corpus("inspired", data_folder)
    assert len(corpus.catalogue) == 563
    counted = {}
    for split in corpus.splits:
        found = corpus.scenarios(split)
        seen = sum(each.target_seen for each in found.scenarios)
        lost = (len(found.unresolved), len(found.partial))
        counted[split] = (len(found.scenarios), seen, *lost)
        assert all(each.history[-1].speaker is Speaker.USER for each in found.scenarios)
    assert counted == {"valid": (227, 50, 56, 13), "test": (214, 32, 51, 18)}
