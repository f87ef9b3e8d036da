"""A scripted model that plays every part of a campaign: user, system, judge and debater.

It tells the parts apart by the prompts of the packs that ship, and answers deterministically, so
that a campaign that was killed and resumed can be held against one that was not.
"""

import hashlib
import json

from tests.answers import without_code
from tests.endpoint import Answer, Body, completion, prompt

JUDGE = "You judge one factor"
DEBATER = "who assess a conversational recommender system together"
SYSTEM = "You help people find a film to watch"
PERSUASIVENESS = "<rating code="


def kind(body: Body) -> str:
    """Whose call this is: judge, debate, system, persuasiveness, or user."""
    text = prompt(body)
    if DEBATER in text:
        return "debate"
    if JUDGE in text:
        return "judge"
    if SYSTEM in text:
        return "system"
    return "persuasiveness" if PERSUASIVENESS in text else "user"


def play(body: Body) -> Answer:
    """Something usable for every part; debaters never agree."""
    roll = int(hashlib.sha256(without_code(prompt(body)).encode()).hexdigest(), 16)
    match kind(body):
        case "judge":
            return f"I counted what the guideline asks for. <rating>{roll % 5}</rating>"
        case "debate":
            return json.dumps({"statement": f"My reasons, {roll % 97}.", "score": _seat(body)})
        case "system":
            return "Do you like old films? Otherwise try Heat (1995), which is tense and smart."
        case "persuasiveness":
            return f"It was somewhat convincing. <rating>{roll % 3}</rating>"
        case _:
            return f"I would rather have something with a good story, number {roll % 1000}."


def metered(body: Body) -> Answer:
    """As `play`; a token is four characters, so that long prompts cost more."""
    said, asked = str(play(body)), prompt(body)
    return completion(said, prompt_tokens=len(asked) // 4, completion_tokens=len(said) // 4)


def _seat(body: Body) -> int:
    """A score of its own for each role."""
    names = ("Common User", "Domain Expert", "Linguist", "HCI Expert")
    return next(10 * n for n, name in enumerate(names) if f"You are the {name}" in prompt(body))
