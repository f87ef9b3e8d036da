"""Generating in batches says, token by token, what generating one by one says."""

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest
import torch
from torch import Tensor
from transformers import (
    BartConfig,
    BartForConditionalGeneration,
    GenerationConfig,
    GPT2Config,
    GPT2LMHeadModel,
)

from recjury.agents.neural.bart import BartLanguageModel, padded
from recjury.agents.neural.generation import (
    NEAR_TIE,
    DecodingConfig,
    GenerationBatch,
    Replies,
    generate,
)
from recjury.errors import SystemFailed

VOCABULARY, START, END, PAD = 211, 2, 2, 1
CONFIG = DecodingConfig(tokens=24, end=END, source_ngram=3)


def ragged(number: int, *, seed: int, longest: int = 60) -> list[list[int]]:
    """Conversations of very different lengths."""
    dice = random.Random(seed)
    return [
        [0, *(dice.randrange(4, VOCABULARY) for _ in range(dice.randrange(0, longest))), END]
        for _ in range(number)
    ]


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    """Models this small only lose by sharing processors."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def bart() -> BartForConditionalGeneration:
    torch.manual_seed(3)
    config = BartConfig(
        vocab_size=VOCABULARY, d_model=48, encoder_layers=2, decoder_layers=3,
        encoder_attention_heads=3, decoder_attention_heads=4, encoder_ffn_dim=96,
        decoder_ffn_dim=80, max_position_embeddings=128, init_std=0.3,
        scale_embedding=True, forced_eos_token_id=None,
    )  # fmt: skip
    return BartLanguageModel(config).eval().for_generation()


@pytest.fixture(scope="module")
def gpt2() -> GPT2LMHeadModel:
    torch.manual_seed(4)
    config = GPT2Config(
        vocab_size=VOCABULARY, n_embd=48, n_layer=3, n_head=4, n_positions=160,
        initializer_range=0.3, bos_token_id=0, eos_token_id=END,
    )  # fmt: skip
    found = GPT2LMHeadModel(config).eval()
    found.generation_config = GenerationConfig()
    return found


def bart_batch(
    bart: BartForConditionalGeneration,
    sources: Sequence[Sequence[int]],
    bias: Tensor | None = None,
) -> GenerationBatch:
    ids = padded(sources)

    def alone(row: int, said: list[int]) -> Tensor:
        begun = torch.tensor([[START, *said]])
        scores: Tensor = bart(torch.tensor([sources[row]]), decoder_input_ids=begun).logits[0, -1]
        return scores if bias is None else scores + bias[row]

    return GenerationBatch(
        inputs={"input_ids": ids, "attention_mask": (ids != PAD).long()},
        sources=sources,
        pad=PAD,
        prompt_length=1,
        score_alone=alone,
        bias=bias,
    )


def say(
    bart: BartForConditionalGeneration,
    sources: Sequence[Sequence[int]],
    config: DecodingConfig = CONFIG,
    bias: Tensor | None = None,
) -> list[list[int]]:
    with torch.inference_mode():
        return generate(bart, bart_batch(bart, sources, bias), config).ids


def gpt2_batch(
    gpt2: GPT2LMHeadModel, prompts: Sequence[Sequence[int]], *, counts_prompt: bool = False
) -> GenerationBatch:
    longest = max(map(len, prompts))
    ids = torch.tensor([[PAD] * (longest - len(prompt)) + list(prompt) for prompt in prompts])

    def alone(row: int, said: list[int]) -> Tensor:
        scores: Tensor = gpt2(torch.tensor([[*prompts[row], *said]])).logits[0, -1]
        return scores

    return GenerationBatch(
        inputs={"input_ids": ids, "attention_mask": (ids != PAD).long()},
        sources=[[] for _ in prompts],
        pad=PAD,
        prompt_length=longest,
        score_alone=alone,
        counts_prompt=counts_prompt,
    )


def go_on(
    gpt2: GPT2LMHeadModel, prompts: Sequence[Sequence[int]], config: DecodingConfig = CONFIG
) -> list[list[int]]:
    with torch.inference_mode():
        return generate(gpt2, gpt2_batch(gpt2, prompts), config).ids


def ending(found: Sequence[Sequence[int]]) -> DecodingConfig:
    """A config under which many of these rows end early, at a token that many of them say."""
    said = Counter(token for ids in found for token in set(ids))
    return replace(CONFIG, end=said.most_common(1)[0][0])


def test_bart_says_what_transformers_says_without_us(bart: BartForConditionalGeneration) -> None:
    sources = ragged(8, seed=1)
    for source, found in zip(sources, say(bart, sources), strict=True):
        expected = bart.generate(
            torch.tensor([source]), attention_mask=torch.ones(1, len(source)), num_beams=1,
            do_sample=False, max_length=25, no_repeat_ngram_size=3,
            encoder_no_repeat_ngram_size=3, decoder_start_token_id=START, eos_token_id=END,
            pad_token_id=PAD,
        )[0]  # fmt: skip
        assert [START, *found] == expected.tolist()


def test_gpt2_says_what_transformers_says_without_us(gpt2: GPT2LMHeadModel) -> None:
    prompts = ragged(8, seed=2)
    for prompt in prompts:
        with torch.inference_mode():
            batch = gpt2_batch(gpt2, [prompt], counts_prompt=True)
            (found,) = generate(gpt2, batch, CONFIG).ids
        expected = gpt2.generate(
            torch.tensor([prompt]), attention_mask=torch.ones(1, len(prompt)), do_sample=False,
            max_new_tokens=24, no_repeat_ngram_size=3, eos_token_id=END, pad_token_id=PAD,
        )[0]  # fmt: skip
        assert [*prompt, *found] == expected.tolist()


def test_32_ragged_conversations_of_bart_are_told_what_each_is_told_alone(
    bart: BartForConditionalGeneration,
) -> None:
    sources = ragged(32, seed=6)
    bias = torch.randn(32, VOCABULARY, generator=torch.Generator().manual_seed(1))
    config = ending(say(bart, sources, bias=bias))
    together = say(bart, sources, config, bias)
    alone = [say(bart, [s], config, bias[n : n + 1])[0] for n, s in enumerate(sources)]
    assert together == alone
    assert len({len(each) for each in together}) > 5  # rows ended at different steps


def test_32_ragged_conversations_of_gpt2_are_told_what_each_is_told_alone(
    gpt2: GPT2LMHeadModel,
) -> None:
    prompts = ragged(32, seed=7)
    config = ending(go_on(gpt2, prompts))
    together = go_on(gpt2, prompts, config)
    assert together == [go_on(gpt2, [prompt], config)[0] for prompt in prompts]
    assert len({len(each) for each in together}) > 5


@pytest.mark.slow
def test_who_shares_a_batch_does_not_matter(
    bart: BartForConditionalGeneration, gpt2: GPT2LMHeadModel
) -> None:
    dice = random.Random(8)
    sources, prompts = ragged(64, seed=9), ragged(64, seed=10)
    config = ending(say(bart, sources))
    said = [say(bart, [source], config)[0] for source in sources]
    went_on = [go_on(gpt2, [prompt], config)[0] for prompt in prompts]
    for _ in range(50):
        chosen = dice.sample(range(64), dice.randrange(2, 33))
        assert say(bart, [sources[n] for n in chosen], config) == [said[n] for n in chosen]
        assert go_on(gpt2, [prompts[n] for n in chosen], config) == [went_on[n] for n in chosen]


def test_rounding_cannot_decide_between_tokens_that_do_not_nearly_tie(
    bart: BartForConditionalGeneration, gpt2: GPT2LMHeadModel
) -> None:
    sources = ragged(32, seed=12)
    for model, batch in ((bart, bart_batch(bart, sources)), (gpt2, gpt2_batch(gpt2, sources))):
        begun = {"decoder_input_ids": torch.full((32, 1), START)} if model is bart else {}
        positions = (batch.inputs["attention_mask"].cumsum(1) - 1).clamp(min=0)  # type: ignore[attr-defined]
        if model is gpt2:
            begun["position_ids"] = positions
        with torch.inference_mode():
            scores = model(**batch.inputs, **begun).logits[:, -1]
            alone = torch.stack([batch.score_alone(row, []) for row in range(32)])
        off = (alone - scores).abs().amax(1) / alone.abs().amax(1)
        # Two scores that lie further apart than this keep their order if each moves by less
        # than half of it.
        assert float(off.max()) < NEAR_TIE / 2


class Scripted:
    """Stands in for a language model that always gives the same scores, rounded by a batch."""

    device = torch.device("cpu")

    def __init__(self, scores: Tensor, noise: float = 0.0):
        self._scores, self._noise = scores, noise
        self._dice = torch.Generator().manual_seed(len(scores))

    def generate(
        self,
        ids: Tensor,
        generation_config: GenerationConfig,
        logits_processor: Sequence[object],
    ) -> Tensor:
        """Greedy search as transformers does it."""
        (process,) = logits_processor
        ended = torch.zeros(len(ids), dtype=torch.bool)
        for _ in range(generation_config.max_new_tokens):
            noise = self._noise * torch.randn(self._scores.shape, generator=self._dice)
            best = process(ids, self._scores + noise).argmax(1)  # type: ignore[operator]
            best = best.masked_fill(ended, generation_config.pad_token_id)
            ids, ended = (
                torch.cat([ids, best[:, None]], 1),
                ended | (best == generation_config.eos_token_id),
            )
            if bool(ended.all()):
                break
        return ids


def scripted(
    scores: list[list[float]],
    config: DecodingConfig,
    prompt: Sequence[int] = (0,),
    noise: float = 0.0,
    **more: object,
) -> Replies:
    given = torch.tensor(scores)
    batch = GenerationBatch(
        inputs={"ids": torch.tensor([list(prompt)] * len(scores))},
        sources=[[] for _ in scores],
        pad=0,
        prompt_length=len(prompt),
        score_alone=lambda row, _: given[row],
    )
    return generate(Scripted(given, noise), replace(batch, **more), config)  # type: ignore[arg-type]


@pytest.mark.parametrize("lead", [0.0, 1e-6, -1e-6])
def test_near_ties_are_scored_again_alone(lead: float) -> None:
    rows = [[0.0, 0.0, 0.0, 10.0 + lead, 10.0]] * 32
    found = scripted(rows, DecodingConfig(tokens=20, end=0, ngram=0), noise=1e-6)
    assert {tuple(ids) for ids in found.ids} == {(3 if lead >= 0 else 4,) * 20}
    assert found.rescored == 20 * 32


def test_clear_choices_are_not() -> None:
    rows = [[0.0, 10.1, 10.0]] * 4
    assert scripted(rows, DecodingConfig(tokens=5, end=0, ngram=0), noise=1e-6).rescored == 0


def test_rows_that_ended_are_cut_at_their_end_and_never_rescored() -> None:
    rows = [[9.0, 9.0, 2.0], [0.0, 1.0, 9.0]]
    found = scripted(rows, DecodingConfig(tokens=4, end=0, ngram=0))
    assert found == Replies([[0], [2, 2, 2, 2]], rescored=1)


def test_the_config_holds_for_each_row() -> None:
    scores = [[0.0, 3.0, 2.0, 1.0]]

    def ids(config: DecodingConfig, prompt: Sequence[int] = (0,), **more: object) -> list[int]:
        return scripted(scores, config, prompt, 0.0, **more).ids[0]

    assert ids(DecodingConfig(tokens=4, end=0, ngram=1), counts_prompt=False) == [1, 2, 3, 0]
    assert ids(DecodingConfig(tokens=4, end=9, ngram=2), [3, 1]) == [1, 2, 1, 3]
    assert ids(DecodingConfig(tokens=4, end=9, ngram=2), [3, 1], counts_prompt=False) == [
        1,
        1,
        2,
        1,
    ]
    assert ids(DecodingConfig(tokens=3, end=0, ngram=0, forced_first=3)) == [3, 1, 1]
    assert ids(DecodingConfig(tokens=3, end=0, ngram=0, forced_last=0)) == [1, 1, 0]
    undoubled = DecodingConfig(tokens=4, end=0, ngram=0, undoubled=frozenset({1}))
    assert ids(undoubled) == [1, 2, 1, 2]
    penalised = DecodingConfig(tokens=3, end=0, ngram=0, repetition_penalty=2.0)
    assert ids(penalised) == [1, 2, 1]
    source = DecodingConfig(tokens=3, end=0, ngram=0, source_ngram=2)
    assert ids(source, sources=[[1, 1, 2]]) == [1, 3, 1]
    assert ids(source, bias=torch.tensor([[0.0, 0.0, 5.0, 0.0]])) == [2, 2, 2]


@pytest.mark.parametrize("wrong", [torch.nan, torch.inf, -torch.inf])
def test_scores_that_are_not_finite_are_refused(wrong: float) -> None:
    with pytest.raises(SystemFailed, match="not finite"):
        scripted([[1.0, 2.0, 3.0], [1.0, wrong, 3.0]], DecodingConfig(tokens=2, end=0))


def test_settings_name_all_that_stores_have_hashed() -> None:
    assert DecodingConfig(tokens=5, end=2, undoubled=frozenset({3, 4})).settings == {
        "tokens": 5,
        "end": 2,
        "ngram": 3,
        "source_ngram": 0,
        "undoubled": 2,
        "forced_first": None,
        "forced_last": None,
        "repetition_penalty": 1.0,
        "least": 0,
    }
