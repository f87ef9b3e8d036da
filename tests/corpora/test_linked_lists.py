"""Lists made of the names in the system's texts, for logs that have no lists."""

import json
from pathlib import Path

import pytest

from recjury.corpora import open_corpus, read_recordings
from recjury.corpora.linked_lists import ItemLinker, with_linked_items
from recjury.errors import DataError
from recjury.records import ConversationLog, Ending, ItemRef, Scenario, Speaker, Turn

CATALOGUE = open_corpus("sample").catalogue
HEAT = CATALOGUE.ref("Heat (1995)")


def _log(*said: str, history: tuple[str, ...] = (), corpus: str = "sample/mine") -> ConversationLog:
    """A conversation in which user and system take turns, the user first."""
    return ConversationLog(
        system="mine",
        scenario=Scenario(
            corpus=corpus, record="d1", history=tuple(_turns(history)), targets=(HEAT,)
        ),
        interaction=tuple(_turns(said)),
        ending=Ending.RECORDED,
    )


def _turns(said: tuple[str, ...]) -> list[Turn]:
    speakers = (Speaker.USER, Speaker.SYSTEM)
    return [Turn(speaker=speakers[n % 2], text=text) for n, text in enumerate(said)]


def _lists(log: ConversationLog) -> list[list[str]]:
    return [[item.name for item in turn.items] for turn in log.system_turns]


def test_each_system_turn_gets_the_items_it_names_in_text_order() -> None:
    log = _log(
        "A crime film, please.",
        "Fargo (1996) or Heat (1995), perhaps. Or 'Quite Unknown (2031)'.",
        "Anything else?",
        "No.",
    )
    linked = with_linked_items(log, CATALOGUE)
    assert _lists(linked) == [["Fargo (1996)", "Heat (1995)"], []]
    assert linked.items_linked
    assert linked.hit_round == 1
    assert [turn.text for turn in linked.interaction] == [turn.text for turn in log.interaction]


def test_a_title_that_the_catalogue_does_not_have_is_kept_by_name() -> None:
    linked = with_linked_items(
        _log("Hi", 'You could try "Quite Unknown" or Heat (1995).'), CATALOGUE
    )
    assert linked.system_turns[0].items == (ItemRef(id=None, name="Quite Unknown"), HEAT)


def test_items_that_the_user_named_before_are_not_the_systems() -> None:
    log = _log(
        "I loved Fargo (1996).",
        "If you loved Fargo (1996), try Heat (1995).",
        "And Alien (1979)?",
        "Alien (1979) is good, and so is Heat (1995).",
        history=("I also liked Chinatown (1974).", "Chinatown (1974)! Then Duck Soup (1933)."),
    )
    assert _lists(with_linked_items(log, CATALOGUE)) == [["Heat (1995)"], ["Heat (1995)"]]
    again = _log("Hm.", "Chinatown (1974)? Duck Soup (1933)!", history=("Chinatown (1974)!", "?"))
    assert _lists(with_linked_items(again, CATALOGUE)) == [["Duck Soup (1933)"]]


def test_a_log_with_any_list_stays_as_it_is() -> None:
    log = _log("Hi", "Heat (1995).", "More?", "Fargo (1996).")
    first, second, *rest = log.interaction
    listed = second.model_copy(update={"items": (HEAT,)})
    with_list = log.model_copy(update={"interaction": (first, listed, *rest)})
    assert ItemLinker().link(with_list) is with_list


def test_the_mark_is_part_of_the_identity_and_only_where_it_is_set() -> None:
    log = _log("Hi", "Heat (1995).")
    assert "items_linked" not in log.model_dump(mode="json")
    linked = with_linked_items(log, CATALOGUE)
    assert linked.model_dump(mode="json")["items_linked"] is True
    unmarked = linked.model_copy(update={"items_linked": False})
    assert len({log.id, linked.id, unmarked.id}) == 3
    assert ConversationLog.model_validate_json(linked.model_dump_json()) == linked


def test_without_a_catalogue_there_is_one_line_that_says_what_to_add() -> None:
    with pytest.raises(DataError, match="'d1' names no catalogue") as lost:
        ItemLinker().link(_log("Hi", "Heat (1995).", corpus="logs/mine"))
    assert "\n" not in str(lost.value)


def test_files_are_read_with_linked_items_as_other_conversations(tmp_path: Path) -> None:
    said = [
        {"role": "user", "content": "A crime film?"},
        {"role": "assistant", "content": "Try Heat (1995)."},
    ]
    row = {"messages": said, "catalogue": "sample", "targets": ["Heat (1995)"]}
    file = tmp_path / "mine.jsonl"
    file.write_text(json.dumps(row), "utf-8")
    (plain,) = read_recordings([file])
    (linked,) = read_recordings([file], link_items=True)
    assert plain.identity == plain.log.id
    assert linked.identity == linked.log.id != plain.identity
    assert linked.log.session_list() == (HEAT,)
