"""What the rewriting model is shown, and what is read of its replies."""

from pathlib import Path

import pytest

from recjury.errors import ParseError
from recjury.papers.face.optimise.gradient import Case, Task, gradient_message, read_critique
from recjury.papers.face.optimise.rewrite import PACK, read_instruction
from recjury.prompts import load_pack
from recjury.records import Aspect, Reply

GOLDEN = Path(__file__).parent / "golden"
TASK = Task(Aspect.RELEVANCE, "Does it fit?\n0: no\n2: yes")
CASE = Case("Look at the particle.", "<particle>Try Heat (1995).</particle>", 0.4, 1.5)


@pytest.mark.parametrize("rewrite", [True, False])
def test_the_prompt_is_as_it_was_looked_over(rewrite: bool) -> None:
    text = gradient_message(load_pack(PACK), TASK, CASE, rewrite=rewrite).text
    golden = GOLDEN / f"{'both' if rewrite else 'critique'}.txt"
    assert text + "\n" == golden.read_text("utf-8")


def test_a_missing_score_is_said() -> None:
    shown = gradient_message(load_pack(PACK), TASK, CASE._replace(score=None), rewrite=True).text
    assert "gave no score that could be used" in shown
    assert "0.40" not in shown


def _reply(text: str, finish: str = "stop") -> Reply:
    return Reply("call", text, finish, "m")


def test_critique_and_instructions_stand_between_their_tags() -> None:
    reply = _reply("<critique> Too vague. </critique>\n<Instructions>\nStep 1: a?\n</Instructions>")
    assert read_critique(reply) == "Too vague."
    assert read_instruction(reply) == "Step 1: a?"


@pytest.mark.parametrize(
    ("text", "finish", "said"),
    [
        ("Step 1: a?", "stop", "got 0"),
        ("<instructions>a</instructions><instructions>b</instructions>", "stop", "got 2"),
        ("<instructions>  </instructions>", "stop", "nothing stands between"),
        ("<instructions>a</instructions>", "length", "cut off"),
        (f"<instructions>{'a' * 4001}</instructions>", "stop", "4001 characters"),
        ("<instructions>a", "stop", "got 0"),
    ],
)
def test_whatever_else_is_no_instruction(text: str, finish: str, said: str) -> None:
    with pytest.raises(ParseError, match=said):
        read_instruction(_reply(text, finish))
