"""What PairEval's and dialogue quality's judges learn from (PairEval, 3.3; Jia et al., 4)."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any, Literal, NamedTuple

from pydantic import Field

from recjury.agreement import open_labels
from recjury.agreement.forms import alternating, json_rows
from recjury.errors import UserError
from recjury.judges import DialogueQuality, PairEval
from recjury.judges.levels import LevelChoice, levels, words_of
from recjury.judges.paireval import Contender
from recjury.judges.rated_dialogues import parted, rated_dialogues
from recjury.papers.lora import Lesson, LoraTraining
from recjury.records import Level, PackName, Turn


class PairTraining(LoraTraining):
    """PairEval's training: a fitting response against one that does not fit.

    `data` has dialogues, `adversarial` responses that were written to look fitting: JSON lines of
    `turns`, and of `context`, `positives`, `adversarial` (packed as .gz or not). A share `hard` of
    the negatives is adversarial; in half of the pairs both responses have one history. No dialogue
    is learned that has a history of `tested` (FORM:PATH). With `method: direct`, DirectEval learns
    on its own question, from both responses of each pair.
    """

    kind: Literal["paireval"] = "paireval"
    data: str
    adversarial: str = ""
    tested: str = ""
    method: Literal["pair", "direct"] = "pair"
    pairs: int = Field(default=80_000, ge=1)
    hard: float = Field(default=0.5, ge=0, le=1)
    prompts: PackName = "judges/paireval"


class QualityTraining(LoraTraining):
    """Dialogue quality's training on a `data` file in the form of USS, without the seeded tenth.

    With a pack whose `words` are two, it learns satisfied (above 3) or not.
    """

    kind: Literal["dialogue-quality"] = "dialogue-quality"
    data: str
    level: LevelChoice = "dialogue"
    prompts: PackName = "judges/dialogue-quality"


class Pair(NamedTuple):
    """A better and a worse response."""

    better: Contender
    worse: Contender


class _Context(NamedTuple):
    """Responses that were written for one context."""

    context: tuple[str, ...]
    positives: tuple[str, ...]
    adversarial: tuple[str, ...]


def pair_lessons(asked: PairTraining) -> Iterator[Lesson]:
    """The lessons of PairEval or DirectEval. Raises UserError."""
    judge = PairEval(method=asked.method, prompts=asked.prompts)
    words, random = words_of(judge.pack, asked.method), Random(f"order/{asked.seed}")
    pairs = training_pairs(asked)
    for better, worse in pairs:
        if asked.method == "direct":
            for word, each in zip(words, (better, worse), strict=True):
                yield Lesson(judge.question(Level.TURN, rated=each.block), word)
            continue
        place = random.randrange(2)
        first, second = (better, worse)[:: 1 if place == 0 else -1]
        prompt = judge.question(Level.TURN, first=first.block, second=second.block)
        yield Lesson(prompt, words[place])


def training_pairs(asked: PairTraining) -> Iterator[Pair]:
    """The pairs; equal settings draw equal pairs. Raises UserError if there are no negatives."""
    tested = _tested(asked.tested)
    dialogues = [
        tuple(row["turns"])
        for row in _rows(asked.data, "turns")
        if len(row["turns"]) > 1 and not _has_one(row["turns"], tested)
    ]
    written = [
        _Context(*(tuple(row[key]) for key in _Context._fields))
        for row in (_rows(asked.adversarial, *_Context._fields) if asked.adversarial else ())
        if row["adversarial"] and row["context"] and not _has_one(row["context"], tested)
    ]
    if len(dialogues) < 2:
        raise UserError(f"{asked.data}: two dialogues of two turns are needed to draw negatives")
    if asked.hard and not written:
        raise UserError(
            "there are no adversarial responses: name a file with `adversarial`, or set hard=0"
        )
    random = Random(asked.seed)
    number = min(asked.pairs, asked.limit or asked.pairs)
    for is_hard in random.sample([n < asked.hard * number for n in range(number)], number):
        same = random.random() < 0.5
        yield (
            _hard(written, dialogues, random, same) if is_hard else _easy(dialogues, random, same)
        )


def _easy(dialogues: Sequence[tuple[str, ...]], random: Random, same: bool) -> Pair:
    """The worse response is an utterance of another dialogue."""
    own, other = random.sample(dialogues, 2)
    better = _response(own, random)
    history = better if same else _response(random.choice(dialogues), random)
    return Pair(better, Contender(history.turns, (_says(random.choice(other)),)))


def _hard(
    written: Sequence[_Context], dialogues: Sequence[tuple[str, ...]], random: Random, same: bool
) -> Pair:
    """The worse response was written to look fitting."""
    found = random.choice(written)
    worse = _contender(found.context, random.choice(found.adversarial))
    if same and found.positives:
        return Pair(_contender(found.context, random.choice(found.positives)), worse)
    return Pair(_response(random.choice(dialogues), random), worse)


def _response(turns: Sequence[str], random: Random) -> Contender:
    place = random.randrange(1, len(turns))
    return _contender(turns[:place], turns[place])


def _contender(history: Sequence[str], response: str) -> Contender:
    """Speakers alternate, and the system responds."""
    before = tuple(Turn.model_validate(turn) for turn in alternating(history))
    return Contender(before, (_says(response),))


def _says(text: str) -> Turn:
    return Turn(speaker="system", text=text)


def quality_lessons(asked: QualityTraining) -> Iterator[Lesson]:
    """The lessons of dialogue quality: nine tenths of the dialogues. Raises UserError."""
    judge = DialogueQuality(prompts=asked.prompts)
    words = words_of(judge.pack, "words")
    rated = {level: rated_dialogues(Path(asked.data), level) for level in levels(asked.level)}
    test = _test(asked)
    for level, dialogues in rated.items():
        for each in [each for each in dialogues if each.dialogue not in test][: asked.limit]:
            prompt = judge.question("logits", each.turns, level)
            yield Lesson(prompt, word_of(each.rating, words))


def held_out(asked: QualityTraining) -> list[str]:
    """The tenth that is not learned, by the names that labels of the form `uss` have."""
    return sorted(f"{Path(asked.data).stem}-{dialogue}" for dialogue in _test(asked))


def _test(asked: QualityTraining) -> set[Any]:
    """A tenth of the dialogues of each level, which no level learns."""
    rated = (rated_dialogues(Path(asked.data), level) for level in levels(asked.level))
    return {each.dialogue for of in rated for each in parted(of, asked.seed)[1]}


def word_of(rating: float, words: Sequence[str]) -> str:
    """The word nearest to a rating from 1 to 5; of two, the second means above 3."""
    if len(words) == 2:
        return words[rating > 3]
    return words[int((rating - 1) / 4 * (len(words) - 1) + 0.5)]


def _rows(name: str, *keys: str) -> Iterator[Mapping[str, Any]]:
    """The JSON objects of a file, which have lists of texts under these keys. Raises UserError."""
    path = Path(name)
    for number, row in enumerate(json_rows(path), 1):
        lists = [row.get(key) for key in keys]
        if not all(isinstance(x, list) and all(isinstance(t, str) for t in x) for x in lists):
            names = " and ".join(f"`{key}`" for key in keys)
            raise UserError(f"{path}:{number}: expected JSON with lists of texts in {names}")
        yield row


def _tested(labels: str) -> frozenset[tuple[str, ...]]:
    """The last two utterances of each history that is rated, or the only one."""
    if not labels:
        return frozenset()
    recordings = open_labels(labels).recordings
    histories = ([turn.text for turn in each.history] for each in recordings if each.history)
    return frozenset(_plain(texts[-2:]) for texts in histories)


def _has_one(texts: Sequence[str], histories: frozenset[tuple[str, ...]]) -> bool:
    plain = _plain(texts)
    runs = (plain[n : n + size] for size in (1, 2) for n in range(len(plain) - size + 1))
    return any(run in histories for run in runs)


def _plain(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple("".join(re.findall(r"\w", text.casefold())) for text in texts)
