"""Byte-level BPE tokenizers: the published ones as files, and small ones trained on a corpus.

BART and RoBERTa share one family of special tokens, GPT-2 has its own. Texts are encoded without
sentence marks, so that they can be truncated on the left before the marks are added.
"""

import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal

import orjson
from tokenizers import AddedToken, Tokenizer, decoders, pre_tokenizers
from tokenizers.models import BPE
from tokenizers.trainers import BpeTrainer

from recjury.errors import ConfigError, DataError
from recjury.input_files import read_json_object

Family = Literal["bart", "gpt2"]

ITEM = "<movie>"
END = "<|endoftext|>"
_SPACE = "Ġ"  # how byte-level tokens write the space before a word
_SPECIAL: dict[Family, tuple[str, ...]] = {
    "bart": ("<s>", "<pad>", "</s>", "<unk>", "<mask>"),
    "gpt2": (END,),
}
# The texts that transformers' tokenizers tidy up when they decode, in their order.
_TIDY = (
    *((f" {mark}", mark) for mark in (".", "?", "!", ",")),
    (" ' ", "'"),
    *((f" {ending}", ending) for ending in ("n't", "'m", "'s", "'ve", "'re")),
)


class Tokens:
    """A tokenizer of one family. An id is a row of the model's vocabulary."""

    def __init__(self, tokenizer: Tokenizer, *, family: Family, tidy: bool = True):
        """Wrap a tokenizer, and add the family's special tokens to it.

        `tidy` says whether decoding removes the spaces before punctuation marks.
        """
        tokenizer.no_truncation()
        tokenizer.no_padding()
        tokenizer.add_special_tokens(
            [AddedToken(t, special=True, lstrip=t == "<mask>") for t in _SPECIAL[family]]
        )
        self._tokenizer, self._tidy, self.family = tokenizer, tidy, family

    @classmethod
    def load(cls, folder: Path, family: Family) -> "Tokens":
        """Read `tokenizer.json`, or else `vocab.json` and `merges.txt`, of a folder.

        Raises ConfigError if the folder has neither, and DataError if they cannot be read.
        """
        whole, vocab, merges = (
            folder / name for name in ("tokenizer.json", "vocab.json", "merges.txt")
        )
        try:
            if whole.is_file():
                tokenizer = Tokenizer.from_file(str(whole))
            elif vocab.is_file() and merges.is_file():
                tokenizer = _byte_level(BPE.from_file(str(vocab), str(merges)))
            else:
                raise ConfigError(
                    f"no tokenizer in {folder}: expected tokenizer.json, or vocab.json and "
                    "merges.txt"
                )
        except ConfigError:
            raise
        except Exception as error:  # the library raises bare exceptions for every error
            raise DataError(f"the tokenizer cannot be read: {error}", path=folder) from error
        return cls(tokenizer, family=family, tidy=_tidies(folder / "tokenizer_config.json"))

    @classmethod
    def train(
        cls, texts: Iterable[str], family: Family, *, size: int, extra: Sequence[str] = (ITEM,)
    ) -> "Tokens":
        """Learn a vocabulary of at most `size` tokens; `extra` are further special tokens."""
        tokenizer = _byte_level(BPE())
        trainer = BpeTrainer(
            vocab_size=size,
            special_tokens=[*_SPECIAL[family], *extra],
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        )
        tokenizer.train_from_iterator(texts, trainer)
        return cls(tokenizer, family=family)

    @property
    def size(self) -> int:
        """The number of tokens, including special ones."""
        return int(self._tokenizer.get_vocab_size(with_added_tokens=True))

    def add(self, token: str) -> int:
        """Make `token` a special token, with a new id if it has none; return the id."""
        if token not in _SPECIAL[self.family]:
            self._tokenizer.add_special_tokens([AddedToken(token, special=True)])
        return self.id(token)

    def add_names(self, names: Iterable[str]) -> None:
        """Make each name one token if it stands as a separate word; decoding keeps it."""
        self._tokenizer.add_tokens(
            [AddedToken(name, single_word=True, normalized=False) for name in names]
        )

    def id(self, token: str) -> int:
        """The id of a token. Raises DataError if there is none."""
        found = self.find(token)
        if found is None:
            raise DataError(f"the tokenizer has no token {token!r}")
        return found

    def find(self, token: str) -> int | None:
        """The id of a token, or None."""
        found: int | None = self._tokenizer.token_to_id(token)
        return found

    def words(self) -> frozenset[int]:
        """The ids of tokens that begin a word after a space and consist of letters only."""
        vocabulary: dict[str, int] = self._tokenizer.get_vocab(with_added_tokens=False)
        return frozenset(
            id_
            for token, id_ in vocabulary.items()
            if token.startswith(_SPACE) and token[1:].isalpha()
        )

    def encode(self, text: str) -> list[int]:
        """The ids of a text; special tokens in the text are recognised, and none are added."""
        ids: list[int] = self._tokenizer.encode(text, add_special_tokens=False).ids
        return ids

    def sentence(self, text: str, limit: int) -> list[int]:
        """BART's format: `<s>`, the text cut on its left, `</s>`; at most `limit` ids."""
        ids = self.encode(text)
        return [self.id("<s>"), *ids[max(0, len(ids) - limit + 2) :], self.id("</s>")]

    def decode(self, ids: Sequence[int], *, keep: Sequence[str] = ()) -> str:
        """The text of ids without special tokens, except those to `keep`."""
        kept = {self.find(token): token for token in keep}
        parts: list[str] = []
        plain: list[int] = []
        for id_ in ids:
            if id_ in kept:
                parts += [self._plain(plain), kept[id_]]
                plain = []
            else:
                plain.append(id_)
        text = "".join([*parts, self._plain(plain)])
        if self._tidy:
            for untidy, tidy in _TIDY:
                text = text.replace(untidy, tidy)
        return text

    def _plain(self, ids: Sequence[int]) -> str:
        text: str = self._tokenizer.decode(list(ids), skip_special_tokens=True)
        return text

    @property
    def digest(self) -> str:
        """16 hex digits over the vocabulary, the merges, the special tokens, and `tidy`."""
        untidy = "" if self._tidy else "untidy"
        return hashlib.sha256((self._tokenizer.to_str() + untidy).encode()).hexdigest()[:16]

    def save(self, folder: Path) -> None:
        """Write `tokenizer.json` and `tokenizer_config.json`, which transformers can read too."""
        folder.mkdir(parents=True, exist_ok=True)
        self._tokenizer.save(str(folder / "tokenizer.json"), pretty=False)
        described = {
            "tokenizer_class": "BartTokenizer" if self.family == "bart" else "GPT2Tokenizer",
            "clean_up_tokenization_spaces": self._tidy,
        }
        (folder / "tokenizer_config.json").write_bytes(orjson.dumps(described))


def _byte_level(model: BPE) -> Tokenizer:
    tokenizer = Tokenizer(model)
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def _tidies(path: Path) -> bool:
    """Whether decoding removes spaces: True unless the tokenizer's configuration says no."""
    described = read_json_object(path)
    return described is None or described.get("clean_up_tokenization_spaces") is not False
