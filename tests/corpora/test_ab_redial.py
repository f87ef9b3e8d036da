"""AB-ReDial as it is: its traps, its labels, and what must not be split apart."""

import csv
from collections import Counter
from pathlib import Path

import pytest

from recjury.corpora.ab_redial import SCALES, AbRedial, dialogue_log, read_ab_redial, turn_log
from recjury.corpora.splitting import families, split
from recjury.errors import DataError
from recjury.records import Speaker

DIALOGUE = (
    "understanding",
    "task-completion",
    "interest-arousal",
    "efficiency",
    "dialogue-overall",
)


@pytest.fixture(scope="session")
def real(data_folder: Path) -> AbRedial:
    return read_ab_redial(data_folder / "ab-redial")


def test_two_hundred_dialogues_under_195_names(real: AbRedial) -> None:
    assert len({dialogue.id for dialogue in real.dialogues}) == 200
    twice = sorted(d.id for d in real.dialogues if "." in d.id)
    assert twice == [f"{name}.{n}" for name in ("AT", "BO", "F1", "G0", "J7") for n in (1, 2)]
    assert sum(len(d.ratings["efficiency"]) for d in real.dialogues) == 636


def test_six_hundred_turns_each_of_a_dialogue(real: AbRedial) -> None:
    assert len({turn.id for turn in real.turns}) == 600
    assert Counter(turn.dialogue for turn in real.turns) == {d.id: 3 for d in real.dialogues}
    assert Counter(len(t.ratings["relevance"]) for t in real.turns) == {3: 480, 4: 120}
    assert sum(len(t.ratings["turn_overall"]) for t in real.turns) == 1919
    assert {turn.turn.speaker for turn in real.turns} == {Speaker.SYSTEM}
    assert [turn.id for turn in real.turns if not turn.certain] == ["1B#1", "1B#2", "1B#3"]


def test_turns_are_found_in_their_own_dialogue(real: AbRedial) -> None:
    texts = {d.id: {turn.text for turn in d.turns} for d in real.dialogues}
    lost = [turn.id for turn in real.turns if turn.turn.text not in texts[turn.dialogue]]
    assert len(lost) <= 12, "ten dialogues differ from their turns in one utterance, one in two"


def test_untagged_and_joined_cells_have_their_speakers(real: AbRedial) -> None:
    named = {d.id: d for d in real.dialogues}
    first = [turn.text for turn in named["1B"].turns[:2]]
    assert first == ["Hello", "What kinds of movies are you looking for today?"]
    assert named["G3"].turns[0].speaker is Speaker.USER
    assert named["G3"].turns[0].text.startswith("Hi, I love movies")
    assert not any(
        turn.text.startswith(("SYSTEM", "USER")) for d in real.dialogues for turn in d.turns
    )


def test_ratings_span_their_scales(real: AbRedial) -> None:
    found: dict[str, set[int]] = {}
    rated = [*(d.ratings for d in real.dialogues), *(t.ratings for t in real.turns)]
    for of_aspects in rated:
        for aspect, ratings in of_aspects.items():
            found.setdefault(aspect, set()).update(ratings)
    assert {aspect: (min(r), max(r)) for aspect, r in found.items()} == SCALES


def test_logs_end_with_what_was_shown(real: AbRedial) -> None:
    rated = real.turns[0]
    log = turn_log(rated)
    assert log.scenario.history == rated.context
    assert log.interaction == (rated.turn, rated.reply)
    assert dialogue_log(real.dialogues[0]).system_turns[0].text == "Hi. How are you today?"
    assert len({dialogue_log(dialogue).id for dialogue in real.dialogues}) == 200


def test_repeated_conversations_stay_on_one_side(real: AbRedial) -> None:
    kin = families({d.id: [turn.text for turn in d.turns] for d in real.dialogues})
    assert kin["R6"] == kin["H2"] == kin["FZ"]
    assert kin["KM"] == kin["6C"] != kin["LD"]
    for seed in range(20):
        parts = split(kin, seed=seed)
        assert not {kin[name] for name in parts.train} & {kin[name] for name in parts.validation}
        assert len(parts.train) + len(parts.validation) == 200
        assert 118 <= len(parts.train) <= 122
    assert split(kin, seed=1) != split(kin, seed=2)


def _write(folder: Path, *, turn_cell: str = "SYSTEM\tTry Heat.", relevance: str = "4") -> None:
    shown = ["SYSTEM\tHello", "USER\tA thriller?", turn_cell, "USER Thanks"]
    with (folder / "annotated_dialogues.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["ConvId", *(f"utterance{i}" for i in range(4)), *DIALOGUE])
        writer.writerow(["A", *shown, "3.0", "", "0.0", "1.0", "5.0"])
    groups = [cell for n in (1, 2, 3) for cell in (*shown, relevance, "3", "5.0")]
    names = [
        name
        for n in (1, 2, 3)
        for name in (
            *(f"utterance{4 * (n - 1) + i}" for i in range(4)),
            f"relevance{n}", f"interestingness{n}", f"overall{n}",
        )
    ]  # fmt: skip
    with (folder / "annotated_turns.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["ConvId", *names], ["A", *groups]])


def test_a_missing_rating_is_no_rating(tmp_path: Path) -> None:
    _write(tmp_path)
    (dialogue,) = read_ab_redial(tmp_path).dialogues
    assert dialogue.ratings["task_completion"] == ()
    assert dialogue.ratings["interest_arousal"] == (0,)
    assert dialogue.turns[-1].text == "Thanks"


@pytest.mark.parametrize(
    ("turn_cell", "relevance", "said"),
    [
        ("Try Heat.", "4", "annotated_dialogues.csv:2: expected SYSTEM or USER"),
        ("SYSTEM\tTry Heat.", "5", "relevance1: expected 0 to 4 or nothing, got '5'"),
        ("SYSTEM\tTry Heat.", "3.5", "got '3.5'"),
    ],
)
def test_what_is_not_as_described_is_named(
    tmp_path: Path, turn_cell: str, relevance: str, said: str
) -> None:
    _write(tmp_path, turn_cell=turn_cell, relevance=relevance)
    with pytest.raises(DataError, match=r"annotated_\w+\.csv") as caught:
        read_ab_redial(tmp_path)
    assert said in str(caught.value)


def test_a_missing_column_or_file_is_named(tmp_path: Path) -> None:
    _write(tmp_path)
    turns = tmp_path / "annotated_turns.csv"
    turns.write_text(turns.read_text().replace("overall3", "other"))
    with pytest.raises(DataError, match="no column 'overall3'"):
        read_ab_redial(tmp_path)
    turns.unlink()
    with pytest.raises(DataError, match=r"annotated_turns\.csv: cannot be read"):
        read_ab_redial(tmp_path)


def test_families_through_a_third_dialogue_and_short_dialogues() -> None:
    a, b, c = (f"this is utterance number {n} of one dialogue" for n in "abc")
    x, y, z = (f"and here is another sentence, {n}, of it" for n in "xyz")
    kin = families({"1": [a, b, c], "2": [a, b, c, x, y, z], "3": [x, y, z.upper()], "4": [a, x],
                    "5": ["Hello!"], "6": ["Hello!"]})  # fmt: skip
    assert kin == {"1": "1", "2": "1", "3": "1", "4": "1", "5": "5", "6": "6"}
