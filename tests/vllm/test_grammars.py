"""Every text that llguidance allows for a form is read, and ends."""

import json
import subprocess
from pathlib import Path

from recjury.debate.role_answer import answer_form, parse_answer
from recjury.judges.face.decomposer import particles_form, read_particles
from recjury.llm import parse_rating
from recjury.llm.vllm.constraints import structured_outputs
from recjury.prompts import CODE as MARK
from recjury.prompts import with_code
from recjury.records import ChatRequest, Message, RatingForm, ReplyForm
from tests.llm.doubles import reply
from tests.vllm.conftest import PYTHON

CODE = "k7r2m0"
ASKED = (Message("user", (MARK,)),)
FORMS: dict[str, ReplyForm] = {
    "rating": RatingForm(CODE, 0, 4),
    "rating first": RatingForm(CODE, 1, 5, rating_first=True),
    "answer": answer_form(),
    "particles": particles_form(),
}
TEXTS = 40


def test_what_llguidance_allows_is_read(tiny: tuple[Path, Path], figures: list[str]) -> None:
    sent = {
        name: structured_outputs(with_code(ChatRequest("m", ASKED, "test", form=form), CODE), 400)
        for name, form in FORMS.items()
    }
    sampler = Path(__file__).with_name("sample_grammars.py")
    command = [PYTHON, str(sampler), str(tiny[0]), str(TEXTS)]
    run = subprocess.run(command, input=json.dumps(sent), capture_output=True, text=True)
    assert run.returncode == 0, run.stderr[-2000:]
    found = json.loads(run.stdout)
    for name in FORMS:
        texts = found[name]["texts"]
        assert len({*texts}) > TEXTS // 8
        for text in texts:
            assert _is_read(name, text), text
    times = {name: f"{each['milliseconds']:.2f}" for name, each in found.items()}
    figures.append(
        "llguidance alone, milliseconds of a mask with a vocabulary of 3,000 and texts of 400 "
        "characters: " + ", ".join(f"{name} {spent}" for name, spent in times.items())
    )


def _is_read(name: str, text: str) -> bool:
    given = reply(text, code=CODE)
    if name == "answer":
        return 0 <= parse_answer(given).score <= 100
    if name == "particles":
        return read_particles(given, answered=True) is not None
    low = 1 if name == "rating first" else 0
    return low <= parse_rating(given, low, low + 4).score <= low + 4
