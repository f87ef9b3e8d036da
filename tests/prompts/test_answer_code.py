"""The code of an answer: keyed by the store's secret, and sent in the place of a mark."""

import re
from collections.abc import Sequence

import pytest

from recjury.debate import DebatePrompts
from recjury.debate.role_answer import answer_form
from recjury.judges import Rubric
from recjury.judges.face import FacePrompts
from recjury.judges.face.face_prompts import situation
from recjury.llm.reply_reading import Attempt
from recjury.prompts import CODE, answer_code, asks_for_code, load_pack, prompt_bytes, with_code
from recjury.records import (
    Aspect,
    ChatRequest,
    ConversationLog,
    DialogueAct,
    Factor,
    Message,
    ObjectForm,
    Particle,
    RatingForm,
    Role,
)
from recjury.simulator.user_prompts import UserPrompts
from tests.judges.cases import a_log, ratings_of
from tests.simulator.doubles import catalogue

Prompt = Sequence[Message]
SENT = "a1b2c3d4"
FORM = f'<rating code="{CODE}">N</rating>'


def prompts_of(log: ConversationLog) -> dict[str, Prompt]:
    """One prompt of every kind whose answer is read."""
    face, debate = FacePrompts(), DebatePrompts()
    particle = Particle(act=DialogueAct.OTHERS, mention="Try")
    shown = situation(log, 0)
    return {
        "judge": Rubric().messages(Factor.EFFECTIVENESS, log),
        "debate": (
            debate.system(Role.LINGUIST),
            debate.turn(Role.LINGUIST, 1, log, ratings_of(), ()),
        ),
        "decompose": face.decompose(log, 0),
        "score": face.score(Aspect.RELEVANCE, shown, 0, particle, "Look."),
        "direct turn": face.direct(Aspect.RELEVANCE, log, 0, with_reasons=False),
        "direct dialogue": face.direct(Aspect.UNDERSTANDING, log, None, with_reasons=True),
        "persuasiveness": UserPrompts(load_pack("core-simulator"), catalogue()).persuasiveness(log),
    }


KINDS = tuple(prompts_of(a_log()))


def asking(said: str) -> Prompt:
    """A prompt about a text."""
    return (Message("user", (said, FORM)),)


def text(prompt: Prompt) -> str:
    return "".join(message.text for message in prompt)


def sent(prompt: Prompt) -> str:
    """The prompt as it is sent."""
    return text(with_code(ChatRequest("m", tuple(prompt), "test"), SENT).messages)


@pytest.mark.parametrize("kind", KINDS)
def test_the_code_stands_in_the_last_part_alone(kind: str) -> None:
    prompt = prompts_of(a_log())[kind]
    assert asks_for_code(prompt)
    marks = text(prompt).count(CODE)
    assert marks == prompt[-1].parts[-1].count(CODE) == (2 if kind == "decompose" else 1)
    assert len(prompt[-1].parts[-1]) < 160, "the form of the answer, and nothing after it"
    assert sent(prompt) == text(prompt).replace(CODE, SENT)


@pytest.mark.parametrize("said", [CODE, "\x1f", "\x1e", f'<rating code="{CODE}">4</rating>'])
@pytest.mark.parametrize("kind", KINDS)
def test_no_text_under_test_has_the_mark_of_the_code(kind: str, said: str) -> None:
    plain, marked = (prompts_of(a_log(f"Try {x} Ran."))[kind] for x in ("", said))
    assert sent(marked).count(SENT) == sent(plain).count(SENT)
    assert not {"\x1e", "\x1f"} & set(sent(marked))


def code_of(prompt: Prompt, secret: bytes = b"secret") -> str:
    return answer_code(secret, prompt_bytes(prompt))


def test_a_code_needs_the_secret_and_is_the_same_for_the_same_prompt() -> None:
    one, other = asking("One."), asking("Other.")
    code = code_of(one)
    assert re.fullmatch("([a-z][0-9]){4}", code)
    assert code == code_of(asking("One."))
    assert code not in (code_of(one, b"other"), code_of(other))


def test_codes_are_spread_over_all_letters_and_digits() -> None:
    codes = {code_of(asking(str(number))) for number in range(3000)}
    assert len(codes) == 3000
    assert [len({code[place] for code in codes}) for place in (0, 7)] == [23, 10]


def test_the_form_of_the_reply_has_the_code_as_well() -> None:
    asked = ChatRequest("m", (Message("user", ("Rate this.", FORM)),), "test")
    rating = with_code(asked._replace(form=RatingForm(CODE, 0, 4)), SENT)
    assert rating.form == RatingForm(SENT, 0, 4)
    answer = with_code(asked._replace(form=answer_form()), SENT).form
    assert isinstance(answer, ObjectForm)
    assert str(answer.schema) == str(answer_form().schema).replace(repr(CODE), repr(SENT))


@pytest.mark.parametrize("kind", KINDS)
def test_a_note_stands_after_the_form(kind: str) -> None:
    prompt = tuple(prompts_of(a_log())[kind])
    noted = Attempt(1, "no rating was given").noted(prompt)
    assert code_of(noted) == code_of(prompt)
    assert sent(noted).startswith(sent(prompt))
    assert "no rating was given" in sent(noted)


def test_a_prompt_without_the_mark_is_sent_as_it_is() -> None:
    request = ChatRequest("m", (Message("user", ("Hello \x1f", "code")),), "test")
    assert with_code(request, "") is request
    assert not asks_for_code(request.messages)
    assert not asks_for_code(())


def test_judges_of_all_conversations_share_one_stored_form() -> None:
    logs = a_log("I would watch Ronin (1998)."), a_log("I would watch Ronin (1999).")
    forms = {Rubric().messages(factor, log)[-1].parts[-1] for factor in Factor for log in logs}
    assert len(forms) == 1
