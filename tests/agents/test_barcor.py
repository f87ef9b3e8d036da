"""BARCOR: what it reads, what it makes of it, and checkpoints that do not fit."""

import asyncio
from pathlib import Path

import pytest
import torch

from recjury.agents import SystemContext, load_recommender
from recjury.agents.barcor import checkpoint
from recjury.agents.barcor.recommender import without_letters, without_role
from recjury.agents.neural import weights
from recjury.agents.neural.bart import padded
from recjury.agents.neural.systems import BARCOR
from recjury.errors import ConfigError, DataError, SystemFailed
from recjury.records import SystemReply
from tests.agents.conversations import talk
from tests.agents.tiny import CORPUS, ENTITIES, LIMITS, write_barcor

TALKS = [
    talk("Hello"),
    talk("I like Ran.", "Have you seen Psycho?", "Yes. What else?"),
    talk("Something with a lot of words, " * 20),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_barcor(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("said", "published", "corrected"),
    [
        ("System: yes", "yes", "yes"),
        ("System:try it", "ry it", "try it"),
        ("yes, try it", ", try it", "yes, try it"),
        ("  System: Ran  ", "System: Ran", "Ran"),
    ],
)
def test_the_role_is_taken_off(said: str, published: str, corrected: str) -> None:
    assert without_letters(said) == published
    assert without_role(said) == corrected


def test_the_vector_has_not_read_the_last_token(tmp_path: Path) -> None:
    model = write_barcor(tmp_path).eval()
    ids = torch.tensor([[0, 40, 41, 42, 2]])
    with torch.inference_mode():
        states = model.model(
            input_ids=ids,
            attention_mask=torch.ones_like(ids),
            decoder_input_ids=torch.tensor([[2, 0, 40, 41, 42]]),
        ).last_hidden_state
        assert torch.allclose(model.vectors(ids)[0], states[0, 4], atol=1e-6)
        longer = padded([ids[0].tolist()], width=9)
        assert torch.allclose(model(longer), model(ids), atol=1e-6)


def test_a_saved_checkpoint_is_the_same(folder: Path) -> None:
    loaded = checkpoint.load(folder, entities=ENTITIES)
    again = write_barcor(folder).state_dict()
    for name, tensor in loaded.recommender.state_dict().items():
        assert torch.equal(tensor, again[name])
    assert loaded.metadata is not None
    assert loaded.limits == loaded.metadata.limits
    (folder / "recjury.json").unlink()
    published = checkpoint.load(folder, entities=ENTITIES)
    assert (published.limits.context, published.limits.response) == (200, 128)
    assert published.digest == loaded.digest


def test_it_answers_alone_as_in_company(folder: Path) -> None:
    system = BARCOR(checkpoint=str(folder)).prepared(SystemContext(CORPUS, list_length=5))
    together = system._model.answer(TALKS)
    assert together == [system._model.answer([each])[0] for each in TALKS]
    for reply in together:
        assert isinstance(reply, SystemReply)
        assert len({item.id for item in reply.items}) == 5
    asyncio.run(system.aclose())


def test_the_registry_makes_it_in_the_fidelity_asked_for(folder: Path) -> None:
    def made(**options: object) -> object:
        around = SystemContext(CORPUS, list_length=3)
        return load_recommender("barcor", "b", {"checkpoint": str(folder)} | options, around)

    system = made()
    assert isinstance(system, BARCOR)
    assert system.settings["fidelity"] == "corrected"
    assert len(asyncio.run(system.respond(TALKS[1])).items) == 3
    published = made(fidelity="ievalm")
    assert isinstance(published, BARCOR)
    assert published.settings["fidelity"] == "ievalm"
    assert published.settings != system.settings
    for device in ("abacus", "meta"):
        with pytest.raises(ConfigError, match=f"device '{device}' cannot be used"):
            made(device=device)
    with pytest.raises(ConfigError, match=r"backbones.*input should be 'bart'"):
        made(backbones={"gpt2": "x"})


def test_scores_that_are_not_finite_fail_their_turn(folder: Path) -> None:
    path = folder / "rec_model" / "pytorch_model.bin"
    tensors = weights.read_tensors(path)
    tensors["classification_head.out_proj.bias"][int(CORPUS.graph.item_entities[0])] = torch.nan
    weights.write_tensors(path, tensors)
    system = BARCOR(checkpoint=str(folder)).prepared(SystemContext(CORPUS))
    with pytest.raises(SystemFailed, match="not finite"):
        asyncio.run(system.respond(TALKS[0]))


async def _answers(system: BARCOR) -> list[SystemReply | BaseException]:
    return await asyncio.gather(*map(system.respond, TALKS), return_exceptions=True)


def test_only_the_conversation_that_fails_fails(folder: Path) -> None:
    path = folder / "conv_model" / "pytorch_model.bin"
    tensors = weights.read_tensors(path)
    # The last place, two behind the number of tokens; only the long conversation reaches it.
    tensors["model.encoder.embed_positions.weight"][LIMITS.context + 1 :] = torch.nan
    weights.write_tensors(path, tensors)
    system = BARCOR(checkpoint=str(folder)).prepared(SystemContext(CORPUS))
    first, second, long = asyncio.run(_answers(system))
    assert isinstance(first, SystemReply)
    assert isinstance(second, SystemReply)
    assert isinstance(long, SystemFailed)


@pytest.mark.parametrize("missing", ["rec_model", "conv_model"])
def test_both_folders_are_needed(folder: Path, missing: str) -> None:
    (folder / missing).rename(folder / "elsewhere")
    with pytest.raises(ConfigError, match="expected rec_model/ and conv_model/"):
        checkpoint.load(folder, entities=ENTITIES)


def test_another_graph_gives_both_counts(folder: Path) -> None:
    with pytest.raises(DataError, match=f"trained on {ENTITIES} entities, but the graph has 9"):
        checkpoint.load(folder, entities=9)


def test_a_generator_is_no_recommender(folder: Path) -> None:
    path = folder / "rec_model" / "pytorch_model.bin"
    path.write_bytes((folder / "conv_model" / "pytorch_model.bin").read_bytes())
    with pytest.raises(DataError) as caught:
        checkpoint.load(folder, entities=ENTITIES)
    assert f"classification_head.out_proj.bias: expected [{ENTITIES}], found nothing" in str(
        caught.value
    )
    assert "final_logits_bias: expected nothing" in str(caught.value)
