"""No generator says again what its system has said, however long ago, and none stutters."""

import re
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch

from recjury.agents.barcor import checkpoint as barcor
from recjury.agents.barcor.recommender import barcor_generator
from recjury.agents.kbrd import checkpoint as kbrd
from recjury.agents.kbrd.dataset import space_of
from recjury.agents.kbrd.edges import neighbourhoods
from recjury.agents.kbrd.generator import load_generator
from recjury.agents.kbrd.recommender import KbrdRanker, kbrd_generator
from recjury.agents.neural.bart import BartLanguageModel
from recjury.agents.neural.context import (
    REPEAT_NGRAM,
    ContextEncoder,
    EncodedContext,
    earlier_replies,
)
from recjury.agents.neural.description import Fidelity
from recjury.agents.neural.tokens import Tokens
from recjury.agents.unicrs.recommender import UnicrsSpeaker
from tests.agents.conversations import talk
from tests.agents.tiny import (
    CORPUS,
    ENTITIES,
    LIMITS,
    RELATIONS,
    bart_tokens,
    gpt2_tokens,
    tiny_unicrs,
    unicrs_texts,
    write_barcor,
    write_kbrd,
)

LONG = "something with a lot of words " * 20
Say = Callable[[EncodedContext], str]


def heard(*texts: str) -> EncodedContext:
    return ContextEncoder(CORPUS.graph, LIMITS.entities).hear(talk(*texts))


def words(tokens: Tokens) -> list[int]:
    """The tokens that are whole words: what is written with them is read as the same tokens."""
    return [id_ for id_ in range(tokens.size) if re.fullmatch(" [a-z]{3,}", tokens.decode([id_]))]


def say_words_only(model: BartLanguageModel) -> None:
    """Random weights would say bytes, or nothing."""
    bias = model.get_buffer("final_logits_bias")
    bias.fill_(-1000.0)[0, words(bart_tokens())] = 0.0


def kbrd_says(folder: Path, fidelity: Fidelity) -> Say:
    write_kbrd(folder)
    loaded = kbrd.load(folder, entities=ENTITIES, relations=RELATIONS)
    ranker = KbrdRanker(loaded.model, space_of(CORPUS))
    speech = load_generator(folder, width=8, limits=LIMITS)
    say_words_only(speech.generator.model)
    voice = kbrd_generator(speech, ranker, fidelity)
    return lambda each: voice.say([each], [()])[0]


def barcor_says(folder: Path, fidelity: Fidelity) -> Say:
    write_barcor(folder)
    loaded = barcor.load(folder, entities=ENTITIES)
    say_words_only(loaded.generator.model)
    voice = barcor_generator(loaded, fidelity)
    return lambda each: voice.say([each], [()])[0]


def unicrs_says(_folder: Path, fidelity: Fidelity) -> Say:
    edges = neighbourhoods(CORPUS.graph.edges, ENTITIES + 1, RELATIONS)
    model, items = tiny_unicrs(fidelity=fidelity), np.arange(3)
    with torch.no_grad():
        model.gpt2.ln_f.bias[0] = 1000.0
        model.gpt2.wte.weight[:, 0] = -1.0
        model.gpt2.wte.weight[words(gpt2_tokens()), 0] = 1.0
    speaker = UnicrsSpeaker(model, unicrs_texts(), edges, items=items)
    return lambda each: speaker.say([each], [()])[0]


SYSTEMS = {
    "kbrd": kbrd_says,
    "barcor": barcor_says,
    "unicrs": unicrs_says,
}


@pytest.mark.parametrize("system", list(SYSTEMS))
def test_a_turn_too_long_ago_to_be_read_is_not_said_again(tmp_path: Path, system: str) -> None:
    said = SYSTEMS[system](tmp_path, "corrected")
    first = said(heard("Hi", "Good evening to you.", LONG))
    assert first == said(heard("Hi", "Good morning to you.", LONG)), "it does not read that far"
    second = said(heard("Hi", first, LONG))
    assert _phrases(first)
    assert not _phrases(first) & _phrases(second)


@pytest.mark.parametrize("system", list(SYSTEMS))
def test_the_published_code_forgets_what_it_does_not_read(tmp_path: Path, system: str) -> None:
    said = SYSTEMS[system](tmp_path, "ievalm")
    first = said(heard("Hi", "Good evening to you.", LONG))
    assert said(heard("Hi", first, LONG)) == first


@pytest.mark.parametrize("system", list(SYSTEMS))
def test_only_the_published_code_stutters(tmp_path: Path, system: str) -> None:
    for fidelity in ("ievalm", "corrected"):
        said = SYSTEMS[system](tmp_path / fidelity, fidelity)(heard("Hi")).split()[1:]
        stutters = any(one == next_ for one, next_ in pairwise(said))
        assert stutters == (fidelity == "ievalm"), said


def test_own_turns_are_those_of_the_system_apart_from_each_other() -> None:
    tokens = bart_tokens()
    found = earlier_replies(heard("Hi", "Hello.", "And?", "A film."), tokens, 2, before=" ")
    assert found == [*tokens.encode(" Hello."), 2, *tokens.encode(" A film."), 2]


def _phrases(text: str) -> set[Sequence[str]]:
    """Without the first word: with no space before it, it is read as other tokens."""
    said = text.split()[1:]
    return {tuple(said[at : at + REPEAT_NGRAM]) for at in range(len(said) - REPEAT_NGRAM + 1)}
