"""The reply generator of KBRD and BARCOR: BART reads the conversation and writes the reply."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import torch
from torch import Tensor

from recjury.agents.neural.bart import PAD, START, padded
from recjury.agents.neural.bart_config import END
from recjury.agents.neural.bart_files import LoadedGenerator
from recjury.agents.neural.context import EncodedContext, earlier_replies
from recjury.agents.neural.generation import GenerationBatch, generate
from recjury.agents.neural.tokens import ITEM, Tokens
from recjury.records import ItemRef

_MULTIPLE = 8


class BartGenerator:
    """Generates replies for several conversations at once by its `rules`; a `ReplyGenerator`."""

    fills_names = False

    def __init__(
        self,
        generator: LoadedGenerator,
        tokens: Tokens,
        *,
        context: int,
        text: Callable[[Sequence[str], str], str],
        finish: Callable[[str], str],
        users: Callable[[Sequence[EncodedContext]], Tensor] | None = None,
        keep: tuple[str, ...] = (),
        new_words: int | None = None,
    ):
        """Use a loaded generator.

        `text` joins utterances with a separator, and `context` is the largest number of tokens read
        from the joined text. `finish` is applied to the generated text. `users` gives KBRD's
        vectors [rows, width]. `keep` are special tokens that mean an item and stay in the text.
        `new_words` is the length of n-grams that must not repeat one of the system's own earlier
        turns; then no word may follow itself either. With None, trigrams of the encoder's whole
        input are banned, as in the published code.
        """
        self._generator, self._tokens = generator, tokens
        self._model = generator.model.for_generation()
        self._context, self._text, self._finish = context, text, finish
        self._users, self._keep, self._published = users, keep, new_words is None
        self.rules = generator.rules
        if new_words is not None:
            self.rules = replace(generator.rules, source_ngram=new_words, undoubled=tokens.words())

    def read(self, heard: EncodedContext) -> list[int]:
        """The encoder's ids of a conversation."""
        text = self._text(heard.context.utterances, "</s>")
        return self._tokens.sentence(text, self._context)

    def say(
        self, heard: Sequence[EncodedContext], _lists: Sequence[Sequence[ItemRef]]
    ) -> list[str]:
        """One text per conversation."""
        return [self.written(ids) for ids in self.generated(heard)]

    def generated(self, heard: Sequence[EncodedContext]) -> list[list[int]]:
        """The ids of one reply per conversation, including the end token."""
        rows = [self.read(each) for each in heard]
        model, device = self._model, self._model.device
        ids = padded(rows).to(device)
        # One by one, because rounding of a row's bias would depend on the batch.
        biases = [self._bias(each) for each in heard]

        def score_alone(row: int, said: list[int]) -> Tensor:
            begun = torch.tensor([[START, *said]], device=device)
            scores: Tensor = model(
                torch.tensor([rows[row]], device=device), decoder_input_ids=begun, use_cache=False
            ).logits[0, -1]
            return scores + biases[row][0]

        batch = GenerationBatch(
            inputs={"input_ids": ids, "attention_mask": (ids != PAD).long()},
            sources=self.sources(heard, rows),
            pad=PAD,
            prompt_length=1,
            score_alone=score_alone,
            bias=torch.cat(biases),
        )
        return generate(model, batch, self.rules).ids

    def _bias(self, heard: EncodedContext) -> Tensor:
        """[1, vocabulary]: what is added to the scores of one reply."""
        users = None if self._users is None else self._users([heard])
        return self._generator.model.bias(users)

    def sources(
        self, heard: Sequence[EncodedContext], rows: Sequence[Sequence[int]]
    ) -> list[list[int]]:
        """The ids whose n-grams must not be repeated: the padded inputs as published, or own
        turns."""
        if not self._published:
            return [earlier_replies(each, self._tokens, END) for each in heard]
        width = -(-self._context // _MULTIPLE) * _MULTIPLE
        return [[*row, *[PAD] * (width - len(row))] for row in rows]

    def written(self, ids: Sequence[int]) -> str:
        """The text of generated ids; tokens that mean an item become `ITEM`."""
        text = self._tokens.decode(ids, keep=self._keep)
        for token in self._keep:
            text = text.replace(token, ITEM)
        return self._finish(text)
