"""What the server means with a reply, before a habit spoils it."""

import json
import re
from dataclasses import dataclass

from recjury.llm.endpoint_check import CHECK_PROMPT
from recjury.records import Factor, Role
from tests.answers import code_in
from tests.campaign import player
from tests.scripted_server import Answer, Body, Fault, completion, prompt

THOUGHT = (
    'Let me see. They say "no" to Die Hard (1988), and **Toy Story (1995)** is for children. '
    "Not that, I dismiss both. Now the answer."
)
"""Thoughts with films that the answer does not name."""

_FACTOR = re.compile(rf"factor:?\s+({'|'.join(map(re.escape, Factor))})")
PLAINLY = "in plain words"
"""What the prompt of the second system has, which then answers differently."""
_WISH, _ADVICE = "wish number", "advice number"
_SEATS = {
    Role.COMMON_USER: 55,
    Role.DOMAIN_EXPERT: 65,
    Role.LINGUIST: 75,
    Role.HCI_EXPERT: 85,
}


@dataclass(frozen=True)
class Meaning:
    """One reply as the server means it.

    `kind` is who is asked: judge, persuasiveness, debate, user, system or check. `score` is on a
    scale from 0 to `top`, None where none is asked. `words` are the reasons or what is said.
    """

    kind: str
    words: str
    score: int | None = None
    top: int = 0
    code: str = ""
    asked: str = ""

    @property
    def wrong(self) -> int:
        """A score on the scale that is not meant."""
        assert self.score is not None
        return self.score - 30 if self.top == 100 else self.score + 1

    def tag(self, value: object = None, *, coded: bool = True) -> str:
        """The rating's tag, with the score or another value."""
        code = f' code="{self.code}"' if coded and self.code else ""
        return f"<rating{code}>{self.score if value is None else value}</rating>"

    def fields(self, value: object = None, *, coded: bool = True) -> dict[str, object]:
        """The fields of a debater's answer, with the score or another value."""
        code = {"code": self.code} if coded and self.code else {}
        return {"statement": self.words, "score": self.score if value is None else value, **code}

    def json(self, value: object = None, *, coded: bool = True) -> str:
        """A debater's answer as JSON."""
        return json.dumps(self.fields(value, coded=coded))

    def answer(self, value: object = None, *, coded: bool = True) -> str:
        """The whole answer in the form asked for."""
        if self.kind == "debate":
            return self.json(value, coded=coded)
        if self.score is None:
            return self.words
        return f"{self.words}\n\n{self.tag(value, coded=coded)}"


def meaning(body: Body) -> Meaning:
    """What is answered to a request; the same for the same request, however often it comes."""
    asked = prompt(body)
    code = code_in(asked)
    if CHECK_PROMPT in asked:
        return Meaning("check", '{"answer": "ok"}' if "JSON" in asked else "ok", asked=asked)
    kind = player.kind(body)
    if kind == "judge":
        found = _FACTOR.search(asked)
        assert found is not None, asked
        number = list(Factor).index(Factor(found[1]))
        words = "I counted what the guideline asks for, turn by turn."
        return Meaning(kind, words, 1 + number % 3, 4, code, asked)
    if kind == "persuasiveness":
        return Meaning(kind, "It was somewhat convincing.", 1, 2, code, asked)
    if kind == "debate":
        role = next(role for role in Role if f"You are the {role}" in asked)
        return Meaning(kind, "My factors weigh most.", _SEATS[role], 100, code, asked)
    count = asked.count(_WISH) + asked.count(_ADVICE)
    if kind == "system":
        film = "Alien (1979)" if PLAINLY in asked else "Heat (1995)"
        words = f"Do you like crime? Otherwise try {film}, which is tense: {_ADVICE} {count}."
        return Meaning(kind, words, asked=asked)
    words = f"I would rather have something with a good story, {_WISH} {count}."
    return Meaning("user", words, asked=asked)


def sent(body: Body) -> Fault:
    """A response body, sent byte for byte as it is."""
    return Fault("raw", text=json.dumps(body))


def said(text: str | None, finish_reason: str = "stop") -> Fault:
    """A reply with that text."""
    return sent(completion(text, finish_reason=finish_reason))


def message(*, finish_reason: str | None = "stop", **fields: object) -> Fault:
    """A reply whose message has these fields."""
    body = completion("")
    body["choices"] = [
        {
            "index": 0,
            "message": {"role": "assistant", **fields},
            "finish_reason": finish_reason,
        }
    ]
    return sent(body)


def honest(meant: Meaning, asked: Body) -> Answer:
    """The reply without any habit, as often as it is asked for."""
    count = asked.get("n", 1)
    assert isinstance(count, int)
    body = completion(meant.answer())
    choices = body["choices"]
    assert isinstance(choices, list)
    body["choices"] = choices * count
    return sent(body)
