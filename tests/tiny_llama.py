"""A tiny chat model with random weights, made in seconds, for tests of protocols."""

import json
from collections.abc import Iterable
from pathlib import Path

TEMPLATE = (
    "{% for message in messages %}<|{{ message.role }}|>{{ message.content }}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
"""A chat template that accepts every order of roles."""
STRICT_TEMPLATE = (
    "{% for message in messages %}"
    "{% if (message.role == 'user') != (loop.index0 % 2 == 0) %}"
    "{{ raise_exception('roles must alternate user/assistant') }}{% endif %}"
    "<|{{ message.role }}|>{{ message.content }}<|end|>{% endfor %}<|assistant|>"
)
"""One that refuses a system message, and two turns of one role."""
_SPECIAL = ("<|system|>", "<|user|>", "<|assistant|>", "<|end|>")


def make_tiny_llama(
    folder: Path,
    *,
    positions: int = 4096,
    template: str | None = TEMPLATE,
    vocabulary: int = 1000,
    heads: int = 4,
    texts: Iterable[str] | None = None,
) -> Path:
    """Write a Llama (hidden size 64, 2 layers) and its tokenizer into `folder`; return it.

    `positions` is the length of its context in tokens. Without `template`, it has no chat template.
    The tokenizer is trained on `texts`, by default on this file.
    """
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import LlamaConfig, LlamaForCausalLM

    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary,
        special_tokens=list(_SPECIAL),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts or [Path(__file__).read_text("utf-8")], trainer)
    tokenizer.save(str(folder / "tokenizer.json"))
    described = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "eos_token": "<|end|>",
        "pad_token": "<|end|>",
        "model_max_length": positions,
    }
    if template is not None:
        described["chat_template"] = template
    (folder / "tokenizer_config.json").write_text(json.dumps(described), "utf-8")
    end = tokenizer.token_to_id("<|end|>")
    config = LlamaConfig(
        vocab_size=tokenizer.get_vocab_size(),
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=heads,
        num_key_value_heads=heads,
        max_position_embeddings=positions,
        bos_token_id=None,
        eos_token_id=end,
        pad_token_id=end,
    )
    with torch.random.fork_rng():
        torch.manual_seed(0)
        LlamaForCausalLM(config).save_pretrained(folder)
    return folder
