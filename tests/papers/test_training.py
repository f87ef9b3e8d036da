"""Trainings of judges: what is learned, and that a model rates by it afterwards."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from recjury.errors import UserError
from recjury.judges import DialogueQuality
from recjury.llm import Ask, Gateway, Model, open_model
from recjury.papers.lora import train
from recjury.papers.training import (
    PairTraining,
    QualityTraining,
    held_out,
    pair_lessons,
    quality_lessons,
    training_pairs,
    word_of,
)
from recjury.records import Rating, Unit
from recjury.store import Store
from tests.logs import LOG


def uss(path: Path, rating: int, number: int = 30) -> Path:
    lines = []
    for film in range(number):
        said = [("USER", f"Film {film}?"), ("SYSTEM", "Heat."), ("USER", "Good.")]
        lines += [f"{who}\t{text}\t\t{rating}" for who, text in said]
        lines += [f"USER\tOVERALL\t\t{rating},{rating}", ""]
    path.write_text("\n".join(lines))
    return path


def pairs(folder: Path, **more: Any) -> PairTraining:
    dialogues = [{"turns": [f"d{n} t{m}" for m in range(4)]} for n in range(12)]
    written = {"context": ["c0", "c1"], "positives": ["yes"], "adversarial": ["almost"]}
    for name, rows in (("dialogues", dialogues), ("written", [written])):
        (folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    given = {
        "model": "m",
        "out": "o",
        "data": str(folder / "dialogues.jsonl"),
        "adversarial": str(folder / "written.jsonl"),
        "pairs": 40,
    }
    return PairTraining.model_validate(given | more)


def test_half_of_the_negatives_are_adversarial_and_none_is_of_its_own_dialogue(
    tmp_path: Path,
) -> None:
    drawn = list(training_pairs(pairs(tmp_path)))
    assert len(drawn) == 40
    assert drawn == list(training_pairs(pairs(tmp_path)))
    assert drawn != list(training_pairs(pairs(tmp_path, seed=1)))
    worse = [each.worse.response[0].text for each in drawn]
    assert worse.count("almost") == 20
    for better, other in drawn:
        own, wrong = better.response[0].text, other.response[0].text
        assert own.split()[0] != wrong.split()[0] or wrong == "almost"
        assert better.turns[-1].speaker == "user"
    assert {each.better.turns == each.worse.turns for each in drawn} == {True, False}


def test_words_say_where_the_better_one_stands(tmp_path: Path) -> None:
    lessons = list(pair_lessons(pairs(tmp_path, hard=1.0)))
    assert {each.word for each in lessons} == {"A", "B"}
    for each in lessons:
        text = each.prompt[-1].text
        worse_is_first = text.index("almost") < text.index("B:")
        assert each.word == ("B" if worse_is_first else "A")
    direct = list(pair_lessons(pairs(tmp_path, method="direct", hard=0.0)))
    assert [each.word for each in direct[:2]] == ["Yes", "No"]
    assert len(direct) == 80


def test_no_dialogue_is_learned_that_is_tested(tmp_path: Path) -> None:
    folder = tmp_path / "sets"
    folder.mkdir()
    row = {"id": "1", "history": ["x", "D3, t1!", "d3 t2"], "response": "r", "target": 1.0}
    (folder / "fed-turn.jsonl").write_text(json.dumps(row))
    asked = pairs(tmp_path, hard=0.0, tested=f"dialogue-eval:{folder}", pairs=200)
    said = {turn.text for pair in training_pairs(asked) for each in pair for turn in each.response}
    assert not any(text.startswith("d3 ") for text in said)
    assert any(text.startswith("d4 ") for text in said)


@pytest.mark.parametrize(
    ("more", "names"),
    [({"adversarial": ""}, "hard=0"), ({"data": "nowhere.jsonl"}, "nowhere.jsonl")],
)
def test_missing_data_is_said(tmp_path: Path, more: dict[str, Any], names: str) -> None:
    with pytest.raises(UserError, match=names):
        list(training_pairs(pairs(tmp_path, **more)))


def test_a_file_of_another_form_is_said_with_its_line(tmp_path: Path) -> None:
    asked = pairs(tmp_path)
    Path(asked.data).write_text('{"turns": ["a", "b"]}\n{"turns": "ab"}')
    with pytest.raises(UserError, match=r"dialogues\.jsonl:2"):
        list(training_pairs(asked))


@pytest.mark.parametrize(
    ("rating", "words", "word"),
    [
        (1, "12345", "1"),
        (2.6, "12345", "3"),
        (5, "12345", "5"),
        (3, ["no", "yes"], "no"),
        (3.3, ["no", "yes"], "yes"),
    ],
)
def test_the_word_of_a_rating(rating: float, words: Any, word: str) -> None:
    assert word_of(rating, list(words)) == word


def test_a_tenth_is_never_learned(tmp_path: Path) -> None:
    asked = QualityTraining(model="m", out="o", data=str(uss(tmp_path / "Own.txt", 4)))
    kept = held_out(asked)
    assert len(kept) == 3
    learned = "".join(each.prompt[-1].text for each in quality_lessons(asked))
    for number in range(30):
        assert (f"Film {number}?" in learned) == (f"Own-{number}" not in kept)


def tiny(folder: Path) -> str:
    """A Llama of one small layer, and a tokenizer of single characters."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    pytest.importorskip("peft")
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    letters = ["</s>", *sorted(pre_tokenizers.ByteLevel.alphabet())]
    letter = Tokenizer(models.BPE({word: n for n, word in enumerate(letters)}, []))
    letter.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    letter.decoder = decoders.ByteLevel()
    template = "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}<assistant>"
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=letter, eos_token="</s>", chat_template=template
    ).save_pretrained(folder)
    torch.manual_seed(0)
    config = transformers.LlamaConfig(
        vocab_size=len(letters),
        hidden_size=32,
        intermediate_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        max_position_embeddings=4096,
        eos_token_id=0,
        initializer_range=0.3,
    )
    transformers.LlamaForCausalLM(config).save_pretrained(folder)
    return str(folder)


def short(folder: Path) -> str:
    """A pack whose prompts are short, since each character is a token."""
    folder.mkdir()
    texts = {"manifest.yaml": "words: ['1', '2', '3', '4', '5']", "system.j2": "Rate."}
    for name, text in {**texts, "logits.j2": "{{ conversation }}"}.items():
        (folder / name).write_text(text)
    return str(folder)


def rated(folder: str, adapter: str, prompts: str) -> float:
    """The rating of a dialogue by the model in a folder."""
    model = Model(provider="transformers", name=folder, adapter=adapter)

    async def rate() -> float:
        with Store(":memory:") as store:
            gateway = Gateway({"main": model}, store, open_model)
            judge = DialogueQuality(level="dialogue", prompts=prompts)
            (found,) = await judge.rate(LOG, Ask(gateway, Unit("c")))
            await gateway.aclose()
            assert isinstance(found, Rating)
            return found.score or 0.0

    return asyncio.run(rate())


@pytest.mark.filterwarnings("ignore:.*is_gradient_checkpointing:FutureWarning")  # of peft
def test_a_model_rates_as_it_has_learned(tmp_path: Path) -> None:
    folder = tiny(tmp_path / "tiny")
    prompts = short(tmp_path / "short")
    asked = QualityTraining(
        model=folder,
        prompts=prompts,
        out=str(tmp_path / "adapter"),
        data=str(uss(tmp_path / "Own.txt", 5, number=6)),
        epochs=12,
        rate=0.03,
        alpha=64,
        batch=5,
        longest=4000,
    )
    told: list[tuple[int, int]] = []
    found = train(asked, quality_lessons(asked), lambda s: told.append((s.epoch, s.epochs)))
    assert (found.learned, found.too_long) == (5, 0)
    assert told[-1] == (12, 12)
    assert found.last_loss < found.first_loss / 2
    assert rated(folder, asked.out, prompts) > 4.5
    with pytest.raises(UserError, match="there already"):
        train(asked, ())


def test_prompts_that_are_too_long_are_counted(tmp_path: Path) -> None:
    folder = tiny(tmp_path / "tiny")
    data = str(uss(tmp_path / "Own.txt", 5))
    asked = QualityTraining(model=folder, out=str(tmp_path / "new"), data=data, longest=9)
    with pytest.raises(UserError, match="`longest`"):
        train(asked, quality_lessons(asked))
    assert not (tmp_path / "new").exists()
