"""The probabilities of label words: read from replies, asked of endpoints and local models."""

import asyncio
import math
import re
from pathlib import Path

import pytest

from recjury.errors import ConfigError, ParseError, PromptTooLong
from recjury.llm import (
    Answer,
    ChoiceOdds,
    EndpointSpec,
    Gateway,
    ModelSpec,
    NullRecorder,
    read_model,
)
from recjury.llm.choice_odds import check_choices, read_odds
from recjury.llm.openai_format import request_body
from recjury.llm.vllm.constraints import structured_outputs
from recjury.records import ChatRequest, ChoiceForm, Message, Reply, Status, TextForm
from tests.endpoint import Body, Fault, ScriptedEndpoint, completion
from tests.questions import ask_odds
from tests.tiny_llama import make_tiny_llama

DIGITS = ("1", "2", "3", "4", "5")
ASKED = (Message("user", ("Rate it from 1 to 5.",)),)
Steps = tuple[dict[str, float], ...]


def _reply(*steps: dict[str, float], text: str | None = None) -> Reply:
    """A reply of one token for each step, the likeliest of its candidates."""
    logprobs = tuple(_step(each) for each in steps)
    said = "".join(token for token, _, _ in logprobs) if text is None else text
    return Reply("0", said, "stop", "m", logprobs=logprobs)


def _step(odds: dict[str, float]) -> tuple[str, float, tuple[tuple[str, float], ...]]:
    values = {token: math.log(odd) if odd else -9999.0 for token, odd in odds.items()}
    best = max(values, key=lambda token: values[token])
    return best, values[best], tuple(values.items())


def test_the_probabilities_of_the_choices_add_up_to_one() -> None:
    found = read_odds(_reply({"4": 0.4, "3": 0.1, "The": 0.5}), DIGITS)
    assert found.odds == pytest.approx({"1": 0, "2": 0, "3": 0.2, "4": 0.8, "5": 0})
    assert found.mass == pytest.approx(0.5)


def test_forms_of_one_choice_are_added_up() -> None:
    found = read_odds(_reply({" 4": 0.3, "4": 0.1, "**4": 0.1, "4.": 0.1, "2": 0.4}), DIGITS)
    assert found.odds["4"] == pytest.approx(0.6)


def test_what_a_constraint_forbids_has_no_probability() -> None:
    found = read_odds(_reply({"4": 1.0, "5": 0.0, "10": 0.0, "x": 0.0}), DIGITS)
    assert found == ChoiceOdds({"1": 0, "2": 0, "3": 0, "4": 1, "5": 0}, 1.0)


def test_a_longer_number_is_no_choice() -> None:
    with pytest.raises(ParseError, match="none of 1, 2, 3, 4, 5 is among the likely tokens"):
        read_odds(_reply({"10": 0.5, "45": 0.5}), DIGITS)


def test_white_space_and_thoughts_before_the_choice_are_passed_over() -> None:
    steps = ({"<think>": 1.0}, {"5": 0.9}, {"</think>": 1.0}, {"\n": 1.0}, {"3": 0.6, "2": 0.4})
    found = read_odds(_reply(*steps), DIGITS)
    assert found.odds == pytest.approx({"1": 0, "2": 0.4, "3": 0.6, "4": 0, "5": 0})


def test_thoughts_without_an_end_hold_no_choice() -> None:
    with pytest.raises(ParseError, match="do not end"):
        read_odds(_reply({"<think>": 1.0}, {"5": 0.9}), DIGITS)


def test_a_word_before_the_choice_is_passed_over() -> None:
    steps = ({"Rating": 0.8, "5": 0.1}, {":": 1.0}, {" 2": 0.7, " 3": 0.2})
    found = read_odds(_reply(*steps), DIGITS)
    assert found.odds["2"] == pytest.approx(0.7 / 0.9)


@pytest.mark.parametrize(
    "said",
    [
        ("On", " a", " scale", " of", " ", "1", " to", " ", "5"),
        ("I", " give", " it", " a", " ", "4"),
        ("They", " say", ":", " ", "5"),
    ],
)
def test_a_number_in_a_sentence_is_no_answer(said: tuple[str, ...]) -> None:
    with pytest.raises(ParseError, match="is among the likely tokens"):
        read_odds(_reply(*({token: 0.99} for token in said)), DIGITS)


def test_a_word_in_a_sentence_is_no_answer() -> None:
    steps = ({"Yes": 0.9, "No": 0.05}, {",": 1.0}, {" there": 1.0}, {" is": 1.0}, {" no": 0.97})
    found = read_odds(_reply(*steps), ("yes", "no"))
    assert found.odds["yes"] == pytest.approx(0.9 / 0.95)


def test_the_label_asked_for_may_stand_before_the_choice() -> None:
    steps = ({"-": 0.9}, {" task": 1.0}, {" completion": 1.0}, {":": 1.0}, {" 2": 0.9, " 1": 0.1})
    assert read_odds(_reply(*steps), DIGITS, lead="task completion").odds["2"] == 0.9
    with pytest.raises(ParseError):
        read_odds(_reply(*steps), DIGITS, lead="relevance")


def test_words_may_have_another_case_and_letters_may_not() -> None:
    yes = read_odds(_reply({"Yes": 0.9, "yes": 0.001, "No": 0.09}), ("yes", "no"))
    assert yes.mass == pytest.approx(0.991)
    letters = read_odds(_reply({"a": 0.5, "A": 0.2, "B": 0.2}), ("A", "B"))
    assert letters.odds == pytest.approx({"A": 0.5, "B": 0.5})


def test_a_crumb_of_probability_is_no_answer() -> None:
    with pytest.raises(ParseError, match="none of A, B is among the likely tokens"):
        read_odds(_reply({"The": 0.9, "A": 1e-6}), ("A", "B"))


def test_a_reply_that_says_nothing_has_no_choice() -> None:
    with pytest.raises(ParseError, match="says nothing"):
        read_odds(_reply({" 5": 0.7}, text=""), DIGITS)


def test_words_of_several_tokens_are_recognised_by_their_first() -> None:
    found = read_odds(_reply({"satisf": 0.6, "dis": 0.2}), ("satisfied", "dissatisfied"))
    assert found.odds == pytest.approx({"satisfied": 0.75, "dissatisfied": 0.25})


def test_words_that_begin_with_the_same_token_are_refused() -> None:
    with pytest.raises(ConfigError, match="'Response A' and 'Response B' begin with the same"):
        read_odds(_reply({"Response": 0.9}), ("Response A", "Response B"))


def test_an_unlikely_token_that_begins_several_words_does_not_matter() -> None:
    found = read_odds(_reply({"first": 0.9, "f": 0.001, "fourth": 0.05}), ("first", "fourth"))
    assert found.odds["first"] == pytest.approx(0.9 / 0.95)


@pytest.mark.parametrize("wrong", [("A", ""), ("A", "AB"), ("yes", "yes"), (" A", "B")])
def test_choices_must_be_different_words(wrong: tuple[str, ...]) -> None:
    with pytest.raises(ConfigError):
        check_choices(wrong)


def _ask(spec: ModelSpec, words: tuple[str, ...], messages: tuple[Message, ...] = ASKED) -> Answer:
    async def one() -> Answer:
        async with Gateway({"main": spec}, NullRecorder()) as gateway:
            return await ask_odds(gateway, [messages], words)

    return asyncio.run(one())


def test_an_endpoint_is_asked_for_as_many_alternatives_as_it_sends() -> None:
    def script(body: Body) -> dict[str, object]:
        answer = completion("4")
        choices = answer["choices"]
        assert isinstance(choices, list)
        tops = [{"token": "4", "logprob": -0.5}, {"token": "2", "logprob": -9999.0}]
        choices[0]["logprobs"] = {
            "content": [{"token": "4", "logprob": -0.5, "top_logprobs": tops}]
        }
        return answer

    with ScriptedEndpoint(script) as endpoint:
        found = _ask(EndpointSpec(base_url=endpoint.url, name="scripted"), DIGITS)
    (body,) = endpoint.bodies
    assert (body["logprobs"], body["top_logprobs"], body["max_tokens"]) == (True, 20, 8)
    assert found.odds is not None
    assert found.odds.odds["4"] == 1
    assert found.odds.mass == pytest.approx(math.exp(-0.5))
    assert found.rating.score == 3


def test_a_prompt_that_the_endpoint_finds_too_long_is_told_apart() -> None:
    said = "This model's maximum context length is 10 tokens"
    with ScriptedEndpoint(lambda _: Fault("status", 400, said)) as endpoint:
        spec = EndpointSpec(base_url=endpoint.url, name="scripted")
        found = _ask(spec, DIGITS)
    assert isinstance(found.failure, PromptTooLong)
    assert found.rating.status is Status.REFUSED
    assert "maximum context length" in found.rating.reason


def test_vllm_may_write_text_on_several_lines() -> None:
    asked = ChatRequest("main", (), "test", form=TextForm(10, several_lines=True))
    found = structured_outputs(asked, None)
    assert found is not None
    pattern = re.compile(str(found["regex"]))
    assert pattern.fullmatch("1. A\n2. B")
    assert not pattern.fullmatch("1. A\n2. Bcd")
    assert not pattern.fullmatch("1. A\t")


def test_vllm_may_write_a_choice_only() -> None:
    asked = ChatRequest("main", (), "test", form=ChoiceForm(("A", "B")))
    assert structured_outputs(asked, None) == {"choice": ["A", "B"]}
    plain = EndpointSpec(base_url="http://127.0.0.1:1/v1", name="m")
    assert "structured_outputs" not in request_body(asked, plain)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("transformers")
    return make_tiny_llama(tmp_path_factory.mktemp("llama"), positions=64)


def _local(folder: Path) -> ModelSpec:
    return read_model({"provider": "transformers", "model": str(folder), "device": "cpu"})


def test_a_local_model_scores_whole_words(folder: Path) -> None:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    words = ("dissatisfied", "satisfied")
    found = _ask(_local(folder), words)
    assert found.odds is not None
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(folder).eval()
    prompt = "<|user|>Rate it from 1 to 5.<|end|><|assistant|>"

    def score(text: str) -> float:
        start = tokenizer(prompt, add_special_tokens=False)["input_ids"]
        ids = tokenizer(text, add_special_tokens=False)["input_ids"]
        assert len(ids) > 1
        with torch.inference_mode():
            steps = torch.log_softmax(model(torch.tensor([start + ids])).logits[0], dim=-1)
        return sum(float(steps[len(start) - 1 + n, each]) for n, each in enumerate(ids))

    odds = {word: sum(math.exp(score(before + word)) for before in ("", " ")) for word in words}
    mass = sum(odds.values())
    assert found.odds.mass == pytest.approx(mass, rel=1e-3)
    assert found.odds.odds == pytest.approx(
        {word: odd / mass for word, odd in odds.items()}, rel=1e-3
    )


def test_a_local_model_says_that_a_prompt_is_too_long(folder: Path) -> None:
    found = _ask(_local(folder), DIGITS, (Message("user", ("film " * 100,)),))
    assert isinstance(found.failure, PromptTooLong)
    assert "the model 64" in found.rating.reason
