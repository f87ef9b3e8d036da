"""Every prompt that is sent while the campaigns of `campaigns/` are played.

`prompts/CAMPAIGN.json` has, for each purpose of a call, how many different requests are sent, and a
digest of them: the messages with their roles, and all else that the endpoint is sent but the
model's name. `prompts/CAMPAIGN.txt` shows one request for each purpose; in it, a paragraph that
stands further up, or in `prompts/scripted.txt`, is cut to its first words.
"""

import json

import pytest

from tests.frozen.golden import FOLDER, assert_frozen
from tests.frozen.played import CAMPAIGNS, Player
from tests.frozen.sent import by_purpose, digests, shown

FIRST = "scripted"
_OTHERS = {path.stem for path in CAMPAIGNS.glob("*.yaml")} - {FIRST, "plain", "judges"}
WITH_MODELS = (FIRST, *sorted(_OTHERS))


@pytest.mark.parametrize("name", WITH_MODELS)
def test_prompts(name: str, played: Player) -> None:
    campaign = played.play(name)
    requests = by_purpose(campaign.store, campaign.bodies)
    known = "" if name == FIRST else (FOLDER / "prompts" / f"{FIRST}.txt").read_text("utf-8")
    assert_frozen(shown(requests, set(known.split("\n\n"))), f"prompts/{name}.txt")
    assert_frozen(json.dumps(digests(requests), indent=1) + "\n", f"prompts/{name}.json")
