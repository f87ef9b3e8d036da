"""The tiny weights that ship: they load, fit the sample of today, and hold conversations."""

import asyncio
import shutil
from pathlib import Path

import pytest

from recjury.agents import SystemContext, load_recommender
from recjury.agents.neural.description import read_metadata
from recjury.agents.shipped import FOLDER
from recjury.corpora import open_corpus
from recjury.corpora.folder import FolderCorpus, sample_folder
from recjury.errors import ConfigError
from recjury.records import ConversationLog, Scenario
from recjury.simulator import LeakGuard, RuleUser, SessionSettings, converse

CORPUS = open_corpus("sample")
KINDS = ("barcor", "kbrd", "unicrs")


def conversations(kind: str, number: int) -> list[ConversationLog]:
    """Conversations of five rounds with the rule user, all at the same time."""

    async def played() -> list[ConversationLog]:
        system = load_recommender(kind, kind, {}, SystemContext(CORPUS))
        user, guard = RuleUser(CORPUS.catalogue), LeakGuard(CORPUS.catalogue)

        async def one(scenario: Scenario) -> ConversationLog:
            return await converse(
                user, system, scenario, guard, CORPUS.catalogue, SessionSettings(min_rounds=5)
            )

        try:
            scenarios = CORPUS.scenarios("test", limit=number).scenarios
            return list(await asyncio.gather(*map(one, scenarios)))
        finally:
            await system.aclose()

    return asyncio.run(played())


@pytest.mark.parametrize("kind", KINDS)
def test_they_were_trained_on_the_sample_as_it_is(kind: str) -> None:
    metadata = read_metadata(FOLDER / kind)
    assert metadata is not None
    assert (metadata.model, metadata.corpus) == (kind, "sample")
    # When this fails the catalogue has changed: `make demo-weights`.
    assert metadata.catalogue == CORPUS.catalogue.digest


@pytest.mark.parametrize("kind", KINDS)
def test_they_speak_name_what_they_list_and_do_not_loop(kind: str) -> None:
    turns = [turn for log in conversations(kind, 8) for turn in log.system_turns]
    assert len(turns) == 40
    named = [{m.id for m in CORPUS.catalogue.link(turn.text)} for turn in turns]
    listed = [{item.id for item in turn.items} for turn in turns]
    assert sum(bool(a & b) for a, b in zip(named, listed, strict=True)) > 30
    assert len({turn.text for turn in turns}) > 38
    assert sum(len(turn.text.split()) for turn in turns) / 40 > 8


def test_together_they_are_small() -> None:
    assert sum(path.stat().st_size for path in FOLDER.rglob("*") if path.is_file()) < 8e6


def test_another_corpus_needs_a_checkpoint_of_its_own() -> None:
    other = FolderCorpus(sample_folder(), name="mine")
    with pytest.raises(ConfigError, match=r"name a checkpoint .*weights in the package") as caught:
        load_recommender("kbrd", "kbrd", {}, SystemContext(other))
    assert str(caught.value).startswith("system kbrd: ")


def test_a_folder_that_is_called_sample_is_another_corpus(tmp_path: Path) -> None:
    folder = tmp_path / "sample"
    shutil.copytree(sample_folder(), folder)
    around = SystemContext(open_corpus(str(folder)))
    load_recommender("kbrd", "kbrd", {}, around)  # as it ships, it may be anywhere
    with (folder / "films.jsonl").open("a", encoding="utf-8") as films:
        films.write('{"id": "mine", "title": "Of my own"}\n')
    around = SystemContext(open_corpus(str(folder)))
    with pytest.raises(ConfigError, match=r"name a checkpoint .*folder named sample has other"):
        load_recommender("kbrd", "kbrd", {}, around)
