"""Scripted models for every prompt of recjury: an answer depends on model and prompt alone.

Some first answers of judges and debaters cannot be used, so that the prompt which asks again is
sent, too; some utterances of the simulated user name what it must not name.
"""

import hashlib
import html
import json
import math
import re

from tests.answers import without_code
from tests.endpoint import Body, completion, prompt

_TITLES = ("Heat (1995)", "Alien (1979)", "The Third Man (1949)", "Amélie (2001)", "Ran (1985)")
_SEATS = ("Common User", "Domain Expert", "Linguist", "HCI Expert")
_SCALE = re.compile(r"from (\d) to (\d)")
_AGAIN = "could not be used"
_TURN = re.compile(r"<turn>\n(.*?)\n</turn>", re.DOTALL)
_TARGET = re.compile(r"<item>\ntitle: (.*?)(?: \(\d+\))?\n")


def play(body: Body) -> Body:
    """An answer with as many choices as are asked for, and log-probabilities if they are."""
    asked = without_code(prompt(body))
    if body["model"] != "scripted":
        asked = f"{body['model']}: {asked}"
    if body.get("logprobs"):
        return _with_odds(asked)
    number = int(str(body.get("n") or 1))
    answer = completion(_said(asked, 0), prompt_tokens=100, completion_tokens=20 * number)
    first = answer["choices"]
    assert isinstance(first, list)
    answer["choices"] = [
        {**first[0], "index": n, "message": {"role": "assistant", "content": _said(asked, n)}}
        for n in range(number)
    ]
    return answer


def _roll(asked: str, sides: int, salt: object = "") -> int:
    return int(hashlib.sha256(f"{salt}{asked}".encode()).hexdigest(), 16) % sides


def _said(asked: str, number: int) -> str:
    if "assess a conversational recommender system together" in asked:
        return _statement(asked)
    if "You are the system" in asked or "You help people find" in asked or "You recommend" in asked:
        title = _TITLES[_roll(asked, len(_TITLES))]
        return f"Do you like old films? Otherwise try {title}, which is tense and smart."
    if "You play a person" in asked:
        return _utterance(asked)
    if "Divide what stands in <turn>" in asked:
        return _particles(asked)
    if "three to six numbered steps" in asked:
        return "1. Read the conversation.\n2. Compare it with the criterion.\n3. Choose a score."
    if "You improve the instructions" in asked:
        return (
            "<critique>It says too little.</critique>\n"
            f"<instructions>Rate the particle, step {_roll(asked, 1000)}.</instructions>"
        )
    if "different replies" in asked:
        return json.dumps({"replies": [f"It rains, {_roll(asked, 100, n)}." for n in range(5)]})
    return _rating(asked, number)


def _rating(asked: str, number: int) -> str:
    if _roll(asked, 7) == 0 and _AGAIN not in asked and "You judge one factor" in asked:
        return "I would rather not say."
    scales = _SCALE.findall(asked)
    low, high = map(int, scales[-1]) if scales else (0, 2)
    score = low + _roll(asked, high - low + 1, number)
    if "begin your reply with its number" in asked:
        return f"<rating>{score}</rating> For several reasons."
    return f"I counted what was asked for. <rating>{score}</rating>"


def _statement(asked: str) -> str:
    if _roll(asked, 5) == 0 and _AGAIN not in asked:
        return "I agree with all of you."
    seat = next(n for n, name in enumerate(_SEATS) if f"You are the {name}" in asked)
    return json.dumps({"statement": f"My reasons, {_roll(asked, 97)}.", "score": 20 * seat + 5})


def _utterance(asked: str) -> str:
    target = _TARGET.search(asked)
    if target and "<leaks>" not in asked and _roll(asked, 3) == 0:
        return f"I think of {html.unescape(target[1])}, but cannot say why."
    return f"I would rather have something with a good story, number {_roll(asked, 1000)}."


def _particles(asked: str) -> str:
    turn = _TURN.search(asked)
    said = html.unescape(turn[1]) if turn else ""
    pieces = re.findall(r"[^.?!]+[.?!]", said)[:2]
    acts = ("preference elicitation", "recommendation")
    rows = [
        {"act": act, "mention": piece.strip(), "feedback": None}
        for act, piece in zip(acts, pieces, strict=False)
    ]
    return json.dumps({"particles": rows})


def _with_odds(asked: str) -> Body:
    """One of the words that the prompt names, with the log-probabilities of all."""
    words = _choices(asked)
    weights = [1 + _roll(asked, 50, word) for word in words]
    tops = [
        {"token": word, "logprob": math.log(weight / sum(weights))}
        for word, weight in zip(words, weights, strict=True)
    ]
    best = max(range(len(words)), key=lambda n: weights[n])
    answer = completion(words[best], prompt_tokens=100, completion_tokens=1)
    choices = answer["choices"]
    assert isinstance(choices, list)
    choices[0]["logprobs"] = {"content": [{**tops[best], "top_logprobs": tops}]}
    return answer


def _choices(asked: str) -> list[str]:
    for words in (["A", "B"], ["Yes", "No"], ["yes", "no"]):
        if asked.rstrip().endswith(f"Reply with {words[0]} or {words[1]} alone."):
            return words
    if "Reply with one of the numbers" in asked:
        return list("12345")
    low, high = map(int, _SCALE.findall(asked)[-1])
    return [str(score) for score in range(low, high + 1)]
