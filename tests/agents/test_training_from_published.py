"""Training from published backbones: what is kept, recorded, and read again."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest
import torch
from torch import Tensor
from transformers import BartModel, GPT2Model, RobertaModel

from recjury.agents import SystemContext, load_recommender
from recjury.agents.barcor import checkpoint as barcor
from recjury.agents.barcor.objective import BarcorRanking, Untied
from recjury.agents.barcor.training import BarcorHyperparameters as BarcorSettings
from recjury.agents.kbrd.edges import Neighbourhoods, neighbourhoods
from recjury.agents.kbrd.training import KbrdHyperparameters as KbrdSettings
from recjury.agents.neural import weights
from recjury.agents.neural.backbones import find_origin
from recjury.agents.neural.context import prefixed
from recjury.agents.neural.description import Metadata, read_metadata
from recjury.agents.neural.model import ModelSetup
from recjury.agents.training.bart_objective import BartReplying
from recjury.agents.training.bart_start import published_bart
from recjury.agents.training.hyperparameters import TrainingPlan
from recjury.agents.training.loop import Objective, reproducible
from recjury.agents.training.origins import find_origins
from recjury.agents.training.report import TrainingReport
from recjury.agents.training.run import TrainingRun, train_system
from recjury.agents.training.systems import TrainingOptions, train
from recjury.agents.unicrs import checkpoint as unicrs
from recjury.agents.unicrs import prompting
from recjury.agents.unicrs.model import Unicrs
from recjury.agents.unicrs.objective import UnicrsRanking as Prompting
from recjury.agents.unicrs.objective import UnicrsReplying
from recjury.agents.unicrs.recommender import unicrs_model
from recjury.agents.unicrs.training import UnicrsHyperparameters as UnicrsSettings
from recjury.corpora import Corpus
from recjury.errors import ConfigError, DataError
from recjury.records import SystemReply
from tests.agents.conversations import talk
from tests.agents.published import write_bart, write_gpt2, write_roberta
from tests.cli.front_door import recjury

TALKS = [talk("Hello"), talk("I like Psycho, by Alfred Hitchcock.", "Seen Vertigo?", "Yes.")]


class Trained(NamedTuple):
    """A checkpoint, what it learnt from, what was reported, and where its backbones are."""

    corpus: Corpus
    folder: Path
    report: TrainingReport
    named: tuple[str, ...]

    @property
    def metadata(self) -> Metadata:
        found = read_metadata(self.folder)
        assert found is not None
        return found


def write_backbones(system: str, folder: Path) -> tuple[str, ...]:
    if system != "unicrs":
        return (str(write_bart(folder / "bart")),)
    return (
        f"gpt2={write_gpt2(folder / 'gpt2')}",
        f"roberta={write_roberta(folder / 'roberta')}",
    )


@pytest.fixture(scope="module", params=["kbrd", "barcor", "unicrs"])
def trained(
    few: Corpus, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Trained:
    place = tmp_path_factory.mktemp(request.param)
    named = write_backbones(request.param, place)
    report = train(
        request.param, few, place / "out", TrainingOptions(seed=1, epochs=2, backbones=named)
    )
    return Trained(few, place / "out", report, named)


def loaded(trained: Trained, **options: object) -> tuple[Mapping[str, object], list[object]]:
    """What identifies the system, and what it answers."""
    system, around = trained.report.system, SystemContext(trained.corpus, list_length=5)
    options = {"checkpoint": str(trained.folder)} | options
    found = load_recommender(system, system, options, around)

    async def answers() -> list[object]:
        try:
            return [await found.respond(each) for each in TALKS]
        finally:
            await found.aclose()

    return found.settings, asyncio.run(answers())


@pytest.mark.long
def test_every_part_learns(trained: Trained) -> None:
    parts = {part.part: part for part in trained.report.parts}
    wanted = {"prompts"} if trained.report.system == "unicrs" else set()
    assert set(parts) == wanted | {"recommender", "generator"}
    first, last = ({name: part.epochs[n] for name, part in parts.items()} for n in (0, -1))
    # The steps are gentle: only what is measured without dropout shows that so few replies help.
    assert last["generator"].quality > first["generator"].quality
    for name in set(parts) - {"generator"}:
        assert last[name].loss < first[name].loss


@pytest.mark.long
def test_the_description_says_what_it_started_from(trained: Trained) -> None:
    recorded = trained.metadata.backbones
    places = dict(each.rpartition("=")[::2] for each in trained.named)
    frozen = trained.report.system == "unicrs"
    assert {kind or "bart": str(Path(name).resolve()) for kind, name in places.items()} == {
        kind: backbone.name for kind, backbone in recorded.items()
    }
    assert all(backbone.frozen is frozen for backbone in recorded.values())
    assert (trained.folder / "backbones").exists() is not frozen


@pytest.mark.long
def test_it_is_read_without_options_and_always_the_same(trained: Trained) -> None:
    settings, replies = loaded(trained)
    for reply in replies:
        assert isinstance(reply, SystemReply)
        assert len({item.id for item in reply.items}) == 5
    assert loaded(trained) == (settings, replies)


def bart_again(trained: Trained) -> tuple[Objective, Objective]:
    """BARCOR's objectives with the models that were saved."""
    session = TrainingRun(BarcorSettings(), trained.corpus, seed=1)
    found = barcor.load(trained.folder, entities=session.space.entities)
    (name,) = trained.named
    start = published_bart(find_origin(name, "bart"), barcor.LIMITS)
    recommending = BarcorRanking(
        Untied(found.recommender), session.space, session.parts, found.tokens, found.limits.context
    )
    speaking = BartReplying(
        found.generator.model,
        replace(start, tokens=found.tokens, limits=found.limits),
        session.said,
        session.heldout,
        text=prefixed,
    )
    return recommending, speaking


def load_unicrs(folder: Path, corpus: Corpus) -> unicrs.UnicrsCheckpoint:
    sizes = len(corpus.graph.entities), len(corpus.graph.relations)
    return unicrs.load(folder, entities=sizes[0], relations=sizes[1], corpus=corpus.name)


def edges_of(corpus: Corpus) -> Neighbourhoods:
    graph = corpus.graph
    return neighbourhoods(graph.edges, len(graph.entities) + 1, len(graph.relations))


def unicrs_again(trained: Trained) -> tuple[Objective, Objective]:
    """UniCRS's objectives with the models that were saved."""
    session = TrainingRun(UnicrsSettings(), trained.corpus, seed=1)
    model, texts, _, _ = load_unicrs(trained.folder, trained.corpus)
    edges = edges_of(trained.corpus)
    return (
        Prompting(model, texts, session.space, edges, session.parts),
        UnicrsReplying(model, texts, edges, session.said, session.heldout),
    )


@pytest.mark.long
@pytest.mark.parametrize("trained", ["barcor", "unicrs"], indirect=True)
def test_what_is_read_does_as_well_as_what_was_trained(trained: Trained) -> None:
    again = {"barcor": bart_again, "unicrs": unicrs_again}[trained.report.system]
    parts = {part.part: part for part in trained.report.parts}
    with torch.no_grad():
        for objective in again(trained):
            part = parts[objective.part]
            assert objective.figures() == part.epochs[part.best_epoch - 1].figures


@pytest.mark.long
def test_the_same_seed_gives_the_same_weights(
    few: Corpus, trained: Trained, tmp_path: Path
) -> None:
    name, out = trained.report.system, tmp_path / "again"
    train(name, few, out, TrainingOptions(seed=1, epochs=2, backbones=trained.named))
    expected, found = saved(trained.folder), saved(out)
    assert len(expected) > 10
    assert expected.keys() == found.keys()
    for tensor, values in expected.items():
        torch.testing.assert_close(found[tensor], values, atol=1e-4, rtol=1e-4)


def saved(folder: Path) -> dict[str, Tensor]:
    """The tensors in all files of weights, by file and name."""
    files = [path for path in folder.rglob("*") if path.suffix in (".pt", ".bin")]
    assert len(files) == 2
    return {
        f"{path.relative_to(folder)}: {name}": tensor
        for path in files
        for name, tensor in weights.read_tensors(path).items()
    }


@pytest.mark.long
def test_all_barts_start_from_the_published_one(few: Corpus, tmp_path: Path) -> None:
    (name,) = write_backbones("barcor", tmp_path)
    published = BartModel.from_pretrained(name).state_dict()
    still = TrainingPlan(epochs=1, learning_rate=1e-12)
    origins = find_origins("barcor", [name])
    of_barcor = BarcorSettings(recommender=still, generator=still)
    train_system(of_barcor, few, tmp_path / "barcor", origins=origins)
    of_kbrd = KbrdSettings(recommender=still, generator=still)
    train_system(of_kbrd, few, tmp_path / "kbrd", origins=origins)
    for part in ("barcor/rec_model", "barcor/conv_model", "kbrd/conv_model"):
        saved = weights.read_tensors(tmp_path / part / "pytorch_model.bin")
        for tensor_name, tensor in published.items():
            found = saved[f"model.{tensor_name}"][: len(tensor)]
            assert torch.allclose(found, tensor, atol=1e-6)


@pytest.mark.long
@pytest.mark.parametrize("trained", ["kbrd", "barcor"], indirect=True)
def test_a_fine_tuned_bart_is_part_of_the_checkpoint(trained: Trained, tmp_path: Path) -> None:
    (name,) = trained.named
    before = loaded(trained)
    Path(name).rename(tmp_path / "elsewhere")
    try:
        assert loaded(trained) == before
    finally:
        (tmp_path / "elsewhere").rename(name)


@pytest.mark.long
@pytest.mark.parametrize("trained", ["unicrs"], indirect=True)
def test_frozen_backbones_that_have_moved_are_named_anew(trained: Trained) -> None:
    place = trained.folder.parent
    before = loaded(trained)
    (place / "gpt2").rename(place / "moved")
    try:
        with pytest.raises(ConfigError) as caught:
            loaded(trained)
        assert f"backbone gpt2: there is no folder {place.resolve() / 'gpt2'}" in str(caught.value)
        assert "in the system's `backbones: {gpt2: FOLDER}`" in str(caught.value)
        moved = {"gpt2": str(place / "moved")}
        assert loaded(trained, backbones=moved) == before
    finally:
        (place / "moved").rename(place / "gpt2")


@pytest.mark.long
@pytest.mark.parametrize("trained", ["unicrs"], indirect=True)
def test_other_backbones_than_the_prompts_were_trained_for_are_refused(
    trained: Trained, tmp_path: Path
) -> None:
    other = write_roberta(tmp_path / "other", seed=9)
    recorded = trained.metadata.backbones["roberta"]
    with pytest.raises(DataError) as caught:
        loaded(trained, backbones={"roberta": str(other)})
    said = str(caught.value)
    assert said.startswith(f"{other}: has the weights ")
    assert f"roberta {recorded.name} with the weights" in said
    assert recorded.digest in said


@pytest.mark.long
def test_only_prompts_are_trained_and_all_of_the_model_is_read_again(
    few: Corpus, tmp_path: Path
) -> None:
    named = write_backbones("unicrs", tmp_path)
    session = TrainingRun(UnicrsSettings(), few, seed=1)
    edges = edges_of(few)
    plans = dict.fromkeys(("prompts", "recommender", "generator"), TrainingPlan(epochs=1))
    with reproducible(1):
        model, texts, described = prompting.begin(
            session, find_origins("unicrs", named), unicrs.released("few").limits
        )
        before = copied(model)
        prompting.train_prompts(session, model, texts, edges, plans)
    after = copied(model)
    changed = {name.split(".")[0] for name in before if not torch.equal(before[name], after[name])}
    assert changed == {"rec", "conv"}
    published = GPT2Model.from_pretrained(tmp_path / "gpt2").state_dict()
    for name, tensor in published.items():
        assert torch.equal(after[f"gpt2.{name}"][: len(tensor)], tensor)
    words = RobertaModel.from_pretrained(tmp_path / "roberta").get_input_embeddings().weight
    assert torch.equal(after["text.embeddings.word_embeddings.weight"][:-1], words)
    metadata = session.metadata(limits=texts.limits, backbones=described)
    unicrs.save(tmp_path / "out", model, texts, metadata, with_backbones=False)
    read = load_unicrs(tmp_path / "out", few)
    for name, tensor in read.model.state_dict().items():
        assert torch.equal(tensor, after[name])
    kept = unicrs_model(unicrs.UnicrsCheckpoint(model, texts, metadata, "kept"), ModelSetup(few))
    assert kept.answer(TALKS) == unicrs_model(read, ModelSetup(few)).answer(TALKS)


def copied(model: Unicrs) -> dict[str, Tensor]:
    return {name: tensor.clone() for name, tensor in model.state_dict().items()}


@pytest.mark.long
def test_the_command_takes_backbones(
    few_folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (name,) = write_backbones("kbrd", tmp_path)
    out = tmp_path / "out"
    given = ("--set", f"dataset={few_folder}", "--set", "epochs=1")
    command = ["train", "kbrd", *given, "--out", str(out)]
    ended = recjury(monkeypatch, capsys, *command, "--set", f"backbones={name}")
    assert ended.code == 0
    metadata = read_metadata(out)
    assert metadata is not None
    assert metadata.backbones["bart"].name == str(Path(name).resolve())
    refused = recjury(monkeypatch, capsys, *command, "--set", "backbones=gpt2=x")
    assert (refused.code, refused.out) == (2, "")
    assert refused.err == "recjury: backbones: kbrd takes bart=NAME, got 'gpt2=x'\n"
