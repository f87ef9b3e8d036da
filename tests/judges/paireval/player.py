"""What the scripted endpoint of the commands' tests answers: a comparison of numbers."""

import html
import json
import math
import re

from tests.endpoint import Body, completion
from tests.judges.paireval.comparing import number_in
from tests.scripted_server import prompt

_RESPONSES = re.compile(r"<response>.*?worth (.*?)</response>", re.DOTALL)
_WORTH = re.compile(r"worth (-?\d+)")


def play(body: Body) -> Body | str:
    """Prefers the higher number after "worth", with a slight preference for the first place."""
    asked = prompt(body)
    if "Write 2 different replies" in asked:
        return json.dumps({"replies": ["One that does not fit.", "Nor this."]})
    found = [number_in(html.unescape(each)) for each in _RESPONSES.findall(asked)]
    if "Reply with Yes or No" in asked:
        return odds_body({"Yes": _share(found[0] - 2)})
    if not found:  # dialogues
        halves = asked.split("B:\n", 1)
        found = [sum(map(int, _WORTH.findall(half))) for half in halves]
    return odds_body({"A": _share(found[0] - found[1] + 0.2)})


def odds_body(odds: dict[str, float]) -> Body:
    """A completion of one word with its log-probability, and that of the other word."""
    ((word, odd),) = odds.items()
    other = {"A": "B", "Yes": "No"}[word]
    tops = [
        {"token": word, "logprob": math.log(odd)},
        {"token": other, "logprob": math.log(1 - odd)},
        {"token": "impossible", "logprob": -9999.0},
    ]
    said = max(tops, key=lambda each: float(str(each["logprob"])))
    answer = completion(str(said["token"]))
    choices = answer["choices"]
    assert isinstance(choices, list)
    choices[0]["logprobs"] = {"content": [{**said, "top_logprobs": tops}]}
    return answer


def _share(gap: float) -> float:
    return 1 / (1 + math.exp(-gap / 2))
