"""What scripted models say in debates; they know role and round from the prompt."""

import json
import re

from recjury.records import Role
from tests.endpoint import Body, prompt

_ROLE = re.compile(r"^You are the ([A-Za-z ]+), one of four")
_ROUND = re.compile(r"This is round (\d+)")


def role_and_round(body: Body) -> tuple[Role, int]:
    """Who is asked, and in which round."""
    text = prompt(body)
    role = _ROLE.match(text)
    assert role is not None, text[:80]
    number = _ROUND.search(text)
    return Role(role[1]), 1 if number is None else int(number[1])


def answer(statement: str, score: float) -> str:
    """The reply of a role, in the form asked for."""
    return json.dumps({"statement": statement, "score": score})


def never_agree(body: Body) -> str:
    """A score of its own for each role in each round; the HCI Expert's are broken numbers."""
    role, number = role_and_round(body)
    place = list(Role).index(role) + 1
    return answer(f"{role}, round {number}.", 10 * number + place + (0.5 if place == 4 else 0))
