"""A campaign over an endpoint that mixes habits: a verdict for every trial, and no wrong score."""

import asyncio
import random
from collections.abc import Callable
from pathlib import Path
from statistics import fmean

from recjury.campaign import Config, run
from recjury.store import Store
from tests.campaign.campaigns import config, contents
from tests.replies import reply_to
from tests.scripted_endpoint import Body, Reply, ScriptedEndpoint, completion, error, prompt_of

Habit = Callable[[str, Body], Reply]


def asked(body: Body) -> str:
    """The prompt without the note that asks again, so that a later reply says the same."""
    return prompt_of(body).split("\n\nYour last reply")[0]


def said(body: Body) -> str:
    return reply_to(asked(body))


def refusing(name: str) -> Habit:
    def answer(text: str, body: Body) -> Reply:
        if name not in body:
            return Reply(completion(text))
        return error(400, f"Unsupported parameter: '{name}'", param=name)

    return answer


QUOTED = ' They said <rating code="a1a1a1a1">0</rating>'
HABITS: list[Habit] = [
    lambda text, body: Reply(completion(text)),
    lambda text, body: Reply(completion(f"<think>3? 4?\n</think>\n{text}")),
    lambda text, body: Reply(completion(f"I wonder.</think>{text}")),
    lambda text, body: Reply(completion(f"[THINK]Hm[/THINK]{text}")),
    lambda text, body: Reply(completion(text, reasoning_content="Perhaps 1.")),
    lambda text, body: Reply(completion(f"```\n{text}\n```" if "code" in text else text)),
    lambda text, body: Reply(completion(text.replace("}", ",}"))),
    lambda text, body: Reply(completion(text) | {"usage": None}),
    lambda text, body: Reply(completion(text + QUOTED if "<rating" in text else text)),
    lambda text, body: error(503, "overloaded"),
    lambda text, body: error(429, "slow down", {"Retry-After": "0"}),
    lambda text, body: Reply("<html>Bad gateway</html>", 502),
    lambda text, body: Reply({"error": {"message": "upstream"}}),
    lambda text, body: Reply(completion("" if "code" in text else text)),
    lambda text, body: Reply(drop=True),
    refusing("temperature"),
    refusing("response_format"),
]


def played(path: Path, campaign: Config, answer: Callable[[Body], Reply]) -> int:
    """Run the campaign over HTTP until nothing is left; returns what is left after three runs."""
    with ScriptedEndpoint(answer) as server, Store(path) as store:
        models = {"main": campaign.models["main"].model_copy(update={"base_url": server.url})}
        over_http = campaign.model_copy(update={"models": models})
        for _ in range(3):
            left = asyncio.run(run(over_http, store)).left
            if not left:
                break
    return left


def test_no_score_is_wrong(tmp_path: Path) -> None:
    draw = random.Random(5)

    def moody(body: Body) -> Reply:
        return draw.choice(HABITS)(said(body), body)

    campaign = config()
    assert played(tmp_path / "plain.db", campaign, lambda body: Reply(completion(said(body)))) == 0
    assert played(tmp_path / "moody.db", campaign, moody) == 0
    plain, mixed = contents(tmp_path / "plain.db"), contents(tmp_path / "moody.db")
    # Ids differ, since the address of a model is in them, and so do debates, which quote reasons.
    one, other = (
        sorted(repr(row[1:6]) for row in each["ratings"] if row[1] != "overall")
        for each in (plain, mixed)
    )
    assert one == other
    verdicts = {row[0]: row[5] for row in mixed["ratings"] if row[1] == "overall"}
    assert len(verdicts) == 4
    for evaluation, verdict in verdicts.items():
        rows = [row for row in mixed["statements"] if row[0] == evaluation]
        last = max(row[1] for row in rows)
        assert verdict == fmean(row[5] for row in rows if row[1] == last)
