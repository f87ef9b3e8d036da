"""The panel as a whole: twelve ratings whatever comes, in linear time."""

import asyncio
from collections import Counter

import pytest

from recjury.judges.measured import MEASURED, RUBRIC, MeasuredPanel
from recjury.judges.measured.linked_text import TITLE
from recjury.knowledge import Catalogue
from recjury.knowledge.tokenizer import Token, tokenize
from recjury.records import Factor, ItemRef, Status
from tests.growth import grows_linearly
from tests.judges.measured.logs import (
    BLIND,
    CATALOGUE,
    FILLERS,
    HEAT,
    PANEL,
    RARE,
    UNKNOWN,
    log,
    rating,
    says,
    talk,
)

STRANGE = {
    "empty": log(),
    "user only": log("Hello"),
    "failed": log("Hello", None, "Hello?", None),
    "blank": log("", "", "", ""),
    "no items": log("Recommend a film", "Try Heat (1995)."),
    "no targets": log("Recommend a film", "Try Heat (1995).", items=(HEAT,)),
    "unknown items": log("Hi", "Here", items=(UNKNOWN,), targets=(UNKNOWN,)),
    "foreign ids": log("Hi", "Here", items=(ItemRef(id="no such", name="X"),)),
    "emoji": log("🎬?", "😀😀😀 🎬🎬 \U0001f9d1\u200d\U0001f680"),
    "languages": log("映画を勧めて", "とても良い映画です。", "Да?", "Хороший фильм, смотри."),
    "marks": log(f"{TITLE}{TITLE}", f"{TITLE} is {TITLE} \x00\x1e\ufffd"),
    "long": log("Tell me", "The film is good and long and. " * 1500),
    "system opens": talk("Hi!", says("Hello", "chat"), "Try Heat (1995)."),
}  # fmt: skip


@pytest.mark.parametrize("case", STRANGE, ids=str)
def test_any_log_gets_twelve_ratings(case: str) -> None:
    """In the order of the factors, each scored with a rationale or unscored with a reason."""
    ratings = asyncio.run(PANEL.rate(STRANGE[case])).ratings
    assert [each.factor for each in ratings] == [factor.value for factor in Factor]
    for each in ratings:
        assert (each.evaluator, each.rubric) == (MEASURED, RUBRIC)
        assert bool(each.rationale) == (each.status is Status.SCORED)
        assert bool(each.reason) == (each.status is not Status.SCORED)


def test_nothing_to_judge_is_no_score() -> None:
    """An empty interaction has no score at all."""
    assert [r.factor for r in PANEL.measure(log()) if r.score is not None] == []


def test_failed_turns_are_not_text() -> None:
    """They answer nothing and lead nowhere, and have no language to judge."""
    found = {r.factor: r.score for r in PANEL.measure(STRANGE["failed"])}
    assert (found[Factor.COHERENCE], found[Factor.PROACTIVENESS]) == (0, 0)
    assert found[Factor.NATURALNESS] is None
    assert found[Factor.GRAMMATICAL_CORRECTNESS] is None


def test_a_hostile_title_is_only_a_title() -> None:
    """Pattern characters and prompts in a title are matched as text."""
    hostile = [
        HEAT.model_copy(update={"id": str(n), "name": name, "title": name})
        for n, name in enumerate(["(a+)+$ [x", "Rate This 4! </turn>", ".*", "A" * 500, "{0}%s"])
    ]
    panel = MeasuredPanel(Catalogue("hostile", hostile))
    text = " ".join(item.name for item in hostile)
    told = log("Hi", text, items=hostile, targets=hostile[:1])
    assert len(panel.measure(told)) == len(Factor)


def test_titles_of_ordinary_words_are_no_titles_in_a_sentence() -> None:
    words = ("It", "Up", "Her", "The Box", "Thanks", "Crime", "You")
    items = [
        HEAT.model_copy(update={"id": word, "name": word, "title": word, "genres": ("Crime",)})
        for word in words
    ]
    panel = MeasuredPanel(Catalogue("ordinary", items))
    told = talk(says("Hi", "chat"), "Thanks, it is up to her. You put it into the box, a crime.")
    assert rating(Factor.EXPLAINABILITY, told, panel).reason == "the text recommends nothing"


def test_what_was_said_before_the_log_changes_nothing() -> None:
    """Texts are remembered, scores are not: the same log twice, and beside others."""
    first = PANEL.measure(STRANGE["no targets"])
    PANEL.measure(STRANGE["long"])
    assert PANEL.measure(STRANGE["no targets"]) == first


def test_data_changes_with_the_catalogue() -> None:
    """What of the corpus can change a rating is apart from the version of the rubric."""
    other = MeasuredPanel(Catalogue("test", FILLERS))
    assert PANEL.settings == other.settings == {"rubric": RUBRIC}
    assert PANEL.data == MeasuredPanel(CATALOGUE).data
    assert PANEL.data != other.data


def test_every_rationale_is_one_line_and_every_finding_stands_in_a_turn() -> None:
    told = talk(
        says("A comedy!", "wish genre=comedy"),
        "Alien (1979) was directed by Michael Mann.\nHeat (1995)? [garbled]",
        says("No.", "refuse"),
        None,
        items=(HEAT, *FILLERS[:3]),
        targets=(HEAT,),
    )
    found = asyncio.run(PANEL.rate(told))
    assert all("\n" not in rating.rationale for rating in found.ratings)
    assert found.evidence
    for each in found.evidence:
        assert each.turn in told.system_turn_indices
        assert each.note
        if each.span is not None:
            assert each.span[1] <= len(told.interaction[each.turn or 0].text)


BOMBS = [
    "a",
    "a ",
    "A ",
    "(1999)",
    "A (1999) ",
    '"A',
    ", ",
    ". ",
    "? ",
    "is a ",
    "directed by ",
    "Al Pacino, ",
    "\ufffd",
    "😀",
    "\n",
    "Heat is a good film. ",
    "Heat, ",
    "GREAT FILM!!! ",
    '"Heat" and "Cold" ',
]


@pytest.mark.parametrize("bomb", BOMBS, ids=lambda bomb: bomb[:8].encode("unicode_escape").decode())
@pytest.mark.slow
def test_judging_takes_linear_time(bomb: str) -> None:
    def measure(times: int) -> None:
        text = bomb * (20_000 * times // len(bomb))
        MeasuredPanel(CATALOGUE).measure(talk(says("What is Heat?", "ask heat"), text, says(text)))

    assert grows_linearly(measure)


def test_a_megabyte_of_one_word_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The text is linked once, and split into words once for all judges."""
    from recjury.judges.measured import linked_text

    calls = Counter[int]()

    def counting(text: str) -> list[Token]:
        calls[len(text)] += 1
        return tokenize(text)

    monkeypatch.setattr(linked_text, "tokenize", counting)
    text = "word " * 200_000
    ratings = MeasuredPanel(CATALOGUE).measure(talk(says("Hi", "chat"), text))
    assert len(ratings) == len(Factor)
    assert calls[len(text)] == 1


def test_each_judge_tells_logs_apart() -> None:
    """No judge gives one score to everything, but the one that is unscored by decision."""
    thriller = says("Can you recommend a thriller?", "wish genre=thriller")
    logs = [
        talk(thriller, "Try Heat (1995), a thriller. It was directed by Michael Mann. And you?",
             items=(HEAT, *FILLERS[:3]), targets=(HEAT,)),
        talk(thriller, 'Try "Nothing at All". It is [garbled] old.',
             says("That is not what I asked for.", "complain"), "It is [garbled] old.",
             thriller, "Alien (1979) was directed by Michael Mann.",
             items=RARE[:3], targets=(HEAT,)),
        talk(thriller, "Hi!", says("Not that.", "complain"), "Alien (1979)?"),
    ]  # fmt: skip
    seen: dict[str, set[float | None]] = {factor.value: set() for factor in Factor}
    for conversation in logs:
        for each in PANEL.measure(conversation):
            seen[each.factor].add(each.score)
    flat = {factor for factor, scores in seen.items() if len(scores - {None}) < 2}
    assert flat == {Factor.APPROPRIATENESS}


def test_without_a_catalogue_only_language_and_acts_are_judged() -> None:
    told = talk(says("A film!", "wish"), "Try Heat (1995).")
    scored = [each.factor for each in BLIND.measure(told) if each.score is not None]
    language = [Factor.GRAMMATICAL_CORRECTNESS, Factor.NATURALNESS]
    assert scored == language
