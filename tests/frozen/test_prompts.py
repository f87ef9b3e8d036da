"""Every prompt that is sent while the campaigns of `campaigns/` are played.

`prompts/CAMPAIGN.json` has, for each purpose of a call, how many different requests are sent, and a
digest of them: the messages with their roles, and all else that the endpoint is sent but the
model's name. `prompts/CAMPAIGN.txt` shows one request for each purpose; in it, a paragraph that
stands further up, or in `prompts/scripted.txt`, is cut to its first words.
"""

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterator

import pytest

from tests.frozen import adapter
from tests.frozen.golden import FOLDER, assert_frozen
from tests.frozen.played import CAMPAIGNS, PlayedCampaign, Player
from tests.scripted_server import Body

FIRST = "scripted"
_OTHERS = {path.stem for path in CAMPAIGNS.glob("*.yaml")} - {FIRST, "plain"}
WITH_MODELS = (FIRST, *sorted(_OTHERS))
_SHOWN = 60  # characters of a paragraph that stands further up


def _messages(body: Body) -> tuple[tuple[str, str], ...]:
    messages = body["messages"]
    assert isinstance(messages, list)
    return tuple((each["role"], each["content"]) for each in messages)


def _by_purpose(campaign: PlayedCampaign) -> dict[str, list[str]]:
    """The different requests for each purpose, as sorted JSON."""
    purposes = {messages: purpose for purpose, messages in adapter.stored_calls(campaign.store)}
    found: dict[str, set[str]] = defaultdict(set)
    for body in campaign.bodies:
        sent = {name: value for name, value in body.items() if name != "model"}
        found[purposes[_messages(body)]].add(json.dumps(sent, sort_keys=True))
    return {purpose: sorted(found[purpose]) for purpose in sorted(found)}


def _shown(requests: dict[str, list[str]], seen: set[str]) -> str:
    """The shortest request for each purpose, to be read, without the paragraphs `seen` before."""
    lines: list[str] = []
    for purpose, bodies in requests.items():
        body = json.loads(min(bodies, key=lambda each: (len(each), each)))
        settings = {name: value for name, value in sorted(body.items()) if name != "messages"}
        lines.append(f"########## {purpose} {json.dumps(settings)}")
        for role, text in _messages(body):
            lines.append(f"===== {role}")
            lines.extend(_cut(text, seen))
    return "\n\n".join(lines) + "\n"


def _cut(text: str, seen: set[str]) -> Iterator[str]:
    for paragraph in text.split("\n\n"):
        if paragraph in seen and len(paragraph) > _SHOWN:
            yield f"[{paragraph[:_SHOWN]}...]".replace("\n", " ")
        else:
            yield paragraph
        seen.add(paragraph)


@pytest.mark.parametrize("name", WITH_MODELS)
def test_prompts(name: str, played: Player) -> None:
    requests = _by_purpose(played.play(name))
    known = "" if name == FIRST else (FOLDER / "prompts" / f"{FIRST}.txt").read_text("utf-8")
    assert_frozen(_shown(requests, set(known.split("\n\n"))), f"prompts/{name}.txt")
    digests = {
        purpose: f"{len(bodies)} x {hashlib.sha256(json.dumps(bodies).encode()).hexdigest()[:16]}"
        for purpose, bodies in requests.items()
    }
    assert_frozen(json.dumps(digests, indent=1) + "\n", f"prompts/{name}.json")
