"""Random texts that grammars and expressions allow, by the llguidance of vLLM's own environment.

`PYTHON tests/vllm/sample_grammars.py TOKENIZER NUMBER < constraints.json` reads the constraints by
name (`structured_outputs` as they are sent) and prints, for each, texts and the mean milliseconds
of a mask. Quotes are drawn seldom, and backslashes often, where they are allowed.
"""

import importlib
import json
import random
import sys
import time
from typing import Any

import numpy as np
from transformers import AutoTokenizer

_LONGEST = 4000
llguidance: Any = importlib.import_module("llguidance")  # of vLLM's environment
tokenizers: Any = importlib.import_module("llguidance.hf")


def _grammar(constraint: dict[str, Any]) -> str:
    ((kind, given),) = constraint.items()
    if kind == "json":
        plain = {"whitespace_flexible": False}
        made = llguidance.LLMatcher.grammar_from_json_schema(json.dumps(given), defaults=plain)
    else:
        made = llguidance.grammar_from(kind, given)
    return str(made)


def _text(
    matcher: Any, tokenizer: Any, size: int, seldom: set[int], often: list[int]
) -> tuple[str, float]:
    tokens: list[int] = []
    spent = 0.0
    while len(tokens) < _LONGEST:
        begun = time.perf_counter()
        mask = np.frombuffer(matcher.compute_bitmask(), dtype=np.uint8)
        spent += time.perf_counter() - begun
        allowed = np.flatnonzero(np.unpackbits(mask, bitorder="little")[:size])
        if matcher.is_stopped() or not len(allowed):
            break
        some = [int(each) for each in random.choices(allowed, k=8)]
        plain = [each for each in some if each not in seldom]
        token = (plain or some)[0]
        if random.random() < 0.1:
            token = next((each for each in often if each in allowed), token)
        assert matcher.consume_token(token), matcher.get_error()
        tokens.append(token)
    return tokenizer.decode(tokens, skip_special_tokens=True), 1000 * spent / len(tokens)


def main() -> None:
    """Print the texts as JSON."""
    random.seed(0)
    tokenizer = AutoTokenizer.from_pretrained(sys.argv[1])
    known = tokenizers.from_tokenizer(tokenizer)
    words = {number: word for word, number in tokenizer.get_vocab().items()}
    seldom = {number for number, word in words.items() if '"' in word or "<" in word}
    often = [number for number, word in words.items() if word.endswith("\\")]
    found = {}
    for name, constraint in json.load(sys.stdin).items():
        grammar = _grammar(constraint)
        texts = [
            _text(llguidance.LLMatcher(known, grammar), tokenizer, known.vocab_size, seldom, often)
            for _ in range(int(sys.argv[2]))
        ]
        milliseconds = sum(each for _, each in texts) / len(texts)
        found[name] = {"texts": [text for text, _ in texts], "milliseconds": milliseconds}
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main()
