"""The benchmark of the rule user counts what it says it counts."""

import asyncio

from benchmarks.users import distinct_3, played, users
from recjury.agents import SystemContext
from recjury.agents.retrieval import Retrieval
from recjury.corpora import open_corpus
from recjury.records import Act, DeclaredAct, Speaker


def test_twelve_conversations_of_the_sample() -> None:
    corpus = open_corpus("sample")
    logs = asyncio.run(played(Retrieval().prepared(SystemContext(corpus)), corpus, 12))
    found = users(logs, corpus)
    assert found.conversations == 12
    assert found.given_away == found.accepts_unnamed == found.repeated == 0.0
    assert found.wish_followed >= 0.8
    assert found.recorded_distinct_3 is None
    said = [t for log in logs for t in log.interaction if t.speaker is Speaker.USER]
    assert found.utterances == len(said)


def test_what_is_given_away_accepted_and_repeated_is_counted() -> None:
    corpus = open_corpus("sample")
    (log, *_) = asyncio.run(played(Retrieval().prepared(SystemContext(corpus)), corpus, 1))
    (target, *_) = log.scenario.targets
    assert target.id is not None
    (person, *_) = corpus.catalogue.item(target.id).writers
    told = [turn for turn in log.interaction if turn.speaker is Speaker.SYSTEM][:1]
    takes = DeclaredAct(act=Act.ACCEPT, item=target.id)
    silent = told[0].model_copy(update={"text": "Well."})
    says = [
        log.interaction[1].model_copy(update={"text": text, "acts": (takes,)})
        for text in (f"I'll take it. {person} made it.", "I'll take it.", "I'll take it!")
    ]
    worse = log.model_copy(
        update={"interaction": (silent, says[0], silent, says[1], silent, says[2])}
    )
    found = users([worse], corpus)
    assert found.accepts_unnamed == 1.0
    assert found.repeated == round(1 / 3, 4)
    is_alone = sum(person in item.writers for item in corpus.catalogue) == 1
    assert found.given_away == float(is_alone)


def test_distinct_3_is_of_the_first_words() -> None:
    assert distinct_3(["a b c d", "a b c d"], 4) == 1.0
    assert distinct_3(["a b c d", "a b c d"], 8) == 0.5
