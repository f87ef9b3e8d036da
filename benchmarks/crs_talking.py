"""How the generators talk: `python -m benchmarks.crs_talking --checkpoints DIR --json`.

Each checkpoint in DIR (folders named after the systems) holds conversations with the rule user on
the test scenarios. Counted over its turns: how many are word for word one of its earlier turns in
the conversation, the share of different trigrams over all its turns (distinct-3), how many turns
that name an item name one of their own list, how many name any, and how many words are neither
in what people say in the data set nor in a name. With --data, the recorded logs of the data set
in concept/ are counted in the same way.
"""

import argparse
import asyncio
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path

from benchmarks.checkpoints import checkpoints_in
from benchmarks.running import run
from recjury.agents import SystemContext, load_recommender
from recjury.corpora import Corpus, open_corpus
from recjury.corpora.concept import read_concept
from recjury.errors import DataError
from recjury.knowledge import Catalogue
from recjury.records import ConversationLog, Scenario
from recjury.simulator import LeakGuard, RuleUser, SessionSettings, converse


@dataclass(frozen=True)
class Talk:
    """Shares are of `turns`, but `from_list` is of those that name an item.

    `unknown_words` is a share of all words.
    """

    conversations: int
    turns: int
    repeated: float
    distinct_3: float
    naming: float
    from_list: float
    unknown_words: float
    words_per_turn: float
    examples: tuple[str, ...]


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--checkpoints", type=Path, required=True)
    parser.add_argument("--dataset", default="sample")
    parser.add_argument("--data", type=Path, help="folder that holds ievalm/ and concept/")
    parser.add_argument("--conversations", type=int, default=50)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    folders = checkpoints_in(options.checkpoints)
    corpus = open_corpus(options.dataset, options.data)
    found = {
        system: talk(asyncio.run(played(system, corpus, folder, options.conversations)), corpus)
        for system, folder in folders.items()
    }
    if options.data is not None:
        found |= dict(recorded(corpus, options.data, options.conversations))
    if options.json:
        print(json.dumps({name: asdict(each) for name, each in found.items()}, indent=1))
    else:
        for name, each in found.items():
            print(name, each)


async def played(
    system: str, corpus: Corpus, folder: Path, conversations: int
) -> list[ConversationLog]:
    """Conversations with the rule user, always to the last round."""
    recommender = load_recommender(
        system, system, {"checkpoint": str(folder)}, SystemContext(corpus)
    )
    user, guard = RuleUser(corpus.catalogue), LeakGuard(corpus.catalogue)

    async def one(scenario: Scenario) -> ConversationLog:
        return await converse(
            user, recommender, scenario, guard, corpus.catalogue, SessionSettings(min_rounds=5)
        )

    scenarios = corpus.scenarios("test", limit=conversations).scenarios
    try:
        return list(await asyncio.gather(*map(one, scenarios)))
    finally:
        await recommender.aclose()


def recorded(corpus: Corpus, data: Path, conversations: int) -> Iterator[tuple[str, Talk]]:
    """The recorded systems of the data set, if any; their lists are cut to the first ten.

    Raises DataError when there are no recordings at all.
    """
    if not (data / "concept").is_dir():
        raise DataError("there is no such folder of recorded conversations", path=data / "concept")
    for path in sorted((data / "concept").glob(f"*_{corpus.name}.jsonl.gz")):
        logs = list(islice(read_concept(path, data), conversations))
        yield f"recorded {path.name.partition('_')[0]}", talk(logs, corpus)


def talk(logs: Sequence[ConversationLog], corpus: Corpus) -> Talk:
    """What is counted in some conversations."""
    turns = [turn for log in logs for turn in log.system_turns if turn.text]
    repeated = sum(_repeats(t.text for t in log.system_turns if t.text) for log in logs)
    trigrams = [gram for turn in turns for gram in _trigrams(turn.text)]
    words = [word for turn in turns for word in _words(turn.text)]
    known = _known_words(corpus)
    named = [(_named(turn.text, corpus.catalogue), turn) for turn in turns]
    naming = [(ids, turn) for ids, turn in named if ids]
    listed = sum(bool(ids & {item.id for item in turn.items}) for ids, turn in naming)
    return Talk(
        conversations=len(logs),
        turns=len(turns),
        repeated=_share(repeated, len(turns)),
        distinct_3=_share(len(set(trigrams)), len(trigrams)),
        naming=_share(len(naming), len(turns)),
        from_list=_share(listed, len(naming)),
        unknown_words=_share(sum(word not in known for word in words), len(words)),
        words_per_turn=_share(len(words), len(turns)),
        examples=tuple(turn.text for turn in turns[:8]),
    )


def _known_words(corpus: Corpus) -> frozenset[str]:
    examples = [example for split in corpus.splits for example in corpus.examples(split)]
    said = (text for each in examples for text in (*each.context, each.response))
    return frozenset(word for text in (*said, *corpus.graph.entities) for word in _words(text))


def _repeats(texts: Iterable[str]) -> int:
    said = [" ".join(_words(text)) for text in texts]
    return len(said) - len(set(said))


def _named(text: str, catalogue: Catalogue) -> set[str | None]:
    return {mention.id for mention in catalogue.link(text)}


def _trigrams(text: str) -> Iterator[tuple[str, ...]]:
    words = _words(text)
    return zip(words, words[1:], words[2:], strict=False)


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def _share(part: int, whole: int) -> float:
    return round(part / whole, 4) if whole else 0.0


if __name__ == "__main__":
    run(main)
