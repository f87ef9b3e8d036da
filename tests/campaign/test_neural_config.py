"""Neural systems in a campaign file."""

import pytest
from pydantic import ValidationError

from recjury.agents.neural.systems import BARCOR, KBRD, UniCRS
from recjury.campaign.config import CampaignConfig


def read(*systems: dict[str, object]) -> CampaignConfig:
    return CampaignConfig.model_validate({"scenarios": ["sample"], "systems": list(systems)})


def test_each_kind_takes_its_own_backbones() -> None:
    config = read(
        {"kind": "kbrd", "checkpoint": "a", "backbones": {"bart": "facebook/bart-base"}},
        {"kind": "barcor", "checkpoint": "b/{corpus}", "fidelity": "ievalm", "device": "cuda"},
        {"kind": "unicrs", "checkpoint": "c", "backbones": {"gpt2": "g", "roberta": "r"}},
    )
    kbrd, barcor, unicrs = config.systems
    assert isinstance(kbrd, KBRD)
    assert isinstance(barcor, BARCOR)
    assert isinstance(unicrs, UniCRS)
    assert (kbrd.fidelity, barcor.fidelity, barcor.device) == (None, "ievalm", "cuda")
    assert [system.name for system in config.systems] == ["kbrd", "barcor", "unicrs"]


@pytest.mark.parametrize(
    "system",
    [
        {"kind": "unicrs", "checkpoint": 3},
        {"kind": "unicrs", "checkpoint": "c", "backbones": {"bart": "b"}},
        {"kind": "barcor", "checkpoint": "c", "backbones": {"gpt2": "g"}},
        {"kind": "barcor", "checkpoint": "c", "fidelity": "exact"},
        {"kind": "kbrd", "checkpoint": "c", "backbone": "facebook/bart-base"},
    ],
)
def test_what_a_kind_does_not_take_is_refused(system: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        read(system)
