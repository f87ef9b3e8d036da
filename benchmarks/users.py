"""How the rule user talks: `python -m benchmarks.users --data DATA --checkpoints DIR --json`.

It talks with the retrieval CRS and with KBRD on up to 200 test scenarios of each corpus, and per
corpus and system these are counted:

- given_away: conversations in which it says a target's title before it was told, or an attribute
  value that the catalogue has for one of the targets alone and that the history has not said;
- accepts_unnamed: conversations in which it declares to ask about a target or to take it, though no
  text had named that (the lists are not shown to it);
- repeated: its utterances that it said before in the conversation;
- distinct_3: the share of different trigrams of words in what it says; `recorded_distinct_3` is
  that of the recorded users with a language model on as many words (`--data`; ReDial's recordings
  for a sample);
- wish_followed: conversations whose first utterance shares an attribute or a content word with
  what the person wanted at the end of the history, of those whose history has any.

DIR holds KBRD's checkpoints by corpus (`recjury train kbrd --dataset opendialkg --no-generator
--out DIR/opendialkg` takes under a minute). Corpora without one use the weights that ship, if these
fit, or go without KBRD.
"""

import argparse
import asyncio
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import chain, zip_longest
from pathlib import Path

from benchmarks.running import run
from recjury.agents import SystemContext, load_recommender
from recjury.agents.retrieval.library import Library
from recjury.agents.retrieval.words import content_words
from recjury.corpora import Corpus, open_corpus
from recjury.corpora.concept import END_MARK, read_concept
from recjury.errors import UserError
from recjury.knowledge import fold
from recjury.knowledge.ordinary_words import is_ordinary_word
from recjury.language.wishes import spoken_in
from recjury.records import Act, ConversationLog, Item, Recommender, Scenario, Speaker, is_target
from recjury.simulator import LeakGuard, RuleUser, SessionSettings, converse

CORPORA = ("opendialkg", "redial", "sample", "sample-books")
SYSTEMS = ("retrieval", "kbrd")

_GENRE_NOUNS = re.compile(r"\s*(?:\b(?:film|movie|fiction)s?\b|\([^)]*\)|#\d+)", re.IGNORECASE)
_GREETINGS = frozenset({"even", "morn", "afternoon", "day", "fine", "bye"})
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Users:
    """What was counted; the shares are explained above."""

    conversations: int
    utterances: int
    words: int
    hits: int
    given_away: float
    accepts_unnamed: float
    repeated: float
    distinct_3: float
    recorded_distinct_3: float | None
    wish_followed: float
    with_wish: int


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpora", nargs="+", default=CORPORA)
    parser.add_argument("--systems", nargs="+", choices=SYSTEMS, default=SYSTEMS)
    parser.add_argument("--data", type=Path, help="folder that holds ievalm/ and concept/")
    parser.add_argument("--checkpoints", type=Path, help="folder with KBRD's, named after corpora")
    parser.add_argument("--conversations", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--logs", type=Path, help="write the conversations here, one text a corpus")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    found = {name: _users_of(name, options) for name in dict.fromkeys(options.corpora)}
    if options.json:
        shown = {name: {s: asdict(u) for s, u in each.items()} for name, each in found.items()}
        print(json.dumps(shown, indent=1))
    else:
        for name, each in found.items():
            for system, users in each.items():
                print(name, system, users)


def _users_of(name: str, options: argparse.Namespace) -> dict[str, Users]:
    corpus = open_corpus(name, options.data)
    found = {}
    for kind in options.systems:
        logs = asyncio.run(_conversations(kind, corpus, options))
        if logs:
            found[kind] = users(logs, corpus, options.data)
            if options.logs is not None:
                options.logs.mkdir(parents=True, exist_ok=True)
                file = options.logs / f"{name}_{kind}.txt"
                file.write_text("\n".join(map(_readable, logs)), "utf-8")
    return found


async def _conversations(
    kind: str, corpus: Corpus, options: argparse.Namespace
) -> list[ConversationLog]:
    """Conversations of the test split; none if KBRD has no weights for the corpus."""
    checkpoint = options.checkpoints / corpus.name if options.checkpoints else None
    given = {"checkpoint": str(checkpoint)} if checkpoint and checkpoint.is_dir() else {}
    try:
        system = load_recommender(
            kind, kind, given if kind == "kbrd" else {}, SystemContext(corpus)
        )
    except UserError:
        if kind != "kbrd" or given:
            raise
        return []
    try:
        return await played(system, corpus, options.conversations, options.seed)
    finally:
        await system.aclose()


async def played(
    system: Recommender, corpus: Corpus, conversations: int, seed: int = 0
) -> list[ConversationLog]:
    """Conversations of the rule user, which sees no lists, with `system`."""
    user, guard = RuleUser(corpus.catalogue, seed=seed), LeakGuard(corpus.catalogue)
    settings = SessionSettings(shows_list=False)
    hold = partial(
        converse, user, system, guard=guard, catalogue=corpus.catalogue, settings=settings
    )
    scenarios = corpus.scenarios("test", limit=conversations).scenarios
    return list(await asyncio.gather(*(hold(scenario=each) for each in scenarios)))


def users(logs: Sequence[ConversationLog], corpus: Corpus, data: Path | None = None) -> Users:
    """What is counted in conversations of the rule user."""
    values = Values(corpus)
    said = [_said(log) for log in logs]
    followed = [_follows(log, values) for log in logs]
    with_wish = [each for each in followed if each is not None]
    texts = [text for each in said for text in each]
    words = sum(len(_words(text)) for text in texts)
    return Users(
        conversations=len(logs),
        utterances=len(texts),
        words=words,
        hits=sum(log.hit_round is not None for log in logs),
        given_away=_share(sum(_gives_away(log, values) for log in logs), len(logs)),
        accepts_unnamed=_share(sum(_accepts_unnamed(log, corpus) for log in logs), len(logs)),
        repeated=_share(sum(map(_repeats, said)), len(texts)),
        distinct_3=distinct_3(texts, words),
        recorded_distinct_3=_recorded(corpus, data, words),
        wish_followed=_share(sum(with_wish), len(with_wish)),
        with_wish=len(with_wish),
    )


class Values:
    """The attribute values of a catalogue: which items have each."""

    def __init__(self, corpus: Corpus):
        """Read the values of every item of the corpus's catalogue."""
        self.catalogue = corpus.catalogue
        self._library = Library(corpus.catalogue)
        self._held: dict[str, set[str]] = defaultdict(set)
        for item in self.catalogue:
            for value in values_of(item):
                self._held[fold(value)].add(item.id)

    def attributes(self, text: str) -> Iterator[str]:
        """The attributes that a text names, in the words of the catalogue."""
        spoken = spoken_in(text, self.catalogue)
        return (name for each in spoken for name in self._library.names_of(each.attribute))

    def own(self, item: Item) -> list[str]:
        """The values that only this item has, without those that are everyday words."""
        return [
            value
            for value in values_of(item)
            if len(self._held[fold(value)] | {item.id}) == 1 and not is_ordinary_word(value.lower())
        ]

    def targets(self, scenario: Scenario) -> list[Item]:
        """The scenario's targets that the catalogue knows."""
        ids = (target.id for target in scenario.targets)
        return [self.catalogue.item(id_) for id_ in ids if id_ and id_ in self.catalogue]


def values_of(item: Item) -> Iterator[str]:
    """Genres (without "film"), people, languages, and the decade as it is spoken."""
    for genre in item.genres:
        yield _GENRE_NOUNS.sub("", genre).strip().lower() or genre.lower()
    yield from chain(item.directors, item.actors, item.writers, item.languages)
    if item.year is not None:
        decade = item.year // 10 * 10
        yield f"{decade % 100}s" if 1930 <= decade <= 1990 else f"{decade}s"


def _gives_away(log: ConversationLog, values: Values) -> bool:
    if log.leaks_through:
        return True
    own = [value for item in values.targets(log.scenario) for value in values.own(item)]
    titles = [item.title for item in values.targets(log.scenario)]
    spoken = [re.sub("|".join(map(re.escape, titles)), "", text) for text in _said(log)]
    said, public = (_plain(text) for text in (spoken, [t.text for t in log.scenario.history]))
    return any(f" {value} " in said and f" {value} " not in public for value in map(_fold, own))


def _plain(texts: Sequence[str]) -> str:
    return f" {_fold(' '.join(texts))} "


def _fold(text: str) -> str:
    return " ".join(_words(fold(text)))


def _accepts_unnamed(log: ConversationLog, corpus: Corpus) -> bool:
    named: set[str] = set()
    targets = {target.id for target in log.scenario.targets}
    for turn in log.interaction:
        if turn.speaker is Speaker.SYSTEM:
            named |= {mention.id for mention in corpus.catalogue.link(turn.text)}
        faced = {act.item for act in turn.acts if act.act in (Act.ACCEPT, Act.ASK)}
        if faced & targets - named:
            return True
    return False


def _follows(log: ConversationLog, values: Values) -> bool | None:
    """Whether the first utterance takes up the history's wish; None without a wish.

    The wish is what the last two turns of the person say that say anything.
    """
    wishes = [turn.text for turn in log.scenario.history if turn.speaker is Speaker.USER]
    told = [found for text in wishes[::-1] if (found := _wants(text, values))][:2]
    said = _said(log)
    if not told or not said:
        return None
    return bool(set().union(*told) & _wants(said[0], values))


def _wants(text: str, values: Values) -> set[str]:
    """Content words, and the attributes of the items that the text names."""
    found = {str(word) for word in content_words(text)} - _GREETINGS
    found |= {f"= {attribute}" for attribute in values.attributes(text)}
    for mention in values.catalogue.link(text):
        found |= {f"= {fold(value)}" for value in values_of(values.catalogue.item(mention.id))}
    return found


def _said(log: ConversationLog) -> list[str]:
    return [turn.text for turn in log.interaction if turn.speaker is Speaker.USER]


def _repeats(texts: Sequence[str]) -> int:
    counted = Counter(" ".join(_words(text)) for text in texts)
    return sum(counted.values()) - len(counted)


def distinct_3(texts: Sequence[str], most: int) -> float:
    """The share of different trigrams in the first `most` words."""
    grams: list[tuple[str, ...]] = []
    words = 0
    for text in texts:
        spoken = _words(text)[: most - words]
        words += len(spoken)
        grams += zip(spoken, spoken[1:], spoken[2:], strict=False)
        if words >= most:
            break
    return _share(len(set(grams)), len(grams))


def _recorded(corpus: Corpus, data: Path | None, words: int) -> float | None:
    """Distinct-3 of the recorded users, of all systems in turn, without their first "Hello"."""
    if data is None or not (data / "concept").is_dir():
        return None
    has_own = any((data / "concept").glob(f"*_{corpus.name}.jsonl.gz"))
    dataset = corpus.name if has_own else "redial"
    files = sorted((data / "concept").glob(f"*_{dataset}.jsonl.gz"))
    in_turn = zip_longest(*(read_concept(path, data) for path in files))
    texts: list[str] = []
    for log in chain.from_iterable(in_turn):
        if log is not None:
            texts += (text.replace(END_MARK, "") for text in _said(log)[1:])
            if sum(len(text) for text in texts) > 10 * words:
                break
    return distinct_3(texts, words)


def _readable(log: ConversationLog) -> str:
    heading = f"=== {log.scenario.id}, targets {[t.name for t in log.scenario.targets]}"
    turns = [("history", turn) for turn in log.scenario.history]
    turns += [("", turn) for turn in log.interaction]
    lines = (f"  {part:8}{turn.speaker.value}: {_marked(turn.text)}" for part, turn in turns)
    shown = [is_target(item, log.scenario.targets) for item in log.session_list()]
    return "\n".join((heading, *lines, f"  hit in round {log.hit_round}, listed {any(shown)}\n"))


def _marked(text: str) -> str:
    return " ".join(text.split())


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def _share(part: int, whole: int) -> float:
    return round(part / whole, 4) if whole else 0.0


if __name__ == "__main__":
    run(main)
