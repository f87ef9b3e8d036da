"""How users take what a system said: which phrases take, which turn down, and what they sum to."""

import time

import pytest

from recjury.debate.reception import Reception, reception_of
from recjury.records import ConversationLog, Ending, Scenario, Speaker, Turn

TAKEN = [
    "I can't wait to check it out",
    "I'm in!",
    "I don't mind subtitles, it sounds good",
    "I'll check it out!",
    "Ok, I will have to look into it.",
    "oh that reminds me, we'll definitely watch those",
    "I’m going to give it a try.",
    "That sounds really good.",
    "Sounds like a great movie",
    "Those are good suggestions",
    "I'd love to see that",
    "added to my watch list",
    "Perfect!",
    "No, I haven't seen it. I might have to watch that one.",
    "that's a great idea",
]
TURNED_DOWN = [
    "I will not watch that",
    "I will never watch this garbage",
    "I'll look elsewhere",
    "That's not a good suggestion",
    "No. That is not a good idea.",
    "Not perfect",
    "That's not exactly what I wanted",
    "Let's try something else",
    "I should find another bot",
    "I hate it. I must find something else.",
    "It doesn't sound like a good choice.",
    "I will give up",
    "That's not what I asked for.",
    "I don't really like horror.",
    "anything else?",
    "I've already seen it.",
    "what??",
    "never mind",
    "No thanks.",
    "hello?",
    "You already said that.",
    "that is not a movie",
]
NEITHER = [
    "I can't say that sounds good",
    "I should start over",
    "I'm in the mood for a comedy.",
    "I'm in Germany",
    "I like comedies.",
    "Have any good suggestions?",
    "I want to watch a funny movie.",
    "Can you recommend a good movie?",
    "hi",
    "No, I haven't seen that one.",
    'We saw "10 Things I Hate About You (1999)" last week.',
]


def after(*replies: str) -> ConversationLog:
    """A conversation without targets whose user says these after the system's turns."""
    turns = [Turn(speaker=Speaker.USER, text="Thanks, I'll watch anything good, not horror")]
    for reply in replies:
        turns += [
            Turn(speaker=Speaker.SYSTEM, text="How about Heat?"),
            Turn(speaker=Speaker.USER, text=reply),
        ]
    scenario = Scenario(corpus="people", record="1")
    return ConversationLog(
        system="anyone", scenario=scenario, interaction=tuple(turns), ending=Ending.RECORDED
    )


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        *((text, (1, 0)) for text in TAKEN),
        *((text, (0, 1)) for text in TURNED_DOWN),
        *((text, (0, 0)) for text in NEITHER),
    ],
)
def test_what_a_reply_says(reply: str, expected: tuple[int, int]) -> None:
    found = reception_of(after(reply, "ok"))
    assert found is not None
    assert (found.taken, found.turned_down) == expected


def test_what_stands_before_the_systems_first_turn_is_no_reply() -> None:
    assert reception_of(after()) is None
    assert reception_of(after("ok")) == Reception(0, False, 0)


def test_another_language_tells_nothing() -> None:
    assert reception_of(after("Ich suche eigentlich etwas ganz anderes heute Abend")) is None
    assert reception_of(after("No me gusta nada esa película, quiero otra cosa")) is None
    for nothing in ("今晚想看一部喜剧片", "😍👍", "", "  "):
        assert reception_of(after(nothing, "...")) is None


def test_thanks_count_once_and_only_at_the_end() -> None:
    replies = (
        ("hm", "thanks", "thank you, bye"),
        ("thank you", "hm", "bye"),
        ("Fine, thanks",),
        ("Thanks for nothing",),
    )
    found = [reception_of(after(*each)) for each in replies]
    assert [each is not None and each.thanked for each in found] == [True, False, False, False]


@pytest.mark.parametrize(
    ("found", "served"),
    [
        (Reception(0, False, 0), 0.5),
        (Reception(1, False, 0), 0.75),
        (Reception(1, True, 0), 1),
        (Reception(5, True, 0), 1),
        (Reception(1, True, 2), 0.5),
        (Reception(0, False, 1), 0.25),
        (Reception(0, False, 9), 0),
    ],
)
def test_two_signs_more_of_a_kind_decide(found: Reception, served: float) -> None:
    assert found.served == served


@pytest.mark.parametrize(
    "text",
    [
        "i'll " * 60_000,
        "check " + "a " * 100_000,
        '"' * 200_000,
        "sounds " + "very " * 60_000,
        "a" * 300_000,
        "any good " * 40_000,
        "a " * 100_000,
        "not a good " * 40_000,
    ],
)
def test_a_hostile_reply_is_read_at_once(text: str) -> None:
    started = time.process_time()
    reception_of(after(text))
    assert time.process_time() - started < 1
