"""Probabilities of words from a real vLLM: ratings, a trained adapter, prompts too long."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from recjury.errors import PromptTooLong
from recjury.fine_tuning import LoraPlan, TuningExample, fine_tune
from recjury.judges import EvaluatorContext
from recjury.judges.dialogue_quality.evaluator import QualityEvaluator
from recjury.judges.dialogue_quality.prompts import RATINGS
from recjury.judges.dialogue_quality.subjects import Subject
from recjury.judges.g_eval.evaluator import GEvaluator
from recjury.llm import ChoiceOdds, Gateway, NullRecorder
from recjury.llm.chat_tokens import chat_tokens
from recjury.llm.model_kinds import read_model
from recjury.records import ChatRequest, ConversationRecord, Level, Message, Rating, Speaker, Turn
from tests.judges.cases import a_log
from tests.questions import ask_odds

ASKED = ChatRequest("main", (Message("user", ("Judge it. Reply with 1, 2, 3, 4 or 5.",)),), "test")


@pytest.fixture(scope="module")
def adapter(tiny: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An adapter that recjury trains: it makes 5 likelier."""
    pytest.importorskip("peft")
    out = tmp_path_factory.mktemp("trained") / "adapter"
    examples = [TuningExample(ASKED.messages, "5")] * 16
    plan = LoraPlan(learning_rate=1e-2, epochs=4, batch=4, device="cpu")
    report = fine_tune(tiny[0], examples, out, plan)
    assert report.last_loss < report.first_loss
    return out


def _by_transformers(model: Path, adapter: Path | None) -> dict[str, float]:
    """The same over the tokens of the ratings alone, as the constraint leaves them."""
    import torch
    from peft import PeftModel
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(model)
    llama = AutoModelForCausalLM.from_pretrained(model, dtype=torch.float32)
    llama = llama if adapter is None else PeftModel.from_pretrained(llama, str(adapter))
    prompt = torch.tensor([chat_tokens(tokenizer, ASKED.messages, "tiny")])
    labels = [tokenizer.encode(rating) for rating in RATINGS]
    assert all(len(found) == 1 for found in labels)
    with torch.no_grad():
        scores = llama.eval()(prompt).logits[0, -1]
    shares = scores[torch.tensor([found[0] for found in labels])].softmax(0).tolist()
    return dict(zip(RATINGS, shares, strict=True))


@pytest.mark.filterwarnings("ignore::FutureWarning")  # peft's own
def test_ratings_have_the_probabilities_of_transformers_with_a_trained_adapter(
    loop: asyncio.Runner,
    entry: dict[str, Any],
    tiny: tuple[Path, Path],
    adapter: Path,
    figures: list[str],
) -> None:
    tuned = entry | {"adapter": str(adapter), "name": "tuned"}
    models = {"main": read_model(entry), "tuned": read_model(tuned)}

    async def ask() -> list[ChoiceOdds]:
        async with Gateway(models, NullRecorder()) as gateway:
            await gateway.check()
            found = []
            for alias in models:
                answer = await ask_odds(gateway, [ASKED.messages], RATINGS, model=alias)
                assert answer.odds is not None, answer.rating.reason
                found.append(answer.odds)
            return found

    plain, learned = loop.run(ask())
    assert plain.mass == pytest.approx(1, abs=1e-3)
    assert learned.odds["5"] > plain.odds["5"]
    worst = 0.0
    for found, place in ((plain, None), (learned, adapter)):
        wanted = _by_transformers(tiny[0], place)
        worst = max(worst, *(abs(found.odds[rating] - wanted[rating]) for rating in RATINGS))
    assert worst < 1e-3
    figures.append(
        f"probabilities of the ratings 1 to 5: at most {worst:.1e} from those of transformers, "
        f"also with an adapter that recjury trained (5: {plain.odds['5']:.3f}, then "
        f"{learned.odds['5']:.3f})"
    )


def test_a_dialogue_that_is_too_long_is_cut_until_it_fits(
    loop: asyncio.Runner, entry: dict[str, Any]
) -> None:
    said = "A quiet drama with long takes, please, and nothing that is loud. " * 40
    turns = tuple(
        Turn(speaker=(Speaker.USER, Speaker.SYSTEM)[number % 2], text=f"{number}. {said}")
        for number in range(120)
    )
    long = (Message("user", (said * 60,)),)

    async def ask() -> tuple[float | None, int]:
        async with Gateway({"main": read_model(entry)}, NullRecorder()) as gateway:
            refused = await ask_odds(gateway, [long], RATINGS)
            assert isinstance(refused.failure, PromptTooLong)
            context = EvaluatorContext(None, gateway, gateway.models)
            rater = QualityEvaluator().prepared(context)
            (found,) = await rater.answers(Subject("long", Level.DIALOGUE, turns, turns))
            return found.rating.score, found.left_out

    score, left_out = loop.run(ask())
    assert score is not None
    assert 0 < left_out < 120


@pytest.mark.parametrize(
    "config",
    [
        QualityEvaluator(),
        QualityEvaluator(labels="binary"),
        QualityEvaluator(method="generation", order="analysis-first"),
        QualityEvaluator(method="generation", order="rating-first"),
        GEvaluator(),
        GEvaluator(method="samples", samples=3),
    ],
    ids=["logits", "binary", "analysis-first", "rating-first", "g-eval", "g-eval-samples"],
)
def test_every_way_of_asking_gives_a_score(
    loop: asyncio.Runner, entry: dict[str, Any], config: QualityEvaluator | GEvaluator
) -> None:
    spec = read_model(entry)

    async def rate() -> list[tuple[float | None, str]]:
        async with Gateway({"main": spec}, NullRecorder()) as gateway:
            rater = config.prepared(EvaluatorContext(None, gateway, {"main": spec}))
            log = ConversationRecord(a_log("Try Ronin (1998).", "Or Fargo (1996)."))
            found: list[Rating] = []
            for stage in rater.stages:
                found += (await rater.evaluate(stage.name, log, {})).ratings
            return [(rating.score, rating.reason) for rating in found]

    scores = loop.run(rate())
    assert len(scores) == (3 if isinstance(config, QualityEvaluator) else 9)
    assert [reason for score, reason in scores if score is None] == []
