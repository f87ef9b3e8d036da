"""What neural systems answer, over weights that a training has made in seconds."""

import asyncio
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file

from recjury.agents import load_system
from recjury.agents.neural import NeuralSystem
from recjury.agents.neural.settings import neural_class
from recjury.agents.neural.training import Step, train
from recjury.corpora import Corpus
from recjury.errors import SystemFailed
from recjury.records import Conversation, SystemReply, Turn
from tests.agents.neural.conftest import KINDS, training
from tests.simulator.doubles import ask_of

TALKS = [
    ["I loved Emma."],
    ["Hello", "What do you like?", "Something by Jane Austen, please"],
    ["Hi", "Have you read Emma?", "Yes, a long time ago. Is there something darker?"],
    ["Any good mystery?"],
    [""],
]


def conversation(*texts: str) -> Conversation:
    speakers = ("user", "system")
    turns = [Turn(speaker=speakers[n % 2], text=text) for n, text in enumerate(texts)]
    return Conversation(id="c", turns=tuple(turns))


def system(kind: str, weights: Path, corpus: Corpus, **settings: Any) -> NeuralSystem:
    found: NeuralSystem = neural_class(kind)(corpus, str(weights / kind), **settings)
    return found


def answers(of: NeuralSystem, talks: list[list[str]]) -> list[SystemReply]:
    async def together() -> list[SystemReply]:
        return await asyncio.gather(*(of.respond(conversation(*texts)) for texts in talks))

    return asyncio.run(together())


@pytest.mark.parametrize("fidelity", ["ievalm", "corrected"])
@pytest.mark.parametrize("kind", KINDS)
def test_replies_do_not_depend_on_their_batch(
    weights: Path, books: Corpus, kind: str, fidelity: Any
) -> None:
    together = answers(system(kind, weights, books, fidelity=fidelity), TALKS)
    alone = answers(system(kind, weights, books, fidelity=fidelity, batch=1), TALKS)
    assert together == alone
    assert all(len(reply.items) == 10 for reply in together)


@pytest.mark.parametrize("kind", KINDS)
def test_a_long_history_is_cut(weights: Path, books: Corpus, kind: str) -> None:
    long = ["I like Persuasion and Emma.", "Which one more?"] * 500
    (reply,) = answers(system(kind, weights, books), [[*long, "Both."]])
    assert len(reply.items) == 10


@pytest.mark.parametrize("kind", KINDS)
def test_a_training_learns(kind: str, weights: Path, steps: dict[str, list[Step]]) -> None:
    assert (weights / kind / "recjury.json").is_file()
    for part in ("lists", "replies"):
        losses = [step.loss for step in steps[kind] if step.part == part]
        assert len(losses) == 8
        assert losses[-1] < losses[0]


def test_entities_decide_kbrds_list(weights: Path, books: Corpus) -> None:
    kbrd = system("kbrd", weights, books, length=40)
    author = next(iter(books.catalogue)).attributes["author"][0]
    none, item, value = answers(kbrd, [["Hello"], ["I loved Emma."], [f"Anything by {author}?"]])
    popular = sorted(books.catalogue, key=lambda each: -each.popularity)
    assert [ref.id for ref in none.items if not isinstance(ref, str)] == [x.id for x in popular]
    assert len({none.items, item.items, value.items}) == 3


def test_names_of_the_list_stand_in_the_text(weights: Path, books: Corpus) -> None:
    class Writes(neural_class("kbrd")):  # type: ignore[misc]
        def write(self, said: Any) -> list[str]:
            return ["Try <movie> or <movie>."] * len(said)

    writes = Writes(books, str(weights / "kbrd"))
    first, *_ = answers(writes, [["I loved Emma."]])
    names = [ref.name for ref in first.items if not isinstance(ref, str)]
    assert first.text == f"Try {names[0]} or {names[1]}."
    (again,) = answers(writes, [["I loved Emma.", first.text, "No."]])
    assert names[0] not in again.text


def test_too_little_memory_is_one_line(weights: Path, books: Corpus) -> None:
    class Greedy(neural_class("kbrd")):  # type: ignore[misc]
        def write(self, said: Any) -> list[str]:
            torch.empty(2**48)
            return []

    with pytest.raises(SystemFailed, match=r"the memory does not suffice .* lower `batch`"):
        answers(Greedy(books, str(weights / "kbrd")), [["Hello"]])


def test_a_training_goes_on(weights: Path, tmp_path: Path) -> None:
    steps: list[Step] = []
    out = tmp_path / "more"
    asked = training("unicrs", start=str(weights / "unicrs"), out=str(out), epochs=1, limit=4)
    found = train(asked, steps.append)
    assert found.folder == out
    assert (out / "backbones" / "roberta-base" / "pytorch_model.bin").is_file()
    assert {step.part for step in steps} == {"lists", "replies"}


def test_a_training_goes_on_from_safetensors(weights: Path, tmp_path: Path, books: Corpus) -> None:
    """What it has learned is what is loaded."""
    start, out = tmp_path / "start", tmp_path / "more"
    shutil.copytree(weights / "barcor", start)
    path = start / "rec_model" / "pytorch_model.bin"
    tensors = {name: t.clone() for name, t in torch.load(path, weights_only=True).items()}
    save_file(tensors, path.with_name("model.safetensors"))
    path.unlink()
    asked = training("barcor", start=str(start), out=str(out), epochs=1, rate=0.1, limit=8)
    train(asked, lambda _: None)
    before, after = (neural_class("barcor")(books, str(folder)) for folder in (start, out))
    lists = ([each.items for each in answers(of, TALKS)] for of in (before, after))
    assert next(lists) != next(lists)


def test_the_same_training_makes_the_same_weights(tmp_path: Path, books: Corpus) -> None:
    for name in ("one", "other"):
        asked = training("kbrd", out=str(tmp_path / name), epochs=1, reply_epochs=1, limit=8)
        train(asked, lambda _: None)
    one, other = (neural_class("kbrd")(books, str(tmp_path / n)) for n in ("one", "other"))
    assert answers(one, TALKS) == answers(other, TALKS)


def test_a_campaign_connects_it(weights: Path, books: Corpus) -> None:
    settings = {"kind": "barcor", "weights": str(weights / "barcor"), "length": 3}
    loaded = load_system(settings, books, lambda kind, name: "")
    turn = asyncio.run(loaded.turn(conversation("Any good mystery?"), ask_of()))
    assert len(turn.items) == 3
    assert not turn.linked
