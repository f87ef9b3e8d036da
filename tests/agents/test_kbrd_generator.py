"""KBRD with its own generator."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from recjury.agents import SystemContext
from recjury.agents.kbrd import checkpoint
from recjury.agents.kbrd.generator import load_generator
from recjury.agents.kbrd.recommender import kbrd_model
from recjury.agents.neural import weights
from recjury.agents.neural.bart import padded
from recjury.agents.neural.bart_generator import BartGenerator
from recjury.agents.neural.context import ContextEncoder, joined
from recjury.agents.neural.description import Fidelity
from recjury.agents.neural.model import ModelSetup
from recjury.agents.neural.systems import KBRD
from recjury.errors import DataError
from recjury.records import SystemReply
from tests.agents.conversations import talk
from tests.agents.tiny import CORPUS, ENTITIES, LIMITS, RELATIONS, write_kbrd

TALKS = [
    talk("Hello"),
    talk("I like Ran.", "Have you seen Psycho?", "Yes. What else?"),
    talk("Something with a lot of words, " * 20),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_kbrd(tmp_path)
    return tmp_path


@pytest.mark.parametrize("fidelity", ["ievalm", "corrected"])
def test_it_answers_alone_as_in_company(tmp_path: Path, fidelity: Fidelity) -> None:
    write_kbrd(tmp_path, fidelity=fidelity)
    system = KBRD(checkpoint=str(tmp_path)).prepared(SystemContext(CORPUS, list_length=5))
    assert system.settings["text"] == "generated"
    assert system.settings["fidelity"] == fidelity
    together = system._model.answer(TALKS)
    assert together == [system._model.answer([each])[0] for each in TALKS]
    for reply in together:
        assert isinstance(reply, SystemReply)
        assert len({item.id for item in reply.items}) == 5
    asyncio.run(system.aclose())


def test_without_generator_it_speaks_in_set_sentences(folder: Path) -> None:
    (folder / "conv_model").rename(folder / "elsewhere")
    system = KBRD(checkpoint=str(folder)).prepared(SystemContext(CORPUS))
    assert system.settings["text"] == "template"
    reply = asyncio.run(system.respond(TALKS[1]))
    assert CORPUS.catalogue.link(reply.text)


def test_nothing_known_means_popular_items(folder: Path) -> None:
    popular = sorted(CORPUS.catalogue, key=lambda item: -(item.popularity or 0))
    system = KBRD(checkpoint=str(folder)).prepared(SystemContext(CORPUS, list_length=1))
    assert asyncio.run(system.respond(TALKS[0])).items[0].id == popular[0].id


def test_the_user_weighs_on_every_word(folder: Path) -> None:
    model = load_generator(folder, width=8, limits=LIMITS).generator.model
    ids, said = padded([[0, 40, 2]]), torch.tensor([[2, 50, 51]])
    users = torch.randn(1, 8)
    with torch.inference_mode():
        plain, led = model(ids, said), model(ids, said, users)
        assert model.rec_proj is not None
        assert torch.allclose(led - plain, model.rec_proj(users).expand(1, 3, -1), atol=1e-5)


def test_no_trigram_comes_twice_nor_from_the_context(folder: Path) -> None:
    speech = load_generator(folder, width=8, limits=LIMITS)
    rules = replace(speech.generator.rules, tokens=30)
    assert (rules.ngram, rules.source_ngram) == (3, 3)
    voice = BartGenerator(
        speech.generator._replace(rules=rules),
        speech.tokens,
        context=LIMITS.context,
        text=joined,
        finish=str,
    )
    heard = ContextEncoder(CORPUS.graph, 8).hear(TALKS[1])
    row = voice.read(heard)
    # The published code fills up the input, and bans what stands there, too.
    assert voice.sources([heard], [row]) == [[*row, *[1] * (LIMITS.context - len(row))]]
    (ids,) = voice.generated([heard])
    said = _trigrams([2, *ids])
    assert len(said) > 10
    assert len(set(said)) == len(said)
    assert not set(said) & set(_trigrams(row))


def _trigrams(ids: list[int]) -> list[tuple[int, int, int]]:
    return list(zip(ids, ids[1:], ids[2:], strict=False))


def test_a_generator_for_other_users_is_refused(folder: Path) -> None:
    with pytest.raises(DataError, match=r"rec_proj\.weight: expected \[\d+, 9\], found \[\d+, 8\]"):
        load_generator(folder, width=9)


def test_a_plain_bart_is_no_generator_of_kbrd(folder: Path) -> None:
    path = folder / "conv_model" / "pytorch_model.bin"
    tensors = weights.read_tensors(path)
    plain = {name: t for name, t in tensors.items() if not name.startswith("rec_proj")}
    weights.write_tensors(path, plain)
    with pytest.raises(DataError, match=r"rec_proj\.bias: expected .*, found nothing"):
        KBRD(checkpoint=str(folder)).prepared(SystemContext(CORPUS))


def test_weights_that_are_not_finite_are_refused(folder: Path) -> None:
    loaded = checkpoint.load(folder, entities=ENTITIES, relations=RELATIONS)
    with torch.no_grad():
        loaded.model.node_embeds[0, 0] = torch.nan
    with pytest.raises(DataError, match="not finite"):
        kbrd_model(loaded, None, ModelSetup(CORPUS))
