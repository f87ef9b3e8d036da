"""Training KBRD on the sample, in seconds."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from recjury.agents import SystemContext
from recjury.agents.kbrd import checkpoint
from recjury.agents.kbrd.dataset import (
    ENTITY_LIMIT,
    Instance,
    Splits,
    instances,
    space_of,
    splits,
)
from recjury.agents.kbrd.model import KbrdModel
from recjury.agents.kbrd.training import KbrdHyperparameters, KbrdRanking
from recjury.agents.neural.systems import KBRD
from recjury.agents.training.hyperparameters import TrainingPlan
from recjury.agents.training.loop import fit
from recjury.agents.training.recall import popularity_ranks, recalls
from recjury.agents.training.report import TrainingReport
from recjury.agents.training.run import TrainingRun, train_system
from recjury.corpora import Corpus, open_corpus
from recjury.errors import ConfigError, DataError
from recjury.records import Conversation
from recjury.tables import WorkProgress
from tests.agents.conversations import after, talk

CORPUS = open_corpus("sample")


class Saying(WorkProgress):
    """Keeps what it is told."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def say(self, line: str) -> None:
        self.said.append(line)


QUICK = KbrdHyperparameters(
    recommender=TrainingPlan(
        epochs=6, patience=6, batch=32, learning_rate=3e-4, warm_up=0.0, decay=False
    ),
    generator=None,
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("kbrd")


@pytest.fixture(scope="module")
def report(folder: Path) -> TrainingReport:
    return train_system(QUICK, CORPUS, folder, seed=1)


def test_the_loss_falls(report: TrainingReport) -> None:
    found = losses(report)
    assert found == sorted(found, reverse=True)
    assert found[-1] < 0.9 * found[0]


def test_recall_beats_popularity(report: TrainingReport) -> None:
    at_50 = {recall.k: recall for recall in report.test["all"]}[50]
    popular = {recall.k: recall for recall in report.floors["popularity"]["all"]}[50]
    assert at_50.value > popular.value + 0.1
    assert at_50.low <= at_50.value <= at_50.high
    assert at_50.n == report.test_instances == len(instances(CORPUS, "test"))


def test_the_best_epoch_is_kept(report: TrainingReport, folder: Path) -> None:
    (part,) = report.parts
    best = max(part.epochs, key=lambda epoch: epoch.quality)
    assert part.best_epoch == best.epoch
    space = space_of(CORPUS)
    loaded = checkpoint.load(folder, entities=space.entities, relations=space.relations)
    assert loaded.metadata is not None
    assert loaded.metadata.catalogue == CORPUS.catalogue.digest
    assert loaded.metadata.trained_on == report.trained_on == "train split"
    chosen = loaded.metadata.hyperparameters
    assert (chosen["dim"], chosen["recommender.learning_rate"]) == (128, 3e-4)
    assert not any(name.startswith("generator.") or name == "vocabulary" for name in chosen)
    parts = splits(CORPUS)
    ranks = KbrdRanking(loaded.model, space, parts).ranks(parts.stop)
    assert float((ranks <= 10).mean()) == best.figures["recall@10"]


@pytest.mark.long
def test_the_same_seed_gives_the_same_losses_and_leaves_torch_as_it_was(
    few: Corpus, tmp_path: Path
) -> None:
    first = train_system(QUICK, few, tmp_path, seed=1)
    torch.manual_seed(7)
    expected = torch.rand(1)
    torch.manual_seed(7)
    threads = torch.get_num_threads()
    progress = Saying()
    again = train_system(QUICK, few, tmp_path, seed=1, progress=progress)
    assert torch.rand(1) == expected
    assert torch.get_num_threads() == threads
    assert progress.said == [epoch.line for epoch in again.parts[0].epochs]
    assert losses(again) == pytest.approx(losses(first), rel=1e-4)
    other = train_system(QUICK, few, tmp_path, seed=2)
    assert losses(other) != pytest.approx(losses(first), rel=1e-4)


def losses(report: TrainingReport) -> list[float]:
    return [epoch.loss for epoch in report.parts[0].epochs]


def test_training_stops_when_validation_no_longer_improves(few: Corpus, tmp_path: Path) -> None:
    plan = TrainingPlan(
        epochs=30, patience=2, batch=32, learning_rate=1e-2, warm_up=0.0, decay=False
    )
    hyperparameters = KbrdHyperparameters(recommender=plan, generator=None)
    (part,) = train_system(hyperparameters, few, tmp_path).parts
    assert len(part.epochs) == part.best_epoch + 2 < 30


@pytest.mark.parametrize(
    ("name", "value"), [("epochs", 0), ("batch", 0), ("learning_rate", 0.0), ("patience", -1)]
)
def test_senseless_hyperparameters_are_refused(name: str, value: float) -> None:
    with pytest.raises(ConfigError, match=f"{name} must be at least"):
        TrainingPlan(**{"epochs": 1, name: value})  # type: ignore[arg-type]  # that is the point
    assert TrainingPlan(epochs=1, weight_decay=0, warm_up=0).weight_decay == 0


def test_the_test_split_is_ranked_in_one_thread(tmp_path: Path) -> None:
    threads: list[int] = []

    def ranks(some: Sequence[Instance]) -> NDArray[np.int64]:
        threads.append(torch.get_num_threads())
        return np.ones(len(some), dtype=np.int64)

    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        TrainingRun(QUICK, CORPUS, seed=0).report(tmp_path, ranks)
        assert (threads, torch.get_num_threads()) == ([1], 2)
    finally:
        torch.set_num_threads(before)


@pytest.mark.usefixtures("report")
def test_scores_that_are_not_finite_are_not_ranked(folder: Path) -> None:
    space, parts = space_of(CORPUS), splits(CORPUS)
    model = checkpoint.load(folder, entities=space.entities, relations=space.relations).model
    objective = KbrdRanking(model, space, parts)
    with torch.no_grad():
        model.kg_encoder.bias[0] = torch.nan
    with pytest.raises(DataError, match="not finite"):
        objective.ranks(parts.stop)
    with pytest.raises(DataError, match="the recommender's training failed after 0 steps"):
        fit(model, objective, TrainingPlan(epochs=1), seed=0)


def test_what_cannot_be_learnt_from_is_refused() -> None:
    instances = Splits([Instance("d", (), 0, mentioned=False)], [], "train split", "nothing")
    model = KbrdModel(3, 1, dim=4)
    with pytest.raises(DataError, match="the train split names no entity"):
        KbrdRanking(model, space_of(CORPUS), instances)


def test_a_corpus_without_a_train_split_trains_on_nine_tenths_of_validation(
    data_folder: Path,
) -> None:
    redial: Corpus = open_corpus("redial", data_folder)
    parts = splits(redial)
    training = {each.dialogue for each in parts.train}
    stopping = {each.dialogue for each in parts.stop}
    assert not training & stopping
    assert len(stopping) == (len(training) + len(stopping)) // 10
    assert "no train split" in parts.trained_on


def test_opendialkg_has_the_published_instances(data_folder: Path) -> None:
    corpus = open_corpus("opendialkg", data_folder)
    counts = [len(instances(corpus, split)) for split in ("train", "valid", "test")]
    assert counts == [5893, 1253, 1261]
    assert max(len(each.entities) for each in instances(corpus, "train")) <= ENTITY_LIMIT


def test_recalls_count_ranks_and_resample_whole_dialogues() -> None:
    ranks = np.array([1, 1, 30, 30])
    first, ten, fifty = recalls(ranks, ["a", "a", "b", "b"], (1, 10, 50))
    assert (first.value, ten.value, fifty.value) == (0.5, 0.5, 1.0)
    assert (first.low, first.high) == (0.0, 1.0)  # two dialogues: all or nothing
    assert (fifty.low, fifty.high) == (1.0, 1.0)
    assert recalls(np.array([], dtype=np.int64), []) == ()


@pytest.mark.usefixtures("report")
def test_a_user_without_entities_is_ranked_by_popularity(folder: Path) -> None:
    space = space_of(CORPUS)
    top = int(space.items[int(np.argmax(space.popularity))])
    unknown = Instance("d", (), top, mentioned=False)
    loaded = checkpoint.load(folder, entities=space.entities, relations=space.relations)
    objective = KbrdRanking(loaded.model, space, splits(CORPUS))
    assert objective.ranks([unknown]).tolist() == [1]
    assert popularity_ranks(space, [unknown]).tolist() == [1]


def reply_of(folder: Path, *conversations: Conversation) -> list[tuple[str, list[str | None]]]:
    async def run() -> list[tuple[str, list[str | None]]]:
        system = KBRD(checkpoint=str(folder)).prepared(SystemContext(CORPUS))
        try:
            replies = await asyncio.gather(*map(system.respond, conversations))
        finally:
            await system.aclose()
        return [(reply.text, [item.id for item in reply.items]) for reply in replies]

    return asyncio.run(run())


@pytest.mark.usefixtures("report")
def test_it_recommends_for_what_the_conversation_names(folder: Path) -> None:
    kurosawa, hitchcock, nothing = reply_of(
        folder,
        talk("I like films by Akira Kurosawa, such as Ran."),
        talk("I like films by Alfred Hitchcock, such as Psycho."),
        talk("Hello there"),
    )
    assert kurosawa[1] != hitchcock[1]
    assert all(len(set(items)) == 10 for _, items in (kurosawa, hitchcock, nothing))
    named = [mention.id for mention in CORPUS.catalogue.link(kurosawa[0])]
    assert named
    assert set(named) <= set(kurosawa[1])
    assert "?" in nothing[0]
    assert CORPUS.catalogue.link(nothing[0]) == ()


@pytest.mark.usefixtures("report")
def test_it_does_not_name_again_what_was_named(folder: Path) -> None:
    async def run() -> None:
        system = KBRD(checkpoint=str(folder)).prepared(SystemContext(CORPUS))
        conversation = talk("I like thrillers by Alfred Hitchcock.")
        named: set[str] = set()
        for _ in range(3):
            reply = await system.respond(conversation)
            now = {mention.id for mention in CORPUS.catalogue.link(reply.text)}
            assert now
            assert not now & named
            named |= now
            conversation = after(conversation, reply, "What else?")
        await system.aclose()

    asyncio.run(run())


@pytest.mark.usefixtures("report")
def test_settings_name_the_weights_and_the_template(folder: Path) -> None:
    system = KBRD(checkpoint=str(folder)).prepared(SystemContext(CORPUS, list_length=7))
    assert system.settings["text"] == "template"
    assert system.settings["fidelity"] == "corrected"
    assert len(str(system.settings["weights"])) == 16
    assert len(asyncio.run(system.respond(talk("Heat"))).items) == 7
    asyncio.run(system.aclose())
