"""ReDial and OpenDialKG: every record accounted for, names joined as the data needs it."""

import shutil
from collections import Counter
from itertools import pairwise
from pathlib import Path

import orjson
import pytest

from recjury.corpora import ScenarioSet, Unresolved, open_corpus
from recjury.corpora.ievalm import IevalmCorpus
from recjury.errors import DataError
from recjury.records import Speaker


def _records(corpus: IevalmCorpus, split: str) -> list[dict[str, object]]:
    lines = corpus.files.split_file(split).read_bytes().splitlines()
    return [orjson.loads(line) for line in lines]


def _check_history(found: ScenarioSet) -> None:
    for scenario in found.scenarios:
        assert scenario.targets
        assert all(target.id is not None for target in scenario.targets)
        assert all(one.speaker is not two.speaker for one, two in pairwise(scenario.history))


def test_every_redial_test_record_is_a_scenario(redial: IevalmCorpus) -> None:
    found = redial.scenarios("test")
    assert len(found.scenarios) == 3341
    assert found.unresolved == ()
    assert len({scenario.id for scenario in found.scenarios}) == 3341
    assert sum(scenario.target_seen for scenario in found.scenarios) == 417
    _check_history(found)


def test_every_opendialkg_test_record_is_accounted_for(opendialkg: IevalmCorpus) -> None:
    found = opendialkg.scenarios("test")
    assert len(found.scenarios) + len(found.unresolved) == 1188
    assert found.unresolved == (
        Unresolved(
            "3572_5",
            "target 'Wayside School Gets A Little Stranger' is not an entity in entity2id.json",
        ),
    )
    assert sum(scenario.target_seen for scenario in found.scenarios) == 424
    _check_history(found)


def test_a_system_that_opens_keeps_its_turn(redial: IevalmCorpus) -> None:
    rows = {f"{row['dialog_id']}_{row['turn_id']}": row for row in _records(redial, "test")}
    opened = 0
    for scenario in redial.scenarios("test").scenarios:
        context = rows[scenario.record]["context"]
        assert isinstance(context, list)
        system_opens = context[0] == ""
        opened += system_opens
        assert [turn.text for turn in scenario.history] == context[system_opens:]
        first = Speaker.SYSTEM if system_opens else Speaker.USER
        assert scenario.history[0].speaker is first
    assert opened == 2163


def test_a_sample_is_the_same_every_time_and_grows(redial: IevalmCorpus) -> None:
    ten = redial.scenarios("test", 10, seed=7).scenarios
    assert [scenario.record for scenario in ten] == [
        scenario.record for scenario in redial.scenarios("test", 10, seed=7).scenarios
    ]
    fifty = {scenario.record for scenario in redial.scenarios("test", 50, seed=7).scenarios}
    assert len(fifty) == 50
    assert {scenario.record for scenario in ten} <= fifty
    other = {scenario.record for scenario in redial.scenarios("test", 50, seed=8).scenarios}
    assert len(fifty & other) < 10
    assert redial.scenarios("test", 0).scenarios == ()


def test_the_drawn_records_are_these(opendialkg: IevalmCorpus) -> None:
    drawn = opendialkg.scenarios("test", 5, seed=0)
    records = ["2599_1", "2819_1", "2970_3", "4261_5", "5057_5"]
    assert [scenario.record for scenario in drawn.scenarios] == records
    assert len(drawn.unresolved) == 1


def test_graphs_have_the_published_edges(redial: IevalmCorpus, opendialkg: IevalmCorpus) -> None:
    assert len(redial.graph.entities) == 24_630
    assert len(redial.graph.edges) == 113_930
    assert redial.graph.relations == ("genre", "star", "director", "writer")
    assert len(redial.graph.item_entities) == 6576
    assert len(opendialkg.graph.entities) == 12_460
    assert len(opendialkg.graph.edges) == 86_882
    assert len(opendialkg.graph.triples) == 46_402
    assert opendialkg.graph.relations[:3] == ("year", "actor", "director")
    assert opendialkg.graph.network.number_of_nodes() == 12_460


def test_items_join_their_attributes_by_name(
    redial: IevalmCorpus, opendialkg: IevalmCorpus
) -> None:
    heat = redial.catalogue.named("Super Troopers (2001)")
    assert heat is not None
    assert (heat.title, heat.year) == ("Super Troopers", 2001)
    assert "comedy" in heat.genres
    assert heat.directors == ("Jay Chandrasekhar",)
    assert redial.graph.entity(heat.name) == int(heat.id)
    slumdog = opendialkg.catalogue.named("Slumdog Millionaire")
    assert slumdog is not None
    assert slumdog.year == 2008
    assert slumdog.actors[:2] == ("Freida Pinto", "Anil Kapoor")
    assert len(slumdog.actors) == len(set(slumdog.actors))


def test_opendialkg_knows_more_films_than_its_systems_recommend(
    opendialkg: IevalmCorpus,
) -> None:
    catalogue = opendialkg.catalogue
    assert len(catalogue) == 2965
    beyond = [info.name for info in opendialkg.files.infos.values()]
    known = [item for item in map(catalogue.named, beyond) if item is not None]
    assert sum(not catalogue.recommendable(item.id) for item in known) == 697


def test_popularity_counts_conversations_and_none_of_the_test_dialogues(
    redial: IevalmCorpus, opendialkg: IevalmCorpus
) -> None:
    tested = {row["dialog_id"] for row in _records(opendialkg, "test")}
    counts: Counter[str] = Counter()
    seen: set[tuple[object, str]] = set()
    for row in _records(opendialkg, "train"):
        entities, rec = row["entity"], row["rec"]
        assert isinstance(entities, list)
        assert isinstance(rec, list)
        named = {(row["dialog_id"], name) for name in (*entities, *rec)}
        if row["dialog_id"] not in tested:
            counts.update(name for _, name in named - seen)
            seen |= named
    assert all(item.popularity == counts[item.name] for item in opendialkg.catalogue)
    assert sum(item.popularity or 0 for item in redial.catalogue) == 5267
    assert max(redial.catalogue, key=lambda item: item.popularity or 0).name == "Jumanji (2017)"


def test_redial_says_that_its_train_split_is_not_there(redial: IevalmCorpus) -> None:
    assert redial.splits == ("valid", "test")
    with pytest.raises(DataError, match="redial has no split 'train' here: there are valid, test"):
        redial.examples("train")


def test_examples_hold_what_the_files_hold(opendialkg: IevalmCorpus) -> None:
    examples = opendialkg.examples("train")
    assert len(examples) == 5547
    first = _records(opendialkg, "train")[0]
    assert list(examples[0].context) == first["context"]
    assert list(examples[0].entities) == first["entity"]
    assert list(examples[0].targets) == first["rec"]
    assert examples[0].response == first["resp"]
    assert examples[0].dialogue == str(first["dialog_id"])


@pytest.fixture
def copy(data_folder: Path, tmp_path: Path) -> Path:
    """A copy of OpenDialKG that may be damaged."""
    shutil.copytree(data_folder / "ievalm" / "opendialkg", tmp_path / "ievalm" / "opendialkg")
    for path in (tmp_path / "ievalm" / "opendialkg").iterdir():
        path.chmod(0o644)
    (tmp_path / "ievalm" / "opendialkg").chmod(0o755)
    return tmp_path


def _replace_line(path: Path, number: int, line: bytes) -> None:
    lines = path.read_bytes().splitlines(keepends=True)
    lines[number - 1] = line + b"\n"
    path.write_bytes(b"".join(lines))


def test_a_corrupt_line_is_named(copy: Path) -> None:
    _replace_line(
        copy / "ievalm" / "opendialkg" / "test_data_processed.jsonl", 17, b'{"dialog_id": 4, '
    )
    with pytest.raises(DataError, match=r"test_data_processed\.jsonl:17: not JSON"):
        open_corpus("opendialkg", copy).scenarios()


def test_a_wrong_type_is_named(copy: Path) -> None:
    row = b'{"dialog_id": 4, "turn_id": 1, "context": "x", "entity": [], "rec": [], "resp": ""}'
    _replace_line(copy / "ievalm" / "opendialkg" / "test_data_processed.jsonl", 3, row)
    with pytest.raises(DataError, match=r":3: context: expected a list, got 'x'"):
        open_corpus("opendialkg", copy).scenarios()


def test_a_record_keeps_the_targets_that_resolve(copy: Path) -> None:
    row = (
        b'{"dialog_id": 4, "turn_id": 1, "context": ["hi"], "entity": [], '
        b'"rec": ["No Such Film", "Inception", "Steven Spielberg"], "resp": ""}'
    )
    _replace_line(copy / "ievalm" / "opendialkg" / "test_data_processed.jsonl", 2, row)
    found = open_corpus("opendialkg", copy).scenarios()
    kept = next(scenario for scenario in found.scenarios if scenario.record == "4_1")
    assert [target.name for target in kept.targets] == ["Inception"]
    assert len(found.scenarios) + len(found.unresolved) == 1188
    assert found.partial == (
        Unresolved(
            "4_1",
            "target 'No Such Film' is not an entity in entity2id.json; "
            "target 'Steven Spielberg' is an entity but not an item in item_ids.json",
        ),
    )


def test_a_missing_file_is_named(copy: Path) -> None:
    (copy / "ievalm" / "opendialkg" / "kg.json").unlink()
    corpus = open_corpus("opendialkg", copy)
    with pytest.raises(DataError, match=r"kg\.json: cannot be read"):
        _ = corpus.graph


def test_a_split_whose_file_is_missing_names_the_file(tmp_path: Path) -> None:
    (tmp_path / "ievalm" / "redial").mkdir(parents=True)
    with pytest.raises(DataError, match=r"no split 'test' .*redial/test_data_processed\.jsonl\)"):
        open_corpus("redial", tmp_path).scenarios("test")
