"""UniCRS: what it reads, its quirks in both fidelities, and checkpoints that do not fit."""

import asyncio
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from recjury.agents import SystemContext, load_recommender
from recjury.agents.kbrd.edges import neighbourhoods
from recjury.agents.neural import weights
from recjury.agents.neural.context import Context
from recjury.agents.neural.description import Fidelity
from recjury.agents.neural.systems import UniCRS
from recjury.agents.neural.tokens import END, ITEM
from recjury.agents.unicrs import checkpoint
from recjury.agents.unicrs.added_rows import drawn_rows
from recjury.agents.unicrs.backbone_files import read_gpt2, read_roberta
from recjury.agents.unicrs.model import (
    Unicrs,
    left_padded,
    natural_positions,
)
from recjury.agents.unicrs.recommender import UnicrsSpeaker
from recjury.agents.unicrs.texts import Texts
from recjury.errors import ConfigError, DataError
from recjury.records import SystemReply
from tests.agents.conversations import talk
from tests.agents.tiny import (
    CORPUS,
    ENTITIES,
    LIMITS,
    RELATIONS,
    tiny_unicrs,
    unicrs_texts,
    write_unicrs,
)

EDGES = neighbourhoods(CORPUS.graph.edges, ENTITIES + 1, RELATIONS)
TALKS = [
    talk("Hello"),
    talk("I like Ran and Psycho.", "Have you seen Vertigo?", "Yes. What else?"),
    talk("Something with a lot of words, " * 20),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_unicrs(tmp_path)
    return tmp_path


def load(
    folder: Path, *, entities: int = ENTITIES, relations: int = RELATIONS, corpus: str = "sample"
) -> checkpoint.UnicrsCheckpoint:
    return checkpoint.load(folder, entities=entities, relations=relations, corpus=corpus)


def test_texts_are_ended_and_cut_on_the_left() -> None:
    texts = unicrs_texts()
    end = texts.gpt2.id(END)
    said = ("Hi", "Hello")
    ids = texts.ids(said)
    assert texts.gpt2.decode(ids) == "User: HiSystem: Hello"
    assert [place for place, token in enumerate(ids) if token == end][-1] == len(ids) - 1
    assert ids.count(end) == 2
    assert texts.prompted(said) == [*ids, *texts.gpt2.encode("System:")]
    long = texts.ids(("Hi " * 200,))
    assert len(long) == LIMITS.context
    assert long[-1] == end
    words = texts.words(said)
    assert (words[0], words.count(2)) == (0, 2)
    assert len(texts.filled(ids)) == texts.prompted_width
    assert texts.prompted_width % 8 == 0


def test_positions_are_natural_or_count_the_padding_that_the_published_code_adds() -> None:
    _, real = left_padded([[7, 8], [7, 8, 9]], 0)
    assert natural_positions(real).tolist() == [[1, 0, 1], [0, 1, 2]]
    texts = unicrs_texts()
    rows = [texts.prompted((said,)) for said in ("Hi", "I like Ran")]
    contexts = [Context((said,)) for said in ("Hi", "I like Ran")]
    batch = texts.batch(rows, contexts, padding=ENTITIES, fidelity="ievalm", speaking=True)
    assert batch.ids.tolist() == [texts.filled(row) for row in rows]
    assert batch.positions.tolist() == [list(range(texts.prompted_width))] * 2


def item_keys(model: Unicrs, texts: Texts) -> torch.Tensor:
    context = Context(("I like Ran", "And what else?"), (3, 4))
    batch = texts.batch(
        [texts.ids(context.utterances)],
        [context],
        padding=ENTITIES,
        fidelity=model.fidelity,
        speaking=False,
    )
    with torch.inference_mode():
        return model.item_prompts(model.rec.nodes(EDGES), batch).layers[0][0]


@pytest.mark.parametrize(("fidelity", "matters"), [("ievalm", True), ("corrected", False)])
def test_filling_the_text_matters_only_as_published(fidelity: Fidelity, matters: bool) -> None:
    model, texts = tiny_unicrs(fidelity=fidelity), unicrs_texts()
    wider = replace(texts, limits=LIMITS.model_copy(update={"context": LIMITS.context + 8}))
    differ = not torch.allclose(item_keys(model, texts), item_keys(model, wider), atol=1e-6)
    assert differ is matters


@pytest.mark.parametrize("fidelity", ["ievalm", "corrected"])
def test_each_word_is_a_prompt_and_filling_only_as_published(fidelity: Fidelity) -> None:
    model, texts = tiny_unicrs(fidelity=fidelity), unicrs_texts()
    context = Context(("I like it", "And"), (3, 4))
    batch = texts.batch(
        [texts.prompted(context.utterances)],
        [context],
        padding=ENTITIES,
        fidelity=fidelity,
        speaking=True,
    )
    with torch.inference_mode():
        prompted = model.reply_prompts(model.conv.nodes(EDGES), batch)
    words = len(texts.words(context.utterances))
    assert int(prompted.real.sum()) == (texts.text_width if fidelity == "ievalm" else words)
    width = texts.prompted_width if fidelity == "ievalm" else batch.ids.shape[1]
    assert batch.positions[0, -1] == width - 1


@pytest.mark.parametrize("fidelity", ["ievalm", "corrected"])
def test_it_answers_alone_as_in_company(tmp_path: Path, fidelity: Fidelity) -> None:
    write_unicrs(tmp_path, fidelity=fidelity)
    system = UniCRS(checkpoint=str(tmp_path)).prepared(SystemContext(CORPUS, list_length=5))
    assert system.settings["fidelity"] == fidelity
    together = system._model.answer(TALKS)
    assert together == [system._model.answer([each])[0] for each in TALKS]
    for reply in together:
        assert isinstance(reply, SystemReply)
        assert len({item.id for item in reply.items}) == 5
    asyncio.run(system.aclose())


def test_published_replies_come_without_items_and_corrected_ones_with() -> None:
    texts = unicrs_texts()

    def written(fidelity: Fidelity, reply: str) -> str:
        speaker = UnicrsSpeaker(tiny_unicrs(fidelity=fidelity), texts, EDGES, items=np.arange(3))
        before = texts.filled(texts.prompted(("Hi",)))
        return speaker.written(before, texts.gpt2.encode(reply))

    assert written("ievalm", f" Have you seen {ITEM}? It's good.") == "Have you seen? It's good."
    assert written("ievalm", "Have you?") == "ave you?"
    assert written("ievalm", " Yes. System: No.") == "No."
    assert written("corrected", f" Have you seen {ITEM}?{END}") == f"Have you seen {ITEM}?"
    assert written("corrected", "Have you?") == "Have you?"


def test_a_saved_checkpoint_is_the_same(folder: Path) -> None:
    loaded = load(folder)
    again = tiny_unicrs().state_dict()
    for name, tensor in loaded.model.state_dict().items():
        assert torch.equal(tensor, again[name])
    assert loaded.texts.limits == LIMITS
    assert loaded.texts.item == ITEM
    assert loaded.texts.gpt2.digest == unicrs_texts().gpt2.digest


def test_what_the_original_code_leaves_in_the_file_is_left_out(folder: Path) -> None:
    path = folder / checkpoint.WEIGHTS["rec"]
    tensors = weights.read_tensors(path)
    tensors["rec_prefix_embeds"] = torch.zeros(10, 16)
    tensors["rec_prefix_proj.0.weight"] = torch.zeros(8, 16)
    tensors["edge_type"] = torch.zeros(5)
    weights.write_tensors(path, tensors)
    load(folder)
    tensors["rec_suffix"] = torch.zeros(1)
    weights.write_tensors(path, tensors)
    with pytest.raises(DataError, match=r"rec_suffix: expected nothing, found \[1\]"):
        load(folder)


def test_tokens_that_the_backbone_lacks_get_the_rows_that_the_reference_draws(
    data_folder: Path,
) -> None:
    golden = data_folder / "crs-golden"
    if not golden.is_dir():
        pytest.skip("needs crs-golden/ in the data folder")
    places = golden / "common" / "backbones"
    expected = np.load(golden / "unicrs" / "opendialkg" / "outputs.npz")
    state = torch.get_rng_state()
    rows = drawn_rows(
        read_gpt2(places / "microsoft" / "DialoGPT-small"),
        read_roberta(places / "roberta-base"),
        gpt2_added=2,
        text_added=1,
        pooler=True,
    )
    # Drawn by the same generator; the last digit depends on the processor's instructions.
    assert np.allclose(rows.gpt2.numpy(), expected["gpt2_wte_new_rows"], rtol=0, atol=1e-6)
    assert rows.text.shape == (1, 32)
    assert torch.equal(torch.get_rng_state(), state)


def test_published_limits_and_item_tokens_depend_on_the_data_set(folder: Path) -> None:
    described = json.loads((folder / "recjury.json").read_text())
    described |= {"limits": None, "item_token": None}
    (folder / "recjury.json").write_text(json.dumps(described))
    redial = load(folder, corpus="redial").texts
    assert (redial.item, redial.limits.entities, redial.limits.response) == (ITEM, 43, 128)
    dialkg = load(folder, corpus="opendialkg").texts
    assert (dialkg.item, dialkg.limits.entities, dialkg.limits.response) == ("<mask>", 20, 64)


def test_another_graph_gives_both_counts(folder: Path) -> None:
    with pytest.raises(DataError, match=f"trained on {ENTITIES} entities, but the graph has 9"):
        load(folder, entities=9)
    with pytest.raises(DataError, match=r"kg_encoder\.comp: expected \[9, 2\], found"):
        load(folder, relations=9)


@pytest.mark.parametrize("part", ["rec", "conv"])
def test_a_missing_file_is_named(folder: Path, part: str) -> None:
    (folder / checkpoint.WEIGHTS[part]).unlink()
    with pytest.raises(ConfigError, match=rf"expected .*{part}_model.model\.pt"):
        load(folder)


def test_backbones_that_do_not_fit_are_refused(folder: Path) -> None:
    def load_with(**named: str) -> None:
        checkpoint.load(
            folder, entities=ENTITIES, relations=RELATIONS, corpus="sample", named=named
        )

    inside = folder / "backbones"
    with pytest.raises(DataError, match="expected a model of type gpt2, found 'roberta'"):
        load_with(gpt2=str(inside / "roberta"))
    (inside / "gpt2" / "pytorch_model.bin").unlink()
    with pytest.raises(ConfigError, match=r"no weights in .*gpt2"):
        load_with()
    (inside / "gpt2" / "config.json").unlink()
    with pytest.raises(ConfigError, match=r"no config\.json in .*gpt2"):
        load_with()


def test_the_registry_makes_it(folder: Path) -> None:
    around = SystemContext(CORPUS, list_length=3)
    options = {"checkpoint": str(folder), "fidelity": "ievalm"}
    system = load_recommender("unicrs", "u", options, around)
    assert isinstance(system, UniCRS)
    assert system.settings["fidelity"] == "ievalm"
    assert len(asyncio.run(system.respond(TALKS[0])).items) == 3


def test_weights_that_are_not_finite_are_refused(folder: Path) -> None:
    path = folder / checkpoint.WEIGHTS["rec"]
    tensors = weights.read_tensors(path)
    tensors["entity_proj2.bias"][0] = torch.inf
    weights.write_tensors(path, tensors)
    with pytest.raises(DataError, match="not finite"):
        UniCRS(checkpoint=str(folder)).prepared(SystemContext(CORPUS))
