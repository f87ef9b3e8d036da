"""UniCRS (Wang et al., 2022): a GPT-2 that prompts of entities and texts steer.

As iEvaLM-CRS runs it; "ievalm" repeats what its inference does otherwise than one would expect:

- RoBERTa's text is padded to its limit, and the padding takes part in prompts and in attention;
- a text that GPT-2 continues is padded to its limit, and its positions count the padding.

"corrected" does neither. It writes names of the list where the reply has the token of an item,
which the published code drops.
"""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence
from transformers import GPT2LMHeadModel, RobertaModel

from recjury.agents.neural.files import (
    Limits,
    backbone,
    described,
    file_of,
    fill,
    read_tensors,
    tokenizer,
)
from recjury.agents.neural.prompts import PromptEncoder
from recjury.agents.neural.said import ITEM, Said
from recjury.agents.neural.system import NeuralSystem
from recjury.errors import UserError

GPT2, ROBERTA = "microsoft/DialoGPT-small", "roberta-base"
LIMITS = {
    "redial": Limits(context=128, entities=43, reply=128),
    "opendialkg": Limits(context=128, entities=20, reply=64),
}
_BEGIN = "System:"
_ROWS = "added_rows.safetensors"


class UniCRS(NeuralSystem):
    """UniCRS from a folder with `rec_model/model.pt` and `conv_model/model.pt`."""

    def load(self, folder: Path) -> None:
        """The backbones, and the two prompt encoders. Raises UserError."""
        self.limits = described(folder, "unicrs", LIMITS.get(self.corpus, LIMITS["redial"]))
        self._load_backbones(folder)
        self.rec, self.conv = (self._encoder(folder / n) for n in ("rec_model", "conv_model"))
        self.encode()

    @property
    def modules(self) -> dict[str, nn.Module]:
        """What ranks and what writes, by places in the folder; published backbones are left out."""
        own = {f"backbones/{GPT2}": self.gpt2, f"backbones/{ROBERTA}": self.roberta}
        backbones = own if self.backbones[0].is_dir() else {}
        return {"rec_model": self.rec, "conv_model": self.conv, **backbones}

    def encode(self) -> None:
        """Encode the graph, for lists and for replies: once for weights that do not change."""
        self.rec_nodes, self.conv_nodes = self.rec.nodes(), self.conv.nodes()

    def ranked(self, said: Sequence[Said]) -> Tensor:
        """[conversations, entities + 1]: the score of each entity, the padding one last."""
        entities, known = self._entities(said, self.rec_nodes)
        states, text = self._states(said)
        cache = self.rec.cache(self.rec.for_items(entities, states, text))
        rows = self._rows([self._read(each) for each in said])
        hidden = self.gpt2.transformer(
            rows.ids,
            cache=cache,
            attention_mask=torch.cat([known.long(), rows.mask], dim=1),
            position_ids=rows.natural,
            use_cache=True,
        ).last_hidden_state
        found: Tensor = hidden[:, -1] @ self.rec_nodes.T
        return found

    def write(self, said: Sequence[Said]) -> list[str]:
        """Replies of GPT-2: the likeliest words; no three words in a row occur twice."""
        rows, prompts, cache = self._prompted(said)
        before = prompts.shape[1] + rows.ids.shape[1]
        found = self.gpt2.generate(
            torch.cat([torch.full_like(prompts, self._pad), rows.ids], dim=1),
            attention_mask=torch.cat([prompts, rows.mask], dim=1),
            position_ids=torch.cat([torch.zeros_like(prompts), self._positions(rows)], dim=1),
            cache=cache,
            num_beams=1,
            do_sample=False,
            no_repeat_ngram_size=3,
            max_new_tokens=self.limits.reply,
            eos_token_id=self.tokens.eos_token_id,
            pad_token_id=self._pad,
        )
        if self.fidelity == "ievalm":
            texts = (self._text(row[prompts.shape[1] :]) for row in found)
            return [text[text.rfind(_BEGIN) + len(_BEGIN) + 1 :].strip() for text in texts]
        return [self._with_items(row[before:].tolist()).strip() for row in found]

    def word_scores(self, said: Sequence[Said], replies: Tensor) -> Tensor:
        """[conversations, tokens, vocabulary]: the scores of each token of `replies`, after those
        before it.
        """
        rows, prompts, cache = self._prompted(said)
        more = replies[:, :-1]
        last = self._positions(rows)[:, -1:]
        after = last + torch.arange(1, more.shape[1] + 1, device=last.device)
        logits: Tensor = self.gpt2(
            torch.cat([rows.ids, more], dim=1),
            cache=cache,
            attention_mask=torch.cat([prompts, rows.mask, torch.ones_like(more)], dim=1),
            position_ids=torch.cat([self._positions(rows), after], dim=1),
            use_cache=True,
            logits_to_keep=replies.shape[1],
        ).logits
        return logits

    def _prompted(self, said: Sequence[Said]) -> tuple["_Rows", Tensor, Any]:
        """What GPT-2 continues; the mask [rows, positions] and the cache of the prompts."""
        entities, known = self._entities(said, self.conv_nodes)
        states, text = self._states(said)
        begin = self.tokens(_BEGIN).input_ids
        least = _eights(self.limits.context + len(begin)) if self.fidelity == "ievalm" else 0
        rows = self._rows([[*self._read(each), *begin] for each in said], least)
        cache = self.conv.cache(self.conv.for_reply(entities, states, known))
        return rows, text.long(), cache

    def _rows(self, rows: Sequence[Sequence[int]], least: int = 0) -> "_Rows":
        """Padded to `least` tokens or to the longest row."""
        length = max(least, *map(len, rows))
        ids = torch.tensor([[*[self._pad] * (length - len(row)), *row] for row in rows])
        mask = torch.tensor([[0] * (length - len(row)) + [1] * len(row) for row in rows])
        natural = (mask.cumsum(1) - 1).clamp(min=0)
        return _Rows(*(each.to(self.device) for each in (ids, mask, natural)))

    def _positions(self, rows: "_Rows") -> Tensor:
        if self.fidelity == "corrected":
            return rows.natural
        return torch.arange(rows.ids.shape[1], device=rows.ids.device).expand_as(rows.ids)

    def _read(self, said: Said) -> list[int]:
        text = "".join(f"{each}{self.tokens.eos_token}" for each in said.spoken())
        ids: list[int] = self.tokens(
            text or self.tokens.eos_token, truncation=True, max_length=self.limits.context
        ).input_ids
        return ids

    def _states(self, said: Sequence[Said]) -> tuple[Tensor, Tensor]:
        """RoBERTa's states [rows, tokens, width]; which tokens take part in prompts."""
        texts = [self.text_tokens.sep_token.join(each.spoken()) for each in said]
        is_padded = self.fidelity == "ievalm"
        read = self.text_tokens(
            texts,
            truncation=True,
            max_length=self.limits.context,
            padding="max_length" if is_padded else True,
            return_tensors="pt",
        ).to(self.device)
        states = self.roberta(read.input_ids, attention_mask=read.attention_mask)
        text = torch.ones_like(read.attention_mask) if is_padded else read.attention_mask
        return states.last_hidden_state, text.bool()

    def _entities(self, said: Sequence[Said], nodes: Tensor) -> tuple[Tensor, Tensor]:
        """Encoded entities [rows, entities, width], and which are none of the padding.

        A conversation without entities has the padding entity.
        """
        none = len(self.graph)
        rows = [torch.tensor(each.entities or (none,)) for each in said]
        ids = pad_sequence(rows, batch_first=True, padding_value=none).to(nodes.device)
        lengths = torch.tensor([len(row) for row in rows], device=nodes.device)
        known = torch.arange(ids.shape[1], device=nodes.device) < lengths.unsqueeze(1)
        return nodes[ids], known

    def _with_items(self, ids: list[int]) -> str:
        """The text, with ITEM for the token of an item."""
        parts: list[list[int]] = [[]]
        for number in ids:
            if number == self._item:
                parts.append([])
            else:
                parts[-1].append(number)
        return ITEM.join(map(self._text, parts))

    def _text(self, ids: Any) -> str:
        text: str = self.tokens.decode(ids, skip_special_tokens=True)
        return text

    def _load_backbones(self, folder: Path) -> None:
        """GPT-2 and RoBERTa, with the tokens that UniCRS adds. Raises UserError."""
        self.tokens, self.text_tokens = (tokenizer(n, self.backbones) for n in (GPT2, ROBERTA))
        item = "<mask>" if self.corpus == "opendialkg" else ITEM
        added = {"pad_token": "<pad>", "extra_special_tokens": [item]}
        if ITEM not in self.tokens.get_vocab():  # published backbones lack the added tokens
            self.tokens.add_special_tokens(added)
        else:
            item = ITEM
        if item not in self.text_tokens.get_vocab():
            self.text_tokens.add_special_tokens({"extra_special_tokens": [item]})
        self._item = self.tokens.convert_tokens_to_ids(item)
        self._pad = self.tokens.pad_token_id
        self.gpt2 = backbone(GPT2LMHeadModel, GPT2, self.backbones)
        self.roberta = backbone(RobertaModel, ROBERTA, self.backbones)
        path = folder / _ROWS if (folder / _ROWS).is_file() else Path(__file__).with_name(_ROWS)
        for model, tokens, name in (
            (self.gpt2, self.tokens, "gpt2"),
            (self.roberta, self.text_tokens, "text"),
        ):
            _grow(model, len(tokens), path, name)
            model.to(self.device).requires_grad_(self.backbones[0].is_dir())

    def _encoder(self, folder: Path) -> PromptEncoder:
        path = file_of(folder, "model.pt")
        tensors = read_tensors(path)
        bases = tensors["kg_encoder.weight"].shape[0] if "kg_encoder.weight" in tensors else 8
        text_width = self.roberta.config.hidden_size
        encoder = PromptEncoder(self.graph, self.gpt2.config, text_width, bases=bases)
        fill(encoder, tensors, path)
        return encoder.to(self.device).eval()


class _Rows(NamedTuple):
    """Ids padded at the beginning [rows, tokens], 1 where they are no padding, and positions that
    do not count it.
    """

    ids: Tensor
    mask: Tensor
    natural: Tensor


def _eights(length: int) -> int:
    return 8 * math.ceil(length / 8)


def _grow(model: Any, vocabulary: int, path: Path, name: str) -> None:
    """Add rows for the tokens that UniCRS adds, which weights do not store. Raises UserError."""
    old = model.get_input_embeddings().weight
    if (added := vocabulary - len(old)) <= 0:
        return
    rows = read_tensors(path)[name][:added]
    if rows.shape != (added, old.shape[1]):
        raise UserError(
            f"{path}: {name!r} has {list(rows.shape)} rows of added tokens, expected "
            f"{[added, old.shape[1]]}: the backbone is not the published one"
        )
    model.resize_token_embeddings(vocabulary, mean_resizing=False)
    model.get_input_embeddings().weight.data[-added:] = rows
