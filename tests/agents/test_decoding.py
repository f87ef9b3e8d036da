"""Decoding in batches says, token by token, what decoding one by one says."""

import random
from collections import Counter
from collections.abc import Iterator, Sequence

import pytest
import torch
from torch import Tensor
from transformers import BartConfig, BartForConditionalGeneration, GPT2Config, GPT2LMHeadModel

from recjury.agents.decoding.bans import NgramBans
from recjury.agents.decoding.bart import BartSteps
from recjury.agents.decoding.gpt2 import Gpt2Steps, Prefix
from recjury.agents.decoding.greedy import CLOSE, Generated, Rules, Steps, generate
from recjury.agents.decoding.head import Head
from recjury.errors import SystemFailed

VOCABULARY, START, END, PAD = 211, 2, 2, 1
RULES = Rules(tokens=40, end=END, source_ngram=3)


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
    return BartForConditionalGeneration(config).eval()


@pytest.fixture(scope="module")
def gpt2() -> GPT2LMHeadModel:
    torch.manual_seed(4)
    config = GPT2Config(
        vocab_size=VOCABULARY, n_embd=48, n_layer=3, n_head=4, n_positions=160,
        initializer_range=0.3, bos_token_id=0, eos_token_id=END,
    )  # fmt: skip
    return GPT2LMHeadModel(config).eval()


def say(
    bart: BartForConditionalGeneration,
    sources: Sequence[Sequence[int]],
    rules: Rules = RULES,
    bias: Tensor | None = None,
) -> list[Generated]:
    steps = BartSteps(bart.model, bart.lm_head.weight, sources, start=START, bias=bias)
    return generate(steps, [[START]] * len(sources), rules, sources=sources)


def prompted(number: int, *, seed: int) -> list[Prefix]:
    """Prefixes of many lengths, with and without prompts, at several positions."""
    dice = random.Random(seed)
    source = torch.Generator().manual_seed(seed)
    found = []
    for said in ragged(number, seed=seed):
        length = dice.choice((0, 3, 9))
        shape = (4, length, 12)
        layers = [
            (torch.randn(shape, generator=source), torch.randn(shape, generator=source))
            for _ in range(3)
        ]
        found.append(Prefix(said, dice.choice((0, 20)), layers if length else ()))
    return found


def go_on(gpt2: GPT2LMHeadModel, prefixes: Sequence[Prefix], rules: Rules) -> list[Generated]:
    histories = [list(prefix.ids) for prefix in prefixes]
    return generate(Gpt2Steps(gpt2.transformer, prefixes), histories, rules)


def test_bart_says_what_transformers_generate_says(bart: BartForConditionalGeneration) -> None:
    for source, found in zip(ragged(12, seed=1), say(bart, ragged(12, seed=1)), strict=True):
        expected = bart.generate(
            torch.tensor([source]), attention_mask=torch.ones(1, len(source)), num_beams=1,
            do_sample=False, max_length=41, no_repeat_ngram_size=3,
            encoder_no_repeat_ngram_size=3, decoder_start_token_id=START, eos_token_id=END,
            pad_token_id=PAD,
        )[0]  # fmt: skip
        assert [START, *found.ids] == expected.tolist()


def test_gpt2_says_what_transformers_generate_says(gpt2: GPT2LMHeadModel) -> None:
    rules = Rules(tokens=40, end=END)
    prefixes = [Prefix(said) for said in ragged(12, seed=2)]
    for prefix, found in zip(prefixes, go_on(gpt2, prefixes, rules), strict=True):
        expected = gpt2.generate(
            torch.tensor([prefix.ids]), attention_mask=torch.ones(1, len(prefix.ids)),
            do_sample=False, max_new_tokens=40, no_repeat_ngram_size=3, eos_token_id=END,
            pad_token_id=PAD,
        )[0]  # fmt: skip
        assert [*prefix.ids, *found.ids] == expected.tolist()


def test_prompts_are_seen_and_take_no_position(gpt2: GPT2LMHeadModel) -> None:
    from transformers.cache_utils import DynamicCache

    for prefix in prompted(6, seed=5):
        cache = DynamicCache([(k.unsqueeze(0), v.unsqueeze(0)) for k, v in prefix.prompts])
        positions = torch.arange(prefix.position, prefix.position + len(prefix.ids))
        with torch.inference_mode():
            expected = gpt2(
                torch.tensor([prefix.ids]), past_key_values=cache, position_ids=positions[None]
            ).logits[0, -1]
        with torch.inference_mode():
            found = Gpt2Steps(gpt2.transformer, [prefix]).first()[0]
        torch.testing.assert_close(found, expected, atol=1e-4, rtol=1e-4)


def ending(found: Sequence[Generated]) -> Rules:
    """Rules under which many of these rows end early, at a token that many of them say."""
    said = Counter(token for each in found for token in set(each.ids))
    return Rules(tokens=40, end=said.most_common(1)[0][0], source_ngram=3)


def ids(found: Sequence[Generated]) -> list[list[int]]:
    return [each.ids for each in found]


def test_32_ragged_conversations_of_bart_are_told_what_each_is_told_alone(
    bart: BartForConditionalGeneration,
) -> None:
    sources = ragged(32, seed=6)
    for rules in (RULES, ending(say(bart, sources))):
        together = ids(say(bart, sources, rules))
        assert together == [ids(say(bart, [source], rules))[0] for source in sources]
    assert len({len(each) for each in together}) > 5  # rows ended at different steps


def test_32_ragged_conversations_of_gpt2_are_told_what_each_is_told_alone(
    gpt2: GPT2LMHeadModel,
) -> None:
    prefixes = prompted(32, seed=7)
    for rules in (RULES, ending(go_on(gpt2, prefixes, RULES))):
        together = ids(go_on(gpt2, prefixes, rules))
        assert together == [ids(go_on(gpt2, [prefix], rules))[0] for prefix in prefixes]
    assert len({len(each) for each in together}) > 5


@pytest.mark.slow
def test_who_shares_a_batch_does_not_matter(
    bart: BartForConditionalGeneration, gpt2: GPT2LMHeadModel
) -> None:
    dice = random.Random(8)
    sources, prefixes = ragged(64, seed=9), prompted(64, seed=10)
    bias = torch.randn(64, VOCABULARY, generator=torch.Generator().manual_seed(1))
    rules = ending(say(bart, sources, RULES, bias))
    said = [ids(say(bart, [s], rules, bias[n : n + 1]))[0] for n, s in enumerate(sources)]
    went_on = [ids(go_on(gpt2, [prefix], rules))[0] for prefix in prefixes]
    for _ in range(12):
        chosen = dice.sample(range(64), dice.randrange(2, 33))
        found = ids(say(bart, [sources[n] for n in chosen], rules, bias[chosen]))
        assert found == [said[n] for n in chosen]
        found = ids(go_on(gpt2, [prefixes[n] for n in chosen], rules))
        assert found == [went_on[n] for n in chosen]


def test_rounding_cannot_decide_between_tokens_that_are_not_close(
    bart: BartForConditionalGeneration, gpt2: GPT2LMHeadModel
) -> None:
    prefixes = prompted(32, seed=12)
    dice = torch.Generator().manual_seed(13)
    both: tuple[Steps, Steps]
    with torch.inference_mode():
        both = (
            BartSteps(bart.model, bart.lm_head.weight, ragged(32, seed=12), start=START),
            Gpt2Steps(gpt2.transformer, prefixes),
        )
        for steps in both:
            said: list[list[int]] = [[] for _ in range(32)]
            scores = steps.first()
            for _ in range(12):
                alone = torch.stack([steps.alone(row, said[row]) for row in range(32)])
                off = (alone - scores).abs().amax(1) / alone.abs().amax(1)
                # Two scores that lie further apart than this keep their order if each moves by
                # less than half of it.
                assert float(off.max()) < CLOSE / 2
                tokens = torch.randint(4, VOCABULARY, (32,), generator=dice)
                said = [[*before, int(token)] for before, token in zip(said, tokens, strict=True)]
                scores = steps.next(tokens)


class Noisy:
    """Two tokens all but equal, and the rounding of a batch that hides which is ahead."""

    def __init__(self, rows: int, *, lead: float):
        self.rows, self._lead = rows, lead
        self._noise = torch.Generator().manual_seed(rows)

    def first(self) -> Tensor:
        scores = torch.zeros(self.rows, 5)
        scores[:, 3], scores[:, 4] = 10.0 + self._lead, 10.0
        return scores + 1e-6 * torch.randn(scores.shape, generator=self._noise)

    def next(self, tokens: Tensor) -> Tensor:
        return self.first()

    def alone(self, row: int, tokens: Sequence[int]) -> Tensor:
        return torch.tensor([0.0, 0.0, 0.0, 10.0 + self._lead, 10.0])

    def keep(self, rows: Tensor) -> None:
        self.rows = len(rows)


@pytest.mark.parametrize("lead", [0.0, 1e-6, -1e-6])
def test_close_calls_are_settled_alone(lead: float) -> None:
    rules = Rules(tokens=20, end=0, ngram=0)
    found = generate(Noisy(32, lead=lead), [[]] * 32, rules)
    assert {tuple(each.ids) for each in found} == {(3 if lead >= 0 else 4,) * 20}
    assert {each.settled_alone for each in found} == {20}


def test_clear_calls_are_not() -> None:
    found = generate(Noisy(32, lead=0.1), [[]] * 32, Rules(tokens=5, end=0, ngram=0))
    assert {each.settled_alone for each in found} == {0}


class Scripted:
    """The same scores at every step, and a record of the rows that went on."""

    def __init__(self, scores: Tensor):
        self.scores, self.sizes = scores, [len(scores)]

    def first(self) -> Tensor:
        return self.scores.clone()

    def next(self, tokens: Tensor) -> Tensor:
        assert len(tokens) == len(self.scores)
        return self.scores.clone()

    def alone(self, row: int, tokens: Sequence[int]) -> Tensor:
        return self.scores[row].clone()

    def keep(self, rows: Tensor) -> None:
        self.scores = self.scores[rows]
        self.sizes.append(len(rows))


def scripted(
    scores: list[list[float]], rules: Rules, history: Sequence[int] = ()
) -> list[list[int]]:
    steps: Steps = Scripted(torch.tensor(scores))
    return [each.ids for each in generate(steps, [history] * len(scores), rules)]


def test_rows_that_ended_drop_out_once_that_is_worth_it() -> None:
    steps = Scripted(torch.tensor([[9.0, 1.0, 2.0]] * 3 + [[0.0, 9.0, 2.0]]))
    found = generate(steps, [[]] * 4, Rules(tokens=5, end=0, ngram=0))
    assert [each.ids for each in found] == [[0], [0], [0], [1] * 5]
    assert steps.sizes == [4, 1]
    one_of_eight = Scripted(torch.tensor([[9.0, 1.0]] + [[1.0, 9.0]] * 7))
    found = generate(one_of_eight, [[]] * 8, Rules(tokens=3, end=0, ngram=0))
    assert [each.ids for each in found] == [[0]] + [[1, 1, 1]] * 7
    assert one_of_eight.sizes == [8]


def test_rules_hold_for_each_row() -> None:
    scores = [[0.0, 3.0, 2.0, 1.0]]
    assert scripted(scores, Rules(tokens=4, end=0, ngram=1)) == [[1, 2, 3, 0]]
    assert scripted(scores, Rules(tokens=3, end=0, ngram=2), history=[1]) == [[1, 2, 1]]
    assert scripted(scores, Rules(tokens=3, end=0, ngram=0, forced_first=3)) == [[3, 1, 1]]
    assert scripted(scores, Rules(tokens=3, end=0, ngram=0, forced_last=0)) == [[1, 1, 0]]
    assert scripted([[5.0, 1.0]], Rules(tokens=9, end=0, ngram=0, least=2)) == [[1, 1, 0]]
    undoubled = Rules(tokens=4, end=0, ngram=0, undoubled=frozenset({1}))
    assert scripted(scores, undoubled) == [[1, 2, 1, 2]]
    penalised = Rules(tokens=3, end=0, ngram=0, repetition_penalty=2.0)
    assert scripted(scores, penalised) == [[1, 2, 1]]


def test_bans_are_those_of_the_row_and_its_source() -> None:
    bans = NgramBans([5, 6, 7, 5, 6], [5, 6, 8, 1, 1, 1], ngram=3, source_ngram=3)
    assert bans.banned() == {7, 8}
    bans.push(1)
    assert bans.banned() == set()
    bans.push(1)
    assert bans.banned() == {1}


@pytest.mark.parametrize("wrong", [torch.nan, torch.inf, -torch.inf])
def test_scores_that_are_not_finite_are_refused(wrong: float) -> None:
    with pytest.raises(SystemFailed, match="not finite"):
        scripted([[1.0, 2.0, 3.0], [1.0, wrong, 3.0]], Rules(tokens=2, end=0))


def test_no_rows_are_no_work() -> None:
    assert generate(Scripted(torch.empty(0, 3)), [], RULES) == []


def test_option_choice_gets_the_scores_of_each_step(bart: BartForConditionalGeneration) -> None:
    sources = ragged(3, seed=11)
    steps = BartSteps(bart.model, bart.lm_head.weight, sources, start=START)
    rules = Rules(tokens=2, end=END, ngram=0, least=2)
    for source, found in zip(
        sources, generate(steps, [[START]] * 3, rules, with_scores=True), strict=True
    ):
        begun = torch.tensor([[START, found.ids[0]]])
        with torch.no_grad():
            expected = bart(torch.tensor([source]), decoder_input_ids=begun).logits[0]
        expected[:, END] = -torch.inf
        torch.testing.assert_close(torch.stack(found.scores), expected, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("rows", [1, 7])
def test_a_large_vocabulary_is_scored_in_pieces_that_leave_nothing_out(rows: int) -> None:
    weight, states, bias = torch.randn(2500, 16), torch.randn(rows, 16), torch.randn(rows, 2500)
    torch.testing.assert_close(Head(weight)(states), states @ weight.T, atol=1e-4, rtol=1e-4)
    found = Head(weight)(states, bias)
    torch.testing.assert_close(found, states @ weight.T + bias, atol=1e-4, rtol=1e-4)
