"""Models that think: where their thoughts stand, and how they go wrong."""

from tests.habits.habit import ALL, RATERS, SPEAKERS, habit
from tests.habits.meaning import THOUGHT, Meaning, message, said, sent
from tests.scripted_server import Answer, completion


@habit("reasoning", "read")
def think_tags(meant: Meaning) -> Answer:
    """`<think>...</think>` before the answer"""
    return said(f"<think>\n{THOUGHT}\n</think>\n\n{meant.answer()}")


@habit("reasoning", "read")
def closing_tag_alone(meant: Meaning) -> Answer:
    """thoughts that only end with `</think>`"""
    return said(f"{THOUGHT}\n</think>\n\n{meant.answer()}")


@habit("reasoning", "read")
def closing_tag_within_a_line(meant: Meaning) -> Answer:
    """`thoughts</think>answer` in one line"""
    return said(f"{THOUGHT}</think>{meant.answer()}")


@habit("reasoning", "read")
def channels(meant: Meaning) -> Answer:
    """gpt-oss channels: analysis, then final"""
    return said(
        f"<|channel|>analysis<|message|>{THOUGHT}<|end|>"
        f"<|start|>assistant<|channel|>final<|message|>{meant.answer()}<|return|>"
    )


@habit("reasoning", "read")
def channels_without_marks(meant: Meaning) -> Answer:
    """gpt-oss channels with their marks removed: `analysis...assistantfinal...`"""
    return said(f"analysis{THOUGHT}assistantfinal{meant.answer()}")


@habit("reasoning", "read")
def channels_with_comments(meant: Meaning) -> Answer:
    """three channels: analysis, commentary, final"""
    return said(
        f"<|channel|>analysis<|message|>{THOUGHT}<|end|>"
        f"<|start|>assistant<|channel|>commentary<|message|>I look at Alien (1979).<|end|>"
        f"<|start|>assistant<|channel|>final<|message|>{meant.answer()}"
    )


@habit("reasoning", "read")
def reasoning_content(meant: Meaning) -> Answer:
    """the field `reasoning_content`"""
    return message(content=meant.answer(), reasoning_content=THOUGHT)


@habit("reasoning", "read")
def reasoning_field(meant: Meaning) -> Answer:
    """the fields `reasoning` and `reasoning_details`"""
    details = [{"type": "reasoning.text", "text": THOUGHT}]
    return message(content=meant.answer(), reasoning=THOUGHT, reasoning_details=details)


@habit("reasoning", "read")
def typed_parts(meant: Meaning) -> Answer:
    """a list of parts, one of thoughts and one of text"""
    thought = {"type": "thinking", "thinking": [{"type": "text", "text": THOUGHT}]}
    return message(content=[thought, {"type": "text", "text": meant.answer()}])


@habit("reasoning", "read")
def bracket_tokens(meant: Meaning) -> Answer:
    """`[THINK]...[/THINK]`"""
    return said(f"[THINK]{THOUGHT}[/THINK]{meant.answer()}")


@habit("reasoning", "read")
def empty_think_tags(meant: Meaning) -> Answer:
    """`<think></think>` with nothing in it"""
    return said(f"<think>\n\n</think>\n\n{meant.answer()}")


@habit("reasoning", "read")
def thoughts_in_two_blocks(meant: Meaning) -> Answer:
    """two blocks of thoughts, one after the other"""
    return said(f"<think>{THOUGHT}</think>\n<think>Once more.</think>\n{meant.answer()}")


@habit("reasoning", "read")
def thoughts_in_two_blocks_of_one_line(meant: Meaning) -> Answer:
    """two blocks of thoughts, and nothing between them and the answer"""
    return said(f"<think>Once.</think><think>{THOUGHT}</think>{meant.answer()}")


@habit("reasoning", "read")
def answer_tags(meant: Meaning) -> Answer:
    """`<think>...</think><answer>...</answer>`"""
    return said(f"<think>{THOUGHT}</think>\n<answer>\n{meant.answer()}\n</answer>")


@habit("reasoning", "read", on=RATERS)
def answer_rehearsed_in_thoughts(meant: Meaning) -> Answer:
    """another answer, with the code, within the thoughts"""
    rehearsed = meant.answer(meant.wrong)
    return said(f"<think>\nPerhaps {rehearsed}\nNo.\n</think>\n\n{meant.answer()}")


@habit("reasoning", "unscored", on=RATERS)
def answer_rehearsed_in_a_second_block(meant: Meaning) -> Answer:
    """another answer, with the code, in a second block, and none after it"""
    return said(f"<think>Hm.</think><think>Perhaps {meant.answer(meant.wrong)}?</think>As I said.")


@habit("reasoning", "unscored", on=RATERS)
def answer_rehearsed_after_a_quoted_closing_tag(meant: Meaning) -> Answer:
    """`</think>` quoted in the thoughts, then another answer, with the code"""
    rehearsed = meant.answer(meant.wrong)
    return said(f"<think>It says </think> here. Perhaps {rehearsed}?</think>So my answer: high.")


@habit("reasoning", "failed", on=SPEAKERS)
def closing_tag_quoted_in_thoughts(meant: Meaning) -> Answer:
    """`</think>` quoted in the thoughts, without quotation marks"""
    return said(f"<think>They write </think> here. {THOUGHT}</think>{meant.answer()}")


@habit("reasoning", "read", on=RATERS)
def answer_rehearsed_in_a_field(meant: Meaning) -> Answer:
    """another answer, with the code, in `reasoning_content`"""
    return message(content=meant.answer(), reasoning_content=meant.answer(meant.wrong))


@habit("reasoning", "read", on=RATERS)
def answer_rehearsed_before_a_closing_tag(meant: Meaning) -> Answer:
    """another answer, with the code, before a lone `</think>`"""
    return said(f"Perhaps {meant.answer(meant.wrong)}\nNo.\n</think>\n\n{meant.answer()}")


@habit("reasoning", "read", on=RATERS)
def answer_rehearsed_in_a_channel(meant: Meaning) -> Answer:
    """another answer, with the code, in the analysis channel"""
    return said(
        f"<|channel|>analysis<|message|>Perhaps {meant.answer(meant.wrong)}<|end|>"
        f"<|start|>assistant<|channel|>final<|message|>{meant.answer()}"
    )


@habit("reasoning", "unscored", on=RATERS)
def endless_thoughts_of_a_rater(meant: Meaning) -> Answer:
    """thoughts that never end, with an answer within"""
    return said(f"<think>\n{THOUGHT} {meant.answer(meant.wrong)} But wait.")


@habit("reasoning", "failed", on=SPEAKERS)
def endless_thoughts_in_the_conversation(meant: Meaning) -> Answer:
    """thoughts that never end"""
    return said(f"<think>\n{THOUGHT} But wait.")


@habit("reasoning", "unscored", on=RATERS)
def thoughts_use_up_the_tokens_of_a_rater(meant: Meaning) -> Answer:
    """an empty text with `finish_reason: length`, and thoughts in their field"""
    return message(content="", reasoning_content=meant.answer(meant.wrong), finish_reason="length")


@habit("reasoning", "failed", on=SPEAKERS)
def thoughts_use_up_the_tokens_in_the_conversation(meant: Meaning) -> Answer:
    """an empty text with `finish_reason: length`, and thoughts in their field"""
    return message(content=None, reasoning_content=THOUGHT, finish_reason="length")


@habit("reasoning", "unscored", on=RATERS)
def everything_in_the_field_of_thoughts(meant: Meaning) -> Answer:
    """no text, and the answer at the end of `reasoning_content`"""
    return message(content=None, reasoning_content=f"{THOUGHT}\n{meant.answer()}")


@habit("reasoning", "read", on=ALL)
def thoughts_counted_apart(meant: Meaning) -> Answer:
    """`reasoning_tokens` in the usage, the thoughts themselves hidden"""
    body = completion(meant.answer(), completion_tokens=900)
    usage = body["usage"]
    assert isinstance(usage, dict)
    usage["completion_tokens_details"] = {"reasoning_tokens": 895}
    return sent(body)
