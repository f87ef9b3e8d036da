"""The panel as a whole: twelve ratings whatever comes, in linear time."""

import asyncio

import pytest

from recjury.judges.measured import MEASURED, RUBRIC, MeasuredPanel
from recjury.judges.measured.annotated_log import AnnotatedTurn, annotate
from recjury.judges.measured.asks import ask_of, clarifies, describes, offers, reason_in
from recjury.judges.measured.claims import claims
from recjury.judges.measured.grammar import errors
from recjury.judges.measured.naturalness import unnatural
from recjury.judges.measured.text import TITLE, MaskedText
from recjury.knowledge import Catalogue, KnowledgeGraph, Triple
from recjury.records import JSON, Factor, Item, ItemRef, Status
from tests.growth import grows_linearly
from tests.judges.measured.logs import CATALOGUE, FILLERS, HEAT, PANEL, RARE, UNKNOWN, log

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
    "system opens": log("Hi!", "Hello", "Try Heat (1995).", system_opens=True),
}  # fmt: skip


@pytest.mark.parametrize("case", STRANGE, ids=str)
def test_any_log_gets_twelve_ratings(case: str) -> None:
    """In the order of the factors, each scored with a rationale or unscored with a reason."""
    ratings = asyncio.run(PANEL.rate(STRANGE[case])).ratings
    assert [rating.factor for rating in ratings] == [factor.value for factor in Factor]
    for rating in ratings:
        assert (rating.evaluator, rating.rubric) == (MEASURED, RUBRIC)
        assert bool(rating.rationale) == (rating.status is Status.SCORED)
        assert bool(rating.reason) == (rating.status is not Status.SCORED)


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
    assert len(panel.measure(log("Hi", text, items=hostile, targets=hostile[:1]))) == len(Factor)


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


def test_data_changes_with_what_is_looked_up_in_the_graph() -> None:
    """Only items without attributes are; what the graph says of others changes no score."""
    bare = HEAT.model_copy(update={"directors": (), "writers": (), "actors": (), "genres": ()})

    def data(item: Item, maker: str) -> JSON:
        graph = KnowledgeGraph(
            entities=(item.name, maker),
            relations=("director",),
            triples=[Triple(0, 0, 1)],
            item_ids={0: item.id},
            item_entities=(0,),
        )
        return dict(MeasuredPanel(Catalogue("test", (item,)), graph).data)

    assert data(bare, "Michael Mann") == data(bare, "Michael Mann")
    assert data(bare, "Michael Mann") != data(bare, "Ridley Scott")
    assert data(HEAT, "Michael Mann") == data(HEAT, "Ridley Scott")


BOMBS = [
    "a" * 5_000,
    "ab" * 3_000,
    "a " * 5_000,
    "a'" * 5_000,
    "(1999)" * 1_500,
    "A (1999) " * 1_500,
    '"A' * 3_000,
    "<a" * 3_000,
    "{{" * 3_000,
    "[" * 5_000,
    ", " * 3_000,
    ". " * 3_000,
    "? " * 3_000,
    "is a " * 2_000,
    "is a good " * 1_500,
    "directed by " * 3_000,
    "stars A B, " * 3_000,
    "tell me" + " x" * 5_000,
    "i like " * 5_000,
    "if you " * 5_000,
    "not really " * 1_500,
    "what is " * 1_500,
    "\ufffd" * 5_000,
    "😀" * 5_000,
    "\n" * 5_000,
    "Heat is a good film. " * 1_000,
    "Heat, " * 2_000,
    '"Heat" and "Cold" ' * 1_000,
]


@pytest.mark.parametrize("bomb", BOMBS, ids=lambda bomb: bomb[:8].encode("unicode_escape").decode())
@pytest.mark.slow
def test_reading_takes_linear_time(bomb: str) -> None:
    cues = (ask_of, clarifies, offers, describes, reason_in, unnatural, errors)

    def read(times: int) -> None:
        text = bomb * times
        for cue in cues:
            cue(MaskedText(text, ()))
        claims(AnnotatedTurn(1, True, False, annotate(text, CATALOGUE), None, ()))

    assert grows_linearly(read)


@pytest.mark.slow
def test_a_film_named_all_over_takes_linear_time() -> None:
    """Explainability looks for its people in the text: once, not each time it is named."""

    def measure(times: int) -> None:
        talk = log("Recommend a film", "Heat (1995), okay, " * 4_000 * times)
        assert PANEL.measure(talk)[list(Factor).index(Factor.EXPLAINABILITY)].score == 0

    assert grows_linearly(measure)


@pytest.mark.parametrize(
    "text", ["word " * 10_000, "It is a a film. " * 3_000, 'Try "Heat" now. ' * 3_000]
)
def test_a_turn_of_ten_thousand_words(text: str) -> None:
    talk = log("Tell me more about Heat (1995)", text, "Recommend another", text[:-5])
    assert len(PANEL.measure(talk)) == 12


def test_each_judge_tells_logs_apart() -> None:
    """No judge gives one score to everything, but the one that is unscored by decision."""
    logs = [
        log("Can you recommend a thriller?", "Try Heat (1995), because you like suspense. "
            "It was directed by Michael Mann. What else do you like?",
            items=(HEAT, *FILLERS[:3]), targets=(HEAT,)),
        log("Can you recommend a thriller?", "Try \"Nothing at All\". It is a a a a old.",
            "That is not what I asked for.", "It is a a a a old.",
            "Can you recommend a thriller?", "Heat (1995) was directed by Bob Dob.",
            items=RARE[:3], targets=(HEAT,)),
        log("Can you recommend a thriller?", "Hi!"),
    ]  # fmt: skip
    seen: dict[str, set[float | None]] = {factor.value: set() for factor in Factor}
    for conversation in logs:
        for rating in PANEL.measure(conversation):
            seen[rating.factor].add(rating.score)
    flat = {factor for factor, scores in seen.items() if len(scores - {None}) < 2}
    assert flat == {Factor.APPROPRIATENESS}
