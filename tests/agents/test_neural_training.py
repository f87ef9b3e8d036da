"""Training BARCOR and UniCRS, and KBRD's generator, on the sample: seconds each."""

import asyncio
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import pytest

from recjury.agents import SystemContext, load_recommender
from recjury.agents.barcor.training import BarcorHyperparameters as BarcorSettings
from recjury.agents.kbrd.dataset import graph_instances
from recjury.agents.kbrd.training import KbrdHyperparameters as KbrdSettings
from recjury.agents.neural.tokens import ITEM
from recjury.agents.training.hyperparameters import TrainingPlan
from recjury.agents.training.replies import learnable_words, training_replies
from recjury.agents.training.report import TrainingReport
from recjury.agents.training.run import SystemPlan, train_system
from recjury.agents.training.systems import TrainingOptions, train
from recjury.agents.unicrs.training import UnicrsHyperparameters as UnicrsSettings
from recjury.corpora import Corpus, open_corpus
from recjury.corpora.folder import sample_folder
from recjury.errors import ConfigError, DataError
from recjury.records import SystemReply
from recjury.tables import WorkProgress
from tests.agents.conversations import talk

CORPUS = open_corpus("sample")
ITEMS = TrainingPlan(epochs=2, batch=16, learning_rate=2e-3, warm_up=0.0, decay=False)
WORDS = TrainingPlan(epochs=2, batch=16, learning_rate=2e-3, warm_up=0.0, decay=False)


def barcor(corpus: Corpus, out: Path, seed: int, words: TrainingPlan = WORDS) -> TrainingReport:
    settings = BarcorSettings(
        recommender=ITEMS, generator=words, width=32, layers=(1, 1), vocabulary=600, facts=200
    )
    return train_system(settings, corpus, out, seed=seed)


def unicrs(corpus: Corpus, out: Path, seed: int, words: TrainingPlan = WORDS) -> TrainingReport:
    settings = UnicrsSettings(
        recommender=ITEMS,
        generator=words,
        width=16,
        layers=1,
        text_width=16,
        vocabulary=600,
        share=0.05,
    )
    return train_system(settings, corpus, out, seed=seed)


def kbrd(corpus: Corpus, out: Path, seed: int, words: TrainingPlan = WORDS) -> TrainingReport:
    settings = KbrdSettings(
        recommender=TrainingPlan(epochs=3, batch=32, learning_rate=3e-4, warm_up=0.0, decay=False),
        generator=words,
        dim=32,
        width=32,
        vocabulary=600,
    )
    return train_system(settings, corpus, out, seed=seed)


TRAINERS = {"kbrd": kbrd, "barcor": barcor, "unicrs": unicrs}


class Trained(NamedTuple):
    folder: Path
    report: TrainingReport


@pytest.fixture(scope="module", params=list(TRAINERS))
def trained(
    few: Corpus, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Trained:
    out = tmp_path_factory.mktemp("trained") / request.param
    return Trained(out, TRAINERS[request.param](few, out, 1))


def losses(report: TrainingReport) -> list[float]:
    return [epoch.loss for part in report.parts for epoch in part.epochs]


@pytest.mark.long
def test_both_losses_fall(trained: Trained) -> None:
    parts = {part.part: part for part in trained.report.parts}
    assert set(parts) == {"recommender", "generator"}
    for part in parts.values():
        losses = [epoch.loss for epoch in part.epochs]
        assert losses == sorted(losses, reverse=True)
        assert losses[-1] < losses[0]


@pytest.mark.long
@pytest.mark.parametrize("system", ["barcor", "unicrs"])
def test_recall_beats_popularity(system: str, tmp_path: Path) -> None:
    """On the whole sample; KBRD's recall is in test_kbrd_training."""
    few_words = TrainingPlan(epochs=1, batch=128)
    report = TRAINERS[system](CORPUS, tmp_path / "out", 1, few_words)
    at_50 = report.test["all"][-1]
    popular = report.floors["popularity"]["all"][-1]
    assert at_50.k == popular.k == 50
    assert at_50.value > popular.value


@pytest.mark.long
def test_the_same_seed_gives_the_same_losses(trained: Trained, few: Corpus, tmp_path: Path) -> None:
    again = TRAINERS[trained.report.system](few, tmp_path / "again", 1)
    assert losses(again) == pytest.approx(losses(trained.report), rel=1e-4)


@pytest.mark.long
def test_the_checkpoint_takes_part_in_conversations(trained: Trained, few: Corpus) -> None:
    async def answer() -> SystemReply:
        kind, options = trained.report.system, {"checkpoint": str(trained.folder)}
        system = load_recommender(kind, kind, options, SystemContext(few))
        try:
            return await system.respond(talk("I like Psycho, by Alfred Hitchcock."))
        finally:
            await system.aclose()

    reply = asyncio.run(answer())
    assert len({item.id for item in reply.items}) == 10
    assert ITEM not in reply.text


class Interrupted(Exception):
    pass


@dataclass
class InterruptAt(WorkProgress):
    """A training that is interrupted after an epoch of this part."""

    part: str

    def say(self, line: str) -> None:
        if line.startswith(self.part):
            raise Interrupted


@pytest.mark.long
@pytest.mark.parametrize("part", ["recommender", "generator"])
def test_interrupted_training_leaves_nothing_and_spares_what_was_there(
    few: Corpus, tmp_path: Path, part: str
) -> None:
    out = tmp_path / "kbrd"
    kbrd(few, out, 1)
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    with pytest.raises(Interrupted):
        train(
            "kbrd",
            few,
            out,
            TrainingOptions(epochs=1),
            progress=InterruptAt(part),
        )
    with pytest.raises(Interrupted):
        train(
            "kbrd",
            few,
            tmp_path / "other",
            TrainingOptions(epochs=1),
            progress=InterruptAt(part),
        )
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before
    assert [path.name for path in tmp_path.iterdir()] == ["kbrd"]


def test_a_folder_with_other_things_is_not_written_to(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years of work", "utf-8")
    with pytest.raises(ConfigError, match="is not empty and is not a checkpoint"):
        train("barcor", CORPUS, tmp_path)
    with pytest.raises(ConfigError, match="is a file"):
        train("unicrs", CORPUS, tmp_path / "thesis.txt")
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


@pytest.mark.parametrize("system", ["kbrd", "barcor", "unicrs"])
def test_without_a_reply_to_learn_no_generator_is_trained(tmp_path: Path, system: str) -> None:
    said = {"role": "system", "text": "Try M.", "films": ["f001"]}
    asked = {"role": "user", "text": "A film, please", "films": []}
    own = tmp_path / "own"
    own.mkdir()
    (own / "films.jsonl").write_text((sample_folder() / "films.jsonl").read_text("utf-8"), "utf-8")
    dialogue = {"id": "d", "split": "train", "turns": [asked, said]}
    (own / "dialogues.jsonl").write_text(json.dumps(dialogue), "utf-8")
    with pytest.raises(DataError, match="own has no reply that a generator can learn from"):
        train(system, open_corpus(str(own)), tmp_path / "out", TrainingOptions(epochs=1))
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("settings", [BarcorSettings, KbrdSettings, UnicrsSettings])
def test_the_size_of_a_corpus_chooses_the_settings(settings: type[SystemPlan]) -> None:
    few, many = settings.small(), settings()
    expected = {1: few, 3999: few, 4000: many, 10**6: many}
    assert {n: settings.suited_to(n) for n in expected} == expected
    assert few != many


def test_unknown_systems_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot train 'bert': expected barcor, kbrd, unicrs"):
        train("bert", CORPUS, tmp_path)


def test_replies_have_a_token_for_what_they_recommend_and_name_nothing_said_before() -> None:
    examples = CORPUS.examples("train")
    found = training_replies(CORPUS, examples, learnable_words(examples))
    assert sum(ITEM in each.reply for each in found) > 500
    for each in found:
        named = {mention.id for text in each.context for mention in CORPUS.catalogue.link(text)}
        said = {mention.id for mention in CORPUS.catalogue.link(each.text)}
        assert not said & named
        assert CORPUS.catalogue.link(each.reply) == ()


def test_sentences_with_words_hardly_anybody_says_are_not_learnt() -> None:
    examples = CORPUS.examples("train")
    known = learnable_words(examples)
    assert {"film", "director"} <= known
    said = {text for each in examples for text in (*each.context, each.response)}
    assert sum("Nottingham" in text for text in said) == 1
    assert not any("Nottingham" in each.reply for each in training_replies(CORPUS, examples, known))
    everything = frozenset(re.findall(r"\w+", " ".join(said).lower()))
    assert any(
        "Nottingham" in each.reply for each in training_replies(CORPUS, examples, everything)
    )


def test_facts_of_the_graph_are_told_as_instances() -> None:
    found = graph_instances(CORPUS, most=50)
    assert found == graph_instances(CORPUS, most=80)[:50]
    for each in found:
        facts = {name for _, name in CORPUS.graph.facts(each.label)}
        (said,) = each.entities
        shared = {name for _, name in CORPUS.graph.facts(said)} | {CORPUS.graph.entities[said]}
        assert facts & shared
