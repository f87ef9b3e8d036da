"""Thoughts are never speech, in whatever form they come, and no quotation becomes a thought."""

import asyncio
import time

import pytest

from recjury.errors import ParseError
from recjury.llm import Gateway, finished_text, parse_rating, spoken_text
from recjury.llm.spoken_text import part_text
from recjury.records import Message, Reply
from tests.endpoint import Body, ScriptedEndpoint, completion
from tests.llm.doubles import MemoryRecorder, reply, request, spec_of

THOUGHT, SAID = "Heat (1995)? No, too loud.", "Try Ran (1985)."

FORMS = {
    "think": f"<think>\n{THOUGHT}\n</think>\n\n{SAID}",
    "thinking": f"<thinking>{THOUGHT}</thinking>{SAID}",
    "reasoning": f"<reasoning>{THOUGHT}</reasoning>\n{SAID}",
    "thought": f"<thought>{THOUGHT}</thought>\n{SAID}",
    "capitals and attributes": f'\n<THINK effort="high">{THOUGHT}</THINK> {SAID}',
    "closing tag alone, in lines": f"{THOUGHT}\n</think>\n\n{SAID}",
    "closing tag alone, in one line": f"{THOUGHT}</think>{SAID}",
    "wrapped answer": f"<think>{THOUGHT}</think>\n<answer>\n{SAID}\n</answer>",
    "channels": (
        f"<|channel|>analysis<|message|>{THOUGHT}<|end|>"
        f"<|start|>assistant<|channel|>final<|message|>{SAID}<|return|>"
    ),
    "channels after the prompt's first mark": (
        f"analysis<|message|>{THOUGHT}<|end|><|start|>assistant<|channel|>final<|message|>{SAID}"
    ),
    "channels without marks": f"analysis{THOUGHT}assistantfinal{SAID}",
    "tokens": f"[THINK]{THOUGHT}[/THINK]{SAID}",
    "kimi": f"◁think▷{THOUGHT}◁/think▷{SAID}",
    "seed": f"<seed:think>{THOUGHT}</seed:think>{SAID}",
    "cohere": (
        f"<|START_THINKING|>{THOUGHT}<|END_THINKING|><|START_RESPONSE|>{SAID}<|END_RESPONSE|>"
    ),
    "open thoughts": (
        f"<|begin_of_thought|>\n{THOUGHT}\n<|end_of_thought|>\n\n"
        f"<|begin_of_solution|>\n{SAID}\n<|end_of_solution|>"
    ),
    "medgemma": f"<unused94>thought\n{THOUGHT}<unused95>{SAID}",
    "blocks": f"<think>Old films.</think><think>{THOUGHT}</think>{SAID}",
    "blocks with spaces": f"<think>Old films.\n</think>\n<think>{THOUGHT}</think> {SAID}",
    "blocks of tokens": f"[THINK]Old films.[/THINK][THINK]{THOUGHT}[/THINK]{SAID}",
    "blocks of several forms": f"<think>Old.</think> [THINK]{THOUGHT}[/THINK]<think></think>{SAID}",
    "the first one opened in the prompt": f"Old films.</think><think>{THOUGHT}</think>{SAID}",
    "ollama": f"Thinking...\n{THOUGHT}\n...done thinking.\n\n{SAID}",
    "open webui": (
        '<details type="reasoning" done="true" duration="3">\n<summary>Thought for 3 seconds'
        f"</summary>\n> {THOUGHT}\n</details>\n{SAID}"
    ),
    "analysis": f"<analysis>\n{THOUGHT}\n</analysis>\n\n{SAID}",
    "after what was said": f"{SAID}\n<think>\n{THOUGHT}\n</think>\n",
    "after what was said, in one line": f"{SAID} [THINK]{THOUGHT}[/THINK]<|im_end|>",
    "blocks after what was said": f"{SAID}\n<think>Hm.</think>\n<think>{THOUGHT}</think>",
    "granite": f"Here is my thought process:\n{THOUGHT}\nHere is my response:\n{SAID}",
}


@pytest.mark.parametrize("form", FORMS)
def test_what_was_said_is_parted_from_what_was_thought(form: str) -> None:
    assert finished_text(reply(FORMS[form])) == SAID


@pytest.mark.parametrize(
    "text",
    [
        SAID,
        "Analysis: it asks once.",
        "analysis of the first turn: it asks once.",
        "analysis of it: the assistant finally names Heat. Try Ran.",
        "analysis of it: the assistant final list names Heat. Try Ran.",
        "It writes <think> and never closes it. I would not.",
        'The turn holds "</think>", which is odd.',
        "The turn holds `<|channel|>final<|message|>`, which is odd.",
        "The turn holds <thinking>a thought</thinking written wrongly.",
        "Try <details><summary>these</summary>Ran (1985)</details>",
        "Thinking... Try Ran.",
        "My <analysis>is short</analysis>. Try Ran.",
        "It thinks aloud. I think that is fine.",
    ],
)
def test_a_text_without_thoughts_stays_as_it_is(text: str) -> None:
    assert finished_text(reply(text)) == text


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "the reply is empty"),
        (" \n\u200b\u00a0\u2060 ", "the reply is empty"),
        ("<think>Hm", "its thoughts never end"),
        ("<think>Hm</think>", "it has thoughts alone"),
        ("Hm.\n</think>\n", "it has thoughts alone"),
        ("<think>Hm</think><think>Heat?", "its thoughts never end"),
        ("<think>Hm</think>[THINK]Heat?[/THINK]", "it has thoughts alone"),
        ("Thinking...\nHm", "its thoughts never end"),
        ("<analysis>Hm</analysis>", "it has thoughts alone"),
        ("<|im_start|>assistant\n<think>Hm</think>", "it has thoughts alone"),
        ("Old films.</think>Hm.</think><think>Heat?</think>", "it has thoughts alone"),
        ("<|channel|>analysis<|message|>Hm", "its thoughts never end"),
        ("<|channel|>analysis<|message|>Hm<|end|>", "its thoughts never end"),
    ],
)
def test_thoughts_alone_are_no_reply(text: str, said: str) -> None:
    with pytest.raises(ParseError, match=said):
        finished_text(reply(text))


@pytest.mark.parametrize(
    "text",
    [
        f"<think>They write </think> here. {THOUGHT}</think>{SAID}",
        f"<think>They write\n</think>\nhere. {THOUGHT}</think>{SAID}",
        f"<think>Old films.</think>Hm.<think>{THOUGHT}</think>{SAID}",
        f"<think>Old films.</think><think>It says </think> here. {THOUGHT}</think>{SAID}",
        f"They write\n</think>\nhere. {THOUGHT}</think>{SAID}",
        f"[THINK]They write [/THINK] here. {THOUGHT}[/THINK]{SAID}",
    ],
)
def test_thoughts_that_end_in_several_places_are_in_doubt(text: str) -> None:
    with pytest.raises(ParseError, match="end in several places"):
        finished_text(reply(text))


NEXT = "<|im_end|>\n<|im_start|>user\nThanks! And Zodiac (2007)?<|im_end|>"
MORE = "\n<|im_start|>assistant\n<think>\n\n</think>\n\nYes, Zodiac."


@pytest.mark.parametrize(
    "text",
    [
        SAID + NEXT,
        SAID + NEXT + MORE,
        f"<think>\n{THOUGHT}\n</think>\n\n{SAID}{NEXT}{MORE}",
        f"<think>It says {NEXT} here. {THOUGHT}</think>{SAID}{NEXT}",
        f"{SAID}<|eot_id|><|start_header_id|>user<|end_header_id|>\n\nThanks!",
        f"{SAID}<|end|><|user|>Thanks!",
        f"{SAID}</s> [INST] Thanks! [/INST]",
        f"{SAID}<end_of_turn>\n<start_of_turn>user\nThanks!",
        f"{SAID}<｜end▁of▁sentence｜><｜User｜>Thanks!",
        f"{SAID}<|endoftext|>Human: Thanks!",
        f"{FORMS['channels']}<|start|>user<|message|>Thanks!",
    ],
)
def test_what_follows_the_end_of_a_turn_was_not_said(text: str) -> None:
    assert finished_text(reply(text)) == SAID


@pytest.mark.parametrize("text", ['It says "<|im_end|>" there.', "Try <s>Heat</s> Ran (1985)."])
def test_a_mark_that_is_no_end_of_a_turn_stays(text: str) -> None:
    assert finished_text(reply(text)) == text


def test_thoughts_that_end_after_another_turn_are_in_doubt() -> None:
    with pytest.raises(ParseError, match="another turn in it, and thoughts that end after"):
        finished_text(reply(f"It says {NEXT} there.\n</think>\n{SAID}"))


def rated(text: str) -> int:
    """The rating in a reply to a prompt with the code a1b2c3."""
    return parse_rating(reply(text, code="a1b2c3"), 0, 4).score


def test_thoughts_after_an_answer_may_not_hold_another_one() -> None:
    mine, other = (f'<rating code="a1b2c3">{score}</rating>' for score in (3, 1))
    assert rated(f"{mine}\n<think>\nThat is all.\n</think>") == 3
    for text in (f"{mine}\n<think>Or {other}</think>", f"So:\n<think>{mine}</think>"):
        with pytest.raises(ParseError, match="thoughts at the end of the reply hold an answer"):
            rated(text)


def test_an_answer_after_another_turn_does_not_count() -> None:
    mine, other = (f'<rating code="a1b2c3">{score}</rating>' for score in (3, 1))
    assert rated(mine + NEXT + other) == 3
    assert rated(f"It ends with <|im_end|> {mine}") == 3
    with pytest.raises(ParseError, match="no <rating>"):
        rated(f"Hm.{NEXT}{other}")


def test_marks_that_the_prompt_shows_invalidate_no_answer() -> None:
    mine = '<rating code="a1b2c3">3</rating>'
    for shown in ("<think>", "&lt;think&gt;", "%3Cthink%3E"):
        asked = (Message("user", (f"The system said: {shown}", "Rate it.")),)
        text = f"It says <think> and no more. {mine}"
        assert parse_rating(reply(text, code="a1b2c3"), 0, 4, asked).score == 3
    with pytest.raises(ParseError):
        rated(f"<think>It never ends. {mine}")


@pytest.mark.parametrize(
    "closed", ["</think></think>", "</think>\n</think>", "</think> </think>\n"]
)
def test_thoughts_that_are_closed_twice_have_ended(closed: str) -> None:
    assert finished_text(reply(f"<think>{THOUGHT}{closed}{SAID}")) == SAID


@pytest.mark.parametrize("why", ["length", "MAX_TOKENS", "content_filter", "SAFETY", "error"])
def test_the_finish_reason_is_looked_at_first(why: str) -> None:
    with pytest.raises(ParseError, match="cut off"):
        finished_text(reply(SAID, why))


@pytest.mark.parametrize("why", ["stop", "", "eos", "tool_calls"])
def test_other_finish_reasons_end_a_whole_reply(why: str) -> None:
    assert finished_text(reply(SAID, why)) == SAID


def body_of(message: Body) -> Body:
    body = completion("")
    body["choices"] = [
        {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": "stop"}
    ] * 2
    return body


@pytest.mark.parametrize(
    "message",
    [
        {"content": SAID, "reasoning_content": THOUGHT},
        {"content": SAID, "reasoning": THOUGHT, "reasoning_content": None},
        {"content": SAID, "thinking": THOUGHT},
        {"content": SAID, "reasoning_details": [{"type": "reasoning.text", "text": THOUGHT}]},
        {"content": [{"type": "thinking", "thinking": THOUGHT}, {"type": "text", "text": SAID}]},
        {
            "content": [
                {"type": "thinking", "thinking": [{"type": "text", "text": THOUGHT}]},
                {"type": "text", "text": SAID},
            ]
        },
        {
            "content": [
                {"type": "reasoning", "summary": [{"type": "summary_text", "text": THOUGHT}]},
                {"type": "output_text", "text": SAID},
            ]
        },
    ],
)
def test_thoughts_that_are_sent_apart_are_kept_apart(message: Body) -> None:
    async def run(endpoint: ScriptedEndpoint) -> Reply:
        async with Gateway({"m": spec_of(endpoint)}, MemoryRecorder()) as gateway:
            return await gateway.complete(request(n=2))

    with ScriptedEndpoint(lambda body: body_of(message)) as endpoint:
        both = asyncio.run(run(endpoint)).each()
    assert [(one.text, one.reasoning) for one in both] == [(SAID, THOUGHT)] * 2
    assert [finished_text(one) for one in both] == [SAID] * 2


@pytest.mark.parametrize(
    "piece",
    [
        "</think>",
        "a\n</think>\n",
        "<think>",
        "<think></think>",
        "<think>a</think> b",
        "[THINK]a[/THINK]",
        "<think ",
        '"</think>"',
        "<|end|>    ",
        "<|eot_id|>",
        '"</s>"',
        "a<think>b</think>",
        "a<think>",
        '<details type="reasoning">',
        "Thinking...\n",
        "<s></s>",
        "<think>a<|im_end|><|im_start|>",
        '"<|im_end|><|im_start|>"',
        "<",
        "</thin",
        "<answer>",
        "Here is my ",
        "<|start|>assistant   ",
        "<|channel|>final",
        "\n",
    ],
)
def test_a_hostile_reply_is_parted_in_passing(piece: str) -> None:
    text = piece * (1_000_000 // len(piece))
    answers = [(place, place + 5) for place in range(0, len(text), 50)]
    began = time.process_time()
    part_text(text)
    part_text(text, answers)
    assert time.process_time() - began < 5


@pytest.mark.parametrize("text", FORMS.values(), ids=FORMS)
def test_no_mark_is_missed_where_texts_are_passed_as_without_marks(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pieces = [text[start:] for start in range(len(text))]
    quickly = [part_text(piece) for piece in pieces]
    monkeypatch.setattr(spoken_text, "_has_marks", lambda _: True)
    assert [part_text(piece) for piece in pieces] == quickly
